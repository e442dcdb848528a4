"""From an answer to the report: names, dates, logs, revisions and environments around what the search found."""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bisect_tool import __version__
from bisect_tool.builds import versions
from bisect_tool.builds.bounds import between_left_out
from bisect_tool.builds.build import LeftOutBecause
from bisect_tool.builds.seams import described_side, is_leap, is_seam
from bisect_tool.history.clues import Sought
from bisect_tool.history.projects import DatedBuilds
from bisect_tool.reports import report as parts
from bisect_tool.reports.commits import Suspicion
from bisect_tool.reports.sentences import summarize
from bisect_tool.runs.commit_notes import confirms, remarks, unshown, why_not
from bisect_tool.runs.failure_clues import FailureClues
from bisect_tool.runs.history_reading import HOW, HistoryReader, Looked, with_revision
from bisect_tool.runs.metric_parts import metric_parts
from bisect_tool.runs.rate_parts import rate_at, rate_parts
from bisect_tool.runs.session import SeenTrial, Session
from bisect_tool.runs.surveying import COMMITS
from bisect_tool.search import answer as found
from bisect_tool.search.states import Failing, Flaky, State, Untestable, trials_of
from bisect_tool.spec.model import Case
from bisect_tool.spec.repro import case_command
from bisect_tool.trials.failure import Failed, FoundFailure
from bisect_tool.trials.judge import advice_for


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the report tells about the run itself: `unfinished`: the search was cut short; `notes` are for the advice."""

    started: datetime
    elapsed: float
    cache: str
    uv: str
    repeat: str
    trials_known: int
    unfinished: bool = False
    notes: tuple[str, ...] = ()
    isolation: tuple[parts.Isolation, ...] = ()


def report_of(
    sessions: Sequence[Session], circumstances: Circumstances, history: HistoryReader | None = None
) -> parts.Report:
    """The report of one spec, from its sessions in the order of its channels, the coarsest first.

    It is that of the last one, with what the others said. A change that the finer channel does not have was made on the
    branch of a release: then the coarser one has the answer. The commits between the builds are read through `history`.
    """
    reports = [_Maker(session, session.answer(), circumstances).report() for session in sessions]
    at, notes = len(reports) - 1, list[str]()
    while at > 0 and not circumstances.unfinished and (note := _not_confirmed(sessions, reports, at)):
        notes.append(note)
        at -= 1
    if history is not None:
        # Only the one that is shown: each costs reading a history.
        reports[at] = _Maker(sessions[at], sessions[at].answer(), circumstances, history).report()
    finest = reports[at]
    stages = tuple(_stage(report) for report in reports if report is not finest)
    if at > 0 and sessions[at].asked.stage.channel == COMMITS and not circumstances.unfinished:
        notes += unshown(sessions[at - 1], sessions[at])
    advice = (*notes, *remarks(sessions[at]), *circumstances.notes, *finest.advice)
    installed = sum(report.counts.builds_installed for report in reports)
    trials = sum(report.counts.trials for report in reports)
    counts = finest.counts.model_copy(update={"builds_installed": installed, "trials": trials})
    summary = (*finest.summary, *(one.sentence for one in circumstances.isolation))
    update = {"stages": stages, "counts": counts, "advice": advice, "summary": summary}
    return finest.model_copy(update={**update, "isolation": circumstances.isolation})


def _stage(report: parts.Report) -> parts.StagePart:
    return parts.StagePart(
        channel=report.channel,
        source=report.source,
        first=report.range.first,
        last=report.range.last,
        outcome=report.outcome,
        summary=report.summary,
        cases=report.cases,
    )


def _not_confirmed(sessions: Sequence[Session], reports: Sequence[parts.Report], at: int) -> str | None:
    """Why a finer channel does not show the change of the one before it; None when it does."""
    finer = reports[at]
    if sessions[at].asked.stage.channel == COMMITS:
        is_shown = confirms(sessions[at - 1], sessions[at])
        return None if is_shown else why_not(sessions[at - 1], sessions[at])
    if finer.boundaries:
        return None
    return (
        f"the builds of channel {finer.channel} from {finer.range.first} to {finer.range.last} do not show this change: "
        "it was made on the branch of a release, or outside of these builds"
    )


@dataclass(frozen=True, slots=True)
class _Maker:
    session: Session
    answer: found.Answer
    circumstances: Circumstances
    history: HistoryReader | None = None
    clues: FailureClues = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "clues", FailureClues(self.session))

    def report(self) -> parts.Report:
        asked = self.session.asked
        failures = self._failures()
        made = parts.Report(
            outcome=self._outcome(failures),
            summary=(),
            spec=self._spec(),
            channel=asked.stage.channel,
            source=asked.channel.source_address(),
            range=self._range(),
            cases=tuple(self._case(case) for case in asked.spec.cases),
            failures=failures,
            boundaries=tuple(self._boundary(before, after) for before, after in self.answer.boundaries()),
            counts=self._counts(),
            elapsed_s=round(self.circumstances.elapsed, 1),
            environment=self._machine(),
            repeat=self.circumstances.repeat,
            advice=self._advice(),
            started=self.circumstances.started.isoformat(timespec="seconds"),
            cache=self.circumstances.cache,
        )
        return made.model_copy(update={"summary": summarize(made)})

    def _outcome(self, failures: Sequence[parts.Failure]) -> parts.Outcome:
        """That of the search, unless the run was cut short or neighbours differ in more than their code."""
        if self.circumstances.unfinished:
            return "unfinished"
        ends = (end for one in failures for episode in one.episodes for end in (episode.appeared, episode.fixed))
        is_exact = self.answer.outcome is found.Outcome.EXACT
        return "narrowed" if is_exact and any(end.also_differs for end in ends) else self.answer.outcome.value

    def _spec(self) -> parts.SpecPart:
        read, repro = self.session.asked.read, self.session.asked.repro
        return parts.SpecPart(
            name=read.spec.name,
            title=read.spec.title,
            issue=read.spec.issue,
            package=read.spec.package,
            path=str(read.path),
            digest=repro.digest,
        )

    def _range(self) -> parts.Range:
        asked = self.session.asked
        return parts.Range(
            asked_from=asked.spec.from_,
            asked_to=asked.spec.to,
            first=asked.builds[0].label,
            last=asked.builds[-1].label,
            notes=(*asked.listing.notes, *asked.selection.notes),
        )

    def _case(self, case: Case) -> parts.CasePart:
        asked = self.session.asked
        states = self.answer.timelines[case.name]
        return parts.CasePart(
            name=case.name,
            role=case.role.value,
            command=shlex.join(case_command(case, asked.repro)),
            timeline=tuple(self._entry(case.name, number, states.get(number)) for number in range(len(asked.builds))),
        )

    def _entry(self, case: str, number: int, state: State | None) -> parts.Entry:
        build = self.session.asked.builds[number]
        trials = self.session.seen.get((case, number), [])
        shown = _telling(trials)
        ids = sorted(state.failures) if isinstance(state, Failing | Flaky) else []
        names = tuple(self._id(failure) for failure in ids)
        return parts.Entry(
            build=build.label,
            date=build.date.isoformat() if build.date else None,
            state=_word(state),
            failure=names[0] if names else None,
            failures=names,
            reason=self._told(state.reason) if isinstance(state, Untestable) else None,
            trials=trials_of(state) if state is not None else 0,
            rate=_rate(state),
            duration_s=round(shown.duration, 2) if shown else None,
            log=f"{shown.folder}/log.txt" if shown else None,
            metrics=self._metrics(case, trials),
        )

    def _metrics(self, case: str, trials: Sequence[SeenTrial]) -> tuple[parts.MetricPart, ...]:
        asked = self.session.asked
        if not asked.has_metrics(case):
            return ()
        return metric_parts(trials, asked.builds[asked.reference(case)].version)

    def _failures(self) -> tuple[parts.Failure, ...]:
        names: dict[tuple[str, str], str] = {}
        made = []
        for failure in self.answer.failures:
            example = self.session.failures[failure.failure]
            name = _distinct(example.name or _name_for(example), names, failure)
            episodes = tuple(self._episode(failure, episode) for episode in failure.episodes)
            made.append(
                parts.Failure(
                    id=self._id(failure.failure),
                    name=name,
                    case=failure.case,
                    signature=_signature(example),
                    episodes=episodes,
                    studies=rate_parts(self.session, failure),
                )
            )
        return tuple(made)

    def _episode(self, failure: found.FailureAnswer, episode: found.Episode) -> parts.Episode:
        begin, end = episode.appeared, episode.fixed
        if begin.after is None or end.before is None:
            raise AssertionError("an episode has at least one build")
        return parts.Episode(
            appeared=parts.Appeared(
                last_without=self._version(begin.before),
                first_with=self.session.asked.builds[begin.after].label,
                changed_from=self._other(begin),
                suspicion=self._suspicion(failure, begin, Sought.BREAK),
                **rate_at(failure, begin.before, begin.after),
                **self._end(begin),
            ),
            fixed=parts.Fixed(
                last_with=self.session.asked.builds[end.before].label,
                first_without=self._version(end.after),
                changed_into=self._other(end),
                suspicion=self._suspicion(failure, end, Sought.FIX),
                **rate_at(failure, end.before, end.after),
                **self._end(end),
            ),
        )

    def _end(self, end: found.End) -> dict[str, Any]:
        builds = self.session.asked.builds
        holes = tuple(
            parts.Hole(
                build=builds[hole.build].label,
                reason=self._told(hole.reason or "not tried"),
                tried=hole.reason is not None,
            )
            for hole in end.holes
        )
        also_differs = self._also_differs(end.before, end.after)
        return {
            "kind": "narrowed" if also_differs and end.kind is found.Kind.EXACT else end.kind.value,
            "also_differs": also_differs,
            "untestable": tuple(hole.build for hole in holes if hole.tried),
            "holes": holes,
            "verified": end.verified,
            "compare": self._compare(end.before, end.after),
            "left_out": self._left_out(end.before, end.after),
            "same_code": self._same_code(end.before, end.after),
        }

    def _other(self, end: found.End) -> tuple[str, ...]:
        return tuple(self._id(failure) for failure in sorted(end.other))

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

    def _suspicion(self, failure: found.FailureAnswer, end: found.End, sought: Sought) -> Suspicion | None:
        if end.before is None or end.after is None:
            return None
        looked = self._looked(end.before, end.after)
        if looked is None:
            return None
        shows = end.after if sought is Sought.BREAK else end.before
        differences, part = self._differences(end.before, end.after), self._isolated(failure.case, end)
        return looked.suspicion(self.clues.of(failure.failure, failure.case, sought, shows, differences, part))

    def _isolated(self, case: str, end: found.End) -> str | None:
        """The part of the builds that makes the change, where cross tests have told it."""
        told = (self._version(end.before), self._version(end.after))
        tests = self.circumstances.isolation
        return next((one.part for one in tests if (one.case, one.before, one.after) == (case, *told)), None)

    def _differences(self, before: int, after: int) -> tuple[parts.Difference, ...]:
        return differences_of(self._health(before), self._health(after), self.session.asked.spec.package)

    def _boundary(self, before: int, after: int) -> parts.Boundary:
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

    def _version(self, number: int | None) -> str | None:
        return None if number is None else self.session.asked.builds[number].label

    def _id(self, failure: str) -> str:
        """What the report calls a failure: its name in the spec, else words that people can read and six digits."""
        example = self.session.failures[failure]
        return example.name or f"{_name_for(example)}-{failure[:6]}"

    def _told(self, reason: str) -> str:
        """A reason of the search, which knows failures by their identity, in words."""
        for failure, example in self.session.failures.items():
            reason = reason.replace(failure, example.name or example.signature.title)
        return reason

    def _counts(self) -> parts.Counts:
        return parts.Counts(
            builds_considered=len(self.session.asked.builds),
            builds_installed=len(self.session.installed),
            trials=self.session.trials_made,
            trials_known=self.circumstances.trials_known,
        )

    def _machine(self) -> parts.Machine:
        asked = self.session.asked
        return parts.Machine(
            platform=platform.platform(),
            python=asked.interpreter.identity,
            device=asked.device.kind,
            cpu=_cpu(),
            driver=asked.device.driver,
            tool=f"bisect {__version__}",
            uv=self.circumstances.uv,
        )

    def _advice(self) -> tuple[str, ...]:
        asked = self.session.asked
        said = [advice_for(failure) for failure in self.session.failures.values()]
        said += [
            f"the file of {version} was replaced on the index: what was known of the old one was not used"
            for version in self.session.replaced
        ]
        if self.history is not None and asked.project is None and self.answer.boundaries():
            said.append(
                f"the commits between the builds are not known: name the repository of {asked.spec.package} in the spec, as "
                "`source: owner/name`"
            )
        unproven = [
            f"{failure.failure}: one side of a change rests on too few trials for how rarely it fails"
            for failure in self.answer.failures
            for episode in failure.episodes
            for end in (episode.appeared, episode.fixed)
            if end.kind is found.Kind.NARROWED and not end.holes and not self.circumstances.unfinished
        ]
        if self.answer.outcome is found.Outcome.NO_CHANGE and self.session.asked.question.open_start is False:
            said.append("widen the range with --from and --to, or spread probes over it with --scan N")
        said.append(self.session.walked_back(self.answer))
        return tuple(dict.fromkeys([*(text for text in said if text), *unproven]))


def _word(state: State | None) -> parts.State:
    names: dict[type, parts.State] = {Failing: "failing", Flaky: "flaky", Untestable: "untestable"}
    return "not tried" if state is None else names.get(type(state), "pass")


def _rate(state: State | None) -> float | None:
    return round(state.failed / state.trials, 3) if isinstance(state, Flaky) else None


def _telling(trials: Sequence[SeenTrial]) -> SeenTrial | None:
    """The trial whose log says most: the last one that failed, else the last one."""
    failing = [trial for trial in trials if isinstance(trial.verdict, Failed)]
    shown = failing or trials
    return shown[-1] if shown else None


def _signature(example: FoundFailure) -> parts.Signature:
    signature = example.signature
    return parts.Signature(
        kind=signature.kind.value,
        title=signature.title,
        types=signature.types,
        message=signature.message,
        where=signature.where,
        # Where this machine keeps environments and trials is of no use to whoever reads the report.
        text=re.sub(r"[^\s\"']*/(site-packages|trials/[^/]+/repro)/", "", example.text),
    )


def _name_for(example: FoundFailure) -> str:
    """A short name for a failure that the spec does not name: its cause and the first words of its message."""
    signature = example.signature
    cause = signature.types[-1] if signature.types else signature.kind.value
    words = re.findall(r"[A-Za-z][A-Za-z0-9_.]*", signature.message)[:6]
    return "-".join([cause, *words])[:80]


def _distinct(name: str, names: dict[tuple[str, str], str], failure: found.FailureAnswer) -> str:
    """The name, with a number behind it when another failure of the same case has it already."""
    number, tried = 1, name
    while names.get((failure.case, tried), failure.failure) != failure.failure:
        number += 1
        tried = f"{name}-{number}"
    names[failure.case, tried] = failure.failure
    return tried


def differences_of(before: Mapping[str, Any], after: Mapping[str, Any], package: str) -> tuple[parts.Difference, ...]:
    """Packages and facts that differ, but for the package under test itself."""
    left, right = dict(before.get("packages", {})), dict(after.get("packages", {}))
    if not left or not right:
        return ()
    for name in ("cuda", "cudnn", "nccl"):
        left[f"{package}: {name}"] = before.get("facts", {}).get(name)
        right[f"{package}: {name}"] = after.get("facts", {}).get(name)
    return tuple(
        parts.Difference(name=name, before=_text(left.get(name)), after=_text(right.get(name)))
        for name in sorted(left.keys() | right.keys())
        if left.get(name) != right.get(name) and name != package
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _cpu() -> str:
    """The processor's name: some failures need what only some processors have."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  a file of the kernel
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return platform.processor()
