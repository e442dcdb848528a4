"""A range that nobody asked for is answered from the verdicts of others, and from no others than those about the same thing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.cli.when import _query
from bisect_tool.search.policy import Policy
from bisect_tool.search.states import Fail, Pass, Result
from bisect_tool.search.together import Asking
from bisect_tool.service.finding import AskedCase, Found, Query, Standing
from bisect_tool.service.finding_text import render
from bisect_tool.service.looking_up import look_up
from bisect_tool.service.narrowing import together
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.results import Results, open_results
from tests.rig.direct_runs import direct_runs
from tests.rig.stored_searches import ASKED, StoredSearch, query

OLD = tuple(f"2.{number}" for number in range(5))  # 2.0 to 2.4
NEW = tuple(f"2.{number}" for number in range(8, 13))  # 2.8 to 2.12
ALL = tuple(f"2.{number}" for number in range(13))


def date_of(text: str) -> datetime:
    return datetime.strptime(f"2026{text}", "%Y%m%d").replace(tzinfo=UTC)


@pytest.fixture
def results(address: StoreAddress) -> Iterator[Results]:
    with open_results(address, nullcontext) as opened:
        yield opened


@pytest.fixture
def own(made_file: Path, tmp_path: Path) -> Iterator[Results]:
    """A file: what is said does not depend on the database."""
    path = tmp_path / "results.sqlite"
    path.write_bytes(made_file.read_bytes())
    with open_results(path, nullcontext) as opened:
        yield opened


def told(results: Results, asked: Query) -> tuple[Standing, ...]:
    (found,) = look_up(results, [asked])
    assert found.found is (Found.PARTLY if found.standing else Found.NO)
    return found.standing


def changes(results: Results, asked: Query) -> list[tuple[str, str, int | None]]:
    return [(one.before, one.after, one.left) for standing in told(results, asked) for one in standing.changes]


def test_two_ranges_tell_of_a_third_one(results: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.4": "p"}, from_="2.0").keep(results, "1")
    StoredSearch(ALL[4:], {"2.4": "p", "2.8": "ff", "2.12": "f"}, from_="2.4").keep(results, "2")
    (standing,) = told(results, query("2.2", "2.10"))
    assert (standing.first, standing.last, standing.builds, standing.tried) == ("2.2", "2.10", 9, 2)
    ((before, after, left),) = changes(results, query("2.2", "2.10"))
    assert (before, after, left) == ("2.4", "2.8", 3)
    assert (standing.is_begun, standing.notes) == (False, ())
    assert (standing.channel, standing.device, standing.python) == ("release", "cpu", "cpython-3.11.7-x86_64")
    text = render(look_up(results, [query("2.2", "2.10")])[0])
    assert "appeared between 2.4 and 2.8, 3 builds left, not verified" in text
    assert "not answered for these builds; put together from other runs" in text


def test_builds_that_no_listing_holds_are_not_counted(results: Results) -> None:
    StoredSearch(OLD, {"2.0": "p", "2.4": "p"}, from_="2.0", to="2.4").keep(results, "1")
    StoredSearch(NEW, {"2.8": "f", "2.12": "f"}, from_="2.8").keep(results, "2")
    (standing,) = told(results, query("2.0"))
    assert [(one.before, one.after, one.left) for one in standing.changes] == [("2.4", "2.8", None)]
    assert (standing.steps_left, len(standing.notes)) == (None, 1)
    text = render(look_up(results, [query("2.0")])[0])
    assert "between 2.4 and 2.8, how many builds are left is not known" in text
    assert "of 10 known builds" in text
    # Another spec of the package has listed them since.
    StoredSearch(ALL, {}, repro="b" * 64, from_="2.0").keep(results, "3")
    (standing,) = told(results, query("2.0"))
    assert [(one.before, one.after, one.left) for one in standing.changes] == [("2.4", "2.8", 3)]
    assert standing.notes == ()


def test_what_lies_beyond_the_listing_is_said(own: Results) -> None:
    StoredSearch(OLD, {"2.0": "p", "2.4": "f"}, from_="2.0", to="2.4").keep(own, "1")
    notes = [*told(own, query("1.9", "2.9"))[0].notes]
    assert [note[: note.index(":")] for note in notes] == [
        "no listing is known of the builds from 1.9 before 2.0",
        "no listing is known of the builds to 2.9 after 2.4",
    ]
    assert told(own, query(None, None))[0].notes[1].startswith("no listing is known of the builds after 2.4")
    assert told(own, query("2.1", "2.3")) == ()


OTHERS: dict[str, dict[str, Any]] = {
    "another package": {"about": {"package": "triton"}},
    "another channel": {"about": {"channel": "nightly"}},
    "another variant": {"about": {"variant": "cu130"}},
    "other requirements": {"about": {"beside": "numpy 1"}},
    "other names of failures": {"about": {"naming": "others"}},
    "other rules of judging": {"about": {"rules": 0}},
    "another repro": {"repro": "b" * 64},
    "other arguments": {"cases": {"main": "2" * 64}},
    "numbers that were compared with a build": {"compared": ("main",)},
    "a replaced file": {"files": {"2.4": "old", "2.0": "old"}},
    "commits": {"about": None},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=list(OTHERS))
def test_verdicts_about_something_else_do_not_count(own: Results, other: dict[str, Any]) -> None:
    search = StoredSearch(ALL, {"2.0": "p", "2.4": "f"}, from_="2.0", **{**other, "about": other.get("about") or {}})
    if "about" in other and other["about"] is None:
        object.__setattr__(search, "about", {"dated": None})
        search = _Silent(**vars(search))
    search.keep(own, "1")
    StoredSearch(ALL, {"2.9": "f"}, from_="2.0").keep(own, "2")
    (standing,) = told(own, query("2.1"))
    assert (standing.tried, standing.changes) == (1, ())
    if "files" in other:
        assert standing.notes == ("the file was replaced since it was tried: 2.4; what the old one did does not count",)


class _Silent(StoredSearch):
    """A search of commits, which says nothing of where it holds."""

    @property
    def where(self) -> dict[str, Any]:
        return {"about": [None], "listings": []}


def test_devices_and_interpreters_are_kept_apart(own: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.4": "f"}, from_="2.0").keep(own, "1")
    StoredSearch(ALL, {"2.2": "p"}, from_="2.0", about={"device": "NVIDIA H200"}).keep(own, "2")
    StoredSearch(ALL, {"2.3": "p"}, from_="2.0", about={"python": "cpython-3.12.1-x86_64"}).keep(own, "3")
    found = [(one.device, one.python[8:12], one.tried, len(one.changes)) for one in told(own, query("2.0", "2.9"))]
    assert found == [("cpu", "3.12", 1, 0), ("NVIDIA H200", "3.11", 1, 0), ("cpu", "3.11", 2, 1)]

    def only(**more: Any) -> list[tuple[str, str]]:
        asked = replace(ASKED, **{name: value for name, value in more.items() if name != "device"})
        one = query("2.0", "2.9", asked=asked, device=more.get("device"))
        return [(standing.device, standing.python[8:12]) for standing in told(own, one)]

    assert only(device="cpu") == [("cpu", "3.12"), ("cpu", "3.11")]
    assert only(devices=("cuda",)) == [("NVIDIA H200", "3.11")]
    assert only(python="3.12", devices=("cpu",)) == [("cpu", "3.12")]
    assert only(python="3.1") == only(python="/usr/bin/python3") == only(device="H100") == []


def test_trials_that_disagree_are_said_to_do_so(own: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.6": "f", "2.9": "f"}, from_="2.0").keep(own, "1")
    StoredSearch(ALL, {"2.6": "p"}, from_="2.0").keep(own, "2")  # asked afresh: it does not know of the first trial
    (standing,) = told(own, query("2.0", "2.9"))
    assert standing.counts == {"main": {"failing": 1, "flaky": 1, "pass": 1}}
    assert standing.notes == ("trials disagree: case main failed in 1 of 2 on 2.6",)
    assert not any(one.verified for one in standing.changes)


class _Lax(StoredSearch):
    """A search that was content with one trial of each side."""

    lax = Policy(verify=0)

    @property
    def asking(self) -> Asking:
        return replace(super().asking, policy=self.lax)


class _Trusting(_Lax):
    lax = Policy(verify=0, trust=True)


@pytest.mark.parametrize("kind", [_Lax, _Trusting])
def test_what_others_were_content_with_is_not_verified(own: Results, kind: type[_Lax]) -> None:
    kind(ALL, {"2.4": "p", "2.5": "f", "2.0": "p", "2.12": "f"}, from_="2.0").keep(own, "1")
    assert [one.verified for one in told(own, query("2.1"))[0].changes] == [False]
    StoredSearch(ALL, {"2.5": "ff", "2.4": "pp"}, from_="2.0").keep(own, "2")
    kind(ALL[3:], {}, from_="2.3").keep(own, "3")
    assert [one.verified for one in told(own, query("2.1"))[0].changes] == [True]


P, F = Pass(), Fail(frozenset({"f"}))


@pytest.mark.parametrize(
    ("older", "newer", "both"),
    [
        ((), (P,), (P,)),
        ((P,), (P, P), (P, P)),
        ((P, P), (P,), (P, P)),
        ((P,), (F,), (P, F)),
        ((P, F), (F,), (P, F)),
        ((P, P), (F, P), (P, P, F, P)),
    ],
)
def test_a_trial_that_two_searches_know_counts_once(
    older: tuple[Result, ...], newer: tuple[Result, ...], both: tuple[Result, ...]
) -> None:
    assert together(older, newer) == both


def test_a_build_whose_control_was_not_run_tells_nothing(own: Results) -> None:
    cases = {"main": "1" * 64, "control": "3" * 64}
    with_control = replace(ASKED, cases=(*ASKED.cases, AskedCase("control", "3" * 64, is_control=True)))
    seen = {"2.0": {"main": "p", "control": "p"}, "2.4": {"main": "f"}, "2.6": {"control": "f", "main": "f"}}
    StoredSearch(ALL, seen, from_="2.0", cases=cases, controls=("control",)).keep(own, "1")
    (standing,) = told(own, query("2.0", "2.9", asked=with_control))
    assert standing.counts == {"main": {"pass": 1, "untestable": 1}}
    (standing,) = told(own, query("2.0", "2.9"))  # a spec without that control
    assert [(one.before, one.after, one.left) for one in standing.changes] == [("2.0", "2.4", 3)]


def test_a_build_that_cannot_be_used_is_not_left(own: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.4": "f"}, from_="2.0", broken={"2.2": "no", "2.3": "no"}).keep(own, "1")
    StoredSearch(ALL, {"2.3": "p"}, from_="2.0").keep(own, "2")  # it could be used later
    (standing,) = told(own, query("2.0", "2.9"))
    assert [(one.before, one.after, one.left, one.untestable) for one in standing.changes] == [("2.3", "2.4", 0, 0)]
    assert standing.counts["main"]["untestable"] == 1


def test_a_build_that_is_gone_is_not_counted(own: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.2": "p", "2.4": "f"}, from_="2.0").keep(own, "1")
    now = tuple(version for version in ALL if version not in {"2.2", "2.3"})
    StoredSearch(now, {}, from_="2.0").keep(own, "2")
    assert changes(own, query("2.0", "2.9")) == [("2.0", "2.4", 1)]


def test_a_build_that_a_newer_search_of_the_same_bounds_has_not_is_not_counted(own: Results) -> None:
    """It may be gone, or that host's driver is too old for it: no count is given beside it."""
    StoredSearch(ALL[:10], {"2.0": "pp"}).keep(own, "1")
    StoredSearch(ALL[6:], {"2.8": "ff", "2.12": "f"}).keep(own, "2")
    assert changes(own, query()) == [("2.0", "2.8", None)]
    (standing,) = told(own, query())
    assert (standing.steps_left, standing.notes) == (
        None,
        ("not in a newer listing, whether they are still there is not known: 2.0, 2.1, 2.2, 2.3, 2.4 and 1 more",),
    )
    assert changes(own, query("2.6")) == []
    StoredSearch(ALL[6:12], {"2.6": "p"}).keep(own, "3")
    assert changes(own, query("2.6", "2.11")) == [("2.6", "2.8", 1)]
    assert [one.steps_left for one in told(own, query("2.6"))] == [None]  # 2.12 is not there any more, or hidden


