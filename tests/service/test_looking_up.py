from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, event, func, select, update

from bisect_tool.reports.report import Report
from bisect_tool.service.finding import MOST_ANSWERS, MOST_QUERIES, Answer, By, End, Finding, Found, Match, Query
from bisect_tool.service.looking_up import look_up
from bisect_tool.store import tables
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.found import fill, unfilled
from bisect_tool.store.records import REVIEW
from bisect_tool.store.results import Results, open_results
from bisect_tool.store.service_tables import failure_words, found_failures
from tests.rig.answered_reports import keep, report_of, shown_by
from tests.trials.test_real_tracebacks import SAMPLES

REAL = Path(__file__).parents[2] / "docs" / "results" / "corpus"
STRIDE = """Traceback (most recent call last):
  File "{folder}/repro.py", line {line}, in <module>
    main()
  File "{folder}/lib/python3.11/site-packages/torch/_inductor/lowering.py", line {line}, in call
    torch.ops.aten.mm.default(a, F.scaled_dot_product_attention(b))
RuntimeError: bad stride {line} of <torch._inductor.ir.Buffer object at 0x7f00112233{line}>
"""
SHAPE = """Traceback (most recent call last):
  File "repro.py", line 3, in <module>
RuntimeError: shape mismatch of the gradient
"""


@pytest.fixture
def results(address: StoreAddress) -> Iterator[Results]:
    with open_results(address, nullcontext) as opened:
        yield opened


def one(results: Results, text: str, by: By = By.AUTO, **more: Any) -> Finding:
    (found,) = look_up(results, [Query(text, by, **more)])
    return found


def test_two_texts_that_differ_in_volatile_parts_are_one_failure(results: Results) -> None:
    keep(results, "1", report_of(shown_by(STRIDE.format(folder="/here", line=12))))
    keep(results, "2", report_of(shown_by(SHAPE), name="other", repro="b" * 64))
    found = one(results, STRIDE.format(folder="/home/somebody/else", line=99))
    assert (found.found, found.by) == (Found.YES, By.TEXT)
    assert [(answer.match, answer.spec) for answer in found.answers] == [(Match.FAILURE, "a-spec")]
    (episode,) = found.answers[0].episodes
    assert (episode.appeared.before, episode.appeared.after, episode.appeared.kind) == ("2.11.0", "2.12.0", "exact")
    assert episode.appeared.verified
    assert (episode.fixed.before, episode.fixed.after, episode.fixed.kind) == ("2.13.0", None, "open")


def test_another_failure_with_like_words_is_only_near(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE)))
    found = one(results, "RuntimeError: shape mismatch of the bias")
    assert found.found is Found.PARTLY
    ((match, score),) = [(answer.match, answer.score) for answer in found.answers]
    assert match is Match.NEAR
    assert 0.34 < score < 1


def test_nothing_is_known(results: Results) -> None:
    assert one(results, "RuntimeError: shape mismatch").found is Found.NO
    keep(results, "1", report_of(shown_by(SHAPE)))
    for text in ("ValueError: quite another thing", "no_such_operator", "pytorch/pytorch#1", "f" * 64):
        assert one(results, text).found is Found.NO


def test_the_same_failure_of_two_specs_is_found_in_both_the_newest_first(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE), name="older"))
    keep(results, "2", report_of(shown_by(SHAPE), name="newer", repro="b" * 64, outcome="unfinished"))
    keep(results, "3", report_of(shown_by(SHAPE), name="newest", repro="c" * 64))
    found = one(results, SHAPE)
    assert [answer.spec for answer in found.answers] == ["newest", "older", "newer"]
    assert [answer.finished for answer in found.answers] == [True, True, False]


def test_only_a_run_that_was_cut_short_is_a_part_of_an_answer(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE), outcome="unfinished"))
    assert one(results, SHAPE).found is Found.PARTLY


NAMES = (
    ("torch.ops.aten.mm.default", Match.NAME),
    ("aten.mm.default", Match.NAME),
    ("aten::mm", Match.NAME),
    ("aten.mm.out", Match.NEAR),
    ("scaled_dot_product_attention", Match.NAME),
    ("torch.nn.functional.scaled_dot_product_attention", Match.NEAR),
    ("F.scaled_dot_product_attention()", Match.NAME),
    ("a-spec", Match.NAME),
    ("Main", Match.NAME),
    ("torch/_inductor/lowering.py", Match.NEAR),
    ("sdpa", None),
    ("aten.addmm", None),
)


