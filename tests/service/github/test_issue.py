from __future__ import annotations

import pytest

from bisect_tool.service.github.issue import Issue, issue_at, issue_named


@pytest.mark.parametrize(
    ("address", "issue"),
    [
        ("https://github.com/pytorch/pytorch/issues/12", Issue("pytorch/pytorch", 12)),
        ("http://www.GitHub.com/PyTorch/pytorch/issues/12#issuecomment-3", Issue("pytorch/pytorch", 12)),
        ("https://github.com/pytorch/pytorch/issues/12/", Issue("pytorch/pytorch", 12)),
        ("https://github.com/pytorch/pytorch/pull/12", None),
        ("https://github.com/pytorch/pytorch/issues/new", None),
        ("https://github.com.evil.example/pytorch/pytorch/issues/12", None),
        ("https://github.com/../x/issues/12", None),
        ("see https://github.com/pytorch/pytorch/issues/12", None),
        ("", None),
        (None, None),
    ],
)
def test_addresses_of_issues(address: str | None, issue: Issue | None) -> None:
    assert issue_at(address) == issue


def test_the_name_of_an_issue_reads_back() -> None:
    assert issue_named(str(Issue("a/b.c", 7))) == Issue("a/b.c", 7)
    with pytest.raises(ValueError, match="not the name of an issue"):
        issue_named("https://example.org")
