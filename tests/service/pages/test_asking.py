from __future__ import annotations

import io
import zipfile

import pytest

from bisect_tool.errors import SpecError
from bisect_tool.service.pages.asking import AskForm, problem_of, submission_of
from bisect_tool.service.question import Submission


def test_what_a_form_sends_has_the_line_ends_of_files() -> None:
    _, submission = submission_of(AskForm("a: 1\r\nb: 2\r\n", "x\r\n", "repro.py"), [])
    assert submission.spec == "a: 1\nb: 2\n"
    assert submission.files == (("repro.py", b"x\n"),)


def test_an_uploaded_spec_takes_the_place_of_the_pasted_one() -> None:
    form, submission = submission_of(AskForm("pasted"), [("spec.yaml", b"uploaded"), ("data.json", b"{}")])
    assert (form.spec, submission.spec) == ("uploaded", "uploaded")
    assert submission.files == (("data.json", b"{}"),)


def test_an_uploaded_script_takes_the_place_of_the_pasted_one() -> None:
    _, submission = submission_of(AskForm("s", "pasted", "repro.py"), [("repro.py", b"uploaded")])
    assert submission.files == (("repro.py", b"uploaded"),)


def test_an_archive_is_the_whole_submission() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("folder/spec.yaml", "packed")
        archive.writestr("folder/repro.py", "x")
    form, submission = submission_of(AskForm("pasted", "also pasted"), [("folder.zip", content.getvalue())])
    assert form.spec == "packed"
    assert submission == Submission("packed", (("repro.py", b"x"),))


def test_a_spec_that_is_no_text_is_refused() -> None:
    with pytest.raises(SpecError, match="UTF-8"):
        submission_of(AskForm(), [("spec.yaml", b"\xff\xfe")])


def test_mistakes_go_to_their_lines() -> None:
    what = "spec.yaml: 2 mistakes\n  line 2, column 1, packge: found a key, expected none\n  cases: found none, expected one"
    problem = problem_of(SpecError(what, advice="correct what is listed"))
    assert problem.what == "The spec has 2 mistakes"
    assert [(one.line, one.text) for one in problem.mistakes] == [
        (2, "packge: found a key, expected none"),
        (None, "cases: found none, expected one"),
    ]
    assert problem.advice == "Correct what is listed."
    lines = AskForm("name: x\npackge: torch", problem=problem).lines
    assert [line.mistakes for line in lines] == [(), ("packge: found a key, expected none",)]


def test_without_lines_no_spec_is_shown_again() -> None:
    problem = problem_of(SpecError("the spec is larger than 1 MB", advice="make it smaller"))
    assert [one.text for one in problem.mistakes] == ["the spec is larger than 1 MB"]
    assert AskForm("x", problem=problem).lines == ()
