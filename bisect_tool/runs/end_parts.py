"""The two builds of a change in the report: how sure, what lies between them, and what else differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bisect_tool.builds import versions
from bisect_tool.builds.bounds import between_left_out
from bisect_tool.builds.build import LeftOutBecause
from bisect_tool.builds.seams import described_side, is_leap, is_seam
from bisect_tool.history.clues import Clues, Sought, with_part
from bisect_tool.history.projects import DatedBuilds
from bisect_tool.reports import report as parts
from bisect_tool.reports.commits import Suspicion
from bisect_tool.reports.diagnosis import Diagnosis
from bisect_tool.runs.failure_clues import FailureClues
from bisect_tool.runs.history_reading import HOW, HistoryReader, Looked, with_revision
from bisect_tool.runs.report_words import Names, differences_of
from bisect_tool.runs.session import Session
from bisect_tool.runs.thin_parts import word_of_hint
from bisect_tool.search import answer as found


@dataclass(slots=True)
class Ends:
    """Tells about pairs of builds of a session; `history` is where the commits between them are read, if they are.

    `isolation` are cross tests that were made on them, `diagnoses` say which part of the compiler makes a failure.
    """

    session: Session
    history: HistoryReader | None = None
    isolation: Sequence[parts.Isolation] = ()
    diagnoses: Sequence[Diagnosis] = ()
    clues: FailureClues = field(init=False)

    def __post_init__(self) -> None:
        self.clues = FailureClues(self.session)

    def sides(self, end: found.End, case: str) -> dict[str, Any]:
        """What both kinds of ends have in common: how sure, what lies between, what else differs."""
        builds = self.session.asked.builds
        holes = tuple(
            parts.Hole(
                build=builds[hole.build].label,
                reason=Names(self.session).told(
                    hole.reason or word_of_hint(self.session, case, hole.build) or "not tried"
                ),
                tried=hole.reason is not None,
                thin=hole.reason is None and (case, hole.build) in self.session.hints,
            )
            for hole in self._told(end, case)
        )
        also_differs = self._also_differs(end.before, end.after)
        return {
            "kind": "narrowed" if also_differs and end.kind is found.Kind.EXACT else end.kind.value,
            "also_differs": also_differs,
            "untestable": tuple(hole.build for hole in holes if hole.tried),
            "holes": holes,
            # With --trust one trial convinces, and nothing is run again: that is no verification.
            "verified": end.verified and self.session.asked.policy.repeats > 0,
            "compare": self._compare(end.before, end.after),
            "left_out": self._left_out(end.before, end.after),
            "same_code": self._same_code(end.before, end.after),
        }

    def _left_out(self, before: int | None, after: int | None) -> tuple[str, ...]:
        """Versions inside a reported end that the listing has and that were not considered."""
        if before is None or after is None:
            return ()
        asked = self.session.asked
        between = between_left_out(asked.selection, asked.builds[before], asked.builds[after])
        return tuple(
            f"{one.version}: {one.because.value}{f' ({one.detail})' if one.detail else ''}"
            + ("; --yanked includes it" if one.because is LeftOutBecause.YANKED else "")
            for one in between
            if one.because is not LeftOutBecause.PRE_RELEASE
        )

    def _told(self, end: found.End, case: str) -> Sequence[found.Hole]:
        """What lies inside an end; beyond an open one that was looked at thin, only what was looked at."""
        hints = self.session.hints
        if end.kind is not found.Kind.OPEN or not any((case, hole.build) in hints for hole in end.holes):
            return end.holes
        return [hole for hole in end.holes if hole.reason is not None or (case, hole.build) in hints]

    def _also_differs(self, before: int | None, after: int | None) -> str | None:
        """Two neighbours of different variants, because no date has both: the change may be one of the variant."""
        if before is None or after is None:
            return None
        older, newer = self.session.asked.builds[before], self.session.asked.builds[after]
        if not is_leap(older, newer):
            return None
        return f"the builds are of {described_side(older)} and {described_side(newer)}, and no date has both"

    def _same_code(self, before: int | None, after: int | None) -> str | None:
        """Why two neighbours have the same code, None when they need not."""
        if before is None or after is None:
            return None
        older, newer = self.session.asked.builds[before], self.session.asked.builds[after]
        if is_seam(older, newer):
            return f"{described_side(older)} and {described_side(newer)} of {older.date:%Y-%m-%d}"
        revisions = self._main_revision(before), self._main_revision(after)
        return f"commit {revisions[0][:12]}" if revisions[0] and revisions[0] == revisions[1] else None

    def _compare(self, before: int | None, after: int | None) -> str | None:
        project = self.session.asked.project
        older, newer = self._main_revision(before), self._main_revision(after)
        if project is None or before is None or after is None:
            return None
        if older is None or newer is None:
            looked = self._looked(before, after)
            return looked.part.link if looked else None
        return project.compare_link(older, newer) if older != newer else None

    def _looked(self, before: int, after: int) -> Looked | None:
        """What lies between two builds; None when nobody can tell, or it is not asked for."""
        asked = self.session.asked
        if self.history is None or asked.project is None:
            return None
        if asked.unread:
            self.history.give_up(asked.project, f"{asked.unread}; {HOW}")
        older, newer = (with_revision(asked.builds[number], self._health(number)) for number in (before, after))
        return self.history.look(asked.project, older, newer, asked.nightlies)

    def suspicion(self, failure: found.FailureAnswer, end: found.End, sought: Sought) -> Suspicion | None:
        """The commits to look at first for a failure; None when the commits are not known."""
        if end.before is None or end.after is None:
            return None
        looked = self._looked(end.before, end.after)
        if looked is None:
            return None
        shows = end.after if sought is Sought.BREAK else end.before
        differences, part = self._differences(end.before, end.after), self._isolated(failure.case, end)
        clues = self.clues.of(failure.failure, failure.case, sought, shows, differences, part)
        return looked.suspicion(self._diagnosed(failure, end, clues))

    def _diagnosed(self, failure: found.FailureAnswer, end: found.End, clues: Clues) -> Clues:
        """The clues, with the part of the compiler that makes the failure of this change, where one was named."""
        told = {self.label(end.before), self.label(end.after)}
        name = Names(self.session).id_of(failure.failure)
        one = next(
            (
                one
                for one in self.diagnoses
                if (one.case, one.failure, {one.build, one.without}) == (failure.case, name, told)
            ),
            None,
        )
        return clues if one is None else with_part(clues, one.files, one.names)

    def _isolated(self, case: str, end: found.End) -> str | None:
        """The part of the builds that makes the change, where cross tests have told it."""
        told = (self.label(end.before), self.label(end.after))
        tests = self.isolation
        return next((one.part for one in tests if (one.case, one.before, one.after) == (case, *told)), None)

    def _differences(self, before: int, after: int) -> tuple[parts.Difference, ...]:
        return differences_of(self._health(before), self._health(after), self.session.asked.spec.package)

    def boundary(self, before: int, after: int) -> parts.Boundary:
        """Revisions, commits and other differences between two builds."""
        builds = self.session.asked.builds
        looked = self._looked(before, after)
        return parts.Boundary(
            before=builds[before].label,
            after=builds[after].label,
            revision_before=self._revision(before),
            revision_after=self._revision(after),
            main_before=self._main_revision(before),
            main_after=self._main_revision(after),
            differences=self._differences(before, after),
            commits=looked.part if looked else None,
        )

    def _health(self, number: int | None) -> Mapping[str, Any]:
        if number is None:
            return {}
        return self.session.healths.get(self.session.asked.builds[number].identity, {})

    def _revision(self, number: int | None) -> str | None:
        revision = self._health(number).get("revision")
        return None if revision is None else str(revision)

    def _main_revision(self, number: int | None) -> str | None:
        """The commit of the main line that a build stands for; None where a nightly names another one and no map is here."""
        revision, asked = self._revision(number), self.session.asked
        if revision is None or number is None:
            return None
        is_nightly = versions.is_dated_pre_release(asked.builds[number].version)
        if is_nightly and asked.project and asked.project.dated is DatedBuilds.NIGHTLY_BRANCH:
            nightly = asked.nightlies.by_revision(revision) if asked.nightlies else None
            return nightly.main if nightly else None
        return revision

    def label(self, number: int | None) -> str | None:
        """What the report calls a build."""
        return None if number is None else self.session.asked.builds[number].label