def test_by_name(results: Results) -> None:
    keep(results, "1", report_of(shown_by(STRIDE.format(folder="/x", line=1))))
    found = look_up(results, [Query(asked) for asked, _ in NAMES])
    for (asked, match), finding in zip(NAMES, found, strict=True):
        assert (asked, [answer.match for answer in finding.answers]) == (asked, [] if match is None else [match])


def test_by_issue(results: Results) -> None:
    address = "https://github.com/PyTorch/pytorch/issues/145220"
    keep(results, "1", report_of(shown_by(SHAPE), issue=address))
    for text in (
        address,
        f"{address}#issuecomment-1",
        "pytorch/pytorch#145220",
        "github.com/pytorch/pytorch/issues/145220",
    ):
        by = By.ISSUE if text.startswith("github") else By.AUTO
        assert [answer.match for answer in one(results, text, by).answers] == [Match.ISSUE]
    assert one(results, "pytorch/pytorch#14522").found is Found.NO


def test_by_package_and_kind_of_device(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE)))
    keep(results, "2", report_of(shown_by(SHAPE), device="NVIDIA H200"))
    keep(results, "3", report_of(shown_by(SHAPE), package="scipy", repro="b" * 64))
    assert [answer.device for answer in one(results, "torch").answers] == ["NVIDIA H200", "cpu"]
    assert [answer.run for answer in one(results, SHAPE).answers] == ["3", "2", "1"]
    assert [answer.run for answer in one(results, SHAPE, package="torch", device="cpu").answers] == ["1"]
    assert [answer.run for answer in one(results, SHAPE, most=1).answers] == ["3"]


def test_by_spec_the_same_question_comes_before_other_ranges(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE), asked_from="2.10"))
    keep(results, "2", report_of(shown_by(SHAPE), asked_from="2.9"))
    found = one(results, "a" * 64, By.SPEC, from_="2.10", channels=("release",))
    assert [(answer.match, answer.run) for answer in found.answers] == [(Match.QUESTION, "1"), (Match.REPRO, "2")]
    assert found.found is Found.YES
    assert one(results, "a" * 64, By.SPEC, from_="2.8", channels=("release",)).found is Found.PARTLY
    assert one(results, "b" * 64, By.SPEC, from_="2.8", channels=("release",)).found is Found.NO


def test_a_spec_without_a_failure_is_found_too(results: Results) -> None:
    keep(results, "1", report_of(outcome="no change", name="sound", title="svd of an empty matrix"))
    for text in ("sound", "svd"):
        (answer,) = one(results, text).answers
        assert (answer.failure, answer.outcome, answer.summary) == ("", "no change", ("sound: 0 failures.",))


def test_the_newest_finished_report_of_a_question_counts(results: Results) -> None:
    first, second = shown_by(SHAPE), shown_by(STRIDE.format(folder="/x", line=1))
    keep(results, "1", report_of(first))
    keep(results, "2", report_of(second, since=3))
    assert one(results, "aten.mm").answers[0].run == "2"
    assert one(results, SHAPE).found is not Found.YES
    keep(results, "3", report_of(first, outcome="unfinished"))
    assert one(results, SHAPE).found is not Found.YES
    keep(results, "4", report_of(first, outcome="narrowed"))
    assert one(results, SHAPE).answers[0].run == "4"
    assert one(results, "aten.mm").found is Found.NO
    with results.engine.connect() as connection:
        left = connection.execute(select(func.count()).select_from(failure_words)).scalar_one()
        words = connection.execute(select(found_failures.c.words)).scalars().all()
    assert left == sum(len(row.split(" ")) for row in words)


def test_reports_of_before_the_index_are_taken_in(results: Results) -> None:
    shown = shown_by(SHAPE)
    for number in range(60):
        keep(results, f"{number}", report_of(shown, name=f"spec-{number}", repro=f"{number:064}"))
    keep(results, "unread", report_of())
    with results.engine.begin() as connection:
        connection.execute(delete(found_failures))
        connection.execute(delete(failure_words))
        connection.execute(update(tables.runs).values(found=None))
        connection.execute(update(tables.runs).where(tables.runs.c.id == "unread").values(report={"no": "report"}))
    assert fill(results.database, seconds=0) == 50
    assert unfilled(results.database) == 11
    (found,) = look_up(results, [Query("spec-5")], fill_seconds=60)  # a look-up goes on with it
    assert (found.found, found.notes) == (Found.YES, ())
    assert unfilled(results.database) == 0


def test_a_look_up_says_when_not_all_is_in_the_index(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE)))
    with results.engine.begin() as connection:
        connection.execute(update(tables.runs).values(found=None))
    (found,) = look_up(results, [Query("a-spec")], fill_seconds=0)
    assert "older reports are still being taken in" in found.notes[0]


