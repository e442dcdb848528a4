"""From a spec to a question that can be searched: builds, interpreter, device, and what results are stored under."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from bisect_tool.builds.bounds import Selection, select
from bisect_tool.builds.build import Build, Listing, Wanted
from bisect_tool.builds.channel import Access, Channel, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.builds.seams import seams_of
from bisect_tool.environments.environment import EnvironmentKey
from bisect_tool.environments.interpreter import Interpreter, find_interpreter, spare_pythons
from bisect_tool.environments.uv import Uv
from bisect_tool.history.projects import Project, known_project, read_source
from bisect_tool.history.source import HistoryAccess
from bisect_tool.runs.device import Device, choose_device
from bisect_tool.runs.revisions import revise
from bisect_tool.search.knowledge import Question
from bisect_tool.search.planner import Policy
from bisect_tool.spec.model import Case
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import Repro, read_repro


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line adds to a spec: how builds are listed and how the search goes."""

    pre: bool = False
    yanked: bool = False
    policy: Policy = field(default_factory=Policy)
    fresh: bool = False
    retry_untestable: bool = False


@dataclass(frozen=True, slots=True)
class Means:
    """How questions are prepared: where channels and histories may look, uv, and the environment."""

    access: Access
    history: HistoryAccess
    uv: Uv
    environ: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time inside which something changed, as a coarser channel has shown; both ends are UTC."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Stage:
    """Which channel is searched between which bounds, and the windows that a coarser channel has found."""

    channel: str
    from_: str | None
    to: str | None
    windows: tuple[Window, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is ready to be searched. Build number i of `question` is `selection.builds[i]`.

    `interpreters` are by `Build.python`: None has the one that was wanted. `project` is where the package is developed, None
    when nobody knows. `mainline` gives the commit of its main line for one that a nightly names; `unread` says why it cannot.
    """

    read: ReadSpec
    repro: Repro
    stage: Stage
    channel: Channel
    listing: Listing
    selection: Selection
    interpreters: Mapping[str | None, Interpreter]
    device: Device
    wishes: Wishes
    project: Project | None = None
    mainline: Mapping[str, str] = field(default_factory=dict)
    unread: str | None = None

    @property
    def builds(self) -> tuple[Build, ...]:
        """The builds of the range, oldest first."""
        return self.selection.builds

    @property
    def question(self) -> Question:
        """The question for the planner."""
        spec = self.read.spec
        return Question(
            size=len(self.builds),
            tests=tuple(case.name for case in spec.tests),
            controls=tuple(case.name for case in spec.controls),
            open_start=self.selection.open_start,
            landmarks=self._landmarks,
        )

    @property
    def _landmarks(self) -> tuple[int, ...]:
        """Builds that must be judged: both sides of every seam, and the ends of what a coarser channel has found."""
        seams = {number + side for number in seams_of(self.builds) for side in (0, 1)}
        dates = [build.date for build in self.builds]
        edges = {
            number
            for window in self.stage.windows
            for number in (
                next((n for n, date in enumerate(dates) if date and date >= window.start), None),
                next((n for n, date in reversed(list(enumerate(dates))) if date and date <= window.end), None),
            )
            if number is not None
        }
        return tuple(sorted(seams | edges))

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter that was wanted."""
        return self.interpreters[None]

    def interpreter_of(self, build: int) -> Interpreter:
        """The interpreter that a build runs on."""
        return self.interpreters[self.builds[build].python]

    def setting_of(self, build: int) -> str:
        """Everything about the environment of a build but the build, as a digest: what results are stored under."""
        return self._setting(self.interpreter_of(build))

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of all builds, each once."""
        used = dict.fromkeys(build.python for build in self.builds)
        return tuple(self._setting(self.interpreters[python]) for python in used)

    def _setting(self, interpreter: Interpreter) -> str:
        spec = self.read.spec
        base = f"system:{interpreter.path}" if spec.base == "system" else "isolated"
        parts = (interpreter.identity, *sorted(spec.requires), base)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def environment_key(self, build: int) -> EnvironmentKey:
        """What the environment of a build is made of."""
        spec = self.read.spec
        return EnvironmentKey(self.builds[build], self.interpreter_of(build), spec.requires, spec.base == "system")

    def case(self, name: str) -> Case:
        """The case called `name`."""
        return next(case for case in self.read.spec.cases if case.name == name)

    def variables(self, case: Case) -> Mapping[str, str]:
        """The environment variables of a case."""
        return {**self.read.spec.env, **case.env}


def ask(read: ReadSpec, wishes: Wishes, means: Means, stage: Stage | None = None) -> Asked:
    """Prepare the question of a spec, in its first channel unless `stage` says otherwise.

    Raises what the parts raise: `SpecError`, `BoundError`, `EmptyRange`, `PackageNotFound`, `IndexUnreachable`,
    `DeviceMissing`, `PythonMissing`, `HistoryUnavailable` for a clone that is none.
    """
    spec, uv = read.spec, means.uv
    stage = stage or Stage(spec.channel[0], spec.from_, spec.to)
    repro = read_repro(read)
    device = choose_device(spec.device, means.environ)
    is_system = spec.base == "system"
    interpreter = find_interpreter(_from_spec(spec.python, read.folder), uv, keep_environment=is_system)
    spare = (
        spare_pythons(interpreter, uv) if spec.python is None and not is_system and stage.channel == "nightly" else ()
    )
    channel = open_channel(stage.channel, means.access)
    listing = channel.listing(
        Wanted(
            package=spec.package,
            target=target_for(interpreter.version, free_threaded=interpreter.free_threaded),
            pre=wishes.pre,
            yanked=wishes.yanked,
            variant=spec.variant,
            from_=stage.from_,
            to=stage.to,
            machine=device.machine,
            other_targets=tuple(target_for(python) for python in spare),
        )
    )
    project = read_source(spec.source) if spec.source else known_project(spec.package)
    revised = revise(select(listing, stage.from_, stage.to), channel, project, means.history, means.access.tell)
    pythons = {build.python for build in revised.selection.builds if build.python is not None}
    interpreters: dict[str | None, Interpreter] = {None: interpreter}
    interpreters |= {python: find_interpreter(python, uv) for python in sorted(pythons)}
    return Asked(
        read, repro, stage, channel, listing, revised.selection, interpreters, device, wishes,
        project, revised.mainline, revised.missing,
    )  # fmt: skip


def _from_spec(python: str | None, folder: Path) -> str | None:
    """A path in a spec is meant from the folder of the spec."""
    if python is not None and "/" in python and not Path(python).is_absolute():
        return str(folder / python)
    return python
