from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.errors import HistoryUnavailable, SettingError
from bisect_tool.history.github import GitHubSource
from bisect_tool.history.projects import KNOWN, Project, known_project, read_source
from bisect_tool.history.source import HistoryAccess, is_plain, open_source, token_in


@pytest.mark.parametrize(
    ("package", "repository", "branch"),
    [
        ("torch", "pytorch/pytorch", "main"),
        ("pytorch-triton", "triton-lang/triton", "main"),
        ("Liger_Kernel.nightly", "linkedin/Liger-Kernel", "main"),
        ("keras-nightly", "keras-team/keras", "master"),
    ],
)
def test_packages_that_are_known(package: str, repository: str, branch: str) -> None:
    found = known_project(package)
    assert found is not None
    assert (found.repository, found.branch) == (repository, branch)


def test_a_package_that_is_not() -> None:
    assert known_project("requests") is None


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("psf/requests", "https://github.com/psf/requests"),
        ("https://github.com/psf/requests.git", "https://github.com/psf/requests"),
        ("https://www.github.com/psf/requests/", "https://github.com/psf/requests"),
        ("git@github.com:psf/requests.git", "https://github.com/psf/requests"),
        ("ssh://git@github.com/psf/requests", "https://github.com/psf/requests"),
        ("https://git.example.org/a/b.c", "https://git.example.org/a/b.c"),
    ],
)
def test_ways_to_write_a_source(text: str, address: str) -> None:
    assert read_source(text).address == address


def test_a_known_repository_brings_what_is_known() -> None:
    assert read_source("https://github.com/PyTorch/pytorch") is KNOWN[0]


@pytest.mark.parametrize(
    "text", ["", "requests", "a/b/c", "-x/y", "ftp://github.com/a/b", "a/b?x", "../b", "a b/c", "file:///tmp/x"]
)
def test_what_is_no_source(text: str) -> None:
    with pytest.raises(SettingError, match="not a repository"):
        read_source(text)


def test_where_the_api_is() -> None:
    assert Project("a/b").api == "https://api.github.com"
    assert Project("a/b", web="https://git.example.org").api == "https://git.example.org/api/v3"


def test_links() -> None:
    torch = KNOWN[0]
    assert torch.compare_link("a", "b") == "https://github.com/pytorch/pytorch/compare/a...b"
    assert torch.commit_link("a") == "https://github.com/pytorch/pytorch/commit/a"
    assert torch.pull_link(7) == "https://github.com/pytorch/pytorch/pull/7"


def test_a_clone_comes_before_the_api(tmp_path: Path) -> None:
    with pytest.raises(HistoryUnavailable):
        open_source(KNOWN[0], HistoryAccess(clone=tmp_path))
    assert isinstance(open_source(KNOWN[0], HistoryAccess()), GitHubSource)


def test_the_token_of_the_environment() -> None:
    assert token_in({"GITHUB_TOKEN": " one ", "GH_TOKEN": "two"}) == "one"
    assert token_in({"GITHUB_TOKEN": " ", "GH_TOKEN": "two"}) == "two"
    assert token_in({}) is None


def test_the_token_is_not_shown() -> None:
    access = HistoryAccess(token="ghp_secret")
    assert "ghp_secret" not in repr(access) + repr(open_source(KNOWN[0], access))


@pytest.mark.parametrize(
    "name", ["main", "v2.14.1", "release/2.14", "keras@x", "a..b", "-x", "x^", "/x", "a/.b", "HEAD~1", ""]
)
def test_plain_names(name: str) -> None:
    assert is_plain(name) is (name in {"main", "v2.14.1", "release/2.14"})


@pytest.mark.parametrize(
    ("package", "name"), [("keras-nightly", "keras"), ("liger-kernel-nightly", "liger-kernel"), ("torch", "torch")]
)
def test_the_source_has_a_name_of_its_own(package: str, name: str) -> None:
    project = known_project(package)
    assert project is not None
    assert project.source_name(package) == name


def test_a_package_that_the_table_does_not_have_keeps_its_name() -> None:
    assert read_source("someone/something").source_name("thing") == "thing"