BACKPORT = ("2.0", "2.1", "2.1.1", "2.2", "2.3")  # 2.1.1 is of April, 2.2 of February
DAYS = dict(zip(BACKPORT, map(date_of, ("0101", "0201", "0401", "0220", "0501")), strict=True))


@pytest.mark.parametrize("about", [{}, {"has_gaps": True}], ids=["a record of before", "a record that says it"])
def test_a_release_that_a_search_of_dates_left_out_is_not_gone(own: Results, about: dict[str, Any]) -> None:
    StoredSearch(BACKPORT, {"2.1": "pp"}, from_="2.0", to="2.3", dates=DAYS).keep(own, "1")
    february: dict[str, Any] = {"from_": "2026-02-01", "to": "2026-02-28"}
    StoredSearch(("2.1", "2.2"), {"2.2": "ff"}, **february, dates=DAYS, about=about).keep(own, "2")
    assert changes(own, query("2.0", "2.3")) == [("2.1", "2.2", 1)]
    assert changes(own, query("2026-02-01", "2026-02-28")) == [("2.1", "2.2", 0)]  # there it is left out again
    assert [one.builds for one in told(own, query("2026-02-01", "2026-02-27"))] == [2]


def test_a_search_of_dates_joins_nothing_by_itself(own: Results) -> None:
    february: dict[str, Any] = {"from_": "2026-02-01", "to": "2026-02-28"}
    StoredSearch(("2.1", "2.2"), {"2.1": "pp", "2.2": "ff"}, **february, dates=DAYS).keep(own, "1")
    assert changes(own, query("2.0", "2.3")) == [("2.1", "2.2", None)]


