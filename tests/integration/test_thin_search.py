"""Searches over nightlies that are looked at thin first: what is fetched, and what the answer rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Place
from tests.rig.nightly_index import Change, NightlyIndex, NightlyPlan

ZERO = "RuntimeError: gradient is all zero"
FIRST, LAST = date(2026, 8, 1), date(2026, 10, 3)  # 64 dates
BALLAST = 51_000_000  # more than a wheel must have to be worth it
DAY = timedelta(days=1)


@dataclass(slots=True)
class Nights:
    place: Place
    index: NightlyIndex

    def answer(self, *words: str | Path, status: int = 0, script: str | None = None, **keys: Any) -> dict[str, Any]:
        given = {"package": "torch", "channel": "nightly", "variant": "cpu", "from_": FIRST.isoformat(), **keys}
        path = self.place.spec(script=script or "import torch\ntorch.run('main')\n", to=LAST.isoformat(), **given)
        # What is made ahead of need may be wheels that the answer does not need after all.
        return self.place.answer("run", path, "--ahead", "off", *words, status=status)

    def whole(self) -> list[str]:
        """The dates whose wheel was fetched as a whole, oldest first."""
        asked = [r for r in self.index.requests.of(name="torch-*") if r.method == "GET" and r.sent > BALLAST]
        return sorted(re.search(r"dev(\d{8})", request.name)[1] for request in asked)  # type: ignore[index]

    def thin(self) -> set[str]:
        """The dates of which only parts were read."""
        asked = [r for r in self.index.requests.of(name="torch-*") if r.method == "GET" and r.status == 206]
        return {re.search(r"dev(\d{8})", request.name)[1] for request in asked} - set(self.whole())  # type: ignore[index]


Open = Callable[..., Nights]


@pytest.fixture
def nights(place: Place) -> Iterator[Open]:
    def opened(**plan: Any) -> Nights:
        index = stack.enter_context(
            NightlyIndex(
                NightlyPlan(first=FIRST, last=LAST, bare=True, known_gaps=False, **{"ballast": BALLAST, **plan})
            )
        )
        index.today = LAST
        place.extra |= {"BISECT_NIGHTLY_INDEX": index.address, "BISECT_INDEX": index.default_index}
        return Nights(place, index)

    with ExitStack() as stack:
        yield opened


def appeared(report: dict[str, Any]) -> tuple[str, str, str]:
    end = report["failures"][0]["episodes"][0]["appeared"]
    return end["kind"], end["last_without"], end["first_with"]


def test_a_change_in_python_takes_three_whole_wheels(nights: Open) -> None:
    asked = nights(changes=(Change("main", date(2026, 8, 20), ZERO),))
    report = asked.answer()
    assert appeared(report) == ("exact", "2.15.0.dev20260819+cpu", "2.15.0.dev20260820+cpu")
    assert report["failures"][0]["episodes"][0]["appeared"]["verified"]
    assert asked.whole() == ["20260819", "20260820", "20261003"]
    assert report["counts"]["builds_installed"] == 3
    thin = report["thin"]
    assert (thin["compared"], thin["agreed"], thin["on"]) == (2, 2, ["2.15.0.dev20261003+cpu"])
    assert [one["part"] for one in report["isolation"]] == ["Python files"]
    judged = [entry["build"] for entry in report["cases"][0]["timeline"] if entry["state"] != "not tried"]
    assert judged == [f"2.15.0.dev{day}+cpu" for day in asked.whole()]
    asked.index.requests.clear()
    again = asked.answer()
    assert asked.index.requests.count(method="GET", name="torch-*") == 0
    assert {key: again[key] for key in ("failures", "thin", "isolation", "summary")} == {
        key: report[key] for key in ("failures", "thin", "isolation", "summary")
    }


def test_a_change_in_binaries_costs_one_thin_build_more(nights: Open) -> None:
    """What the binaries say of themselves is in version.py, which is never taken from another build."""
    script = "import torch\nassert torch.__version__ < '2.15.0.dev20260820', 'gradient is all zero'\n"
    asked = nights()
    report = asked.answer(script=script)
    assert appeared(report) == ("exact", "2.15.0.dev20260819+cpu", "2.15.0.dev20260820+cpu")
    assert report["thin"]["builds"] == 1
    assert (report["thin"]["compared"], report["thin"]["agreed"]) == (1, 0)
    assert report["isolation"] == []
    assert {"20260801", "20260819", "20260820", "20261003"} <= set(asked.whole())


def test_a_failure_that_came_and_went_is_found_thin(nights: Open) -> None:
    """Both ends agree, whole too: thin builds look between them before whole ones do."""
    asked = nights(changes=(Change("main", date(2026, 8, 20), ZERO), Change("main", date(2026, 9, 20), "pass")))
    report = asked.answer()
    assert appeared(report) == ("exact", "2.15.0.dev20260819+cpu", "2.15.0.dev20260820+cpu")
    fixed = report["failures"][0]["episodes"][0]["fixed"]
    assert (fixed["kind"], fixed["first_without"]) == ("exact", "2.15.0.dev20260920+cpu")
    assert asked.whole() == ["20260801", "20260819", "20260820", "20260919", "20260920", "20261003"]


def test_python_that_does_not_fit_cuts_the_stretch(nights: Open) -> None:
    """Before 25 August torch itself, before 12 August the lowering needs what the binaries of later days lack."""
    days = [FIRST + DAY * number for number in range((LAST - FIRST).days + 1)]
    cudnn = "class cudnn:\n    version = staticmethod(lambda: None)\n"
    files = {
        day: {
            "torch/lib/bindings.py": "".join(
                f"{name} = 1\n" for name, until in (("first", 12), ("second", 25)) if day < date(2026, 8, until)
            ),
            "torch/backends.py": ("from torch.lib.bindings import second\n" if day < date(2026, 8, 25) else "") + cudnn,
            "torch/lowering.py": "from torch.lib.bindings import first\n" if day < date(2026, 8, 12) else "",
        }
        for day in days
    }
    asked = nights(files=files, changes=(Change("main", date(2026, 8, 17), ZERO),))
    report = asked.answer(script="import torch\nfrom torch import lowering\ntorch.run('main')\n")
    assert appeared(report) == ("exact", "2.15.0.dev20260816+cpu", "2.15.0.dev20260817+cpu")
    assert report["thin"]["not_valid"]
    assert all(one["reason"].startswith("overlay not valid here: ") for one in report["thin"]["not_valid"])
    assert report["thin"]["agreed"] == report["thin"]["compared"]
    print(asked.whole(), asked.thin(), report["thin"])
