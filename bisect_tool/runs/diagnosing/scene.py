"""What every look at a change needs: where trials run, what is kept, the two builds and their open environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.environments.environment import Environment
from bisect_tool.runs.diagnosing.bench import Bench, Tried, Variation
from bisect_tool.runs.diagnosing.changes import Change
from bisect_tool.runs.diagnosing.evidence import Evidence
from bisect_tool.runs.diagnosing.ladder import Shown, shown_by
from bisect_tool.spec.model import Case


@dataclass(frozen=True, slots=True)
class Scene:
    """`opened` are the environments of the change's two builds, by number."""

    bench: Bench
    evidence: Evidence
    change: Change
    opened: Mapping[int, Environment]

    @property
    def case(self) -> Case:
        """The case that changes."""
        return self.bench.session.asked.case(self.change.case)

    @property
    def device(self) -> str:
        """`cuda` or `cpu`."""
        return self.bench.session.asked.device.name

    def label(self, number: int) -> str:
        """What the report calls a build."""
        return self.bench.session.asked.builds[number].label

    def relative(self, path: Path) -> str:
        """A path of the cache as the report names it."""
        return str(path.relative_to(self.bench.cache.root))

    def try_all(self, number: int, variations: Sequence[Variation]) -> list[Tried]:
        """The case in every one of these ways on a build. Raises a `BisectError` when nothing can be run."""
        return self.bench.try_all(self.case, number, self.opened[number], variations)

    def try_one(self, number: int, variation: Variation) -> Tried:
        """The case in another way on a build. Raises a `BisectError` when nothing can be run."""
        return self.bench.try_one(self.case, number, self.opened[number], variation)

    def shown(self, tried: Tried) -> tuple[Shown, str]:
        """What a trial says about the failure, and the detail."""
        return shown_by(tried.verdict, self.change.failure)