def test_a_review_is_never_taken_in_and_not_waited_for(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE)))
    results.start_run("2", spec="a-spec", repro="a" * 64, package="torch")
    results.end_run("2", REVIEW, {})
    assert one(results, "shape mismatch").notes == one(results, "shape mismatch").notes == ()


def test_older_answers_for_another_device_are_found_behind_newer_ones(results: Results) -> None:
    keep(results, "old", report_of(shown_by(SHAPE), name="the-old", repro="f" * 64, device="cpu"))
    for number in range(MOST_ANSWERS + 5):
        keep(results, f"{number}", report_of(shown_by(SHAPE), name=f"s{number}", repro=f"{number:064x}", device="H200"))
    found = one(results, "RuntimeError", By.NAME, device="cpu")
    assert [answer.spec for answer in found.answers] == ["the-old"]


def test_a_hundred_queries_ask_few_questions(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE), issue="pytorch/pytorch#7"))
    asked: list[str] = []
    event.listen(results.engine, "before_cursor_execute", lambda *what: asked.append(what[2]))
    texts = [f"RuntimeError: shape mismatch {word}" for word in "abcdefghijklmnopqrstuvwxyz"]
    names = [f"name_{number}" for number in range(70)]
    found = look_up(results, [Query(text) for text in [*texts, *names, "pytorch/pytorch#7", "a" * 64, SHAPE, "torch"]])
    assert len(found) == MOST_QUERIES
    assert [one.found for one in found[-4:]] == [Found.YES, Found.PARTLY, Found.YES, Found.YES]
    assert len(asked) <= 20
    with pytest.raises(ValueError, match="101 queries"):
        look_up(results, [Query("x")] * 101)


ODD = (
    "'",
    "x'; DROP TABLE runs; --",
    "%",
    "\\",
    ":k0",
    "a\0b",
    "\ud800",
    "ﬀ İ ß 漢字",
    "",
    " ",
    "()",
    "NULL",
    "{}[]",
    "x" * 1_000_000,
)


def test_whatever_is_asked_for(results: Results) -> None:
    keep(results, "1", report_of(shown_by(SHAPE)))
    found = look_up(results, [Query(text, by) for text in ODD for by in By])
    assert {one.found for one in found} == {Found.NO}
    assert one(results, "a-spec").found is Found.YES


def test_hostile_texts_of_a_report(results: Results) -> None:
    hostile = "Traceback (most recent call last):\nValueError: '; DROP TABLE runs; -- \0 <b>漢字</b> %s :k0 operator_x"
    keep(results, "1", report_of(shown_by(hostile), title="it's \0 \ud800"))
    assert one(results, "operator_x").found is Found.YES
    assert one(results, hostile).answers[0].match is Match.FAILURE


# Real tracebacks: what one release printed is found by what another one printed, and by nothing else.


