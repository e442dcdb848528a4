"""A question is asked once, by content, and refused with every mistake."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from bisect_tool.errors import SpecError
from bisect_tool.service.question import Asker, Filter, JobState, Purpose, QuestionState, Submission
from bisect_tool.service.questions import Questions
from tests.rig.asked import another, submission

ANN, BOB = Asker("ann"), Asker("bob")


def test_asking_twice_is_asking_once(questions: Questions) -> None:
    first = questions.submit(submission(), ANN, source="api")
    again = questions.submit(submission(), BOB)
    assert (first.is_new, again.is_new) == (True, False)
    assert again.question == first.question
    assert again.job == first.job
    assert first.question.state is QuestionState.QUEUED
    assert (first.question.owner, first.question.source) == ("ann", "api")
    assert first.question.id == f"q{first.question.digest[:20]}"


def test_where_a_question_came_from_is_text_that_every_database_takes(questions: Questions) -> None:
    assert questions.submit(submission(), ANN, source="a\0b").question.source == "a\\x00b"


def test_what_is_the_same_content() -> None:
    questions = [submission(), submission("other-name", title="Other words", issue="https://example.org/1")]
    commented = Submission(f"# a comment\n{submission().spec}", submission().files)
    beside = submission("toy-spec", ("notes.txt", b"not named by the spec"))
    same = {read_id(one) for one in (*questions, commented, beside)}
    assert len(same) == 1
    others = [submission(script=b"import toy, os\n"), submission(to="1.5"), submission(timeout=5)]
    assert len({*same, *map(read_id, others)}) == 4


def read_id(one: Submission) -> str:
    from bisect_tool.service.submissions import read_submission

    return read_submission(one).id


def test_asked_by_many_at_once_it_is_one_question_with_one_job(questions: Questions) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = [*pool.map(lambda _: questions.submit(submission(), ANN), range(20))]
    assert sum(answer.is_new for answer in answers) == 1
    (question,) = {answer.question.id for answer in answers}
    assert len(questions.jobs(question)) == 1
    assert questions.files(question) == [("repro.py", b"import toy\n")]


def test_only_what_the_repro_needs_is_kept(questions: Questions) -> None:
    asked = submission(
        "toy-spec", ("data/a.json", b"{}"), ("beside.py", b""), ("notes.txt", b"x"),
        script=b"import beside\n", files=["data/a.json"],
    )  # fmt: skip
    question = questions.submit(asked, ANN).question
    assert [path for path, _ in questions.files(question.id)] == ["beside.py", "data/a.json", "repro.py"]
    assert question.spec == asked.spec


def test_a_stranger_may_not_use_what_is_the_servers() -> None:
    asked = submission(
        channel="wheelhouse", base="system", python="/usr/bin/python3", source="git@example.org:a/b",
        requires=["numpy", "evil @ file:///etc"], hold=["more @ https://example.org/more.tar.gz"], device="gpu",
    )  # fmt: skip
    with pytest.raises(SpecError) as raised:
        read_id(asked)
    text = str(raised.value)
    for key in ("channel", "base", "python", "source", "requires[1]", "hold[0]", "device[0]"):
        assert f"{key}: found" in text
    assert "requires[0]" not in text
    assert "/tmp" not in text


def test_what_is_on_the_server_does_not_show() -> None:
    def said(python: str) -> str:
        with pytest.raises(SpecError) as raised:
            read_id(submission(python=python))
        return str(raised.value).replace(python, "")

    assert said("/bin/sh") == said("/bin/nothing")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../x.py", "a plain path inside"),
        ("/etc/x.py", "a plain path inside"),
        ("a/./b", "a plain path inside"),
        ("a\\b", "printable"),
        ("c:b", "printable"),
        ("a\x00b", "printable"),
        ("spec.yaml", "the spec itself"),
        ("spec.yaml/data.json", "the spec itself"),
        (".", "the spec itself"),
        ("x" * 256, "at most 255 bytes"),
        ("ü" * 128, "at most 255 bytes"),
        ("repro.py", "more than once"),
        ("", "1 to 300"),
        ("x" * 301, "1 to 300"),
    ],
)
def test_paths_stay_inside(name: str, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        read_id(submission("toy-spec", (name, b"")))


def test_a_file_that_is_a_folder_as_well() -> None:
    with pytest.raises(SpecError, match="a folder as well"):
        read_id(submission("toy-spec", ("a", b""), ("a/b", b"")))


def test_sizes_are_limited() -> None:
    for asked, why in (
        (Submission("#" * 1_000_001, ()), "1 MB"),
        (submission("toy-spec", ("big", bytes(16_000_001))), "16 MB"),
        (submission("toy-spec", ("big.py", bytes(1_000_001))), "1 MB of Python"),
        (submission("toy-spec", *((f"f{number}", b"") for number in range(200))), "at most 200"),
        (submission(cases=[{"name": f"c{number}"} for number in range(101)]), "at most 100"),
        (Submission("\ud800", ()), "half a character"),
    ):
        with pytest.raises(SpecError, match=why):
            read_id(asked)


def test_found_in_pages_the_last_changed_first(questions: Questions) -> None:
    asked = [questions.submit(another(number), ANN).question.id for number in range(5)]
    first = questions.find(Filter(most=3))
    second = questions.find(Filter(most=3, before=first.next))
    assert [one.id for one in (*first.questions, *second.questions)] == asked[::-1]
    assert second.next is None


def test_found_by_words_state_package_and_owner(questions: Questions) -> None:
    one = questions.submit(another(1, title="Zero 100% gradient"), ANN).question
    two = questions.submit(another(2, package="other"), BOB).question
    questions.cancel(two.id)

    def found(**wanted: object) -> list[str]:
        return [each.id for each in questions.find(Filter(**wanted)).questions]  # type: ignore[arg-type]

    assert found(text="gradient ZERO") == [one.id]
    assert found(text="100%") == [one.id]
    assert found(text="_") == []
    assert found(states=(QuestionState.CANCELLED,)) == [two.id]
    assert found(package="other") == [two.id]
    assert found(owner="ann") == [one.id]
    assert questions.counts()[QuestionState.CANCELLED] == 1


def test_cancelled_and_asked_again(questions: Questions) -> None:
    question = questions.submit(submission(), ANN).question
    assert questions.cancel(question.id).state is QuestionState.CANCELLED
    again = questions.submit(submission(), BOB)
    assert (again.is_new, again.question.state) == (False, QuestionState.QUEUED)
    assert [job.state for job in questions.jobs(question.id)] == [JobState.CANCELLED, JobState.WAITING]


def test_a_retry_while_it_waits_is_the_same_work(questions: Questions) -> None:
    asked = questions.submit(submission(), ANN)
    job = questions.retry(asked.question.id, ANN, fresh=True)
    assert asked.job is not None
    assert (job.id, job.purpose) == (asked.job.id, Purpose.FRESH)


def test_nothing_is_done_about_what_is_not_there(questions: Questions) -> None:
    assert questions.get("q0") is None
    assert questions.report("q0") is None
    with pytest.raises(LookupError):
        questions.cancel("q0")
    with pytest.raises(LookupError):
        questions.retry("q0", ANN, fresh=False)
