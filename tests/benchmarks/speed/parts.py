"""The parts of the comparison: which ways of answering are measured in which setting."""

from __future__ import annotations

import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.benchmarks.speed import peers, table
from tests.benchmarks.speed.ours import Ours, Program
from tests.benchmarks.speed.settings import FIRST_BAD, NIGHTLIES, TINY, Setting, Wheels
from tests.benchmarks.speed.stage import Stage, environ, open_stage
from tests.benchmarks.speed.table import Row

AS_THEY_DO = ("--trust",)  # one trial of each build is believed, as the others do
WHOLE = ("--thin", "off")
INSTALLERS: dict[str, peers.Installer] = {
    table.PIP: peers.pip_per_step,
    table.UV_REUSED: peers.uv_reused,
    table.UV_STEP: peers.uv_per_step,
    table.TOOL: peers.uv_per_step,
}


@dataclass(frozen=True, slots=True)
class Bench:
    """What all parts share. `most` steps of each peer are measured; a row may take `limit` seconds; `tell` hears each row.

    `folder` must be on the disk with room for the environments of one row.
    """

    program: Program
    wheels: Wheels
    settings: Sequence[Setting]
    folder: Path
    stock: Path | None
    tool: Any
    most: int
    limit: float
    tell: Callable[[Row], None]

    def setting(self, name: str) -> Setting:
        """By name."""
        return next(one for one in self.settings if one.name == name)

    @contextmanager
    def stage(self, setting: Setting, wheels: Wheels | None = None) -> Iterator[Stage]:
        """An index in a setting, and a folder that is removed afterwards."""
        folder = self.folder / setting.name.replace(" ", "-")
        folder.mkdir(parents=True)
        try:
            with open_stage(wheels or self.wheels, setting, folder, None if wheels else self.stock) as stage:
                yield stage
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def peers_part(bench: Bench) -> list[Row]:
    """Ours and the four others in each setting."""
    rows: list[Row] = []
    for setting in bench.settings:
        with bench.stage(setting) as stage:
            rows += _ours(bench, stage, {table.OURS: (*AS_THEY_DO, *WHOLE)})
            rows += [_peer(bench, stage, name) for name in INSTALLERS]
            if setting.name == "equal":
                rows += _ours(bench, stage, {table.OURS_THIN: (*AS_THEY_DO, "--thin", "auto"), table.OURS_USUAL: ()})
    return rows


def path_part(bench: Bench) -> list[Row]:
    """Nothing fetched ahead of need, which measures the pieces one by one; then with kept environments, and asked again."""
    with bench.stage(bench.setting("equal")) as stage:
        cache = stage.folder / "cache"
        flags = (*AS_THEY_DO, *WHOLE)
        rows = [_run(bench, stage, table.OURS_OFF, cache, (*flags, "--ahead", "off"))]
        rows.append(_run(bench, stage, table.OURS_KEPT, cache, (*flags, "--fresh")))
        rows.append(_run(bench, stage, table.OURS_AGAIN, cache, flags))
        shutil.rmtree(cache, ignore_errors=True)
    return rows


def thin_part(bench: Bench) -> list[Row]:
    """Thin builds where downloads are slow."""
    with bench.stage(bench.setting("four")) as stage:
        return _ours(bench, stage, {table.OURS_THIN: (*AS_THEY_DO, "--thin", "auto")})


def slots_part(bench: Bench) -> list[Row]:
    """Four slots where wheels are tiny, against one and the others."""
    with bench.stage(TINY, Wheels("tiny")) as stage:
        rows = _ours(
            bench, stage, {table.OURS_SLOTS: (*AS_THEY_DO, *WHOLE, "--jobs", "4"), table.OURS: (*AS_THEY_DO, *WHOLE)}
        )
        return [*rows, *(_peer(bench, stage, name) for name in table.OTHERS)]


