"""From the trials of one build to what is told of them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bisect_tool.reports import attempt as parts
from bisect_tool.reports.cleaning import clean, shorten
from bisect_tool.reports.report import MetricPart
from bisect_tool.runs.metric_parts import metric_parts
from bisect_tool.runs.rate_parts import rate_part
from bisect_tool.runs.report_words import Names, signature_part, telling_trial, word_of
from bisect_tool.runs.session import SeenTrial, Session
from bisect_tool.search.flaky.evidence import Tally
from bisect_tool.search.flaky.interval import rate_of
from bisect_tool.search.states import Failing, Flaky, Untestable, trials_of
from bisect_tool.spec.model import Case
from bisect_tool.spec.repro import case_command
from bisect_tool.trials.failure import CannotJudge, Failed, MachineAtFault
from bisect_tool.trials.volatile import without_places

LONGEST_LINE = 400  # characters of a line of output


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the parts of an attempt on build `number`. `lines` of output are kept; `known` are the trials from before."""

    session: Session
    number: int
    lines: int
    known: frozenset[str]

    def build(self) -> parts.TriedBuild:
        """The build, with the commit that its environment named."""
        asked = self.session.asked
        build = asked.builds[self.number]
        health = self.session.healths.get(build.identity, {})
        return parts.TriedBuild(
            version=build.label,
            date=build.date.isoformat() if build.date else None,
            revision=build.revision or health.get("revision"),
            channel=asked.stage.channel,
            source=asked.channel.source_address(),
            unusable=self.session.broken.get(self.number),
        )

    def case(self, case: Case) -> parts.TriedCase:
        """One case of the spec."""
        asked = self.session.asked
        seen = self.session.seen.get((case.name, self.number), [])
        state = self.session.state(case.name, self.number)
        shown = telling_trial(seen)
        failures = sorted(state.failures) if isinstance(state, Failing | Flaky) else []
        names = Names(self.session)
        return parts.TriedCase(
            name=case.name,
            role=case.role.value,
            command=shlex.join(case_command(case, asked.repro)),
            state=word_of(state),
            reason=names.told(state.reason) if isinstance(state, Untestable) else None,
            failures=tuple(names.id_of(failure) for failure in failures),
            trials=trials_of(state) if state is not None else 0,
            known=sum(one.folder in self.known for one in seen),
            failed=rate_part(rate_of(_tally(seen))) if len(seen) > 1 else None,
            duration_s=round(shown.duration, 2) if shown else None,
            output=self._output(shown),
            log=f"{shown.folder}/log.txt" if shown else None,
            metrics=self._metrics(case, seen),
        )

    def _metrics(self, case: Case, seen: Sequence[SeenTrial]) -> tuple[MetricPart, ...]:
        asked = self.session.asked
        if not asked.has_metrics(case.name):
            return ()
        return metric_parts(seen, asked.builds[asked.reference(case.name)].version)

    def _output(self, shown: SeenTrial | None) -> tuple[str, ...]:
        """The last lines that are not empty, as the results have them: a log may have been pruned, or lie elsewhere."""
        if shown is None or not self.lines:
            return ()
        subject = self.session.subject(self.number)
        stored = self.session.results.trials_of(self.session.asked.repro.digest, subject.setting, subject.device)
        text = next((str(one.observation.get("output", "")) for one in stored if one.folder == shown.folder), "")
        told = [line.rstrip() for line in clean(without_places(text)).split("\n") if line.strip()]
        return shorten("\n".join(told[-self.lines :]), self.lines, LONGEST_LINE)

    def failures(self) -> tuple[parts.LearnedFailure, ...]:
        """What a run would learn, each failure once."""
        session, names = self.session, Names(self.session)
        counts: dict[str, Counter[str]] = {}
        for case in session.asked.spec.cases:
            for trial in session.seen.get((case.name, self.number), []):
                for failure in trial.verdict.failures if isinstance(trial.verdict, Failed) else ():
                    counts.setdefault(failure.id, Counter())[case.name] += 1
        return tuple(
            parts.LearnedFailure(
                id=names.id_of(failure),
                named=(example := session.failures[failure]).name,
                match=next((one.match for one in session.asked.spec.failures if one.name == example.name), None),
                signature=signature_part(example),
                cases=dict(by_case),
            )
            for failure, by_case in counts.items()
        )

    def unseen(self, failures: Sequence[parts.LearnedFailure]) -> tuple[parts.Unseen, ...]:
        """The named failures of the spec that are not among `failures`."""
        shown = {one.named for one in failures}
        named = self.session.asked.spec.failures
        return tuple(parts.Unseen(name=one.name, match=one.match) for one in named if one.name not in shown)


def _tally(seen: Sequence[SeenTrial]) -> Tally:
    judged = [one for one in seen if not isinstance(one.verdict, CannotJudge | MachineAtFault)]
    return Tally(sum(isinstance(one.verdict, Failed) for one in judged), len(judged))
