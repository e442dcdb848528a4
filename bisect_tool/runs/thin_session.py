"""The session of a thin search: the builds of a range as Python files on the binaries of the newest build of each stretch.

It is searched like any other. What it learns of whole builds is evidence, and handed to the session that it serves; what it
learns of thin ones are hints (`bisect_tool.search.hints`). An overlay that does not fit cuts its stretch: the build is looked
at whole, and carries those before it. As probes may be under way, builds become other ones only in `settle`, when a search
has ended; until then a session that must be laid out anew wants nothing more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from bisect_tool.builds.build import Build, Installation, Layer, Listing, Wanted
from bisect_tool.builds.channel import Channel
from bisect_tool.builds.python_files import PythonFiles
from bisect_tool.environments.layering import NOT_VALID
from bisect_tool.runs.comparisons import Comparisons
from bisect_tool.runs.judging import from_values, verdict_of
from bisect_tool.runs.session import Session
from bisect_tool.runs.stretches import bases_of, laid, thinned, whole
from bisect_tool.search.knowledge import judged_of, timelines
from bisect_tool.search.planner import Probe
from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Flaky, Hint, face
from bisect_tool.search.together import Asking
from bisect_tool.search.wants import Wants
from bisect_tool.spec.repro import case_digest
from bisect_tool.store.results import StoredTrial
from bisect_tool.trials.failure import CannotJudge, Failed, Passed, Verdict
from bisect_tool.trials.overlay import misfit


class PartsChannel(Channel, Protocol):
    """A channel whose wheels can be read in parts."""

    def python_part(self, build: Build, folders: tuple[str, ...]) -> PythonFiles:
        """The Python part of a build. Raises `IndexUnreachable`, `NotReadable`."""


@dataclass(frozen=True, slots=True)
class ThinChannel:
    """The builds of another channel, those that are thin as layers; `folders` are the top folders of the package.

    Bases are asked for once.
    """

    whole: PartsChannel
    folders: tuple[str, ...]
    _bases: dict[str, Build] = field(default_factory=dict)

    def listing(self, wanted: Wanted) -> Listing:
        """That of the other channel."""
        return self.whole.listing(wanted)

    def source_address(self) -> str:
        """That of the other channel."""
        return self.whole.source_address()

    def identified(self, build: Build) -> Build:
        """The build as it is."""
        return build

    def current(self, build: Build) -> Build:
        """The build and its base, with what their place has now. Raises `IndexUnreachable`."""
        base = build.base
        if base is None:
            return self.whole.current(build)
        if base.identity not in self._bases:
            self._bases[base.identity] = self.whole.current(base)
        own, base_now = whole(build), self._bases[base.identity]
        now = self.whole.current(own)
        is_same = (now.identity, base_now.identity) == (own.identity, base.identity)
        return build if is_same else thinned(now, base_now)

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        """A thin build as a layer over its base. Raises `IndexUnreachable`."""
        base = build.base
        if base is None:
            return self.whole.installation(build, requires)
        return Installation(
            (),
            layer=Layer(
                self.folders,
                under=lambda: self.whole.installation(base, requires),
                changes=tuple,
                python=lambda: self.whole.python_part(whole(build), self.folders),
            ),
        )


@dataclass(slots=True)
class ThinSession(Session):
    """`builds` are those of the range, whole. `cuts`, `alone` and `dead` are as in `stretches.bases_of`, `dead` with reasons.

    `here`: the builds whose environment was here at the beginning, whole. `not_valid`: the overlays that did not fit, with the
    reason. `whole_trials`: the trials of whole builds, as they came. `bases`: for each build, whose binaries it has.
    """

    builds: tuple[Build, ...] = ()
    cuts: set[int] = field(default_factory=set)
    alone: frozenset[int] = frozenset()
    here: frozenset[int] = frozenset()
    dead: dict[int, str] = field(default_factory=dict)
    not_valid: dict[int, str] = field(default_factory=dict)
    whole_trials: list[tuple[str, int, StoredTrial]] = field(default_factory=list)
    bases: tuple[int | None, ...] = ()
    _shown: set[str] = field(default_factory=set)
    _is_stale: bool = False

    def __post_init__(self) -> None:
        super(ThinSession, self).__post_init__()
        self.builds = self.asked.builds
        self._lay_out()

    def settle(self) -> None:
        """Lay the builds out as cuts, dead and replaced ones have it now. No trial may be under way."""
        while self._is_stale:
            self._is_stale = False
            self._lay_out_again()

    def _lay_out(self) -> None:
        """Take the builds as cuts and dead ones have it now."""
        self.bases = bases_of(self.builds, self.cuts, self.dead, self.alone)
        selection = replace(self.asked.selection, builds=laid(self.builds, self.bases))
        self.asked = replace(self.asked, selection=selection)
        self._environments, self._kept = (), None
        self.comparisons = Comparisons(self.asked, self.trial_key)

    def _lay_out_again(self) -> None:
        """The same, and forget what was known of builds that are other ones now."""
        before = [build.identity for build in self.asked.builds]
        self.whole_trials = [kept for kept in self.whole_trials if kept[2].subject.identity == before[kept[1]]]
        self._lay_out()
        kept = {number for number, build in enumerate(self.asked.builds) if build.identity == before[number]}
        self.seen = defaultdict(list, {key: seen for key, seen in self.seen.items() if key[1] in kept})
        self.broken = {number: reason for number, reason in self.broken.items() if number in kept} | self.dead
        self._ids = {build.identity: number for number, build in enumerate(self.asked.builds)}
        if not self.asked.wishes.fresh:
            self.seen.clear()
            self.taken.clear()
            self.load()

    def stand_in(self, number: int, reason: str) -> bool:
        """Look at a build whole whose overlay does not fit; take other binaries where a whole build cannot be used."""
        base = self.bases[number]
        if base is not None and reason.startswith(NOT_VALID):
            self.cuts.add(number)
            self.not_valid[number] = reason
        else:
            unusable = number if base is None else base
            if unusable in self.dead:
                self.broken[unusable] = self.dead[unusable]
                return False
            self.dead[unusable] = reason
        self._is_stale = True
        return True

    def replace(self, build: Build, now: Build) -> None:
        """Take `now` for `build`, whose file was replaced, or that of its base."""
        number = self._ids.get(build.identity)
        if number is None:
            return
        news, base = {number: whole(now) if now.is_thin else now}, self.bases[number]
        if base is not None and now.base is not None:
            news[base] = now.base
        self.builds = tuple(news.get(place, one) for place, one in enumerate(self.builds))
        self._is_stale = True

    def take(self, case: str, build: int, trial: StoredTrial) -> Verdict:
        """Judge a trial; that of a whole build is kept to be handed on."""
        verdict = super(ThinSession, self).take(case, build, trial)
        if self.asked.builds[build].base is None:
            self.whole_trials.append((case, build, trial))
            if isinstance(verdict, Failed):
                self._shown.update(failure.id for failure in verdict.failures)
        return verdict

    def _fitting(self, build: int, verdict: Verdict) -> Verdict:
        """The verdict, unless it is about an overlay that does not fit: then the build is looked at whole."""
        if not isinstance(verdict, Failed) or self.asked.builds[build].base is None:
            return verdict
        reason = misfit(verdict.failures, frozenset(self._shown))
        if reason is None:
            return verdict
        self.stand_in(build, f"{NOT_VALID}{reason}")
        return CannotJudge(f"{NOT_VALID}{reason}")

    def asking(self) -> Asking:
        """The question as it stands; nothing is wanted before it is settled."""
        asking = super(ThinSession, self).asking()
        return replace(asking, wants=Wants()) if self._is_stale else asking

    def wanted_in(self, environment: str) -> Probe | None:
        """What is worth running in an open environment; nothing before it is settled."""
        return None if self._is_stale else super(ThinSession, self).wanted_in(environment)

    def prices(self) -> Prices:
        """A thin build costs its own part, and its base where that is not here yet."""
        found = super(ThinSession, self).prices()
        return replace(found, sizes=tuple(self._bytes_for(number) for number in range(len(self.builds))))

    def _bytes_for(self, number: int) -> int | None:
        build = self.asked.builds[number]
        base = self.bases[number]
        if base is None or build.size is None or self.environments.is_ready(self.asked.environment_key(base)):
            return build.size
        size = self.builds[base].size
        return None if size is None else size + build.size

    def found_hints(self) -> dict[tuple[str, int], Hint]:
        """What the thin builds showed, by (case, build)."""
        bases = self.bases
        lines = timelines(self.asked.question, self.known(), self.asked.question.tests)
        return self._hints_before() | {
            (case, number): Hint(face(state), base)
            for case, states in lines.items()
            for number, state in judged_of(states).items()
            if (base := bases[number]) is not None and not isinstance(state, Flaky)
        }

    def _hints_before(self) -> dict[tuple[str, int], Hint]:
        """What builds that are looked at whole now showed when they were looked at thin, in an earlier run."""
        asked, plain = self.asked, bases_of(self.builds, self.cuts, self.dead)
        if asked.wishes.fresh:
            return {}
        thin = {
            thinned(self.builds[number], self.builds[base]).identity: (number, base)
            for number in self.alone
            if (base := plain[number]) is not None
        }
        names = {case_digest(case, asked.spec): case.name for case in asked.spec.tests}
        found: dict[tuple[str, int], Hint] = {}
        for setting in asked.settings if thin else ():
            for trial in self.results.trials_of(asked.repro.digest, setting, asked.device.kind):
                if trial.subject.identity in thin and trial.case_digest in names:
                    number, base = thin[trial.subject.identity]
                    verdict = verdict_of(from_values(trial.observation), asked.spec.failures)
                    if (failures := self._shown_by(verdict)) is not None:
                        found[names[trial.case_digest], number] = Hint(failures, base)
        return found

    def _shown_by(self, verdict: Verdict) -> frozenset[str] | None:
        """The failures that a thin trial showed; None without a verdict."""
        if isinstance(verdict, Failed) and misfit(verdict.failures, frozenset(self._shown)) is None:
            self.failures |= {failure.id: failure for failure in verdict.failures}
            return frozenset(failure.id for failure in verdict.failures)
        return frozenset() if isinstance(verdict, Passed) else None

    def thin_trials(self) -> int:
        """How many trials of thin builds are known, without those of controls."""
        bases, tests = self.bases, self.asked.question.tests
        own = sum(
            len(seen) for (case, number), seen in self.seen.items() if case in tests and bases[number] is not None
        )
        return own + len(self._hints_before())

    def thin_builds(self) -> tuple[int, ...]:
        """The builds of which something is known thin."""
        return tuple(sorted({number for _, number in self.seen if self.bases[number] is not None}))

    def made_whole(self) -> set[int]:
        """The builds whose environment was made for this session, to look at them or to carry others."""
        used = {base for base in self.bases if base is not None} | self.installed
        keys = {number: replace(self.asked.environment_key(number), build=self.builds[number]) for number in used}
        return {number for number, key in keys.items() if self.environments.is_ready(key)} - self.here

    def whole_healths(self) -> Mapping[str, dict[str, Any]]:
        """What the environments of whole builds held."""
        own = {build.identity for build in self.builds}
        return {identity: health for identity, health in self.healths.items() if identity in own}
