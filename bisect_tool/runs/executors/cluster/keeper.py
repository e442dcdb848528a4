"""The keeper of a node: an actor that holds what must outlast one call, and through which the driver speaks to the calls.

It holds open the environments of the slots of its node, so that nothing removes them between two trials, and the news of jobs
until the driver takes them. It ends with the driver's connection, and everything that it holds is free then.
"""

from __future__ import annotations

import platform
import shutil
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bisect_tool.builds.build import Installation
from bisect_tool.environments import locks
from bisect_tool.environments.environment import EnvironmentKey
from bisect_tool.environments.marks import read_mark
from bisect_tool.runs.executors import News
from bisect_tool.runs.executors.cluster.node import Signs, gpus_here, home, host_name, interpreter_like
from bisect_tool.runs.executors.cluster.parcels import Failed, Lost, NodeFacts, Tool, failed, own_tool
from bisect_tool.runs.gpus import Nvml
from bisect_tool.runs.measuring import machine_since_start
from bisect_tool.trials.leftovers import remove_folder

CALLS = 256  # at once: each slot has one that waits for news
ASK_FOR = 5.0  # seconds that a question for news waits
TRIAL = ".trial"  # at the end of the name of a file that names the folder of a trial under way
DIGITS = 16  # of the digest at the end of the name of an environment's folder


class Keeper:
    """One to a node. Its methods are called over the network, several at a time. `ask` opens the driver of the GPUs."""

    def __init__(self, ask: Callable[[], Nvml]) -> None:
        self._ask = ask
        self._held: dict[str, ExitStack] = {}
        self._news: dict[str, list[News | Lost]] = defaultdict(list)
        self._has_news = threading.Condition()
        self._lock = ExitStack()
        self._folder: Path | None = None

    def open(self, tool: Tool) -> NodeFacts | Failed:
        """Make ready for the driver, whose tool is `tool`; gives what the node is, or why it cannot be used."""
        own = own_tool()
        if own != tool:
            text = f"it has bisect-tool {own.version} ({own.digest}), the driver {tool.version} ({tool.digest})"
            return Failed("MachineFault", text, host_name(), "install the same bisect-tool[ray] on every node")
        try:
            self._begin()
            return self._facts()
        except Exception as error:  # noqa: BLE001  it travels, and the driver says it
            return failed(error, host_name())

    def folder(self) -> Path:
        """The folder on this node for what passes through."""
        if self._folder is None:
            raise RuntimeError("the keeper was not opened")
        return self._folder

    def _begin(self) -> None:
        """A folder of its own, locked as long as this lasts; those of keepers that are gone are removed."""
        jobs = home().jobs
        self._folder = jobs / uuid.uuid4().hex[:12]
        self._folder.mkdir(parents=True)
        self._lock.enter_context(locks.exclusive(self._folder / "lock"))
        for folder in jobs.iterdir():
            if folder != self._folder:
                with locks.exclusive_or_none(folder / "lock") as is_free:
                    if is_free:
                        _remove_left_over(folder)

    def _facts(self) -> NodeFacts:
        here = home()
        gpus, driver, why = gpus_here(self._ask, here.environ)
        folders = list(here.cache.environments.iterdir())
        return NodeFacts(
            host=host_name(),
            platform=platform.platform(),
            tool=own_tool(),
            cache=str(here.cache.root),
            boot=machine_since_start(),
            ready=frozenset(one.name[-DIGITS:] for one in folders if read_mark(one).get("state") == "ready"),
            has_environments=bool(folders),
            gpus=gpus,
            driver=driver,
            no_gpu=why,
        )

    def hold(self, lease: str, key: EnvironmentKey, device: str) -> None:
        """Keep an environment open that whoever calls has open at this moment; `key` is that of the driver."""
        own = with_own_interpreter(key)
        stack = ExitStack()
        stack.enter_context(home().environments().use(own, _refuse, device=device, as_of=None))
        self._held[lease] = stack

    def release(self, lease: str) -> None:
        """Let go of an environment; of one that is not held, nothing."""
        if (stack := self._held.pop(lease, None)) is not None:
            stack.close()

    def note(self, job: str, news: News | Lost) -> None:
        """Take news of a job."""
        with self._has_news:
            self._news[job].append(news)
            self._has_news.notify_all()

    def news(self, job: str) -> Sequence[News | Lost]:
        """The news of a job that were not taken yet; waits a while for some."""
        deadline = time.monotonic() + ASK_FOR
        with self._has_news:
            while not self._news.get(job) and (left := deadline - time.monotonic()) > 0:
                self._has_news.wait(left)
            return self._news.pop(job, [])

    def call_off(self, job: str) -> bool:
        """Ask a job to end; whether it had begun."""
        return Signs(self.folder()).call_off(job)

    def end(self, job: str) -> Sequence[News | Lost]:
        """A job has ended; gives the news that were not taken yet."""
        Signs(self.folder()).forget(job)
        with self._has_news:
            found = self._news.pop(job, [])
            self._has_news.notify_all()
        return found


def _remove_left_over(folder: Path) -> None:
    """What a keeper and its jobs have left: they were killed."""
    for note in folder.glob(f"*{TRIAL}"):
        remove_folder(home().cache.trials / note.read_text(encoding="utf-8"))
    shutil.rmtree(folder, ignore_errors=True)


def with_own_interpreter(key: EnvironmentKey) -> EnvironmentKey:
    """The key with the interpreter of this node. Raises `PythonMissing`."""
    return replace(key, interpreter=interpreter_like(key.interpreter, exactly=key.base_system))


def _refuse() -> Installation:
    raise RuntimeError("an environment that is held must be there")
