"""What people use now against `bisect run`: ``python -m tests.benchmarks.speed``.

64 nightlies on the rig's index behind a wire with a bandwidth and a latency, in three settings: a download takes a quarter
of, as long as and four times as long as the repro. ``--wheels torch OLDER.whl NEWER.whl`` takes two real CPU wheels (the same
one twice is fine: the change is planted in a file of its own) under the names of nightlies. The machine should do nothing else.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tests.benchmarks.speed import peers, table
from tests.benchmarks.speed.critical_path import with_paths
from tests.benchmarks.speed.ours import Program
from tests.benchmarks.speed.parts import PARTS, Bench
from tests.benchmarks.speed.settings import LATENCY, NIGHTLIES, REAL, STAND_INS, TOLD, Wheels
from tests.benchmarks.speed.stage import fetch_stock
from tests.benchmarks.speed.table import Row

HERE = Path(__file__).parents[3]


@click.command()
@click.option("--wheels", "kind", type=click.Choice(["tiny", "torch"]), default="tiny", show_default=True)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--part", "parts", multiple=True, type=click.Choice(list(PARTS)), default=tuple(PARTS), show_default=True)
@click.option("--setting", "names", multiple=True, type=click.Choice([one.name for one in REAL]), help="Only these.")
@click.option("--ballast", default=60, show_default=True, help="MB of a stand-in.")
@click.option(
    "--steps", default=99, show_default=True, help="Measure so many steps of each of the others, reckon the rest."
)
@click.option("--limit", default=900.0, show_default=True, help="Seconds that a row may take.")
@click.option(
    "--checkout", type=click.Path(exists=True, file_okay=False, path_type=Path), default=HERE, help="Whose bisect."
)
@click.option(
    "--place", type=click.Path(path_type=Path), help="A folder for what is made; some 10 GB with real wheels."
)
@click.option("--stock", type=click.Path(path_type=Path), help="Where the dependencies of real wheels are kept.")
@click.option("--json", "answer", type=click.Path(path_type=Path), help="Write the rows and targets there.")
def main(
    kind: str,
    files: Sequence[Path],
    parts: Sequence[str],
    names: Sequence[str],
    ballast: int,
    steps: int,
    limit: float,
    checkout: Path,
    place: Path | None,
    stock: Path | None,
    answer: Path | None,
) -> None:
    """Print the comparison, setting by setting, and every target with what was measured."""
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that programs and folders under way are ended and removed
    wheels = _wheels(kind, files, ballast)
    settings = tuple(one for one in (REAL if kind == "torch" else STAND_INS) if not names or one.name in names)
    if place is not None:
        place.mkdir(parents=True, exist_ok=True)
    click.echo(_machine(wheels))
    began = time.monotonic()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bisect-speed-", dir=place) as folder:
        kept = fetch_stock(stock or Path(folder) / "stock") if kind == "torch" else None
        bench = Bench(
            Program(checkout.resolve()), wheels, settings, Path(folder), kept, _tool(Path(folder)), steps, limit, _tell
        )
        for name in parts:
            rows += PARTS[name](bench)
            _write(answer, wheels, _finished(rows, bench), time.monotonic() - began)
    done = _finished(rows, bench)
    click.echo(table.render_rows(done, TOLD))
    click.echo(table.render_prices(done))
    click.echo(table.render_targets(table.targets(done)))
    click.echo(f"\n{time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f} at the end")


def _finished(rows: Sequence[Row], bench: Bench) -> list[Row]:
    return with_paths(rows, {one.name: one.download for one in bench.settings})


def _wheels(kind: str, files: Sequence[Path], ballast: int) -> Wheels:
    if kind == "tiny":
        if files:
            raise click.UsageError("wheels are for --wheels torch")
        return Wheels(kind, ballast * 1_000_000)
    if len(files) != 2:
        raise click.UsageError(
            "--wheels torch needs two wheels: the older one and the newer one (they may be the same)"
        )
    if not all("+cpu" in file.name for file in files):
        raise click.UsageError("wheels for CUDA need libraries that the index of this benchmark lacks; take +cpu ones")
    return Wheels(kind, 0, files[0].resolve(), files[1].resolve())


def _tool(folder: Path) -> Any:
    try:
        return peers.fetch_tool(folder / "tool")
    except (subprocess.SubprocessError, peers.NoAnswer, OSError) as error:
        click.echo(f"{peers.FIRST_BAD_TOOL} is left out: {error}", err=True)
        return None


def _tell(row: Row) -> None:
    told = f"{row.seconds:.1f} s" if row.seconds is not None else row.note
    click.echo(f"  {row.setting}: {row.name}: {told}", err=True)


def _machine(wheels: Wheels) -> str:
    cpu = next(
        (line.partition(":")[2].strip() for line in _cpuinfo() if line.startswith("model name")), platform.machine()
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return (
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.platform()}, Python {platform.python_version()}, load "
        f"{os.getloadavg()[0]:.1f} before\n{NIGHTLIES} nightlies, {wheels.described()}; {LATENCY * 1000:.0f} ms to and fro"
    )


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def _write(answer: Path | None, wheels: Wheels, rows: Sequence[Row], seconds: float) -> None:
    """After each part, so that a run that is stopped leaves what it has."""
    if answer is None:
        return
    told = {
        "machine": _machine(wheels),
        "seconds": round(seconds, 1),
        "rows": [asdict(row) for row in rows],
        "targets": [{**asdict(one), "met": one.is_met} for one in table.targets(rows)],
    }
    answer.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
