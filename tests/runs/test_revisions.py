from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path

from bisect_tool.builds.bounds import Selection
from bisect_tool.builds.build import Build, Installation, LeftOutBecause, Listing, Wanted
from bisect_tool.history.projects import known_project
from bisect_tool.history.source import HistoryAccess
from bisect_tool.runs.revisions import Revised, revise
from tests.rig.git_history import GitHistory

TORCH = known_project("torch")


@dataclass(frozen=True, slots=True)
class Wheels:
    """A channel whose wheels say which commit of the nightly branch they are."""

    revisions: Mapping[str, str | None]
    read: list[str] = field(default_factory=list)

    def identified(self, build: Build) -> Build:
        self.read.append(build.version)
        return replace(build, revision=self.revisions[build.version])

    def listing(self, wanted: Wanted) -> Listing:
        raise AssertionError(wanted)

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        raise AssertionError(build, requires)

    def current(self, build: Build) -> Build:
        return build

    def source_address(self) -> str:
        return ""


def version(day: int) -> str:
    return f"2.12.0.dev202603{day:02}+cpu"


def nightlies(*days: int) -> Selection:
    builds = [
        Build("torch", version(day), f"torch-{version(day)}.whl", "", datetime(2026, 3, day, tzinfo=UTC), variant="cpu")
        for day in days
    ]
    return Selection(tuple(builds), open_start=False, notes=(), left_out=(), dated=True)


def history(folder: Path, mains: Mapping[int, int]) -> dict[int, str]:
    """A nightly branch with a commit for each day, made from main commits by number; gives the nightly commits."""
    with GitHistory(folder) as git:
        landed = {
            number: git.land(f"Change {number}", {"torch/a.py": str(number)}) for number in sorted({*mains.values()})
        }
        return {day: git.nightly(date(2026, 3, day), landed[main].sha).sha for day, main in mains.items()}


def revised(folder: Path, selection: Selection, wheels: Wheels) -> Revised:
    return revise(selection, wheels, TORCH, HistoryAccess(clone=folder), lambda _line: None)


def test_a_stall_of_the_branch_is_one_build(tmp_path: Path) -> None:
    made = history(tmp_path, {3: 1, 4: 2, 5: 2, 6: 2, 7: 3})
    wheels = Wheels({version(day): sha for day, sha in made.items()})
    found = revised(tmp_path, nightlies(3, 4, 5, 6, 7), wheels)
    assert [build.version for build in found.selection.builds] == [version(3), version(4), version(7)]
    assert [(left.version, left.because) for left in found.selection.left_out] == [
        (version(5), LeftOutBecause.SAME_COMMIT),
        (version(6), LeftOutBecause.SAME_COMMIT),
    ]
    # Only what the branch calls equal is read.
    assert wheels.read == [version(4), version(5), version(6)]


def test_a_wheel_that_finished_after_midnight_is_not_taken_for_the_next_one(tmp_path: Path) -> None:
    """The wheel of the 4th was made from the nightly of the 3rd: the branch alone would call 4 and 5 equal."""
    made = history(tmp_path, {3: 1, 4: 2, 5: 2, 6: 3})
    wheels = Wheels({version(3): made[3], version(4): made[3], version(5): made[5], version(6): made[6]})
    found = revised(tmp_path, nightlies(3, 4, 5, 6), wheels)
    assert [build.version for build in found.selection.builds] == [version(day) for day in (3, 4, 5, 6)]


def test_a_wheel_that_cannot_be_read_is_kept(tmp_path: Path) -> None:
    made = history(tmp_path, {3: 1, 4: 1, 5: 2})
    wheels = Wheels({version(3): made[3], version(4): None, version(5): made[5]})
    assert len(revised(tmp_path, nightlies(3, 4, 5), wheels).selection.builds) == 3


def test_an_end_that_repeats_is_told(tmp_path: Path) -> None:
    made = history(tmp_path, {3: 1, 4: 2, 5: 2})
    found = revised(tmp_path, nightlies(3, 4, 5), Wheels({version(day): sha for day, sha in made.items()}))
    (note,) = found.selection.notes
    assert note.startswith(f"{version(5)} is the end asked for, and the same commit as another one: {version(4)}")


def test_two_builds_of_one_commit_stay_two(tmp_path: Path) -> None:
    """There would be nothing left to compare."""
    made = history(tmp_path, {3: 1, 4: 1})
    found = revised(tmp_path, nightlies(3, 4), Wheels({version(day): sha for day, sha in made.items()}))
    assert len(found.selection.builds) == 2


def test_a_history_that_cannot_be_read_leaves_every_build() -> None:
    access = HistoryAccess(api="http://127.0.0.1:9")
    found = revise(nightlies(3, 4, 5), Wheels({}), TORCH, access, lambda _line: None)
    assert len(found.selection.builds) == 3
    assert found.missing is not None


def test_a_package_without_a_nightly_branch_is_left_alone() -> None:
    found = revise(nightlies(3, 4), Wheels({}), known_project("triton"), HistoryAccess(), lambda _line: None)
    assert (found.nightlies, found.missing) == (None, None)
