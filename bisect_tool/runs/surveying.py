"""The builds of a range, and what they run on: channel, variant, interpreter, device, commits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from bisect_tool.builds.bounds import Selection, named_only, select
from bisect_tool.builds.build import Build, Listing, Span, Wanted
from bisect_tool.builds.channel import Access, Channel, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.environments.environment import EnvironmentKey
from bisect_tool.environments.holding import held_requirements
from bisect_tool.environments.interpreter import Interpreter, find_interpreter, packages_digest, spare_pythons
from bisect_tool.environments.uv import Uv
from bisect_tool.history.nightlies import NightlyMap
from bisect_tool.history.projects import Project, known_project, read_source
from bisect_tool.history.source import HistoryAccess
from bisect_tool.runs.device import Device, choose_device
from bisect_tool.runs.recent import Recent, Recollection
from bisect_tool.runs.revisions import revise
from bisect_tool.search.planner import Policy
from bisect_tool.spec.model import Spec

COMMITS = "commit"  # the channel whose builds are commits
NIGHTLY = "nightly"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line adds to a spec: how builds are listed, how the search goes, and whether it explains itself.

    `refresh`: the index is asked even when it was asked the same a short while ago. `prior` is `history` when the commits
    between the builds say where to look first, else `none`. `diagnose_jobs` is how many trials of a diagnosis run side by
    side. `thin` is `auto` when thin builds may say so, where they are worth it, else `off`. `only` are builds of the range, by
    their labels: nothing else is looked at, and each of them for sure. Such a run finds an old answer again; it is no answer.
    """

    pre: bool = False
    yanked: bool = False
    policy: Policy = field(default_factory=Policy)
    fresh: bool = False
    retry_untestable: bool = False
    explain: bool = False
    prior: str = "none"
    isolate: bool = False
    diagnose: bool = False
    diagnose_jobs: int = 1
    thin: str = "off"
    refresh: bool = True
    only: frozenset[str] = frozenset()


class FindPython(Protocol):
    """As `find_interpreter`."""

    def __call__(self, wanted: str | None, uv: Uv, *, keep_environment: bool = False) -> Interpreter:
        """The interpreter."""


@dataclass(frozen=True, slots=True)
class Means:
    """How questions are prepared: where channels and histories may look, uv, the environment, and who finds what is here."""

    access: Access
    history: HistoryAccess
    uv: Uv
    environ: Mapping[str, str] = field(repr=False)
    find_device: Callable[[Sequence[str], Mapping[str, str]], Device] = choose_device
    find_python: FindPython = find_interpreter
    find_spares: Callable[[Interpreter, Uv], tuple[str, ...]] = spare_pythons
    open_channel: Callable[[str, Access], Channel] = open_channel


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time inside which something changed, as a coarser channel has shown; both ends are UTC."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Stage:
    """Which channel is searched between which bounds, and the windows that a coarser channel has found.

    `spans` are the same for commits, exactly. `inside` is the merge whose own commits they are. `shown` are the failures that
    the coarser channel has shown, by their identity.
    """

    channel: str
    from_: str | None
    to: str | None
    windows: tuple[Window, ...] = ()
    spans: tuple[Span, ...] = ()
    inside: str | None = None
    shown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Survey:
    """The builds of a range, oldest first: build number i is `selection.builds[i]`.

    `interpreters` are by `Build.python`: None has the one that was wanted. `project` is where the package is developed, None
    when nobody knows. `nightlies` is its nightly branch, where that was needed and read; `unread` says why it was not.
    `twins` are builds of the same commit as one of the range, by the identity of that one. `recent` is what the next run may
    take over, None where the channel has no files.
    """

    spec: Spec
    stage: Stage
    channel: Channel
    listing: Listing
    selection: Selection
    interpreters: Mapping[str | None, Interpreter]
    device: Device
    project: Project | None
    nightlies: NightlyMap | None
    unread: str | None
    twins: Mapping[str, tuple[Build, ...]]
    recent: Recent | None = field(default=None, kw_only=True)

    @property
    def builds(self) -> tuple[Build, ...]:
        """The builds of the range, oldest first."""
        return self.selection.builds

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
        # What the base holds, not where it lies: two hosts have other paths, and one path other packages after an update.
        base = f"system:{packages_digest(interpreter.path)}" if self.spec.base == "system" else "isolated"
        more = [f"hold:{text}" for text in sorted(self.held)] + [f"as-is:{text}" for text in sorted(self.spec.as_is)]
        parts = (interpreter.identity, *sorted(self.spec.requires), base, *more)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def environment_key(self, build: int) -> EnvironmentKey:
        """What the environment of a build is made of."""
        spec, interpreter = self.spec, self.interpreter_of(build)
        is_system = spec.base == "system"
        return EnvironmentKey(self.builds[build], interpreter, spec.requires, is_system, self.held, spec.as_is)

    @property
    def held(self) -> tuple[str, ...]:
        """The requirements that are the same for every build."""
        return held_requirements(self.spec.package, self.spec.requires, self.spec.hold)