PARTS: dict[str, Callable[[Bench], list[Row]]] = {
    "peers": peers_part,
    "path": path_part,
    "thin": thin_part,
    "slots": slots_part,
}


def _ours(bench: Bench, stage: Stage, wanted: dict[str, tuple[str, ...]]) -> list[Row]:
    rows = []
    for number, (name, flags) in enumerate(wanted.items()):
        cache = stage.folder / f"cache-{number}"
        rows.append(_run(bench, stage, name, cache, flags))
        shutil.rmtree(cache, ignore_errors=True)
    return rows


def _run(bench: Bench, stage: Stage, name: str, cache: Path, flags: Sequence[str]) -> Row:
    stage.forget()
    before = _cpu()
    lacking = [flag for flag in flags if flag.startswith("--") and not bench.program.has(flag)]
    try:
        done = bench.program.run(stage, cache, *_known(flags, lacking), timeout=bench.limit)
    except subprocess.TimeoutExpired:
        row = Row(stage.setting.name, name, None, note=f"took more than {bench.limit:.0f} s")
    except (peers.NoAnswer, OSError, ValueError) as error:
        row = Row(stage.setting.name, name, None, note=str(error))
    else:
        row = replace(_row(stage, name, done, "without " + ", ".join(lacking) if lacking else ""), cpu=_cpu() - before)
    bench.tell(row)
    return row


def _known(flags: Sequence[str], lacking: Sequence[str]) -> Iterator[str]:
    """The flags that the program has, with their values; the row says which were left out."""
    left_out = False
    for word in flags:
        left_out = word in lacking if word.startswith("--") else left_out
        if not left_out:
            yield word


def _row(stage: Stage, name: str, done: Ours, note: str) -> Row:
    thin = done.report.get("thin") or {}
    return Row(
        stage.setting.name,
        name,
        done.seconds,
        steps=done.trials,
        measured=done.trials,
        builds=int(done.report["counts"]["builds_installed"]),
        sent=stage.sent(),
        is_right=done.first_bad == stage.wheels[FIRST_BAD].version,
        note=note,
        needed=stage.needed(done.tested),
        own=done.time["own_s"] if done.time else None,
        thin=int(thin.get("builds", 0)),
        wholes=stage.whole_wheels(),
        time=done.time,
    )


def _peer(bench: Bench, stage: Stage, name: str) -> Row:
    stage.forget()
    folder = stage.folder / "peer"
    folder.mkdir()
    try:
        row = _searched(bench, stage, name, folder)
    except subprocess.TimeoutExpired:
        row = Row(stage.setting.name, name, None, note=f"took more than {bench.limit:.0f} s")
    except (peers.NoAnswer, OSError, ValueError) as error:
        row = Row(stage.setting.name, name, None, note=str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    bench.tell(row)
    return row


def _searched(bench: Bench, stage: Stage, name: str, folder: Path) -> Row:
    if name == table.TOOL and bench.tool is None:
        raise peers.NoAnswer(f"{peers.FIRST_BAD_TOOL} could not be fetched")
    search = peers.tool_search(bench.tool) if name == table.TOOL else peers.plain_search
    place = peers.Place(folder, environ(folder), stage.page, stage.repro, time.monotonic() + bench.limit)
    before = _cpu()
    steps = peers.Steps(place, INSTALLERS[name], stage.addresses, bench.most)
    planned = peers.count_steps(search, NIGHTLIES, FIRST_BAD)
    try:
        found = search(NIGHTLIES, steps.is_bad)
    except peers.Enough:
        found = FIRST_BAD
    return Row(
        stage.setting.name,
        name,
        steps.estimate(planned),
        steps=planned,
        measured=len(steps.seconds),
        builds=planned,
        sent=stage.sent() * planned // len(steps.seconds),
        is_right=found == FIRST_BAD and steps.is_right(FIRST_BAD),
        cpu=(_cpu() - before) * planned / len(steps.seconds),
    )


def _cpu() -> float:
    """Seconds of processor time of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
