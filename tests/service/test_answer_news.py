"""What an answer says that the one before it did not."""

from __future__ import annotations

from typing import Any

import pytest

from bisect_tool.reports.report import StagePart
from bisect_tool.service.answer_news import (
    EVENTS,
    Appeared,
    Changed,
    Fixed,
    Moved,
    as_values,
    from_values,
    news,
    open_failures,
    outer,
)
from tests.reports.samples import IDS
from tests.rig.answers import answer

A: dict[str, Any] = {"failure": IDS["A"], "name": "zero-grad", "case": "repro"}
B: dict[str, Any] = {"failure": IDS["B"], "name": "lowering-error", "case": "repro"}


def test_a_fix_in_a_new_build_closes_the_failure_with_its_range() -> None:
    (told,) = news(answer("✓✓AA"), answer("✓✓AAA✓"))
    assert told == Fixed(**A, kind="exact", last_with="1.4", first_without="1.5")
    assert told.sentence == "zero-grad (repro) is fixed in 1.5: 1.4 is the last build with it"


def test_a_fix_behind_a_build_that_cannot_be_used_is_narrowed() -> None:
    assert news(answer("✓AA"), answer("✓AA?✓")) == (Fixed(**A, kind="narrowed", last_with="1.2", first_without="1.4"),)


@pytest.mark.parametrize("later", ["✓AAA", "✓AA?", "✓AA·", "✓AA"])
def test_what_is_still_there_or_could_not_be_looked_at_is_no_news(later: str) -> None:
    assert news(answer("✓AA"), answer(later)) == ()


def test_another_failure_in_its_place_may_hide_it() -> None:
    changed, appeared = news(answer("✓AA"), answer("✓AAB"))
    assert changed == Changed(**A, into=(IDS["B"],), kind="exact", last_with="1.2", first_without="1.3")
    assert appeared == Appeared(**B, kind="exact", last_without="1.2", first_with="1.3")


def test_a_failure_that_was_fixed_and_is_back_has_appeared() -> None:
    assert news(answer("✓A✓"), answer("✓A✓✓A")) == (
        Appeared(**A, kind="exact", last_without="1.3", first_with="1.4", first_without=None),
    )


def test_a_failure_that_came_and_went_among_the_new_builds() -> None:
    (told,) = news(answer("✓✓"), answer("✓✓✓B✓"))
    assert told == Appeared(**B, kind="exact", last_without="1.2", first_with="1.3", first_without="1.4")
    assert told.sentence == (
        "lowering-error (repro) appeared in 1.3, 1.2 is the last build without it; gone again in 1.4"
    )


def test_a_hole_that_was_closed_narrows_the_end() -> None:
    assert news(answer("✓?AA"), answer("✓✓AA")) == (
        Moved(**A, end="appeared", was=("1.0", "1.2"), now=("1.1", "1.2"), is_narrower=True),
    )


def test_an_end_that_lies_elsewhere_has_moved() -> None:
    assert news(answer("✓✓AA✓"), answer("✓AAA✓")) == (
        Moved(**A, end="appeared", was=("1.1", "1.2"), now=("1.0", "1.1")),
    )


def test_a_stretch_that_is_not_there_any_more_is_not_called_fixed() -> None:
    (told,) = news(answer("✓✓AA"), answer("✓✓✓✓"))
    assert told == Moved(**A, end="appeared", was=("1.1", "1.2"), now=None)


def test_a_range_that_begins_later_is_the_same_stretch() -> None:
    assert news(answer("✓AAAA✓"), answer("AAA✓", first=2)) == (
        Moved(**A, end="appeared", was=("1.0", "1.1"), now=(None, "1.2")),
    )


def test_open_are_those_that_the_newest_judged_build_has() -> None:
    assert [one.last_with for one in open_failures(answer("✓A✓A?"))] == ["1.3"]
    assert open_failures(answer("✓AA✓")) == ()


def test_of_commits_the_channel_before_is_compared() -> None:
    whole = answer("✓?AA")
    stage = StagePart(
        channel="nightly",
        source="index",
        first="1.0",
        last="1.3",
        outcome="narrowed",
        summary=(),
        cases=whole.cases,
    )
    fine = answer("✓A", first=70, channel="commit", stages=(stage,))
    (episode,) = outer(fine).failures[0].episodes
    assert (episode.appeared.last_without, episode.appeared.first_with) == ("1.0", "1.2")
    assert (episode.appeared.kind, episode.fixed.kind) == ("narrowed", "open")
    assert [one.last_with for one in open_failures(fine)] == ["1.3"]
    assert news(fine, answer("✓?AA✓", channel="nightly")) == (
        Fixed(**A, kind="exact", last_with="1.3", first_without="1.4"),
    )


def test_news_round_trip_as_plain_values() -> None:
    told = (*news(answer("✓AA"), answer("✓AAB")), *news(answer("✓✓AA"), answer("✓AAA")))
    assert from_values(as_values(told)) == told
    assert EVENTS == ("failure.fixed", "failure.appeared", "failure.changed", "failure.moved")
