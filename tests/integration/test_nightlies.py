"""Whole runs over the nightly index of the rig, as a user starts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Place
from tests.rig.git_history import GitHistory
from tests.rig.git_history.typical import Typical, make_typical
from tests.rig.nightly_index import Change, Cut, Missing, NightlyIndex, NightlyPlan
from tests.rig.toy import toy_script

ZERO = "RuntimeError: gradient is all zero"
DAY = timedelta(days=1)


@dataclass(slots=True)
class Nights:
    """A place with nightlies: `index` has them, `git` the history that they were built from."""

    place: Place
    index: NightlyIndex
    git: Typical | None = None

    def answer(self, *words: str | Path, status: int = 0, **keys: Any) -> dict[str, Any]:
        path = self.place.spec(**{"package": "torch", "channel": "nightly", "script": "repro.py", **keys})
        toy_script(path.parent, module="torch")
        extra: list[str | Path] = ["--repo", self.git.folder] if self.git else []
        return self.place.answer("run", path, *extra, *words, status=status)


Open = Callable[..., Nights]


@pytest.fixture
def nights(place: Place) -> Iterator[Open]:
    def opened(plan: NightlyPlan, today: date, git: Typical | None = None) -> Nights:
        index = stack.enter_context(NightlyIndex(plan))
        index.today = today
        # Nothing here may reach GitHub: without a clone the API is asked at an address where nobody answers.
        place.extra |= {
            "BISECT_NIGHTLY_INDEX": index.address,
            "BISECT_INDEX": index.default_index,
            "BISECT_GITHUB_API": "http://127.0.0.1:9",
        }
        return Nights(place, index, git)

    with ExitStack() as stack:
        yield opened


def first_end(report: dict[str, Any]) -> dict[str, Any]:
    return dict(report["failures"][0]["episodes"][0]["appeared"])


def test_hidden_nightlies_are_searched(nights: Open) -> None:
    plan = NightlyPlan(
        first=date(2026, 2, 1), last=date(2026, 9, 30), variants=("cpu",), bare=True,
        changes=(Change("main", date(2026, 4, 20), ZERO),), dead=[date(2026, 4, 19)],
    )  # fmt: skip
    report = nights(plan, date(2026, 9, 30)).answer(from_="2026-03-01", to="2026-09-01", status=3)
    end = first_end(report)
    assert (end["last_without"], end["first_with"]) == ("2.13.0.dev20260418+cpu", "2.13.0.dev20260420+cpu")
    assert end["untestable"] == ["2.13.0.dev20260419+cpu"]
    assert report["counts"]["builds_considered"] == 185
    assert report["thin"] is None  # such small wheels are fetched whole


def test_dates_of_one_commit_are_one_build(nights: Open, tmp_path: Path) -> None:
    git = make_typical(tmp_path / "pytorch.git", days=21)
    cuts = {made.day: Cut(made.sha, made.main) for made in git.nightlies}
    stalled = sorted(made.day for made in git.nightlies if made.main == git.nightlies[9].main)
    assert len(stalled) > 2
    plan = NightlyPlan(
        first=min(cuts), last=max(cuts), cuts=cuts, bare=True, changes=(Change("main", stalled[0], ZERO),)
    )
    report = nights(plan, max(cuts), git).answer(status=0)
    end = first_end(report)
    held = {made.day: made.main for made in git.nightlies}
    before = max(day for day in held if day < stalled[0])
    assert f"dev{before:%Y%m%d}" in end["last_without"]
    assert f"dev{stalled[0]:%Y%m%d}" in end["first_with"]
    assert end["compare"] == f"https://github.com/pytorch/pytorch/compare/{held[before]}...{held[stalled[0]]}"
    tested = {entry["build"] for entry in report["cases"][0]["timeline"]}
    assert not any(f"dev{day:%Y%m%d}" in build for day in stalled[1:] for build in tested)


def test_releases_first_then_the_nightlies_between(nights: Open) -> None:
    plan = NightlyPlan(
        first=date(2026, 2, 1), last=date(2026, 8, 30), variants=("cpu",), bare=True,
        changes=(Change("main", date(2026, 5, 9), ZERO),),
    )  # fmt: skip
    report = nights(plan, date(2026, 8, 30)).answer(channel=["release", "nightly"], from_="2.12", to="2.13")
    end = first_end(report)
    assert (end["last_without"], end["first_with"]) == ("2.13.0.dev20260508+cpu", "2.13.0.dev20260509+cpu")
    (stage,) = report["stages"]
    assert (stage["channel"], stage["first"], stage["last"]) == ("release", "2.12.0", "2.13.0")
    assert "appeared in 2.13.0" in stage["summary"][0]
    # The branch of 2.12 was cut in the middle of April.
    assert report["range"]["first"] == "2.12.0.dev20260408+cpu"


def test_a_change_on_the_branch_of_a_release_is_not_looked_for_on_main(nights: Open) -> None:
    plan = NightlyPlan(
        first=date(2026, 2, 1), last=date(2026, 8, 30), variants=("cpu",), bare=True, picks={"2.13.0": {"main": ZERO}}
    )
    report = nights(plan, date(2026, 8, 30)).answer(channel=["release", "nightly"], from_="2.12", to="2.13")
    end = first_end(report)
    assert (report["channel"], end["last_without"], end["first_with"]) == ("release", "2.12.0", "2.13.0")
    assert [stage["channel"] for stage in report["stages"]] == ["nightly"]
    assert any("branch of a release" in text for text in report["advice"])


def test_a_replaced_wheel_is_not_answered_from_old_results(nights: Open) -> None:
    plan = NightlyPlan(
        first=date(2026, 6, 25), last=date(2026, 9, 30), variants=("cpu",), bare=True,
        changes=(Change("main", date(2026, 7, 9), ZERO),),
    )  # fmt: skip
    # Long after that nobody lists these builds any more: what is known of them was kept.
    found = nights(plan, date(2026, 9, 30))
    assert first_end(found.answer(from_="2026-06-28", to="2026-07-20"))["first_with"].startswith("2.14.0.dev20260709")
    found.index.replace("torch-*20260709+cpu-*", changes=())
    again = found.answer(from_="2026-06-28", to="2026-07-20")
    assert first_end(again)["first_with"].startswith("2.14.0.dev20260710")
    assert any("20260709" in text and "replaced" in text for text in again["advice"])


def test_no_nightlies_where_the_releases_differ(nights: Open) -> None:
    """The coarser answer stands, and says what could not be looked at."""
    plan = NightlyPlan(
        first=date(2026, 2, 1), last=date(2026, 8, 30), variants=("cpu",), bare=True,
        missing=(Missing(date(2026, 2, 1), date(2026, 8, 30)),),
        picks={"2.13.0": {"main": ZERO}},
    )  # fmt: skip
    report = nights(plan, date(2026, 8, 30)).answer(channel=["release", "nightly"], from_="2.12", to="2.13")
    assert (report["channel"], report["stages"]) == ("release", [])
    assert first_end(report)["first_with"] == "2.13.0"
    assert any(text.startswith("the nightlies between the releases were not searched: ") for text in report["advice"])


def test_the_command_to_repeat_names_what_was_named(nights: Open) -> None:
    plan = NightlyPlan(first=date(2026, 7, 1), last=date(2026, 7, 6), variants=("cpu",), bare=True)
    found = nights(plan, date(2026, 7, 6))
    address = found.place.extra.pop("BISECT_NIGHTLY_INDEX")
    report = found.answer("--nightly-index", address.replace("//", "//me:secret@"), status=4)
    assert f"--nightly-index {address}" in report["repeat"]
    assert "--variant cpu" in report["repeat"]


def test_the_history_says_where_to_look_first(nights: Open, tmp_path: Path) -> None:
    """The commit that breaks it touches the file in which the exception comes up; the answer is the same, sooner."""
    first, culprit = date(2026, 6, 1), date(2026, 6, 23)
    with GitHistory(tmp_path / "pytorch.git", start=datetime(2026, 5, 31)) as git:  # noqa: DTZ001  the maker's clock
        for number in range(64):
            path = "torch/runtime.py" if first + number * DAY == culprit else f"torch/other_{number}.py"
            git.land(f"Change {number}", {path: str(number)})
            git.nightly(first + number * DAY)
        cuts = {made.day: Cut(made.sha, made.main) for made in git.nightlies}
    plan = NightlyPlan(first=first, last=max(cuts), cuts=cuts, bare=True, changes=(Change("main", culprit, ZERO),))
    found = nights(plan, max(cuts), Typical(tmp_path / "pytorch.git"))
    told = found.answer("--prior", "history")
    # Builds that are here are cheaper than others: without the history, and with nothing here.
    found.place.extra["BISECT_CACHE"] = str(tmp_path / "another-cache")
    plain = found.answer()
    assert first_end(told)["first_with"] == first_end(plain)["first_with"] == f"2.14.0.dev{culprit:%Y%m%d}+cpu"
    opened = [len([e for e in one["cases"][0]["timeline"] if e["trials"]]) for one in (told, plain)]
    assert opened[0] <= opened[1] - 2
