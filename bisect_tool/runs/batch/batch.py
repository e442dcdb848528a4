"""A batch: many specs in one run, each with its result, whatever becomes of the others."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bisect_tool.errors import BisectError, IndexUnreachable, SpecError, interrupted
from bisect_tool.reports import events
from bisect_tool.reports.batch.line import ErrorPart, SpecLine, line_of
from bisect_tool.reports.batch.progress import BatchView
from bisect_tool.reports.cleaning import clean
from bisect_tool.reports.report import Report
from bisect_tool.reports.writing import write
from bisect_tool.runs.batch.finding import Member
from bisect_tool.runs.batch.folder import ResultsFolder, earlier_lines, now, open_folder
from bisect_tool.runs.batch.groups import groups_of
from bisect_tool.runs.batch.own_faults import OwnFaults
from bisect_tool.runs.batch.scribe import Scribe, Sheet
from bisect_tool.runs.batch.since import Since
from bisect_tool.runs.run import Stopped, run_specs
from bisect_tool.runs.surveying import Wishes
from bisect_tool.runs.watch import Watch
from bisect_tool.runs.workshop import Workshop
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import read_repro

DEFECT = "defect.txt"


@dataclass(slots=True)
class Batch(Watch):
    """The specs of a batch and the folder of their results; `since`: only what was open in an earlier answer.

    `scribe` writes the files of specs.
    """

    workshop: Workshop
    members: Sequence[Member]
    wishes: Wishes
    folder: ResultsFolder
    view: BatchView
    since: Since | None = None
    scribe: Scribe = field(default_factory=Scribe)
    is_patient = True
    _names: dict[Path, str] = field(default_factory=dict)
    _kept: dict[str, Report] = field(default_factory=dict)
    _faults: OwnFaults = field(default_factory=OwnFaults)
    _unreached: list[tuple[ReadSpec, IndexUnreachable]] = field(default_factory=list)
    _is_asked: bool = False

    def run(self) -> list[SpecLine]:
        """Answer every spec that can be answered; gives all lines.

        Raises the `BisectError` of the machine or the user that ends it early; the folder then has what is known so far.
        """
        open_folder(self.folder.path)
        self._names = {member.path: member.name for member in self.members}
        if self.since is None:
            self._take_over()
        self.view.began(len(self.members))
        try:
            for member in self.members:
                if member.error is not None:
                    self._refuse(member.name, member.path, member.error, "invalid")
            self._wait()
            specs = [one.read for one in self.members if one.read is not None]
            for group in groups_of(specs, self.workshop):
                self._answer(group)
            if specs and len(self._unreached) == len(specs):  # it is the network, which says nothing of any of them
                raise self._unreached[0][1]
            self._give_up_unreached()
        except KeyboardInterrupt as stop:
            raise interrupted() from stop
        finally:
            try:
                self.scribe.finish()
            finally:
                self.folder.rewrite()
                self.view.finished()
        return list(self.folder.lines.values())

    def _take_over(self) -> None:
        """Lines of an earlier batch stand until this one has its own, if they are about the same repro."""
        earlier = earlier_lines(self.folder.path, self._names.values())
        for member in self.members if earlier else ():
            line = earlier.get(member.name)
            if line is not None and member.read is not None and line.is_answered:
                with suppress(SpecError):
                    if read_repro(member.read).digest == line.digest:
                        self.folder.lines[line.name] = line

    def _wait(self) -> None:
        """Every spec that is to be answered has a line from now on, so that none is missing where the batch is cut short."""
        for member in self.members if self.since is None else ():
            if member.read is not None and member.name not in self.folder.lines:
                line = SpecLine(name=member.name, path=str(member.path), status="unfinished", ended=now())
                self.folder.lines[member.name] = line
        self.folder.rewrite()

    def _answer(self, specs: Sequence[ReadSpec]) -> None:
        try:
            run_specs(self.workshop, specs, self.wishes, self._heard, self)
        except Stopped as stopped:
            shown = {clean(str(path)): name for path, name in self._names.items()}
            for report in stopped.reports:
                name = shown[report.spec.path or ""]
                before = self.folder.lines.get(name)
                if report.outcome == "unfinished" and (before is None or not before.is_answered):
                    self._keep(name, report)
            raise stopped.error from stopped

    def _heard(self, event: events.Event) -> None:
        if isinstance(event, events.TrialFinished):
            self._faults.went_well()
        if isinstance(event, events.RunStarted):
            self._is_asked = True
            self._give_up_unreached()
        self.view(event)

    def spares(self, spec: ReadSpec, error: Exception, *, is_begun: bool) -> bool:
        """Whether `error` ends `spec` alone; its line says so then."""
        if not self._faults.is_own(error, is_begun=is_begun):
            return False
        if isinstance(error, IndexUnreachable) and not self._is_asked:
            self._unreached.append((spec, error))  # what it means shows when another one is reached
        else:
            self._give_up(spec, error)
        return True

    def _give_up_unreached(self) -> None:
        while self._unreached:
            self._give_up(*self._unreached.pop(0))

    def _give_up(self, spec: ReadSpec, error: Exception) -> None:
        self._refuse(self._names[spec.path], spec.path, error, "failed", spec)

    def answered(self, spec: ReadSpec, report: Report, *, is_last: bool) -> None:  # noqa: ARG002  both are kept
        """Keep the report of a spec; one that is kept already is not written again."""
        self._keep(self._names[spec.path], report, spec)

    def looked(self) -> None:
        """Tell of those whose files are written by now."""
        self.scribe.look()

    def _keep(self, name: str, report: Report, spec: ReadSpec | None = None) -> None:
        if self._kept.get(name) is report:
            return
        self._kept[name] = report
        line = line_of(report, name=name, folder=self.folder.folder_of(name), ended=now())
        is_over = report.outcome != "unfinished"
        line = self.since.told(line, report) if self.since is not None and is_over else line

        def written(error: Exception | None) -> None:
            if error is None:
                self._tell(line)
            elif spec is None or not self.spares(spec, error, is_begun=True):
                raise error

        place = self.folder.path / self.folder.folder_of(name)
        self.scribe.write(Sheet(place, report, self.workshop.cache.root), written)

    def _refuse(self, name: str, path: Path, error: Exception, status: str, spec: ReadSpec | None = None) -> None:
        if self.since is not None and (quiet := self.since.without_news(name, error)) is not None:
            self._tell(quiet)
            return
        part = _error_part(error)
        if not isinstance(error, BisectError):
            text = "".join(traceback.format_exception(error))
            write(self.folder.path / self.folder.folder_of(name) / DEFECT, text)
        values = {"name": name, "path": str(path), "status": status, "error": part, "ended": now()}
        if spec is not None:
            own = spec.spec
            values |= {"spec": own.name, "title": own.title, "package": own.package, "channel": own.channel[0]}
        self._tell(SpecLine.model_validate(values))

    def _tell(self, line: SpecLine) -> None:
        self.folder.add(line)
        self.view.ended(line)


def _error_part(error: Exception) -> ErrorPart:
    if isinstance(error, BisectError):
        kind = type(error).__name__
        return ErrorPart(kind=kind, status=error.status, what=error.what, where=error.where, advice=error.advice)
    return ErrorPart(
        kind="defect",
        status=BisectError.status,
        what=f"bisect has a defect: {type(error).__name__}: {error}",
        where=DEFECT,
        advice=f"report the file {DEFECT} in the folder of this spec; everything learned so far is stored",
    )
