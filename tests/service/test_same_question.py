"""An answer is one to the very question of a spec only when everything about the spec and its files is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.runs.judging import as_values
from bisect_tool.runs.record_places import file_name
from bisect_tool.service.agreeing import is_device
from bisect_tool.service.askers import DatabaseAsker
from bisect_tool.service.finding import AskedCase, AskedSpec, Finding, Found, Match, Query
from bisect_tool.service.listings import MOST_LISTINGS
from bisect_tool.service.looking_up import look_up
from bisect_tool.spec.asked_identity import beside_of, naming_of
from bisect_tool.spec.model import Spec
from bisect_tool.store.record_asking import openings_of
from bisect_tool.store.results import Results, StoredTrial, Subject, open_results
from bisect_tool.trials.observation import Observation
from tests.rig.answered_reports import BUILDS, keep, report_of, shown_by
from tests.rig.stored_searches import ASKED, REPRO, StoredSearch, query

ERROR = "ValueError: the gradient is zero"
SEEN = {"2.10.0": "p", "2.11.0": "p", "2.12.0": "f", "2.13.0": "f"}


@pytest.fixture
def results(made_file: Path, tmp_path: Path) -> Iterator[Results]:
    path = tmp_path / "results.sqlite"
    path.write_bytes(made_file.read_bytes())
    with open_results(path, nullcontext) as opened:
        yield opened


def answered(results: Results, run: str = "1", **more: Any) -> None:
    """A run with a record and a report."""
    StoredSearch(BUILDS, SEEN, from_="2.10", **more).keep(results, run)
    report = report_of(shown_by(ERROR)).model_dump(mode="json")
    results.end_run(run, "exact", report)


def found(results: Results, asked: Query) -> Finding:
    return look_up(results, [asked])[0]


def test_everything_is_the_same(results: Results) -> None:
    answered(results)
    finding = found(results, query("2.10"))
    assert (finding.found, [answer.match for answer in finding.answers]) == (Found.YES, [Match.QUESTION])
    assert (finding.standing, finding.notes) == ((), ())


OTHERS = {
    "other arguments": replace(ASKED, cases=(AskedCase("main", "2" * 64),)),
    "one more case": replace(ASKED, cases=(*ASKED.cases, AskedCase("more", "2" * 64))),
    "a control that was a test": replace(ASKED, cases=(AskedCase("main", "1" * 64, is_control=True),)),
    "other requirements": replace(ASKED, beside="numpy 1"),
    "other names of failures": replace(ASKED, naming="others"),
    "another variant": replace(ASKED, variant="cu130"),
    "another device": replace(ASKED, devices=("cuda",)),
    "another Python": replace(ASKED, python="3.12"),
}


@pytest.mark.parametrize("asked", OTHERS.values(), ids=list(OTHERS))
def test_an_answer_to_another_question_is_not_one_to_this(results: Results, asked: Any) -> None:
    answered(results)
    finding = found(results, query("2.10", asked=asked))
    assert (finding.found, [answer.match for answer in finding.answers]) == (Found.PARTLY, [Match.REPRO])


def test_what_the_packages_of_a_machine_belong_to(results: Results) -> None:
    """The same requirements make the same question; verdicts of several machines are not put together."""

    def asked(*requires: str) -> AskedSpec:
        spec = Spec.model_validate({"name": "x", "script": "x.py", "base": "system", "requires": requires})
        return replace(ASKED, beside=beside_of(spec))

    answered(results, about={"beside": asked("a").beside})
    assert found(results, query("2.10", asked=asked("a"))).found is Found.YES
    assert found(results, query("2.10", asked=asked())).found is Found.PARTLY
    assert found(results, query("2.11", asked=asked("a"))).standing == ()
    answered(results, "2", about={"beside": ""})  # as versions before said it, whatever else was required
    assert found(results, query("2.10", asked=replace(ASKED, beside=""))).found is Found.PARTLY


def test_the_name_of_a_case_does_not_matter(results: Results) -> None:
    answered(results)
    named = replace(ASKED, cases=(AskedCase("another name", "1" * 64),))
    assert found(results, query("2.10", asked=named)).found is Found.YES


def test_a_run_of_a_version_before_is_not_taken_for_the_same(results: Results) -> None:
    keep(results, "1", report_of(shown_by(ERROR)))
    assert found(results, query("2.10")).found is Found.PARTLY
    assert found(results, query("2.10", asked=None)).found is Found.YES  # the range of a script was asked for


def test_an_answer_about_a_file_that_was_replaced_is_none_any_more(results: Results) -> None:
    answered(results)
    StoredSearch(BUILDS, {}, repro="b" * 64, files={"2.10.0": "new"}, from_="2.10").keep(results, "2")
    assert found(results, query("2.10")).found is Found.YES  # no change is beside it
    StoredSearch(BUILDS, {}, repro="b" * 64, files={"2.11.0": "new"}, from_="2.10").keep(results, "3")
    finding = found(results, query("2.10"))
    assert finding.found is Found.PARTLY
    assert finding.notes == ("the file of 2.11.0 was replaced since this answer: `bisect run` tries the new one",)
    (standing,) = finding.standing
    assert [(one.before, one.after, one.left) for one in standing.changes] == [("2.10.0", "2.12.0", 1)]
    # Another index has what it has.
    answered(results, "4", files={"2.11.0": "new"})
    assert found(results, query("2.10")).found is Found.YES
    StoredSearch(BUILDS, {}, repro="b" * 64, about={"source": "a mirror"}, from_="2.10").keep(results, "5")
    assert found(results, query("2.10")).found is Found.YES


def test_an_answer_about_a_file_that_was_replaced_while_it_was_looked_for_is_about_the_new_one(
    results: Results,
) -> None:
    answered(results)
    forgotten = [BUILDS.index("2.11.0")]
    results.add_decision("1", 3, json.dumps({"n": 3, "choice": None, "learned": [{"forgotten": forgotten}]}))
    StoredSearch(BUILDS, {}, repro="b" * 64, files={"2.11.0": "new"}, from_="2.10").keep(results, "2")
    assert found(results, query("2.10")).found is Found.YES
    StoredSearch(BUILDS, {}, repro="b" * 64, files={"2.12.0": "new"}, from_="2.10").keep(results, "3")
    assert found(results, query("2.10")).found is Found.PARTLY


def test_searches_elsewhere_hide_no_file_that_was_replaced(results: Results) -> None:
    answered(results)
    StoredSearch(BUILDS, {}, repro="b" * 64, files={"2.11.0": "new"}, from_="2.10").keep(results, "2")
    for number in range(MOST_LISTINGS + 1):
        StoredSearch(BUILDS, {}, repro="c" * 64, from_="2.10", about={"channel": "nightly"}).keep(
            results, f"{5 + number}"
        )
    assert found(results, query("2.10")).found is Found.PARTLY


def test_what_a_batch_had_listed_counts_once(results: Results) -> None:
    """The members say whose record has their question; the first of them is of another package."""
    answered(results)
    StoredSearch(BUILDS, {}, repro="b" * 64, files={"2.11.0": "new"}, from_="2.10").keep(results, "2")
    with results.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE runs SET package = 'triton' WHERE id = '2'")
    assert found(results, query("2.10")).found is Found.YES
    for run in range(3, 5 + MOST_LISTINGS):
        StoredSearch(BUILDS, {}, repro="c" * 64).keep(results, str(run))
        with results.engine.begin() as connection:
            connection.exec_driver_sql(f"DELETE FROM decisions WHERE run = '{run}'")
        results.add_decision(str(run), 0, '{"about":{"package":"torch"},"place":1,"same as":"2"}')
    assert found(results, query("2.10")).found is Found.PARTLY
    with results.engine.begin() as connection:
        assert len(list(openings_of(DatabaseAsker(connection, is_server=False), "torch"))) == 2


def test_a_question_that_was_begun_says_where(results: Results) -> None:
    StoredSearch(BUILDS, {"2.10.0": "p", "2.13.0": "f"}, from_="2.10").keep(results, "1", ended=False)
    (standing,) = found(results, query("2.10")).standing
    assert (standing.is_begun, standing.device, standing.channel, standing.tried) == (True, "cpu", "release", 2)
    assert [one.left for one in standing.changes] == [2]
    (other,) = found(results, query("2.11")).standing
    assert (other.is_begun, other.tried, other.changes) == (False, 1, ())
    assert found(results, query("2.10", asked=replace(ASKED, naming="others"))).standing == ()
    assert found(results, query("2.10", device="NVIDIA H200")).standing == ()


def test_a_question_that_was_begun_with_files_that_were_replaced_since(results: Results) -> None:
    seen = {"2.10.0": "p", "2.11.0": "ppp", "2.12.0": "fff"}
    StoredSearch(BUILDS, seen, from_="2.10").keep(results, "1", ended=False)
    StoredSearch(BUILDS, {}, repro="b" * 64, files={"2.13.0": "new"}, from_="2.10").keep(results, "2")
    (standing,) = found(results, query("2.10")).standing
    assert standing.is_begun  # it had not come to that build
    StoredSearch(BUILDS, {}, repro="b" * 64, files={"2.12.0": "new"}, from_="2.10").keep(results, "3")
    (standing,) = found(results, query("2.10")).standing
    assert (standing.is_begun, standing.tried, standing.changes) == (False, 2, ())
    assert standing.notes == ("the file was replaced since it was tried: 2.12.0; what the old one did does not count",)
    assert found(results, query("2.10", asked=None)).standing == ()  # the range of a script was asked for


def trial(version: str, **more: Any) -> StoredTrial:
    own = {"identity": version, "setting": "setting", "device": "cpu", "case_digest": "1" * 64, **more}
    subject = Subject(own["identity"], own["setting"], own["device"])
    values = as_values(Observation(0))
    name = "-".join([version, *map(str, more.values())])
    return StoredTrial(
        subject, REPRO, own["case_digest"], "main", "torch", version, values, name, "python repro.py", 1.0
    )


LATE = {
    "the same": ({}, 3),
    "of a replaced file": ({"identity": "old"}, 2),
    "of another environment": ({"setting": "other"}, 2),
    "of another device": ({"device": "NVIDIA H200"}, 2),
    "of other arguments": ({"case_digest": "2" * 64}, 2),
}


@pytest.mark.parametrize(("more", "tried"), LATE.values(), ids=list(LATE))
def test_the_last_trials_of_a_run_that_was_killed_count_if_they_are_its_own(
    results: Results, more: dict[str, Any], tried: int
) -> None:
    about = {"settings": ["setting"]}
    StoredSearch(BUILDS, {"2.10.0": "p", "2.13.0": "f"}, from_="2.10", about=about).keep(results, "1", ended=False)
    results.add_trial(trial("2.11.0", **more))
    (standing,) = found(results, query("2.10")).standing
    assert standing.tried == tried


def test_what_makes_two_specs_alike() -> None:
    def spec(**keys: Any) -> Spec:
        return Spec.model_validate({"name": "x", "script": "x.py", **keys})

    assert beside_of(spec(requires=["b", "a"])) == beside_of(spec(requires=["a", "b"], name="other"))
    others = [spec(), spec(requires=["a"]), spec(hold=["a"]), spec(as_is=["a"]), spec(package="toy")]
    assert len({beside_of(one) for one in others}) == len(others)
    machine = [spec(base="system", **keys) for keys in ({}, {"requires": ["a"]}, {"as_is": ["a"]})]
    assert len({beside_of(one) for one in (*others, *machine)}) == len(others) + len(machine)
    names = [spec(), spec(failures=[{"name": "a", "match": "b"}]), spec(failures=[{"name": "a", "match": "c"}])]
    limits = [spec(metrics=[{"name": "duration_s", "ratio": ratio}]) for ratio in (1.1, 1.2)]
    assert len({naming_of(one) for one in (*names, *limits)}) == 5
    assert naming_of(spec(flaky="yes")) != naming_of(spec(flaky="no"))


@pytest.mark.parametrize(
    ("wanted", "device", "is_it"),
    [
        (None, "cpu", True),
        ("cpu", "cpu", True),
        ("cpu", "NVIDIA H200", False),
        ("cuda", "NVIDIA H200", True),
        ("GPU", "NVIDIA H200", True),
        ("cuda", "cpu", False),
        ("NVIDIA H200", "NVIDIA H200", True),
        ("NVIDIA H200", "NVIDIA H100", False),
    ],
)
def test_kinds_of_devices(wanted: str | None, device: str, is_it: bool) -> None:  # noqa: FBT001  a table of them
    assert is_device(wanted, device) is is_it


def test_the_file_of_a_build_has_a_short_name() -> None:
    assert (len(file_name("sha256:1")), file_name("sha256:1") == file_name("sha256:2")) == (12, False)
    assert json.dumps(file_name("file:\udc80"))
