"""From a spec to a question that can be searched: builds, interpreter, device, and what results are stored under."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bisect_tool.builds.bounds import Selection, select
from bisect_tool.builds.build import Build, Listing, Wanted
from bisect_tool.builds.channel import Access, Channel, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.environments.environment import EnvironmentKey
from bisect_tool.environments.interpreter import Interpreter, find_interpreter
from bisect_tool.environments.uv import Uv
from bisect_tool.runs.device import Device, choose_device
from bisect_tool.runs.references import check_references, reference_of
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
class Asked:
    """A question that is ready to be searched. Build number i of `question` is `selection.builds[i]`."""

    read: ReadSpec
    repro: Repro
    channel: Channel
    listing: Listing
    selection: Selection
    interpreter: Interpreter
    device: Device
    wishes: Wishes

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
        )

    @property
    def setting(self) -> str:
        """Everything about the environment but the build, as a digest: what results are stored under."""
        spec = self.read.spec
        base = f"system:{self.interpreter.path}" if spec.base == "system" else "isolated"
        parts = (self.interpreter.identity, *sorted(spec.requires), base)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def environment_key(self, build: int) -> EnvironmentKey:
        """What the environment of a build is made of."""
        spec = self.read.spec
        return EnvironmentKey(self.builds[build], self.interpreter, spec.requires, spec.base == "system")

    def case(self, name: str) -> Case:
        """The case called `name`."""
        return next(case for case in self.read.spec.cases if case.name == name)

    def has_metrics(self, name: str) -> bool:
        """Whether numbers of the case called `name` are compared."""
        return bool(self.read.spec.metrics_of(self.case(name)))

    def reference(self, name: str) -> int:
        """The build that the numbers of the case called `name` are compared with."""
        return reference_of(self.read.spec, self.case(name), self.selection)

    def variables(self, case: Case) -> Mapping[str, str]:
        """The environment variables of a case."""
        return {**self.read.spec.env, **case.env}


def ask(read: ReadSpec, wishes: Wishes, access: Access, uv: Uv, environ: Mapping[str, str]) -> Asked:
    """Prepare the question of a spec.

    Raises what the parts raise: `SpecError`, `BoundError`, `EmptyRange`, `PackageNotFound`, `IndexUnreachable`,
    `DeviceMissing`, `PythonMissing`.
    """
    spec = read.spec
    repro = read_repro(read)
    device = choose_device(spec.device, environ)
    interpreter = find_interpreter(_from_spec(spec.python, read.folder), uv, keep_environment=spec.base == "system")
    channel = open_channel(spec.channel[0], access)
    listing = channel.listing(
        Wanted(
            package=spec.package,
            target=target_for(interpreter.version, free_threaded=interpreter.free_threaded),
            pre=wishes.pre,
            yanked=wishes.yanked,
            variant=spec.variant,
            from_=spec.from_,
            to=spec.to,
            machine=device.machine,
        )
    )
    selection = select(listing, spec.from_, spec.to)
    check_references(spec, selection, str(read.path))
    return Asked(read, repro, channel, listing, selection, interpreter, device, wishes)


def _from_spec(python: str | None, folder: Path) -> str | None:
    """A path in a spec is meant from the folder of the spec."""
    if python is not None and "/" in python and not Path(python).is_absolute():
        return str(folder / python)
    return python
