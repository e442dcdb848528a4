"""Nightlies from the index to the answer, measured.

``python -m tests.benchmarks.nightlies hard --histories 200``: searches over 400 dates with hidden builds, a stall, dead and
missing nightlies, a change of variant, a replaced wheel and random faults of the index.

``python -m tests.benchmarks.nightlies torch OLDER.whl NEWER.whl``: a whole `bisect run` over 60 nightlies that are real torch
releases with another label, served over HTTP: when was `diagonal-scatter-grad` fixed?
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from datetime import date, timedelta
from pathlib import Path
from statistics import fmean

import click

from tests.rig.hard_search import Done, search_hard
from tests.rig.index_state import RequestKind
from tests.rig.nightly_index import NightlyIndex, NightlyPlan
from tests.rig.nightly_index.plan import Real

# Later than the releases themselves, whose requirements must exist at the date of the nightly.
FIRST, LAST, FIXED = date(2026, 8, 1), date(2026, 9, 29), date(2026, 9, 3)
SPEC = Path(__file__).parents[3] / "repro_specs" / "diagonal-scatter-grad"


@click.group()
def main() -> None:
    """Benchmarks of the nightly channel."""


@main.command("hard")
@click.option("--histories", default=200, show_default=True)
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--jobs", default=2, show_default=True)
def hard(histories: int, first: int, jobs: int) -> None:
    """Search many hard histories; the exit status is that of the answers."""
    started = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        results: list[Done] = []
        for done in pool.map(_one, range(first, first + histories)):
            results.append(done)
            if len(results) % 20 == 0:
                click.echo(
                    f"{len(results)} done, {sum(one.found == one.planted for one in results)} as planted", err=True
                )
    wrong = [seed for seed, done in enumerate(results, first) if done.found != done.planted]
    click.echo(f"{histories} histories, {time.monotonic() - started:.0f} s: {histories - len(wrong)} found as planted")
    for seed in wrong:
        done = results[seed - first]
        click.echo(f"  seed {seed}: planted {done.planted}, found {done.found}")
    _table(results)
    sys.exit(bool(wrong))


def _one(seed: int) -> Done:
    with tempfile.TemporaryDirectory() as folder:
        return search_hard(seed, Path(folder))


def _table(results: Iterable[Done]) -> None:
    done = list(results)
    counts: Counter[tuple[str, str]] = sum((Counter(one.counts) for one in done), Counter())
    click.echo(f"{'mean of a run':<30} {'':>10}")
    for name, value in (
        ("builds in the range", fmean(one.builds for one in done)),
        ("builds installed", fmean(one.installed for one in done)),
        ("trials", fmean(one.trials for one in done)),
        *((f"{method} {kind}", count / len(done)) for (method, kind), count in sorted(counts.items())),
        ("megabytes sent", fmean(one.sent for one in done) / 1e6),
    ):
        click.echo(f"{name:<30} {value:>10.1f}")


@main.command("torch")
@click.argument("older", type=click.Path(exists=True, path_type=Path))
@click.argument("newer", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--cache", type=click.Path(path_type=Path), help="Kept between runs; left out: a new one, removed at the end."
)
@click.option("--variant", default="cu130", show_default=True)
@click.option("--device", default="cpu", show_default=True)
def torch(older: Path, newer: Path, cache: Path | None, variant: str, device: str) -> None:
    """Find among 60 nightlies made of two releases where the bug was fixed that OLDER has and NEWER has not."""
    plan = NightlyPlan(
        first=FIRST,
        last=LAST,
        variants=(variant,),
        pythons=("cp311",),
        real=(Real(FIRST, older.resolve()), Real(FIXED, newer.resolve())),
    )
    with tempfile.TemporaryDirectory() as folder, NightlyIndex(plan) as index:
        index.today = LAST + timedelta(days=40)
        place = cache or Path(folder) / "cache"
        for attempt in ("first", "again"):
            index.requests.clear()
            started = time.monotonic()
            report = _run(index, place, Path(folder) / f"{attempt}.json", variant, device)
            _tell(attempt, report, index, time.monotonic() - started)
        if cache is None:
            shutil.rmtree(place, ignore_errors=True)


def _run(index: NightlyIndex, cache: Path, answer: Path, variant: str, device: str) -> dict[str, object]:
    words = ["run", SPEC, "--channel", "nightly", "--variant", variant, "--device", device, "--python", "3.11"]
    words += ["--from", FIRST.isoformat(), "--to", LAST.isoformat(), "--plain", "--json", answer]
    environ = {**os.environ, "BISECT_NIGHTLY_INDEX": index.address, "BISECT_CACHE": str(cache)}
    done = subprocess.run([sys.executable, "-m", "bisect_tool", *map(str, words)], env=environ, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bisect ended with {done.returncode}")
    return dict(json.loads(answer.read_text()))


def _tell(attempt: str, report: dict[str, object], index: NightlyIndex, seconds: float) -> None:
    click.echo(f"{attempt} run, {seconds:.0f} s: {report['summary']}")
    click.echo(f"  {report['counts']}")
    click.echo(f"  requests {dict(index.requests.counts())}")
    for kind in RequestKind:
        click.echo(f"  {kind.value}: {index.requests.sent(kind) / 1e6:.1f} MB sent")


if __name__ == "__main__":
    main()
