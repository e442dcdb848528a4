"""From a spec to a question that can be searched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from bisect_tool.builds.seams import seams_of
from bisect_tool.runs.looked_at import looked_at
from bisect_tool.runs.references import check_references, reference_of
from bisect_tool.runs.surveying import Means, Stage, Survey, Wishes, survey
from bisect_tool.runs.surveys import Surveys
from bisect_tool.search.knowledge import Question
from bisect_tool.search.policy import Flakiness, Policy
from bisect_tool.spec.model import Case
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import Repro, case_command, read_repro
from bisect_tool.trials.trial import TrialOrder


@dataclass(frozen=True, slots=True)
class Asked(Survey):
    """A question that is ready to be searched, over the builds of a survey.

    `weights` says how likely a change lies between each build and the one before, as a history tells it; None: alike.
    `named` are the builds that the spec wants to be looked at.
    """

    read: ReadSpec
    repro: Repro
    wishes: Wishes
    weights: tuple[float, ...] | None = None
    named: tuple[int, ...] = ()

    @property
    def policy(self) -> Policy:
        """How thorough the search is: what the command line says, and whether the spec's failures come and go."""
        flaky = Flakiness.NO if self.wishes.policy.thin else Flakiness(self.spec.flaky)
        return replace(self.wishes.policy, flaky=flaky)

    @property
    def question(self) -> Question:
        """The question for the planner."""
        return Question(
            size=len(self.builds),
            tests=tuple(case.name for case in self.spec.tests),
            controls=tuple(case.name for case in self.spec.controls),
            open_start=self.selection.open_start,
            landmarks=self._landmarks,
            weights=self.weights,
            compared=tuple(case.name for case in self.spec.tests if self.has_metrics(case.name)),
        )

    @property
    def _landmarks(self) -> tuple[int, ...]:
        """Builds that must be judged: both sides of every seam, the ends of what a coarser channel has found, `look_at`."""
        seams = {number + side for number in seams_of(self.builds) for side in (0, 1)}
        dates = [build.date for build in self.builds]
        edges = {
            number
            for window in self.stage.windows
            for number in (
                next((n for n, date in enumerate(dates) if date and date >= window.start), None),
                next((n for n, date in reversed(list(enumerate(dates))) if date and date <= window.end), None),
            )
            if number is not None
        }
        return tuple(sorted({*seams, *edges, *self._ends_of_spans(), *self.named}))

    def _ends_of_spans(self) -> Iterator[int]:
        """The first and the last build of every stretch of commits."""
        numbers = {build.revision: number for number, build in enumerate(self.builds)}
        for span in self.stage.spans:
            yield from (numbers[sha] for sha in (span.base, span.head) if sha in numbers)

    def case(self, name: str) -> Case:
        """The case called `name`."""
        return next(case for case in self.spec.cases if case.name == name)

    def has_metrics(self, name: str) -> bool:
        """Whether numbers of the case called `name` are compared."""
        return bool(self.read.spec.metrics_of(self.case(name)))

    def reference(self, name: str) -> int:
        """The build that the numbers of the case called `name` are compared with."""
        return reference_of(self.read.spec, self.case(name), self.selection)

    def order(self, case: Case) -> TrialOrder:
        """What one trial of a case runs, in whatever environment."""
        return TrialOrder(
            files=self.repro.files,
            words=case_command(case, self.repro),
            variables={**self.spec.env, **case.env},
            timeout=self.spec.timeout_of(case),
            device=self.device.name,
        )


def ask(
    read: ReadSpec,
    wishes: Wishes,
    means: Means,
    stage: Stage | None = None,
    *,
    least: int = 2,
    surveys: Surveys | None = None,
) -> Asked:
    """Prepare the question of a spec, in its first channel unless `stage` says otherwise; `surveys` keeps those of the run.

    Raises `SpecError` for files of the repro, and what `survey` raises.
    """
    repro = read_repro(read)
    make = survey if surveys is None else surveys.survey
    found = make(read.spec, read.folder, wishes, means, stage, least=least)
    check_references(read.spec, found.selection, str(read.path))
    named, missing = looked_at(read.spec.look_at, found.listing, found.selection)
    if len(read.spec.channel) == 1:  # else another channel may have it
        notes = (f"look_at {text}: no such build in the range" for text in missing)
        found = replace(found, selection=replace(found.selection, notes=(*found.selection.notes, *notes)))
    if wishes.only:
        named = tuple(range(len(found.builds)))
    survey_parts = {one.name: getattr(found, one.name) for one in fields(found)}
    return Asked(**survey_parts, read=read, repro=repro, wishes=wishes, named=named)
