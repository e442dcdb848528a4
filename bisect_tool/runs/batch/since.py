"""`--since`: the failures that were open at the end of an earlier answer, looked at again on the builds that have come since.

Where a failure stood is known from that answer, and the verdicts are in the store: only new builds are run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bisect_tool.builds.bound_text import read_bound
from bisect_tool.errors import BoundError, EmptyRange, SettingError, SpecError
from bisect_tool.reports.batch.line import ChangePart, Now, SincePart, SpecLine, line_of, newest_judged
from bisect_tool.reports.report import Entry, Failure, Report
from bisect_tool.reports.sentences import plural
from bisect_tool.reports.timeline import ids
from bisect_tool.runs.batch.finding import Member
from bisect_tool.runs.batch.folder import SUMMARY, now, read_lines
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import read_repro
from bisect_tool.store.last_reports import last_reports
from bisect_tool.store.results import Results

COMMITS = "commit"


@dataclass(frozen=True, slots=True)
class Since:
    """What to look at again: the earlier lines by the names of the members.

    `bound` is where to begin, None: where each answer ended.
    """

    earlier: Mapping[str, SpecLine]
    bound: str | None = None

    def members(self, members: Sequence[Member]) -> tuple[list[Member], list[str]]:
        """Those with an open failure, over the builds since; with notes on the others. Invalid ones stay as they are."""
        kept, without, unknown = [], 0, 0
        for member in members:
            line = self.earlier.get(member.name)
            if member.read is None:
                kept.append(member)
            elif line is None:
                unknown += 1
            elif not line.open_changes:
                without += 1
            else:
                kept.append(replace(member, read=self._asked(member.read, line)))
        notes = [f"{plural(without, 'spec')} had no open failure: not asked again"] if without else []
        more = [f"{plural(unknown, 'spec')} had no earlier answer about the same script: not asked"] if unknown else []
        return kept, notes + more

    def _asked(self, read: ReadSpec, line: SpecLine) -> ReadSpec:
        """The question about the builds since: from the last one that was judged, which has the failure, to the newest."""
        channels = tuple(one for one in read.spec.channel if one != COMMITS)
        if line.channel in channels:
            channels = (line.channel,)
        update: dict[str, object] = {"to": None, "channel": channels or read.spec.channel}
        if self.bound is not None:
            update["from_"] = self.bound
        elif line.channel != COMMITS:
            update["from_"] = _beginning(line)
        return replace(read, spec=read.spec.model_copy(update=update))

    def told(self, line: SpecLine, report: Report) -> SpecLine:
        """The line, with what has become of each failure that was open."""
        earlier = self.earlier.get(line.name)
        if earlier is None:
            return line
        since = tuple(become(change, report) for change in earlier.open_changes)
        return line.model_copy(update={"since": since})

    def without_news(self, name: str, error: Exception) -> SpecLine | None:
        """The line of a spec that no new build has come for; None when `error` says something else."""
        earlier = self.earlier.get(name)
        if earlier is None or not isinstance(error, EmptyRange):
            return None
        since = tuple(_part(change, "no new build", note="no build has come since") for change in earlier.open_changes)
        return earlier.model_copy(update={"since": since, "folder": None, "trials": 0, "installed": 0, "ended": now()})


def read_since(what: str, members: Sequence[Member], out: Path, results: Results) -> Since:
    """What `--since` means: the folder of an earlier batch, else a date or a build, and then the store has the answers.

    Raises `SettingError`.
    """
    folder = Path(what)
    if (folder / SUMMARY).is_file():
        if folder.resolve() == out.resolve():
            raise SettingError(
                "the results would take the place of those that they are compared with",
                where=f"--since {what}",
                advice="name another folder with --out",
            )
        return Since(_same_repro({line.name: line for line in read_lines(folder)}, members))
    try:
        read_bound(what, frozenset())
    except BoundError as error:
        raise SettingError(
            f"{what!r} is neither a folder with the results of a batch, nor a date or a build",
            where="--since",
            advice="name the --out of an earlier batch, a date (2026-05-01) or a version",
        ) from error
    return Since(_from_store(members, results), what)


def _same_repro(lines: Mapping[str, SpecLine], members: Sequence[Member]) -> dict[str, SpecLine]:
    """The lines that have an answer about the very repro that the member has now."""
    kept = {}
    for member in members:
        line = lines.get(member.name)
        if line is not None and line.is_answered and line.digest == _digest(member):
            kept[member.name] = line
    return kept


def _from_store(members: Sequence[Member], results: Results) -> dict[str, SpecLine]:
    reports = last_reports(results, (member.read.spec.name for member in members if member.read is not None))
    kept = {}
    for member in members:
        report = reports.get((member.read.spec.name, _digest(member) or "")) if member.read is not None else None
        if report is not None:
            kept[member.name] = line_of(Report.model_validate(report), name=member.name, folder="", ended=now())
    return kept


def _digest(member: Member) -> str | None:
    try:
        return read_repro(member.read).digest if member.read is not None else None
    except SpecError:
        return None  # asking it says what is wrong


def _beginning(line: SpecLine) -> str:
    """The newest build with an open failure: by its date in the nightlies, which are removed from their index one day."""
    was = line.open_changes[0].last_with
    parts = [part for row in line.timelines for part in row.stretches]
    date = next((part.last_date for part in parts if part.last == was and part.last_date), None)
    # A label may name the Python that the build runs on.
    return date[:10] if date and line.channel == "nightly" else was.partition(" ")[0]


def become(change: ChangePart, report: Report) -> SincePart:
    """What a later report says of a failure that was open in an earlier one."""
    case = next((one for one in report.cases if one.name == change.case), None)
    newest = newest_judged(report, change.case) if case is not None else None
    entry = next((one for one in case.timeline if one.build == newest), None) if case is not None else None
    if entry is None or newest == change.last_with:
        return _part(change, "not judged", note="no build since could be judged")
    if change.failure in ids(entry):
        return _part(change, "still failing", last_with=entry.build)
    failure = next((one for one in report.failures if (one.id, one.case) == (change.failure, change.case)), None)
    return _gone(change, entry, failure)


def _gone(change: ChangePart, entry: Entry, failure: Failure | None) -> SincePart:
    now: Now = "fixed" if entry.state == "pass" else "changed"
    note = f"{entry.build} has {', '.join(ids(entry))}" if now == "changed" else ""
    if failure is None or not failure.episodes:
        return _part(change, now, note=note or f"it was not seen again, {entry.build} passes")
    end = failure.episodes[-1].fixed
    return _part(change, now, kind=end.kind, last_with=end.last_with, first_without=end.first_without, note=note)


def _part(change: ChangePart, now: Now, **more: object) -> SincePart:
    given = {"failure": change.failure, "name": change.name, "case": change.case, "was": change.last_with, "now": now}
    return SincePart.model_validate({**given, **more})