def test_a_build_that_was_replaced_during_a_search_is_nobodys(own: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.4": "p"}, from_="2.0").keep(own, "1")
    own.add_decision("1", 3, json.dumps({"n": 3, "choice": None, "learned": [{"forgotten": [4]}]}))
    StoredSearch(ALL, {"2.9": "f"}, from_="2.0").keep(own, "2")
    assert changes(own, query("2.0")) == [("2.0", "2.9", 8)]


def test_specs_that_were_searched_together(own: Results) -> None:
    """The record of the first has all; which question is whose is in the line of each."""
    first = StoredSearch(ALL, {"2.0": "p", "2.3": "f"}, from_="2.0", repro="b" * 64)
    second = StoredSearch(ALL, {"2.0": "p", "2.9": "f"}, from_="2.0")
    first.keep(own, "1")
    second.keep(own, "2")
    lines = {run: [json.loads(line) for line in own.decisions(run)] for run in ("1", "2")}
    for number, (one, two) in enumerate(zip(lines["1"], lines["2"], strict=True)):
        for name in ("about", "questions", "learned"):
            if name in one:
                one[name] += two[name]
        own.add_decision("1", number, json.dumps(one))
    with own.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM decisions WHERE run = '2'")
    own.add_decision("2", 0, '{"place":1,"same as":"1"}')
    assert changes(own, query("2.0", "2.10")) == [("2.0", "2.9", 8)]
    own.add_decision("2", 0, '{"same as":"1"}')  # of a version before
    assert told(own, query("2.0", "2.10")) == ()


def test_a_review_is_no_search_of_a_range(own: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.4": "f"}, from_="2.0").keep(own, "1")
    with own.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE runs SET outcome = 'review'")
    assert told(own, query("2.1")) == ()


BROKEN = (
    "{",
    "[]",
    '{"about": 1}',
    '{"about": [{}]}',
    '{"about": [null]}',
    '{"format": 99, "about": [{"package": "torch"}]}',
)


@pytest.mark.parametrize("line", BROKEN)
def test_a_record_that_cannot_be_read_is_passed_over(own: Results, line: str) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.4": "f"}, from_="2.0").keep(own, "1")
    StoredSearch(ALL, {"2.0": "p"}, from_="2.0").keep(own, "2")
    own.add_decision("2", 0, line)
    assert changes(own, query("2.0", "2.9")) == [("2.0", "2.4", 3)]


def test_a_bound_that_cannot_be_read_is_no_fault_of_the_look_up(own: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.4": "f"}, from_="2.0").keep(own, "1")
    assert told(own, query("abcdef0", "x")) == told(own, query("9.0", "9.1")) == told(own, query("2.9", "2.0")) == ()
    assert changes(own, query("2026-01-01", "2026-01-04T23")) == []
    assert changes(own, query("2026-01-01", "2026-01-05")) == [("2.0", "2.4", 3)]


SCRIPT = """import torch
if int(torch.__version__.split(".")[1]) >= 4:
    raise ValueError("too new")
"""


def between(first: str, last: str) -> dict[str, Any]:
    return {"from": first, "to": last}


def test_the_records_of_runs_tell_of_other_ranges(tmp_path: Path) -> None:
    with direct_runs(tmp_path, 7) as runs:
        runs.search(SCRIPT, **between("1.0", "1.2"))
        runs.search(SCRIPT, **between("1.5", "1.6"))
        spec = runs.spec(SCRIPT, **{"from": "1.1", "to": "1.6"})
        with runs.workshop().results() as results:
            asked = _query(str(spec.path), {"package": None, "device": None, "most": 5})
            (standing,) = told_of(results, asked)
            assert [(one.before, one.after, one.left) for one in standing.changes] == [("1.2", "1.5", None)]
            runs.search("print(1)\n", **between("1.0", "1.6"))  # lists what lies between
            runs.spec(SCRIPT, **{"from": "1.1", "to": "1.6"})
            (standing,) = told_of(results, asked)
            (change,) = standing.changes
            assert (change.before, change.after, change.left, change.title) == ("1.2", "1.5", 2, "ValueError: too new")
            runs.spec(SCRIPT, **{"from": "1.1", "to": "1.6", "requires": ["idna"]})
            other = _query(str(spec.path), {"package": None, "device": None, "most": 5})
            assert look_up(results, [other])[0].standing == ()


def told_of(results: Results, asked: Query) -> tuple[Standing, ...]:
    (found,) = look_up(results, [asked])
    assert found.found is Found.PARTLY
    return found.standing


def test_the_newest_listing_counts_also_when_an_older_one_was_the_same_as_it(own: Results) -> None:
    StoredSearch(ALL, {"2.0": "p", "2.2": "p", "2.4": "f"}, from_="2.0").keep(own, "1")
    StoredSearch(ALL, {}, repro="b" * 64, files={"2.2": "other"}, from_="2.0").keep(own, "2")
    assert changes(own, query("2.0", "2.9")) == [("2.0", "2.4", 3)]
    StoredSearch(ALL, {}, repro="b" * 64, from_="2.0").keep(own, "3")  # and back again
    assert changes(own, query("2.0", "2.9")) == [("2.2", "2.4", 1)]
