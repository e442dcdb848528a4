"""A stretch of weeks with everything that makes a history hard: stalls, cuts, reverts, relands, series, release branches."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from tests.rig.git_history.maker import GitHistory, Made, MadeNightly

AREAS = {
    "inductor": ("torch/_inductor/lowering.py", "torch/_inductor/scheduler.py", "torch/_inductor/codegen/triton.py"),
    "dynamo": ("torch/_dynamo/variables/tensor.py", "torch/_dynamo/guards.py"),
    "aten": ("aten/src/ATen/native/ReduceOps.cpp", "aten/src/ATen/native/cuda/Indexing.cu"),
    "nn": ("torch/nn/modules/linear.py", "torch/nn/functional.py"),
    "distributed": ("torch/distributed/fsdp/_runtime.py", "torch/csrc/distributed/c10d/ProcessGroup.cpp"),
    "docs": ("docs/source/notes/cuda.rst",),
    "ci": (".github/workflows/pull.yml",),
}
AUTHORS = ("Ada Example", "Björn Beispiel", "Chidi Nwosu", "Dana Próba")


@dataclass(slots=True)
class Typical:
    """What was written: `commits` of main in order, `pairs` of a commit and its revert, `relands` as (first, second)."""

    folder: Path
    commits: list[Made] = field(default_factory=list)
    nightlies: list[MadeNightly] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    relands: list[tuple[str, str]] = field(default_factory=list)
    series: list[tuple[str, ...]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)


def make_typical(
    folder: Path, *, days: int = 21, per_day: int = 6, seed: int = 0, first: date = date(2026, 3, 2)
) -> Typical:
    """Write `days` days of main with a nightly for each; the same arguments give the same hashes.

    In the second week the nightly does not move for three days; one day is cut twice, one not at all. A release branch is
    cut in the middle, with a cherry-pick and the tags v2.99.0 and v2.99.1 on it.
    """
    made = Typical(folder)
    start = datetime(first.year, first.month, first.day, tzinfo=UTC)
    with GitHistory(folder, start=start - timedelta(hours=1)) as history:
        rng = random.Random(seed)
        held = None
        for day in range(days):
            _one_day(history, made, rng, start + timedelta(days=day), per_day)
            held = history.tip() if held is None or day not in {8, 9, 10} else held
            if day != 5:
                history.nightly(first + timedelta(days=day + 1), held)
            if day == 12:
                history.nightly(first + timedelta(days=day + 1))
            if day == days // 2:
                _release(history, made)
        made.nightlies = list(history.nightlies)
    return made


def _one_day(history: GitHistory, made: Typical, rng: random.Random, morning: datetime, per_day: int) -> None:
    step = timedelta(hours=7) / max(1, per_day)
    history.clock = morning
    for number in range(per_day):
        when = morning + step * (number + 1) / 2
        made.commits.append(_change(history, rng, when, f"{morning:%m%d}-{number}"))
    if morning.day % 3 == 0:
        target = made.commits[-2]
        back = history.revert(target)
        made.pairs.append((target.sha, back.sha))
        again = history.reland(target)
        made.relands.append((target.sha, again.sha))
        made.commits += [back, again]
    if morning.day % 5 == 0:
        changes = [{f"torch/_inductor/fx_passes/pass_{n}.py": f"{morning:%m%d}\n"} for n in range(3)]
        series = history.stack([f"[{n + 1}/3] Split the pass" for n in range(3)], changes)
        made.series.append(tuple(one.sha for one in series))
        made.commits += series


def _change(history: GitHistory, rng: random.Random, when: datetime, mark: str) -> Made:
    area = rng.choice(sorted(AREAS))
    path = rng.choice(AREAS[area])
    content = f"# {mark}\nvalue = {rng.randrange(1000)}\n"
    return history.land(f"[{area}] Change {path.rsplit('/', 1)[-1]} ({mark})", {path: content},
                        author=rng.choice(AUTHORS), when=when)  # fmt: skip


def _release(history: GitHistory, made: Typical) -> None:
    clock = history.clock
    history.branch("release/2.99")
    history.write("Release only: set version (#2000)\n", {"version.txt": "2.99.0\n"}, branch="release/2.99")
    made.tags["v2.99.0"] = history.tag("v2.99.0", history.tip("release/2.99"))
    picked = made.commits[-1]
    message = f"{picked.title} (#2001)\n\n(cherry picked from commit {picked.sha})\n"
    history.write(message, {"torch/picked.py": "fixed\n"}, branch="release/2.99")
    made.tags["v2.99.1"] = history.tag("v2.99.1", history.tip("release/2.99"))
    history.clock = clock
