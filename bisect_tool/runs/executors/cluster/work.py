"""What is done on a node, each in a process of its own there: an environment opened, made ahead of need, or a trial run."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bisect_tool.builds.build import Installation
from bisect_tool.environments import room
from bisect_tool.environments.cache_folder import disk_full
from bisect_tool.environments.environment import BuildUnusable, Environments
from bisect_tool.errors import MachineFault
from bisect_tool.runs.executors import GpuNews, News, NoRoom, SlotLost
from bisect_tool.runs.executors.cluster import connection
from bisect_tool.runs.executors.cluster.keeper import TRIAL, with_own_interpreter
from bisect_tool.runs.executors.cluster.node import Card, Signs, card_of, home, host_name
from bisect_tool.runs.executors.cluster.parcels import (
    Lost,
    OpenedThere,
    OpenOrder,
    Outcome,
    RanThere,
    Unknown,
    failed,
    local_places,
    packed,
)
from bisect_tool.runs.executors.local import NICENESS, beside, has_room
from bisect_tool.runs.gpus import GpuLost, Nvml
from bisect_tool.stopping import Stop
from bisect_tool.trials.failure import MachineAtFault
from bisect_tool.trials.judge import judge
from bisect_tool.trials.leftovers import remove_folder
from bisect_tool.trials.observation import Observation
from bisect_tool.trials.trial import TrialOrder, run_trial

Files = tuple[tuple[str, bytes], ...]
LEAST = 50_000_000  # bytes of a disk: what has less is full


class _Unknown(Exception):
    """The order does not say how the environment is installed, and it is not there."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What every job is given: the keeper of the node and its folder, the name of the job, and how GPUs are looked after.

    `wait`: seconds for a card that others use. `has_gpu`: the job was given one.
    """

    keeper: Any = field(repr=False)
    folder: Path
    job: str
    ask: Callable[[], Nvml] = field(repr=False)
    wait: float = 0.0
    has_gpu: bool = False

    def tell(self, news: News | Lost) -> None:
        """Pass news on; they are there before the end of the job."""
        connection.get(self.keeper.note.remote(self.job, news))

    @contextmanager
    def card(self) -> Iterator[Card | None]:
        """The GPU of the job, where it has one. Raises `GpuLost`."""
        if not self.has_gpu:
            yield None
            return
        with card_of(connection.assigned_gpus(), self.ask, self.wait) as card:
            yield card


def open_environment(desk: Desk, order: OpenOrder) -> Outcome:
    """Open an environment and hand it to the keeper, who holds it under the name of the job."""
    return _done(desk, lambda stop: _open(desk, order, stop))


def make_ahead(desk: Desk, order: OpenOrder, size: int | None) -> Outcome:
    """Make an environment ahead of need, if there is room for it; trials come first."""
    return _done(desk, lambda stop: _in_the_background(lambda: _make_ahead(desk, order, size, stop)))


def run_trial_there(desk: Desk, files: Files, order: TrialOrder, programs: Path, name: str) -> Outcome:
    """Run a trial of `order` with these files; gives what it left. `name` is that of its folder on the driver."""
    return _done(desk, lambda stop: _run(desk, replace(order, files=files), programs, name, stop))


def _done(desk: Desk, do: Callable[[Stop], Outcome]) -> Outcome:
    """Do it, watching for the sign that it is called off; whatever is raised travels as a value."""
    signs = Signs(desk.folder)
    try:
        with signs.watching(desk.job) as stop:
            try:
                return do(stop)
            except SlotLost as lost:
                return _keep_the_gpu(desk, lost, stop)
    except _Unknown:
        return Unknown()
    except connection.Broken as gone:
        return failed(SlotLost(f"the keeper of the node does not answer: {gone}"), host_name())
    except BaseException as error:  # noqa: BLE001  it travels, and is raised on the driver
        return failed(error, host_name())


def _keep_the_gpu(desk: Desk, lost: SlotLost, stop: Stop) -> Outcome:
    """Ray gives the GPU of a job that has ended to the next one: a sick one is kept until the run is over."""
    if desk.has_gpu:
        desk.tell(Lost(str(lost)))
        while not stop.is_set:
            threading.Event().wait(1)
    return failed(lost, host_name())


def _open(desk: Desk, order: OpenOrder, stop: Stop) -> Outcome:
    with _card_not_lost(desk) as card:
        variables = card.variables if card is not None else {}
        environments = _environments(stop)
        environments = replace(environments, environ={**environments.environ, **variables})
        key, install = with_own_interpreter(order.key), _installing(order)
        try:
            opened = environments.use(key, install, device=order.device, as_of=order.as_of, tell=desk.tell)
            with opened as environment:
                connection.get(desk.keeper.hold.remote(desk.job, order.key, order.device))
                return OpenedThere(environment)
        except (BuildUnusable, MachineFault):
            if card is not None:
                card.watch.end()  # a health check on a card that is lost says nothing about the build
            raise


def _make_ahead(desk: Desk, order: OpenOrder, size: int | None, stop: Stop) -> Outcome:
    environments = _environments(stop)
    if not has_room(environments, (size or 0) * room.UNPACKED):
        raise NoRoom
    key, install = with_own_interpreter(order.key), _installing(order)
    with environments.use(key, install, device=order.device, as_of=order.as_of, tell=desk.tell) as environment:
        return OpenedThere(environment)


def _run(desk: Desk, order: TrialOrder, programs: Path, name: str, stop: Stop) -> Outcome:
    # Where trials lie on every machine, so that what they print of their place is taken for what it is.
    folder = home().cache.trials / f"{name}.{desk.job}"
    note = desk.folder / f"{desk.job}{TRIAL}"
    note.write_text(folder.name, encoding="utf-8")
    with _card_not_lost(desk) as card:
        environ = {**home().environ, **(card.variables if card is not None else {})}
        if card is not None:
            card.watch.begin(stop.sleep, lambda text: desk.tell(GpuNews(text)))
        try:
            finished = run_trial(order, programs=programs, folder=folder, environ=environ, stop=stop)
            if card is not None:
                finished = beside(finished, card.watch.end())
            ran = RanThere(finished.observation, finished.command, packed(folder, without=("repro",)))
        finally:
            remove_folder(folder)
            note.unlink(missing_ok=True)
    if is_spoilt(ran.observation, shutil.disk_usage(home().cache.root).free):
        raise disk_full(home().cache.root)
    return ran


def is_spoilt(observation: Observation, free: int) -> bool:
    """Whether the machine spoiled a trial, and no room is left although everything of the trial is gone; `free` in bytes."""
    return free < LEAST and isinstance(judge(observation, ()), MachineAtFault)


@contextmanager
def _card_not_lost(desk: Desk) -> Iterator[Card | None]:
    try:
        with desk.card() as card:
            yield card
    except GpuLost as lost:
        raise SlotLost(str(lost)) from lost


def _environments(stop: Stop) -> Environments:
    return home().environments().stopped_by(stop)


def _installing(order: OpenOrder) -> Callable[[], Installation]:
    def install() -> Installation:
        if order.installation is None:
            raise _Unknown
        for path in local_places(order.installation):
            if not path.exists():
                raise MachineFault(
                    "the wheels lie in a folder that this node does not have",
                    where=str(path),
                    advice="mount that folder at the same path on every node, or serve the wheels from an index",
                )
        return order.installation

    return install


def _in_the_background(do: Callable[[], Outcome]) -> Outcome:
    """In a thread that gives way to others, and so do its processes (setpriority(2): on Linux of the thread)."""
    ended: list[Outcome | BaseException] = []

    def work() -> None:
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
        try:
            ended.append(do())
        except BaseException as error:  # noqa: BLE001  raised again by whoever waits
            ended.append(error)

    thread = threading.Thread(target=work, name="ahead of need", daemon=True)
    thread.start()
    thread.join()
    if isinstance(ended[0], BaseException):
        raise ended[0]
    return ended[0]
