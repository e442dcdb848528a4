"""What is in the files of the index: stand-ins or relabelled releases, as planned or as uploaded again."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tests.rig.nightly_index import relabel, standin
from tests.rig.nightly_index.archive import Archive
from tests.rig.nightly_index.bodies import Body
from tests.rig.nightly_index.catalogue import Wheel
from tests.rig.nightly_index.plan import Change, Cut, NightlyPlan, Real, behaviour_of
from tests.rig.nightly_index.real_wheel import real_wheel
from tests.rig.wheel_maker import WheelFault

KEPT_TINY = 4096
KEPT_REAL = 32  # each holds the list of a release's files, two megabytes


@dataclass(frozen=True, slots=True)
class Replacement:
    """Files that were uploaded again under their names at `moment`; what is None stayed as it was."""

    pattern: str
    moment: datetime
    changes: tuple[Change, ...] | None
    cut: Cut | None
    broken: frozenset[WheelFault] | None


@dataclass(slots=True)
class Contents:
    """Makes and keeps the contents of a plan's wheels. `done` are the replacements of a wheel so far."""

    plan: NightlyPlan
    tiny: dict[tuple[str, int], Body] = field(default_factory=dict)
    large: dict[tuple[str, int], Body] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def body(self, wheel: Wheel, done: Sequence[Replacement]) -> Body:
        """The content of a wheel."""
        key = (wheel.key, len(done))
        with self.lock:
            found = self.tiny.get(key) or self.large.get(key)
            if found is None:
                found = self._made(wheel, done)
                self._keep(key, found)
            return found

    def _keep(self, key: tuple[str, int], body: Body) -> None:
        """Remember a content, and forget the oldest when there are too many."""
        kept, most = (self.large, KEPT_REAL) if isinstance(body, Archive) else (self.tiny, KEPT_TINY)
        while len(kept) >= most:
            del kept[next(iter(kept))]
        kept[key] = body

    def metadata(self, wheel: Wheel, done: Sequence[Replacement]) -> str:
        """METADATA of a wheel, without making it."""
        real = self._real(wheel)
        if real:
            return relabel.metadata_of(real_wheel(real.wheel), self._label(wheel, real, done))
        return standin.metadata(self.plan, wheel, self._broken(wheel, done))

    def _made(self, wheel: Wheel, done: Sequence[Replacement]) -> Body:
        real = self._real(wheel)
        if real:
            return relabel.relabelled(real_wheel(real.wheel), self._label(wheel, real, done))
        note = _note(done)
        broken = self._broken(wheel, done)
        if wheel.package != "torch":
            return standin.other_body(self.plan, wheel, broken, note)
        told = [r.changes for r in done if r.changes is not None]
        changes = told[-1] if told else self.plan.changes
        behaviour = behaviour_of(changes, self.plan.source_day(wheel.day), wheel.folder)
        cut = self._cut(wheel, done)
        return standin.torch_body(self.plan, wheel, cut=cut, behaviour=behaviour, broken=broken, note=note)

    def _real(self, wheel: Wheel) -> Real | None:
        return self.plan.real_of(wheel.day) if wheel.package == "torch" else None

    def _label(self, wheel: Wheel, real: Real, done: Sequence[Replacement]) -> relabel.Label:
        broken = self._broken(wheel, done)
        return relabel.Label(
            wheel.version,
            self._cut(wheel, done).nightly,
            real.requires,
            real.edits,
            note=_note(done),
            is_dead=WheelFault.RAISES_AT_IMPORT in broken,
            claims="0.0.0" if WheelFault.OTHER_VERSION_INSIDE in broken else None,
        )

    def _cut(self, wheel: Wheel, done: Sequence[Replacement]) -> Cut:
        return next((r.cut for r in reversed(done) if r.cut), self.plan.cut(wheel.day))

    def _broken(self, wheel: Wheel, done: Sequence[Replacement]) -> frozenset[WheelFault]:
        told = [r.broken for r in done if r.broken is not None]
        if told:
            return told[-1]
        return self.plan.faults(wheel.day) if wheel.package == "torch" else frozenset()


def _note(done: Sequence[Replacement]) -> str:
    return f"uploaded again, {len(done)}" if done else ""
