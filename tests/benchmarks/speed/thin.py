"""Thin builds against whole ones: ``python -m tests.benchmarks.speed.thin OLDER.whl NEWER.whl``.

The nightlies are two real releases of torch under other names, served over HTTP; the change lies where one takes over.
Each spec is asked with ``--thin auto`` and with ``--thin off``, each time with an empty cache, and all specs of one call
together, as they share what is installed. Only cases that are no controls are run, so that trials take the least time; with
``--spec quick`` the repro is hardly more than an import (2.14 against 2.15), so that downloads are what takes the time.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import click
import yaml

from tests.rig.index_state import Request, RequestKind
from tests.rig.nightly_index import NightlyIndex, NightlyPlan, Real

SPECS = Path(__file__).parents[3] / "repro_specs"
ASKED = ("cumsum-scalar-constant", "addcdiv-item-loop", "diagonal-scatter-grad")
# A repro that takes no longer than `import torch`: downloads are what takes the time.
QUICK = "quick"
SCRIPT = """import importlib.util, torch
assert importlib.util.find_spec("torch._inductor.kernel.gemm_epilogue_layout"), "no epilogue layouts"
"""
WHOLE = 100_000_000  # bytes of one answer; no part that is read of a wheel is as big


@click.command()
@click.argument("older", type=click.Path(exists=True, path_type=Path))
@click.argument("newer", type=click.Path(exists=True, path_type=Path))
@click.option("--last", default="2026-11-29", show_default=True, help="Date of the newest nightly.")
@click.option("--nightlies", default=64, show_default=True)
@click.option("--change", default=20, show_default=True, help="So many nightlies before the newest NEWER takes over.")
@click.option("--spec", "specs", multiple=True, default=ASKED, show_default=True)
@click.option("--mode", "modes", multiple=True, type=click.Choice(["auto", "off"]), default=("auto", "off"))
@click.option("--verify", default=2, show_default=True)
@click.option(
    "--cache", type=click.Path(path_type=Path), required=True, help="An empty folder; some 25 GB, emptied at the end."
)
def main(
    older: Path,
    newer: Path,
    last: str,
    change: int,
    specs: Sequence[str],
    modes: Sequence[str],
    verify: int,
    cache: Path,
    nightlies: int,
) -> None:
    """Print what each mode fetched, how long it took, and how often thin states agreed with whole ones."""
    end = date.fromisoformat(last)
    first = end - timedelta(days=nightlies - 1)
    plan = NightlyPlan(
        first=first,
        last=end,
        variants=("cu130",),
        pythons=("cp311",),
        known_gaps=False,
        real=(Real(first, older.resolve()), Real(end - timedelta(days=change), newer.resolve())),
    )
    click.echo(
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {older.name}, {newer.name}"
    )
    click.echo(
        f"{'mode':<6}{'wheels':>8}{'MB':>8}{'thin builds':>13}{'compared':>10}{'agreed':>8}{'trials':>8}{'s':>8}  changes"
    )
    for mode in modes:
        with tempfile.TemporaryDirectory() as folder, NightlyIndex(plan) as index:
            index.today = end
            paths = [_spec(name, Path(folder), first, end) for name in specs]
            started = time.monotonic()
            reports = _run(index, cache / mode, paths, mode, verify, Path(folder))
            _tell(mode, reports, index, time.monotonic() - started)
        shutil.rmtree(cache / mode, ignore_errors=True)


def _spec(name: str, folder: Path, first: date, end: date) -> Path:
    """A copy of a spec that asks the nightlies, without controls; `QUICK` is made here."""
    path = folder / name / "spec.yaml"
    if name == QUICK:
        path.parent.mkdir()
        (path.parent / "repro.py").write_text(SCRIPT)
        told: dict[str, Any] = {"name": QUICK, "script": "repro.py", "cases": [{"name": "import"}]}
    else:
        shutil.copytree(SPECS / name, path.parent)
        told = yaml.safe_load(path.read_text())
    told |= {
        "channel": "nightly", "variant": "cu130", "from": first.isoformat(), "to": end.isoformat(), "device": "cpu",
        "python": "3.11", "flaky": "no", "timeout": 900,
        "cases": [case for case in told["cases"] if case.get("role") != "control"],
    }  # fmt: skip
    path.write_text(yaml.safe_dump(told))
    return path


def _run(
    index: NightlyIndex, cache: Path, specs: Sequence[Path], mode: str, verify: int, folder: Path
) -> list[Mapping[str, Any]]:
    (folder / "answers").mkdir()
    answers = folder / "answers" / ("one.json" if len(specs) == 1 else "")
    words = [*map(str, specs), "--thin", mode, "--verify", str(verify), "--plain", "--json", str(answers)]
    environ = {
        **os.environ,
        "BISECT_NIGHTLY_INDEX": index.address,
        "BISECT_CACHE": str(cache),
        "BISECT_GITHUB_API": "http://127.0.0.1:9",  # nobody answers there: the commits are of no interest here
    }
    done = subprocess.run([sys.executable, "-m", "bisect_tool", "run", *words], env=environ, check=False)
    if done.returncode not in {0, 3}:
        raise SystemExit(f"bisect ended with {done.returncode}")
    return [json.loads(path.read_text()) for path in sorted((folder / "answers").glob("*.json"))]


def _tell(mode: str, reports: Sequence[Mapping[str, Any]], index: NightlyIndex, seconds: float) -> None:
    files: list[Request] = index.requests.of(RequestKind.FILE, "torch-*", method="GET")
    thin = [report["thin"] for report in reports if report["thin"]]
    row = (
        len({request.name for request in files if request.sent > WHOLE}),
        sum(request.sent for request in files) / 1e6,
        max((part["builds"] for part in thin), default=0),
        sum(part["compared"] for part in thin),
        sum(part["agreed"] for part in thin),
        sum(report["counts"]["trials"] for report in reports) + sum(part["trials"] for part in thin),
        seconds,
    )
    changes = {(one["before"][-14:], one["after"][-14:]) for report in reports for one in report["boundaries"]}
    told = ", ".join(f"{before} → {after}" for before, after in sorted(changes)) or "none"
    click.echo("{:<6}{:>8}{:>8.0f}{:>13}{:>10}{:>8}{:>8}{:>8.0f}  {}".format(mode, *row, told))
    for report in reports:
        click.echo(f"       {report['spec']['name']}: {report['outcome']}; {report['summary']}")


if __name__ == "__main__":
    main()
