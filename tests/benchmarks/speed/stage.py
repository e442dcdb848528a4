"""The nightly index of the rig behind a wire, with 64 nightlies of which the later ones fail the repro."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from tests.benchmarks.speed.settings import FIRST, FIRST_BAD, LAST, LATENCY, NIGHTLIES, VARIANT, Setting, Wheels
from tests.rig.git_history import GitHistory
from tests.rig.index import Index, serve
from tests.rig.index_state import RequestLog
from tests.rig.nightly_index import Cut, NightlyIndex, NightlyPlan, Real, Wheel
from tests.rig.wire import Wire

CLONE = "pytorch.git"
PLANTED = "torch/planted.py"
GOOD, BAD = "broken = False\n", "broken = True\n"
REPRO = """import time

import torch
from torch.planted import broken

time.sleep({sleep})
if broken:
    raise RuntimeError("gradient is all zero")
"""
NEEDED = ("filelock", "typing-extensions>=4.10.0", "networkx", "jinja2", "fsspec")  # by `import torch`; numpy is not
STOCKED = datetime(2026, 1, 5, tzinfo=UTC)  # before all nightlies, whose requirements are taken as of their dates
WHEEL = ".whl"


@dataclass(frozen=True, slots=True)
class Stage:
    """A running index, the repro, and a folder for what is made. `addresses` are those of the nightlies, the oldest first."""

    index: NightlyIndex
    repro: Path
    folder: Path
    setting: Setting
    wheels: tuple[Wheel, ...]

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self.index.url(wheel) for wheel in self.wheels)

    @property
    def clone(self) -> Path:
        """The history that the nightlies were built from."""
        return self.folder / CLONE

    @property
    def page(self) -> str:
        """The index of a variant, which links to the dependencies as well."""
        return f"{self.index.address}/{VARIANT}"

    @property
    def size(self) -> int:
        """Bytes of one wheel."""
        return self.index.body(self.wheels[0]).size

    def forget(self) -> None:
        """Begin to count bytes and requests anew."""
        self.index.requests.clear()
        self.index.default.log.clear()

    def sent(self) -> int:
        """Bytes of wheels that went over the wire."""
        return sum(count for name, count in self._written().items() if name.endswith(WHEEL))

    def needed(self, builds: Mapping[str, int]) -> int:
        """Bytes of the distinct files that an answer rests on: wheels of the `builds` and of what they require."""
        torch = sum(self.index.body(wheel).size for wheel in self.wheels if builds.get(wheel.version))
        others = [name for name in self.index.default.log.written if name.endswith(WHEEL)]
        return torch + sum((self.index.default.folder / name).stat().st_size for name in others)

    def whole_wheels(self) -> int:
        """How many torch wheels went over the wire whole."""
        written = self.index.requests.written
        return sum(written[wheel.filename] >= self.size * 0.9 for wheel in self.wheels)

    def _written(self) -> dict[str, int]:
        logs: tuple[RequestLog, ...] = (self.index.requests, self.index.default.log)
        return {name: count for log in logs for name, count in log.written.items()}


class _StockedIndex(NightlyIndex):
    """With another default index than the rig's, whose dependencies are empty."""

    stock: Index | None = None

    @property
    def default(self) -> Index:
        return self.stock or super().default


@contextlib.contextmanager
def open_stage(wheels: Wheels, setting: Setting, folder: Path, stock: Path | None) -> Iterator[Stage]:
    """Serve the nightlies; `stock` are the real dependencies of real wheels (see `fetch_stock`)."""
    plan = _plan(wheels, _history(folder / CLONE))
    wire = Wire(latency=LATENCY)
    with contextlib.ExitStack() as stack:
        index = _StockedIndex(plan, wire=wire, today=LAST)
        if stock is not None:
            index.stock = stack.enter_context(serve(stock, wire=wire))
        stack.enter_context(index)
        days = [FIRST + timedelta(days=number) for number in range(NIGHTLIES)]
        stage = Stage(index, folder / "repro.py", folder, setting, tuple(index.torch(day) for day in days))
        wire.bandwidth = setting.bandwidth(max(stage.size, 1_000_000))
        stage.repro.write_text(REPRO.format(sleep=setting.sleep))
        yield stage


def _history(clone: Path) -> dict[date, Cut]:
    """Make a clone in which every nightly has a commit of its own."""
    with GitHistory(clone, start=datetime.combine(FIRST - timedelta(days=1), time(12), UTC)) as git:
        for number in range(NIGHTLIES):
            git.land(f"Change number {number}", {f"torch/change_{number}.py": f"number = {number}\n"})
            git.nightly(FIRST + timedelta(days=number))
        return {made.day: Cut(made.sha, made.main) for made in git.nightlies}


def _plan(wheels: Wheels, cuts: Mapping[date, Cut]) -> NightlyPlan:
    bad = FIRST + timedelta(days=FIRST_BAD)
    real: tuple[Real, ...] = ()
    files: dict[date, dict[str, str]] = {}
    if wheels.older and wheels.newer:
        real = (_real(FIRST, wheels.older, GOOD), _real(bad, wheels.newer, BAD))
    else:
        files = {day: {PLANTED: BAD if day >= bad else GOOD} for day in cuts}
    return NightlyPlan(
        first=FIRST, last=LAST, variants=(VARIANT,), pythons=("cp311",), known_gaps=False, cuts=cuts,
        ballast=wheels.ballast, real=real, files=files,
    )  # fmt: skip


def _real(since: date, wheel: Path, planted: str) -> Real:
    return Real(since, wheel, {PLANTED: planted.encode()}, NEEDED)


def fetch_stock(folder: Path) -> Path:
    """Fill a folder with the real wheels that `import torch` needs, from the package index; what is there stays.

    Raises `subprocess.CalledProcessError` where they cannot be had.
    """
    if not any(folder.glob(f"*{WHEEL}")):
        folder.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", str(folder)]
        subprocess.run([*words, *NEEDED], check=True, timeout=300)
    for path in folder.glob(f"*{WHEEL}"):
        os.utime(path, (STOCKED.timestamp(),) * 2)
    return folder


def environ(home: Path, **more: str) -> dict[str, str]:
    """The variables of a user whose caches are empty: nothing of this machine's pip, uv or bisect."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("UV_", "PIP_", "BISECT_", "PYTHON"))}
    own = {"HOME": str(home), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "COLUMNS": "120"}
    caches = {"UV_CACHE_DIR": str(home / "uv-cache"), "PIP_CACHE_DIR": str(home / "pip-cache")}
    return {**kept, **own, **caches, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}
