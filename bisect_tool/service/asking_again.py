"""How a question is asked again: over the builds that have come since, or over the builds of its answer alone.

`of_watch`: from what is known, to the newest build. The trials that are stored count, so that only new builds cost anything.

`of_review`: no trial of before counts, nor what was found of builds that could not be used (`Wishes.retry_untestable` and the
number of the last trial see to that). The builds are those that the answer rests on, each of them judged by as many trials as
before. Wheels are used again, as they are named by their hashes; so are environments that are here, which were proven when they
were made: an error in one of those is seen on another host only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bisect_tool.reports.report import Report
from bisect_tool.runs.surveying import Wishes
from bisect_tool.service.answer_news import outer
from bisect_tool.service.question import Purpose
from bisect_tool.service.recheck import builds_of, claims_of
from bisect_tool.spec.reading import ReadSpec

MOST_FLAKY = 200  # trials that finding the rate of a failure again may cost


@dataclass(frozen=True, slots=True)
class Narrow:
    """What an answer rests on: the builds `only` of `channel`, which lie between the bounds that were asked for."""

    channel: str
    from_: str | None
    to: str | None
    only: tuple[str, ...]

    def as_values(self) -> dict[str, Any]:
        """Plain values."""
        return {"channel": self.channel, "from_": self.from_, "to": self.to, "only": list(self.only)}


def narrow_from(values: dict[str, Any]) -> Narrow:
    """The inverse of `Narrow.as_values`."""
    return Narrow(values["channel"], values["from_"], values["to"], tuple(values["only"]))


def asked_again(
    read: ReadSpec, wishes: Wishes, purpose: Purpose, narrow: dict[str, Any] | None
) -> tuple[ReadSpec, Wishes]:
    """The question of a job of that purpose; `narrow` are the values of a `Narrow`, for `VERIFY`."""
    if purpose is Purpose.WATCH:
        return of_watch(read), wishes
    if purpose is Purpose.VERIFY and narrow is not None:
        return of_review(read, narrow_from(narrow), wishes)
    return read, wishes


def of_watch(read: ReadSpec) -> ReadSpec:
    """The question over a range that goes on to the newest build."""
    if any(metric.reference == "to" for metric in read.spec.metrics):
        return read  # with another end its numbers would be compared with another build
    return replace(read, spec=read.spec.model_copy(update={"to": None}))


def narrow_of(report: Report) -> Narrow | None:
    """What is to be run again of an answer; None when it rests on no builds that could be."""
    whole = outer(report)
    builds = builds_of(claims_of(whole))
    if not builds:
        return None
    asked = (whole.range.asked_from, whole.range.asked_to)
    if whole is not report:  # its range is that of the commits
        asked = (whole.cases[0].timeline[0].build, whole.cases[0].timeline[-1].build)
    return Narrow(whole.channel, *asked, only=tuple(dict.fromkeys((*builds, *_references(whole)))))


def of_review(read: ReadSpec, narrow: Narrow, wishes: Wishes) -> tuple[ReadSpec, Wishes]:
    """The question over those builds; `wishes` are the usual ones."""
    asked = {"channel": (narrow.channel,), "from_": narrow.from_, "to": narrow.to, "look_at": ()}
    policy = replace(wishes.policy, scan=0, aside=None, trust=False, most_flaky_trials=MOST_FLAKY)
    more = {"thin": "off", "isolate": False, "diagnose": False, "only": frozenset(narrow.only)}
    return replace(read, spec=read.spec.model_copy(update=asked)), replace(wishes, policy=policy, **more)  # type: ignore[arg-type]


def _references(report: Report) -> Iterator[str]:
    """The builds that numbers are compared with."""
    for case in report.cases:
        for entry in case.timeline:
            yield from (metric.reference for metric in entry.metrics)