def test_of_real_failures_only_the_same_are_exact(made_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    path.write_bytes(made_file.read_bytes())
    tells = [one for one in SAMPLES if one.observation.chain and len(one.verdict(by_text=True)) == 12]
    samples = [*{one.bug: one for one in tells}.values(), *{one.bug: one for one in reversed(tells)}.values()]
    shown = {one.bug: (one, shown_by(one.observation.output)) for one in samples}
    with open_results(path, nullcontext) as results:
        for bug, (_, failure) in shown.items():
            keep(results, bug, report_of(failure, name=bug, repro=bug))
        checked = 0
        for start in range(0, len(samples), 100):
            part = samples[start : start + 100]
            for sample, found in zip(
                part, look_up(results, [Query(one.observation.output, By.TEXT, most=20) for one in part]), strict=True
            ):
                exact = {answer.spec for answer in found.answers if answer.match is Match.FAILURE}
                same = {bug for bug, (_, failure) in shown.items() if failure.id == sample.verdict(by_text=True)}
                assert exact <= same
                checked += bool(exact)
    assert checked > 90


def said(answer: Answer, report: dict[str, Any]) -> None:
    """Everything in the answer stands in the report."""
    spec, asked = report["spec"], report["range"]
    assert (answer.spec, answer.spec_title, answer.issue, answer.package) == (
        spec["name"],
        spec["title"],
        spec["issue"],
        spec["package"],
    )
    assert (answer.first, answer.last, answer.outcome) == (asked["first"], asked["last"], report["outcome"])
    assert list(answer.summary) == report["summary"]
    assert answer.finished == (report["outcome"] != "unfinished")
    if not report["failures"]:
        assert (answer.failure, answer.episodes, answer.title) == ("", (), spec["title"])
        return
    (failure,) = [one for one in report["failures"] if (one["id"], one["case"]) == (answer.failure, answer.case)]
    assert answer.title == failure["signature"]["title"]
    dates = {entry["build"]: entry["date"] for case in report["cases"] for entry in case["timeline"]}
    for mine, own in zip(answer.episodes, failure["episodes"], strict=True):
        _same_end(mine.appeared, own["appeared"], ("last_without", "first_with", "changed_from"), dates)
        _same_end(mine.fixed, own["fixed"], ("last_with", "first_without", "changed_into"), dates)


def _same_end(mine: End, own: dict[str, Any], names: tuple[str, str, str], dates: dict[str, str]) -> None:
    older, newer, instead = names
    assert (mine.kind, mine.verified, mine.before, mine.after) == (own["kind"], own["verified"], own[older], own[newer])
    assert (mine.compare, mine.confidence, mine.is_rate) == (own["compare"], own["confidence"], own["is_rate"])
    assert (mine.same_code, mine.also_differs, list(mine.instead)) == (
        own["same_code"],
        own["also_differs"],
        own[instead],
    )
    assert mine.untestable == tuple(own["untestable"][:20])
    assert mine.untestable_count == len(own["untestable"])
    assert mine.not_tried == sum(not hole["tried"] for hole in own["holes"])
    assert [one for one in (mine.before_date, mine.after_date) if one and one not in dates.values()] == []
    suspects = [one["sha"] for one in (own["suspicion"] or {}).get("suspects", [])]
    assert [one.sha for one in mine.suspects] == suspects[:3]


def test_a_look_up_says_nothing_that_the_report_does_not_say(results: Results) -> None:
    reports = [json.loads(path.read_text()) for path in sorted(REAL.glob("*.json"))]
    for number, report in enumerate(reports):
        keep(results, f"{number}", Report.model_validate(report))
    found = look_up(results, [Query(report["spec"]["name"], By.NAME, most=20) for report in reports])
    for report, finding in zip(reports, found, strict=True):
        own = [answer for answer in finding.answers if answer.spec == report["spec"]["name"]]
        assert len(own) == max(1, len(report["failures"]))
        for answer in own:
            said(answer, report)


_build = st.one_of(st.none(), st.sampled_from(["1.0", "1.1", "2.0"]))
_both = {
    "kind": st.sampled_from(["exact", "narrowed", "open"]),
    "untestable": st.lists(st.sampled_from(["1.1", "1.2"]), max_size=25).map(tuple),
    "verified": st.booleans(),
    "confidence": st.one_of(st.none(), st.floats(0, 1)),
    "is_rate": st.booleans(),
    "same_code": st.one_of(st.none(), st.just("commit abc")),
    "also_differs": st.one_of(st.none(), st.just("cpu and cu130")),
    "compare": st.one_of(st.none(), st.just("https://github.com/o/n/compare/a...b")),
    "holes": st.lists(
        st.fixed_dictionaries({"build": st.just("1.2"), "reason": st.just("x"), "tried": st.booleans()}), max_size=3
    ),
}
_appeared = st.fixed_dictionaries(
    {**_both, "last_without": _build, "first_with": st.just("2.0"), "changed_from": st.lists(st.just("x"), max_size=1)}
)
_fixed = st.fixed_dictionaries(
    {**_both, "first_without": _build, "last_with": st.just("2.0"), "changed_into": st.lists(st.just("y"), max_size=1)}
)
_ends = st.lists(st.fixed_dictionaries({"appeared": _appeared, "fixed": _fixed}), min_size=1, max_size=3)


@given(
    episodes=_ends,
    outcome=st.sampled_from(["exact", "narrowed", "not judged", "unfinished"]),
    title=st.text(max_size=40),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_nor_for_any_report(
    episodes: list[dict[str, Any]], outcome: Any, title: str, made_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "results.sqlite"
    path.write_bytes(made_file.read_bytes())
    plain = report_of(shown_by(SHAPE), outcome=outcome, title=title).model_dump(mode="json")
    plain["failures"][0]["episodes"] = episodes
    report = Report.model_validate(plain)
    with open_results(path, nullcontext) as results:
        keep(results, "1", report)
        (answer,) = one(results, SHAPE).answers
    kept = json.loads(report.model_dump_json())
    said(answer, json.loads(re.sub(r"\\u0000", r"\\\\x00", json.dumps(kept))))
