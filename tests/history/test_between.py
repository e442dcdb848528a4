from __future__ import annotations

from datetime import date

from bisect_tool.builds.build import Build
from bisect_tool.builds.versions import date_in
from bisect_tool.history.between import look_between
from bisect_tool.history.clues import Clues, collect_clues
from bisect_tool.history.source import HistoryAccess, Source, open_source
from tests.history.places import TORCH
from tests.rig.git_history import MadeNightly
from tests.rig.git_history.typical import Typical


def build(version: str, revision: str | None = None) -> Build:
    return Build("torch", version, f"torch-{version}-py3-none-any.whl", "x", date_in(version), revision=revision)


def night(typical: Typical, day: int) -> MadeNightly:
    return next(nightly for nightly in typical.nightlies if nightly.day == date(2026, 3, day))


def test_two_nightlies(source: Source, typical: Typical) -> None:
    before, after = night(typical, 5), night(typical, 6)
    found = look_between(
        source,
        build("2.12.0.dev20260305", before.sha),
        build("2.12.0.dev20260306", after.sha),
        collect_clues(files=["torch/_inductor/scheduler.py", "torch/nn/functional.py"]),
    )
    made = [commit.sha for commit in typical.commits]
    expected = made[made.index(before.main) + 1 : made.index(after.main) + 1]
    assert found.commits is not None
    assert [entry.sha for entry in found.commits.listed] == expected
    assert found.link == f"https://github.com/pytorch/pytorch/compare/{before.main}...{after.main}"
    assert found.notes() == ()
    assert {suspect.entry.sha for suspect in found.ranking.suspects} <= set(expected)


def test_a_stall_of_the_nightly_branch_is_no_change(source: Source, typical: Typical) -> None:
    one, two = night(typical, 11), night(typical, 12)
    found = look_between(source, build("2.12.0.dev20260311", one.sha), build("2.12.0.dev20260312", two.sha), Clues())
    assert one.sha != two.sha
    assert found.is_same_commit
    assert found.notes() == ("Both builds hold the same commit: nothing changed in this repository.",)


def test_dates_that_are_not_certain_widen_the_list(source: Source, typical: Typical) -> None:
    found = look_between(source, build("2.12.0.dev20260305"), build("2.12.0.dev20260306"), Clues())
    made = [commit.sha for commit in typical.commits]
    first, last = night(typical, 4).main, night(typical, 6).main
    assert found.commits is not None
    assert [entry.sha for entry in found.commits.listed] == made[made.index(first) + 1 : made.index(last) + 1]
    assert [note.split(" (")[0] for note in found.notes()] == [
        "The commit of the older build is not certain", "The commit of the newer build is not certain",
    ]  # fmt: skip


def test_two_releases(source: Source, typical: Typical) -> None:
    found = look_between(source, build("2.99.0"), build("2.99.1"), Clues())
    assert found.commits is not None
    assert [entry.sha for entry in found.commits.listed] == [typical.tags["v2.99.1"]]


def test_offline_there_is_still_a_link() -> None:
    offline = open_source(TORCH, HistoryAccess(offline=True))
    found = look_between(offline, build("2.13.0+cu130"), build("2.14.0+cu130"), Clues())
    assert found.commits is None
    assert found.link == "https://github.com/pytorch/pytorch/compare/v2.13.0...v2.14.0"
    assert len(found.missing) == 2
    assert all("offline" in text and "To have it:" in text for text in found.missing)


def test_a_build_that_leads_nowhere(source: Source, typical: Typical) -> None:
    found = look_between(source, build("9.9.9"), build("2.99.1"), Clues())
    assert found.before is None
    assert found.after is not None
    assert found.after.sha == typical.tags["v2.99.1"]
    assert found.commits is None
    assert found.missing[0].startswith(
        "The commit of 9.9.9 is not known: torch 9.9.9 carries no revision and has no tag"
    )
