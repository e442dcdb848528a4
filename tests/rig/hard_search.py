"""One search over a hard history of nightlies, from the index to the answer, in this process."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path

from bisect_tool.builds.channel import names
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.uv import find_uv
from bisect_tool.reports.report import Report
from bisect_tool.runs.device import Device
from bisect_tool.runs.run import run_specs
from bisect_tool.runs.surveying import Wishes
from bisect_tool.settings import read_settings
from bisect_tool.spec.reading import load_all
from tests.rig.direct_environments import DirectWorkshop
from tests.rig.git_history import GitHistory
from tests.rig.nightly_index import Cut, NightlyIndex, NightlyPlan
from tests.rig.nightly_index.scenarios import Scenario, hard
from tests.rig.toy import toy_script

H200 = Device("cuda", "NVIDIA H200", "580.65.06", (9, 0))


@dataclass(frozen=True, slots=True)
class Done:
    """What was planted and what was found: the dates on both sides, and the dates between them that were not tested.

    `counts` are requests by method and kind, `sent` bytes of the index; `installed` builds.
    """

    planted: tuple[date, date, tuple[date, ...]]
    found: tuple[date, date, tuple[date, ...]] | None
    builds: int
    installed: int
    trials: int
    counts: Mapping[tuple[str, str], int]
    sent: int
    report: Report


def search_hard(seed: int, folder: Path) -> Done:
    """Make the history of `seed`, its nightly branch and its index in `folder`, and search it."""
    scenario = with_git(hard(seed), folder / "pytorch.git")
    with scenario.open() as index:
        device = Device("cpu", "cpu") if scenario.plan.variants == ("cpu",) else H200
        report = search(scenario.plan, index, folder, device, repo=folder / "pytorch.git")
        truth = scenario.truth()
        return Done(
            planted=(truth.last_without, truth.first_with, truth.dead_between),
            found=_found(report),
            builds=report.counts.builds_considered,
            installed=report.counts.builds_installed,
            trials=report.counts.trials,
            counts=Counter(index.requests.counts()),
            sent=index.requests.sent(),
            report=report,
        )


def with_git(scenario: Scenario, folder: Path) -> Scenario:
    """The same history, its nightlies cut from the commits of a repository."""
    plan = scenario.plan
    mains: dict[date, str] = {}
    with GitHistory(folder, start=datetime.combine(plan.first, datetime.min.time())) as git:
        for day in plan.days():
            source = plan.source_day(day)
            if source not in mains:
                mains[source] = git.land(f"Change of {source}", {"torch/changes.py": f"{source}\n"}).sha
            git.nightly(day, mains[source])
        cuts = {made.day: Cut(made.sha, made.main) for made in git.nightlies}
    return replace(scenario, plan=replace(plan, cuts=cuts))


def search(plan: NightlyPlan, index: NightlyIndex, folder: Path, device: Device, **settings: Path) -> Report:
    """Search the whole plan on the evening of its last day, on a machine with `device`; caches and files go to `folder`."""
    index.today = plan.last
    (folder / "spec").mkdir()
    toy_script(folder / "spec", module="torch")
    path = folder / "spec" / "spec.yaml"
    path.write_text(
        json.dumps(
            {
                "name": "hard",
                "channel": "nightly",
                "script": "repro.py",
                "from": plan.first.isoformat(),
                "to": plan.last.isoformat(),
            }
        )
    )
    places = {"cache": folder / "cache", "index": index.default_index, "nightly_index": index.address, **settings}
    read = read_settings({**places, "ahead": "off"}, {}, folder)  # direct environments know no locks
    cache = open_cache(read.cache)
    workshop = DirectWorkshop(read, cache, find_uv(cache.uv, {}), {}, device=device)
    (report,) = run_specs(workshop, load_all([path], channels=names()), Wishes(), lambda _event: None)
    return report


def _found(report: Report) -> tuple[date, date, tuple[date, ...]] | None:
    if len(report.failures) != 1 or len(report.failures[0].episodes) != 1:
        return None
    end = report.failures[0].episodes[0].appeared
    if end.last_without is None or end.same_code is not None:
        return None
    return _day(end.last_without), _day(end.first_with), tuple(sorted({_day(hole.build) for hole in end.holes}))


def _day(version: str) -> date:
    return datetime.strptime(version.partition(".dev")[2][:8], "%Y%m%d").date()  # noqa: DTZ007  a day has no zone
