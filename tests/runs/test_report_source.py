from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from bisect_tool.errors import HistoryUnavailable, SpecError
from bisect_tool.runs.report_source import ReportAccess, open_report
from tests.rig import github as rig
from tests.rig.git_history import GitHistory
from tests.rig.github import GitHub

BODY = "It crashes.\r\n\r\n```python\r\nimport torch\r\n```\r\n"
ISSUE = {"title": "A  crash", "body": BODY, "created_at": "2026-05-27T08:30:00Z"}


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    with GitHistory(tmp_path / "r") as made:
        made.land("Start", {"a": "1"})
    with rig.serve(tmp_path / "r") as server:
        server.issues["185382"] = ISSUE
        yield server


def access(github: GitHub | None = None, *, piped: bytes = b"", token: str | None = None) -> ReportAccess:
    return ReportAccess(token, github.url if github else None, lambda: piped)


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/pytorch/pytorch/issues/185382",
        "http://www.github.com/pytorch/pytorch/issues/185382#issuecomment-1",
        "github.com/pytorch/pytorch/pull/185382/files?x=1",
        "pytorch/pytorch#185382",
    ],
)
def test_an_issue(github: GitHub, address: str) -> None:
    report = open_report(address, access(github))
    assert (report.title, report.name, report.opened) == ("A crash", "pytorch-185382", date(2026, 5, 27))
    assert report.lines[2] == "```python"
    assert report.repository == "pytorch/pytorch"
    assert str(report.address).endswith("/pytorch/pytorch/issues/185382")
    assert [one.path for one in github.asked] == ["/repos/pytorch/pytorch/issues/185382"]


def test_the_token_goes_along(github: GitHub) -> None:
    github.tokens = frozenset({"secret"})
    open_report("pytorch/pytorch#185382", access(github, token="secret"))
    with pytest.raises(HistoryUnavailable) as caught:
        open_report("pytorch/pytorch#185382", access(github, token="other"))
    assert caught.value.advice.startswith("correct GITHUB_TOKEN")


def test_the_token_is_not_for_a_server_that_only_the_report_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address is text from anywhere; GitHub itself, and the server that the user named, may have the token."""
    asked: list[tuple[str, str | None]] = []

    class Session:
        def __init__(self, api: str, token: str | None) -> None:
            asked.append((api, token))
            raise HistoryUnavailable("nobody is asked here", advice="none")

    monkeypatch.setattr("bisect_tool.runs.report_source.GitHubSession", Session)
    for address in ("https://github.example/a/b/issues/1", "https://github.com/a/b/issues/1"):
        with pytest.raises(HistoryUnavailable):
            open_report(address, access(token="secret"))
    assert [token for _, token in asked] == [None, "secret"]
    assert asked[0][0] == "https://github.example/api/v3"


def test_an_issue_that_is_not_there(github: GitHub) -> None:
    with pytest.raises(SpecError, match="no such issue that can be read: Not Found"):
        open_report("pytorch/pytorch#7", access(github))


def test_an_issue_without_a_text(github: GitHub) -> None:
    github.issues["8"] = ISSUE | {"body": None}
    with pytest.raises(SpecError, match="the issue has no text"):
        open_report("pytorch/pytorch#8", access(github))


def test_a_rate_limit_says_to_save_the_text_and_nothing_of_a_clone(github: GitHub) -> None:
    github.plant("issue", rig.limited(3000))
    with pytest.raises(HistoryUnavailable) as caught:
        open_report("pytorch/pytorch#185382", access(github))
    assert "GITHUB_TOKEN" in caught.value.advice
    assert "bisect init report.md" in caught.value.advice
    assert "clone" not in caught.value.advice


def test_other_addresses_are_refused_without_asking_anybody() -> None:
    with pytest.raises(SpecError, match="not the address of an issue"):
        open_report("https://example.org/report", access())


def test_what_is_piped_in() -> None:
    assert open_report("-", access(piped=b"Title: A\n\ntext")).title == "A"


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b" \n\t\n", "is empty"), (b"a\0b", "is not a text"), (b"a" * 300_001, "longer than 300,000")],
)
def test_what_is_no_report(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a.md").write_bytes(content)
    with pytest.raises(SpecError, match=words):
        open_report(str(tmp_path / "a.md"), access())


@pytest.mark.parametrize("source", ["missing.md", ".", "x" * 5000, "a\0b", "../../etc/none"])
def test_what_is_no_file(source: str) -> None:
    with pytest.raises(SpecError):
        open_report(source, access())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.md").write_bytes("Title: Größe\n".encode(encoding))
    assert open_report(str(tmp_path / "a.md"), access()).title == "Größe"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("Zero Grad.txt", "zero-grad"),
        ("a-bug/report.md", "a-bug"),
        ("x/..%2f..%2fetc.md", "2f-2fetc"),
        ("日本.md", "text"),
    ],
)
def test_names_come_from_files_and_are_plain(tmp_path: Path, path: str, name: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("text 日本")
    assert open_report(str(tmp_path / path), access()).name == name


def test_a_notebook_is_the_code_of_its_cells(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# no code\n"]},
        {"cell_type": "code", "source": ["!pip install torch\n", "%matplotlib inline\n", "import torch\n"]},
        {"cell_type": "code", "source": ["torch.ones(1)"]},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    report = open_report(str(tmp_path / "a.ipynb"), access())
    assert (report.is_script, [line for line in report.lines if line]) == (True, ["import torch", "torch.ones(1)"])


def test_what_is_no_notebook(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{}")
    with pytest.raises(SpecError, match="no notebook"):
        open_report(str(tmp_path / "a.ipynb"), access())
