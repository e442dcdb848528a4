"""From an answer to the report: names, dates, logs, revisions and environments around what the search found."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from bisect_tool import __version__
from bisect_tool.history.clues import Sought
from bisect_tool.reports import report as parts
from bisect_tool.reports.cleaning import clean
from bisect_tool.reports.diagnosis import Diagnosis
from bisect_tool.reports.sentences import summarize
from bisect_tool.runs.asking import Asked
from bisect_tool.runs.commit_notes import confirms, remarks, unshown, why_not
from bisect_tool.runs.diagnosing.naming import summary_of
from bisect_tool.runs.end_parts import Ends
from bisect_tool.runs.history_reading import HistoryReader
from bisect_tool.runs.instead_notes import instead_notes
from bisect_tool.runs.metric_parts import metric_parts
from bisect_tool.runs.offering import offer
from bisect_tool.runs.rate_parts import rate_at, rate_parts
from bisect_tool.runs.report_words import (
    Names,
    cpu_name,
    distinct_name,
    name_for,
    rate_of,
    signature_part,
    telling_trial,
    word_of,
)
from bisect_tool.runs.session import SeenTrial, Session
from bisect_tool.runs.surveying import COMMITS
from bisect_tool.runs.thin_parts import python_changes, thin_advice, thin_part, word_of_hint
from bisect_tool.search import answer as found
from bisect_tool.search.states import Failing, Flaky, State, Untestable, trials_of
from bisect_tool.spec.model import Case
from bisect_tool.spec.repro import case_command
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
    diagnoses: tuple[Diagnosis, ...] = ()
    time: parts.TimePart | None = None


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
    diagnosed = (summary_of(one) for one in circumstances.diagnoses)
    summary = (*finest.summary, *(one.sentence for one in finest.isolation), *diagnosed)
    thin = next((part for session in sessions if (part := thin_part(session)) is not None), None)
    update = {"stages": stages, "counts": counts, "advice": advice, "summary": summary}
    return finest.model_copy(update={**update, "diagnoses": circumstances.diagnoses, "thin": thin})


def spec_part(asked: Asked) -> parts.SpecPart:
    """Which question was asked."""
    spec = asked.read.spec
    return parts.SpecPart(
        name=spec.name,
        title=spec.title,
        issue=spec.issue,
        package=spec.package,
        path=str(asked.read.path),
        digest=asked.repro.digest,
    )


def machine_part(asked: Asked, uv: str) -> parts.Machine:
    """What the trials ran on; `uv` is its version."""
    return parts.Machine(
        platform=platform.platform(),
        python=asked.interpreter.identity,
        device=asked.device.kind,
        cpu=cpu_name(),
        driver=asked.device.driver,
        tool=f"bisect {__version__}",
        uv=uv,
    )


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


@lru_cache(maxsize=4096)
def _untried(label: str, date: datetime | None) -> parts.Entry:
    """The entry of a build that was not tried: most of a long range, and the same one for all specs of a batch."""
    # Nothing is in here that would have to be checked.
    return parts.Entry.model_construct(build=clean(label), date=date.isoformat() if date else None, state="not tried")


@dataclass(frozen=True)
class _Maker:
    session: Session
    answer: found.Answer
    circumstances: Circumstances
    history: HistoryReader | None = None

    @cached_property
    def ends(self) -> Ends:
        """What is told of pairs of builds."""
        return Ends(self.session, self.history, self.isolation, self.circumstances.diagnoses)

    @property
    def isolation(self) -> tuple[parts.Isolation, ...]:
        """Cross tests of the two sides of changes: those that were asked for, else what thin builds say."""
        return self.circumstances.isolation or python_changes(self.session, self.answer)

    @property
    def names(self) -> Names:
        """What failures are called."""
        return Names(self.session)

    def report(self) -> parts.Report:
        asked = self.session.asked
        failures = self._failures()
        made = parts.Report(
            outcome=self._outcome(failures),
            summary=(),
            spec=spec_part(asked),
            channel=asked.stage.channel,
            source=asked.channel.source_address(),
            range=self._range(),
            cases=tuple(self._case(case) for case in asked.spec.cases),
            failures=failures,
            boundaries=tuple(self.ends.boundary(before, after) for before, after in self.answer.boundaries()),
            isolation=self.isolation,
            counts=self._counts(),
            elapsed_s=round(self.circumstances.elapsed, 1),
            time=self.circumstances.time,
            environment=machine_part(asked, self.circumstances.uv),
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
        if state is None and not trials and not self.session.hints:
            return _untried(build.label, build.date)
        shown = telling_trial(trials)
        ids = sorted(state.failures) if isinstance(state, Failing | Flaky) else []
        names = tuple(self.names.id_of(failure) for failure in ids)
        return parts.Entry(
            build=build.label,
            date=build.date.isoformat() if build.date else None,
            state=word_of(state),
            failure=names[0] if names else None,
            failures=names,
            reason=self._reason(case, number, state),
            trials=trials_of(state) if state is not None else 0,
            rate=rate_of(state),
            duration_s=round(shown.duration, 2) if shown else None,
            log=shown.log if shown else None,
            metrics=self._metrics(case, trials),
        )

    def _reason(self, case: str, number: int, state: State | None) -> str | None:
        """Why there is no verdict; of a build that was not tried whole what it showed thin."""
        if isinstance(state, Untestable):
            return self.names.told(state.reason)
        return word_of_hint(self.session, case, number) if state is None else None

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
            name = distinct_name(example.name or name_for(example), names, failure)
            episodes = tuple(self._episode(failure, episode) for episode in failure.episodes)
            made.append(
                parts.Failure(
                    id=self.names.id_of(failure.failure),
                    name=name,
                    case=failure.case,
                    signature=signature_part(example),
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
                last_without=self.ends.label(begin.before),
                first_with=self.session.asked.builds[begin.after].label,
                changed_from=self._other(begin),
                suspicion=self.ends.suspicion(failure, begin, Sought.BREAK),
                **rate_at(failure, begin.before, begin.after),
                **self.ends.sides(begin, failure.case),
            ),
            fixed=parts.Fixed(
                last_with=self.session.asked.builds[end.before].label,
                first_without=self.ends.label(end.after),
                changed_into=self._other(end),
                suspicion=self.ends.suspicion(failure, end, Sought.FIX),
                **rate_at(failure, end.before, end.after),
                **self.ends.sides(end, failure.case),
            ),
        )

    def _other(self, end: found.End) -> tuple[str, ...]:
        return tuple(self.names.id_of(failure) for failure in sorted(end.other))

    def _counts(self) -> parts.Counts:
        return parts.Counts(
            builds_considered=len(self.session.asked.builds),
            builds_installed=len(self.session.installed),
            trials=self.session.trials_made,
            trials_known=self.circumstances.trials_known,
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
        if self.answer.outcome is found.Outcome.NO_CHANGE and self.session.question.open_start is False:
            said.append(
                "widen the range with --from and --to, name the builds that the report names (`look_at` in the spec), or "
                "spread probes over the range with --scan N"
            )
        said.append(self.session.walked_back(self.answer))
        if self.answer.outcome is found.Outcome.NO_CHANGE and not self.session.failures:
            said.append(offer(asked))
        said += instead_notes(asked.builds, self.session.healths)
        said += thin_advice(self.session, self.answer)
        return tuple(dict.fromkeys([*(text for text in said if text), *unproven]))
