from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from tests.rig import github as rig
from tests.rig.git_history import GitHistory
from tests.rig.github import GitHub

REPO = "/repos/pytorch/pytorch"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> GitHistory:
    with GitHistory(tmp_path_factory.mktemp("rig") / "r") as made:
        for number in range(300):
            made.land(f"Change {number}", {"torch/a.py": str(number)})
    return made


@pytest.fixture
def github(history: GitHistory) -> Iterator[GitHub]:
    with rig.serve(history.folder) as server:
        yield server


def test_a_comparison_without_paging_ends_at_250_and_has_the_newest(github: GitHub, history: GitHistory) -> None:
    first = requests.get(f"{github.url}{REPO}/commits?sha=main&per_page=100&page=3", timeout=9).json()[-1]["sha"]
    answer = requests.get(f"{github.url}{REPO}/compare/{first}...main", timeout=9).json()
    assert (answer["total_commits"], len(answer["commits"])) == (299, 250)
    assert answer["commits"][-1]["sha"] == history.tip()
    paged = requests.get(f"{github.url}{REPO}/compare/{first}...main?per_page=500", timeout=9).json()
    assert len(paged["commits"]) == 100
    assert paged["commits"][0]["parents"][0]["sha"] == first


def test_pages_are_linked(github: GitHub) -> None:
    answer = requests.get(f"{github.url}{REPO}/commits?sha=main&per_page=100&page=2", timeout=9)
    assert answer.links["next"]["url"] == f"{github.url}{REPO}/commits?sha=main&per_page=100&page=3"
    last = requests.get(answer.links["next"]["url"], timeout=9)
    assert (len(last.json()), "next" in last.links) == (100, False)


def test_conditional_requests(github: GitHub) -> None:
    first = requests.get(f"{github.url}{REPO}/commits/main", timeout=9)
    again = requests.get(
        f"{github.url}{REPO}/commits/main", headers={"If-None-Match": first.headers["ETag"]}, timeout=9
    )
    assert (again.status_code, again.content) == (304, b"")


def test_the_pull_request_of_a_commit(github: GitHub) -> None:
    assert [one["number"] for one in requests.get(f"{github.url}{REPO}/commits/main/pulls", timeout=9).json()] == [1301]


@pytest.mark.parametrize(
    ("path", "status"), [(f"{REPO}/commits/v9", 422), (f"{REPO}/compare/a...b", 404), ("/repos/a/b", 404), ("/x", 404)]
)
def test_what_is_not_there(github: GitHub, path: str, status: int) -> None:
    assert requests.get(github.url + path, timeout=9).status_code == status


def test_faults_strike_as_often_as_told(github: GitHub) -> None:
    github.plant("repo", rig.refused(500, times=2))
    assert [requests.get(github.url + REPO, timeout=9).status_code for _ in range(3)] == [500, 500, 200]
    assert (github.count("repo"), github.count("repo", 500)) == (3, 2)
