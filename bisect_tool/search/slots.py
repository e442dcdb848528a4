"""Several probes at a time: which builds to probe together, and which of those under way have become useless.

With m slots a gap is cut into m + 1 parts of equal weight, which is k-section. Slots go where one more tells most: the
(m + 1)th of a gap adds log2((m + 2) / (m + 1)) bits. While probes run, the parts between them count as gaps of their own, so
that a slot that becomes free early is of use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log2

from bisect_tool.search.appraisal import Group, Probe, appraise, candidates, grouped, leaning_of, parts_of, running_of
from bisect_tool.search.knowledge import Gap, Known, Question, inside
from bisect_tool.search.policy import Policy
from bisect_tool.search.prior import Prior, prior_of
from bisect_tool.search.wants import Wants, may_look_again, wants_of
from bisect_tool.search.wishes import Purpose, Split, views_of

SPECULATION = 0.5  # what a bit is worth about a gap that is there only if both ends, not judged yet, turn out to differ


def fill(question: Question, known: Known, wants: Wants, free: int, running: Sequence[Probe]) -> list[Probe]:
    """At most `free` probes to start now, next to those `running`, best first."""
    return fill_with(question, known, with_speculations(question, known, wants), free, running)


def fill_with(question: Question, known: Known, wants: Wants, free: int, running: Sequence[Probe]) -> list[Probe]:
    """The same for nothing but what is in `wants`."""
    chosen: list[Probe] = []
    while len(chosen) < free:
        left = without_running(question, wants, (*running, *chosen))
        more = _together(question, known, left, free - len(chosen))
        if not more:
            break
        chosen += more
    return chosen


def with_speculations(question: Question, known: Known, wants: Wants) -> Wants:
    """What is wanted, and what spare slots may look at already: the stretches beside an end that is not judged yet."""
    return replace(wants, splits=(*wants.splits, *_speculations(question, known, wants)))


def without_running(question: Question, wants: Wants, running: Sequence[Probe]) -> Wants:
    """What is still wanted next to the probes that are under way."""
    busy, prior = running_of(running), prior_of(question)
    wishes = tuple(wish for wish in wants.wishes if wish.build not in busy.get(wish.case, ()))
    parts = tuple(part for split in wants.splits for part in _parts(split, busy.get(split.case, ()), prior))
    return replace(wants, wishes=wishes, splits=parts)


def _parts(split: Split, builds: Sequence[int], prior: Prior) -> Iterator[Split]:
    leaning = leaning_of(split.purpose, prior)
    whole = leaning.weight(split.gap.before, split.gap.after)
    for gap in parts_of(split.gap, builds):
        yield replace(split, gap=gap, weight=split.weight * leaning.weight(gap.before, gap.after) / whole)


def _speculations(question: Question, known: Known, wants: Wants) -> Iterator[Split]:
    """The range between two ends of a case, as far as at least one side of a stretch is still to be judged."""
    ends: dict[str, set[int]] = defaultdict(set)
    for wish in wants.wishes:
        if wish.purpose is Purpose.END:
            ends[wish.case].add(wish.build)
    if not ends or question.open_start:
        return
    for view in views_of(question, known):
        wished = ends.get(view.case, set())
        for before, after in pairwise(sorted(wished.union(view.judged)) if wished else ()):
            if after - before > 1 and (before in wished or after in wished):
                gap = Gap(before, after, inside(view.in_vain, before, after), differs=False)
                yield Split(view.case, gap, Purpose.SCAN, SPECULATION)


def _together(question: Question, known: Known, wants: Wants, free: int) -> list[Probe]:
    """Builds that are best probed at the same time."""
    prior, groups = prior_of(question), grouped(wants)
    sure = appraise(question, known, replace(wants, splits=()), {wish.build for wish in wants.wishes})[:free]
    chosen = dict.fromkeys(probe.build for probe in sure)
    for group, count in _shared_out(groups, free - len(chosen)):
        for gap in _sections(group.gap, count, group.leaning(prior)):
            found = _best_in(question, known, replace(group, gap=gap), shared=count == 1, taken=chosen)
            if found is not None:
                chosen[found] = None
    probes = appraise(question, known, wants, chosen)
    return sorted(probes, key=lambda probe: (-probe.value, probe.build))[:free]


def _shared_out(groups: Sequence[Group], free: int) -> list[tuple[Group, int]]:
    """How many of the `free` slots each gap gets, at least one."""
    counts: dict[int, int] = defaultdict(int)
    for _ in range(free):
        gains = {
            number: group.total * log2((counts[number] + 2) / (counts[number] + 1))
            for number, group in enumerate(groups)
            if counts[number] < group.gap.untried
        }
        if not gains:
            break
        counts[max(gains, key=lambda number: (gains[number], -number))] += 1
    return [(groups[number], count) for number, count in counts.items()]


def _sections(gap: Gap, count: int, prior: Prior) -> Iterator[Gap]:
    """For each of `count` cuts into equal parts, the stretch from the cut before to the cut after."""
    cuts = [gap.before, *(prior.place(gap, number / (count + 1)) for number in range(1, count + 1)), gap.after]
    for before, after in zip(cuts, cuts[2:], strict=False):
        if after - before > 1:
            yield gap.within(before, after)


def _best_in(question: Question, known: Known, group: Group, *, shared: bool, taken: Mapping[int, None]) -> int | None:
    split = Split(group.cases[0], group.gap, group.purpose)
    builds = candidates(known, [group], prior_of(question), shared=shared and len(group.cases) > 1) - set(taken)
    ranked = appraise(question, known, Wants(splits=(split,)), builds)
    return ranked[0].build if ranked else None


def useless(question: Question, known: Known, running: Sequence[Probe], policy: Policy | None = None) -> list[Probe]:
    """Those of the `running` probes that a newer result has made useless: none of their cases can gain from them."""
    policy = policy or Policy()
    wants = wants_of(question, known, policy)
    wished: set[tuple[str, int]] = {(wish.case, wish.build) for wish in wants.wishes}
    gaps: dict[str, list[Gap]] = defaultdict(list)
    for split in (*wants.splits, *_speculations(question, known, wants)):
        gaps[split.case].append(split.gap)
    for view in views_of(question, known):
        if may_look_again(question, view) and policy.scan is None:
            gaps[view.case] += view.gaps
        wished |= {(view.case, side) for gap in view.open_gaps for side in (gap.before, gap.after)}

    def has_use(probe: Probe, case: str) -> bool:
        return (case, probe.build) in wished or any(
            gap.before < probe.build < gap.after and probe.build not in gap.untestable for gap in gaps[case]
        )

    return [probe for probe in running if not any(has_use(probe, case) for case in probe.cases)]