def survey(
    spec: Spec, folder: Path, wishes: Wishes, means: Means, stage: Stage | None = None, *, least: int = 2
) -> Survey:
    """The builds of a spec in its first channel, unless `stage` says otherwise; paths are meant from `folder`.

    Raises what the parts raise: `BoundError`, `EmptyRange` with fewer than `least` builds, `PackageNotFound`,
    `IndexUnreachable`, `DeviceMissing`, `PythonMissing`, `HistoryUnavailable` for a clone that is none.
    """
    stage = stage or Stage(spec.channel[0], spec.from_, spec.to)
    device = means.find_device(spec.device, means.environ)
    project = read_source(spec.source) if spec.source else known_project(spec.package)
    is_system = spec.base == "system"
    interpreter = means.find_python(_from_spec(spec.python, folder), means.uv, keep_environment=is_system)
    may_change = spec.python is None and not is_system and stage.channel == "nightly"
    spare = means.find_spares(interpreter, means.uv) if may_change else ()
    channel = means.open_channel(stage.channel, _access_of(spec, stage, means))
    wanted = Wanted(
        package=project.source_name(spec.package) if project and stage.channel == COMMITS else spec.package,
        target=target_for(interpreter.version, free_threaded=interpreter.free_threaded),
        pre=wishes.pre,
        yanked=wishes.yanked,
        variant=spec.variant,
        from_=stage.from_,
        to=stage.to,
        machine=device.machine,
        other_targets=tuple(target_for(python) for python in spare),
        spans=stage.spans,
    )
    recent = _recent(stage.channel, channel, wanted, wishes, means.access)
    listing = recent.listing if recent else channel.listing(wanted)
    selected = named_only(select(listing, stage.from_, stage.to, least=least), wishes.only, least)
    revised = revise(selected, channel, project, means.history, means.access.tell)
    pythons = {build.python for build in revised.selection.builds if build.python is not None}
    interpreters: dict[str | None, Interpreter] = {None: interpreter}
    interpreters |= {python: means.find_python(python, means.uv) for python in sorted(pythons)}
    return Survey(
        spec,
        stage,
        channel,
        listing,
        revised.selection,
        interpreters,
        device,
        project,
        revised.nightlies,
        revised.missing,
        revised.twins,
        recent=recent,
    )


def _recent(name: str, channel: Channel, wanted: Wanted, wishes: Wishes, access: Access) -> Recent | None:
    """The listing of nightlies, as it was a short while ago or as it is now; None for other channels.

    The pages of a package index say themselves how long they may be kept, those of the nightlies never may. A folder is
    looked at in no time, and commits are not files.
    """
    if name != NIGHTLY or access.pages is None:
        return None
    place = (name, channel.source_address(), str(access.index), str(access.nightly_index))
    return Recollection(access.pages / "listings", wishes.refresh).of(place, wanted, lambda: channel.listing(wanted))


def _access_of(spec: Spec, stage: Stage, means: Means) -> Access:
    """What the channel of a stage may use: the history of the package only where its commits are searched."""
    if stage.channel != COMMITS:
        return means.access
    from bisect_tool.history.cloning import open_line

    return replace(means.access, line=lambda: open_line(spec.package, spec.source, means.history, means.access.tell))


def _from_spec(python: str | None, folder: Path) -> str | None:
    """A path in a spec is meant from the folder of the spec."""
    if python is not None and "/" in python and not Path(python).is_absolute():
        return str(folder / python)
    return python
