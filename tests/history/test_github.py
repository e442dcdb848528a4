from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from bisect_tool.errors import CacheNotWritable, HistoryUnavailable, RevisionUnknown
from bisect_tool.history.answer_cache import AnswerCache
from bisect_tool.history.commit import ChangedFile, Touch
from bisect_tool.history.github import FILES_WITHOUT_TOKEN, GitHubSource
from bisect_tool.history.github_session import GitHubSession
from tests.history.places import TORCH
from tests.rig import github as rig
from tests.rig.git_history import GitHistory
from tests.rig.git_history.typical import Typical
from tests.rig.github import GitHub


@pytest.fixture
def github(typical: Typical) -> Iterator[GitHub]:
    with rig.serve(typical.folder) as server:
        yield server


class Pauses(list[float]):
    """Notes how long it should have waited."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def asking(github: GitHub, cache: Path | None = None, *, token: str | None = None, offline: bool = False,
           patience: float = 90) -> tuple[GitHubSource, Pauses]:  # fmt: skip
    pauses = Pauses()
    kept = AnswerCache(cache) if cache else None
    session = GitHubSession(github.url, token, kept, offline, patience, pause=pauses)
    return GitHubSource(session, TORCH), pauses


def test_a_hundred_commits_a_request(github: GitHub, typical: Typical) -> None:
    source, _ = asking(github)
    span = source.commits(typical.commits[0].sha, typical.commits[-1].sha)
    assert len(span.commits) == len(typical.commits) - 1
    assert github.count("compare") == 2
    assert github.count() == 2


def test_more_commits_than_one_answer_has(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        made = [history.land(f"Change {number}", {"torch/a.py": str(number)}).sha for number in range(1200)]
    with rig.serve(tmp_path / "r") as github:
        source, _ = asking(github)
        assert [commit.sha for commit in source.commits(made[0], made[-1]).commits] == made[1:]
        assert github.count("compare") == 12


def test_what_cannot_change_is_asked_for_once(github: GitHub, typical: Typical, tmp_path: Path) -> None:
    ends = typical.commits[0].sha, typical.commits[50].sha
    first = asking(github, tmp_path)[0].commits(*ends)
    seen = github.count()
    again = asking(github, tmp_path)[0].commits(*ends)
    assert again == first
    assert github.count() == seen


def test_what_may_change_is_asked_for_with_its_etag(github: GitHub, tmp_path: Path) -> None:
    days = date(2026, 3, 3), date(2026, 3, 8)
    first = asking(github, tmp_path)[0].nightlies(*days)
    assert asking(github, tmp_path)[0].nightlies(*days) == first
    assert [one.status for one in github.asked] == [200, 304]


def test_a_branch_that_moved_is_seen(typical: Typical, tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        old = history.land("One", {"a": "1"}).sha
        history.branch("stays")
        new = history.land("Two", {"a": "2"}).sha
    with rig.serve(tmp_path / "r") as github:
        source, _ = asking(github, tmp_path / "answers")
        assert source.resolve("main") == new
        github.served = typical.folder
        assert source.resolve("main") == typical.commits[-1].sha
        assert old != new


def test_offline_has_what_was_asked_before(github: GitHub, typical: Typical, tmp_path: Path) -> None:
    ends = typical.commits[0].sha, typical.commits[9].sha
    known = asking(github, tmp_path)[0].commits(*ends)
    seen = github.count()
    offline, _ = asking(github, tmp_path, offline=True)
    assert offline.commits(*ends) == known
    with pytest.raises(HistoryUnavailable, match="offline"):
        offline.commits(ends[0], typical.commits[10].sha)
    assert offline.compare_link("a", "b") == "https://github.com/pytorch/pytorch/compare/a...b"
    assert github.count() == seen


def test_the_token_is_sent_and_never_kept(github: GitHub, typical: Typical, tmp_path: Path) -> None:
    asking(github, tmp_path, token="ghp_secret")[0].commits(typical.commits[0].sha, typical.commits[3].sha)
    assert github.asked[0].headers["authorization"] == "Bearer ghp_secret"
    kept = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert kept
    assert not any("ghp_secret" in text for text in kept)
    assert "ghp_secret" not in repr(asking(github, token="ghp_secret")[0])


def test_without_a_token_nothing_of_the_users_netrc_is_sent(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    asking(github)[0].resolve("main")
    github.name, github.moved = "torch-org/torch", frozenset({"pytorch/pytorch"})
    asking(github)[0].resolve("main")
    assert [one.status for one in github.asked] == [200, 301, 200]
    assert not any("authorization" in one.headers for one in github.asked)


def test_the_token_follows_a_moved_repository_but_not_to_another_server(github: GitHub, typical: Typical) -> None:
    github.name, github.moved = "torch-org/torch", frozenset({"pytorch/pytorch"})
    asking(github, token="ghp_secret")[0].resolve("main")
    assert [one.headers.get("authorization") for one in github.asked] == ["Bearer ghp_secret"] * 2
    with rig.serve(typical.folder, name="torch-org/torch") as elsewhere:
        github.moved_to = elsewhere.url.replace("127.0.0.1", "localhost")
        assert asking(github, token="ghp_secret")[0].resolve("main") == typical.commits[-1].sha
        assert [one.headers.get("authorization") for one in elsewhere.asked] == [None]


def test_a_wrong_token(github: GitHub) -> None:
    github.tokens = frozenset({"right"})
    with pytest.raises(HistoryUnavailable, match="does not accept the token") as caught:
        asking(github, token="wrong")[0].resolve("main")
    assert "GITHUB_TOKEN" in caught.value.advice
    assert "wrong" not in str(caught.value).replace("went wrong", "")


def test_a_token_without_rights(github: GitHub) -> None:
    github.plant("*", rig.forbidden())
    source, pauses = asking(github, token="t")
    with pytest.raises(HistoryUnavailable, match="Resource not accessible"):
        source.resolve("main")
    assert pauses == []


def test_a_private_repository_without_a_token(github: GitHub) -> None:
    github.private = True
    with pytest.raises(HistoryUnavailable, match="no repository pytorch/pytorch that can be read") as caught:
        asking(github)[0].resolve("main")
    assert "token" in caught.value.advice


def test_a_repository_that_is_not_there(typical: Typical) -> None:
    with rig.serve(typical.folder, name="other/place") as github:
        source, _ = asking(github)
        for ask in (lambda: source.commits("a" * 40, "b" * 40), lambda: source.nightlies(date.min, date.max)):
            with pytest.raises(HistoryUnavailable, match="no repository pytorch/pytorch"):
                ask()


def test_a_renamed_repository_is_followed_and_its_new_name_told(github: GitHub, typical: Typical) -> None:
    source, _ = asking(github)
    assert source.moved_to() is None
    github.name, github.moved = "torch-org/torch", frozenset({"pytorch/pytorch"})
    assert source.commit(typical.commits[3].sha).sha == typical.commits[3].sha
    assert source.moved_to() == "torch-org/torch"


def test_a_short_limit_is_waited_for(github: GitHub, typical: Typical) -> None:
    github.plant("compare", rig.limited(reset_in=20, times=1))
    source, pauses = asking(github)
    assert len(source.commits(typical.commits[0].sha, typical.commits[5].sha).commits) == 5
    assert len(pauses) == 1
    assert 15 < pauses[0] <= 22


@pytest.mark.parametrize("status", [403, 429])
def test_a_long_limit_is_explained(github: GitHub, status: int) -> None:
    github.plant("*", rig.limited(reset_in=1800, status=status))
    source, pauses = asking(github)
    with pytest.raises(HistoryUnavailable, match=r"rate limit is used up for (29|30) min.*UTC") as caught:
        source.resolve("main")
    assert "GITHUB_TOKEN" in caught.value.advice
    assert pauses == []


def test_the_advice_about_a_limit_knows_that_there_is_a_token(github: GitHub) -> None:
    github.plant("*", rig.limited(reset_in=1800))
    with pytest.raises(HistoryUnavailable) as caught:
        asking(github, token="t")[0].resolve("main")
    assert "GITHUB_TOKEN" not in caught.value.advice


def test_a_secondary_limit_says_how_long(github: GitHub, typical: Typical) -> None:
    github.plant("*", rig.secondary_limit(7, times=2))
    source, pauses = asking(github)
    assert source.resolve("main") == typical.commits[-1].sha
    assert pauses == [7, 7]


def test_a_limit_that_never_ends_ends_the_patience(github: GitHub) -> None:
    github.plant("*", rig.secondary_limit(40))
    source, pauses = asking(github)
    with pytest.raises(HistoryUnavailable, match="rate limit"):
        source.resolve("main")
    assert pauses == [40, 40]


@pytest.mark.parametrize("fault", [rig.as_html(), rig.not_json_enough()])
def test_an_answer_that_is_none(github: GitHub, tmp_path: Path, fault: rig.GitHubFault) -> None:
    github.plant("*", fault)
    with pytest.raises(HistoryUnavailable, match="not what GitHub's API gives"):
        asking(github, tmp_path)[0].nightlies(date(2026, 3, 3), date(2026, 3, 8))
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("fault", [rig.refused(502, times=2), rig.cut_short(times=2)])
def test_a_passing_fault_is_tried_again(github: GitHub, typical: Typical, fault: rig.GitHubFault) -> None:
    github.plant("*", fault)
    source, pauses = asking(github)
    assert source.resolve("main") == typical.commits[-1].sha
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize(("fault", "what"), [(rig.refused(503), "status 503"), (rig.cut_short(), "cannot be reached")])
def test_a_lasting_fault_is_told(github: GitHub, fault: rig.GitHubFault, what: str) -> None:
    github.plant("*", fault)
    with pytest.raises(HistoryUnavailable, match=what):
        asking(github)[0].resolve("main")
    assert github.count() == 3


def test_files_are_asked_for_within_the_limit(github: GitHub, typical: Typical) -> None:
    shas = [commit.sha for commit in typical.commits[:60]]
    touched = asking(github)[0].files(shas)
    assert len(touched.known) == FILES_WITHOUT_TOKEN == github.count("commit")
    assert touched.missing == tuple(shas[FILES_WITHOUT_TOKEN:])
    assert touched.why is not None
    assert "GITHUB_TOKEN" in touched.why
    assert asking(github, token="t")[0].files(shas).missing == ()


def test_a_limit_in_the_middle_leaves_the_files_before_it(github: GitHub, typical: Typical) -> None:
    shas = [commit.sha for commit in typical.commits[:4]]
    source, _ = asking(github)
    source.files(shas[:2])
    github.plant("commit", rig.limited(reset_in=3000))
    touched = source.files(shas)
    assert touched.known == {}
    assert touched.missing == tuple(shas)
    assert touched.why is not None
    assert "rate limit" in touched.why


def test_a_commit_with_more_files_than_a_page(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        history.write("Ground", {"a": "1"})
        made = history.write("Many", {f"torch/f{number:04}.py": "1" for number in range(700)})
    with rig.serve(tmp_path / "r") as github:
        touched = asking(github, tmp_path / "answers")[0].files([made.sha])
        assert len(touched.known[made.sha]) == 700
        assert github.count("commit") == 3


def test_a_renamed_file_is_a_deletion_and_an_addition(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(50))
    with GitHistory(tmp_path / "r") as history:
        history.write("Ground", {"torch/old.py": text})
        made = history.write("Move", {"torch/old.py": None, "torch/new.py": text})
    with rig.serve(tmp_path / "r") as github:
        assert asking(github)[0].files([made.sha]).known[made.sha] == (
            ChangedFile("torch/new.py", Touch.ADDED),
            ChangedFile("torch/old.py", Touch.DELETED),
        )


def test_a_forced_push_shows_as_two_lines(tmp_path: Path) -> None:
    with GitHistory(tmp_path / "r") as history:
        base = history.land("Old ground", {"a": "1"})
        gone = history.land("Will be gone", {"a": "2"})
        history.branch("main", base.sha)
        new = history.land("Instead", {"a": "3"})
    with rig.serve(tmp_path / "r") as github:
        span = asking(github)[0].commits(gone.sha, new.sha)
    assert [commit.sha for commit in span.commits] == [new.sha]
    assert (span.is_one_line, span.only_base, span.merge_base) == (False, 1, base.sha)


def test_a_commit_that_is_gone_from_the_server(github: GitHub, typical: Typical) -> None:
    with pytest.raises(RevisionUnknown, match="no such commit") as caught:
        asking(github)[0].commits("e" * 40, typical.commits[0].sha)
    assert "forced push" in caught.value.advice


def test_nobody_answers(typical: Typical) -> None:
    with rig.serve(typical.folder) as github:
        source, pauses = asking(github)
    with pytest.raises(HistoryUnavailable, match="cannot be reached") as caught:
        source.resolve("main")
    assert "--repo" in caught.value.advice
    assert len(pauses) == 2


def test_a_damaged_kept_answer_is_asked_for_again(github: GitHub, typical: Typical, tmp_path: Path) -> None:
    sha = typical.commits[2].sha
    source, _ = asking(github, tmp_path)
    known = source.commit(sha)
    for path in tmp_path.rglob("*.json"):
        path.write_text(path.read_text()[:40])
    assert source.commit(sha) == known
    assert github.count("commit") == 2


def test_a_cache_that_cannot_be_written(github: GitHub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheNotWritable):
        asking(github, tmp_path / "file")[0].resolve("main")
