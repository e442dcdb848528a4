"""A bisect over sixty nightlies that are two real releases with another label, from an index on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

import click

from tests.gpu.session.adapting import adapted
from tests.gpu.session.place import Place, place_in
from tests.gpu.wheels import TRITON
from tests.rig.nightly_index import NightlyIndex, NightlyPlan
from tests.rig.nightly_index.plan import Real, abi_of

SPEC = "diagonal-scatter-grad"  # in 2.12.1, not in 2.13.0
FIRST, LAST, FIXED = date(2026, 8, 1), date(2026, 9, 29), date(2026, 9, 3)
OLDER, NEWER = "2.12.1", ("2.13.0", "2.14.1")  # the first of these that is there: 2.13.0 has the triton of 2.12.1
ROOM = "26GB"  # an own cache, removed afterwards: the disk of the machine is small


@click.command()
@click.option("--device", default="cuda")
@click.option("--variant", default="cu130")
def main(device: str, variant: str) -> None:
    """Find the nightly that has the fix, and check that it is the planted one."""
    place = place_in(os.environ, device).made()
    newer = next((version for version in NEWER if _found(place.wheels, "torch", version)), NEWER[0])
    wheels = [_wheel(place.wheels, version) for version in (OLDER, newer)]
    plan = NightlyPlan(
        first=FIRST,
        last=LAST,
        variants=(variant,),
        pythons=(abi_of(wheels[0]),),
        real=(Real(FIRST, wheels[0], requires=()), Real(FIXED, wheels[1], requires=())),
    )
    with NightlyIndex(plan) as index:
        index.today = LAST + timedelta(days=40)
        started = time.monotonic()
        try:
            status = _run(place, index, newer, variant)
        finally:
            shutil.rmtree(_cache(place), ignore_errors=True)
        click.echo(
            f"bisect ended with {status} after {time.monotonic() - started:.0f} s; requests {dict(index.requests.counts())}"
        )
    sys.exit(status or _checked(place))


def _cache(place: Place) -> Path:
    return place.home / "cache-nightlies"


def _checked(place: Place) -> int:
    """0 when the answer is the nightly that was planted, 1 for any other."""
    report = json.loads((place.reports / "nightlies.json").read_text())
    ends = [episode["fixed"] for failure in report["failures"] for episode in failure["episodes"]]
    right = [end for end in ends if f"dev{FIXED:%Y%m%d}" in str(end["first_without"]) and end["kind"] == "exact"]
    click.echo(
        f"fixed in {[end['first_without'] for end in ends]}, planted on {FIXED}: {'right' if right else 'wrong'}"
    )
    return 0 if len(right) == len(ends) == 1 else 1


def _run(place: Place, index: NightlyIndex, newer: str, variant: str) -> int:
    needs = [
        path
        for path in (_found(place.wheels, "triton", TRITON[newer]), _found(place.wheels, "nvidia_nccl_cu13", ""))
        if path
    ]
    requires = [f"{path.name.split('-')[0].replace('_', '-')} @ {path.as_uri()}" for path in needs]
    cases = [{"name": "eager", "args": ["--backend", "eager"], "role": "control"}]
    cases.append({"name": "inductor", "args": ["--backend", "inductor"]})
    more = {"channel": "nightly", "requires": requires, "cases": cases}
    spec = adapted(place, SPEC, "nightlies", more)
    if spec is None:
        raise SystemExit(f"{SPEC} does not run on {place.device}")
    words = place.bisect("run", str(spec), "--variant", variant, "--from", FIRST.isoformat(), "--to", LAST.isoformat())
    words += ["--verify", "1", "--scan", "0", "--plain", "--json", str(place.reports / "nightlies.json")]
    words += ["--markdown", str(place.reports / "nightlies.md")]
    words += ["--max-cache", ROOM, "--cache", str(_cache(place))]
    environ = {**os.environ, "BISECT_NIGHTLY_INDEX": index.address, "BISECT_INDEX": index.default_index}
    return subprocess.run(words, env=environ, check=False).returncode


def _wheel(folder: Path, version: str) -> Path:
    found = _found(folder, "torch", version)
    if found is None:
        raise SystemExit(f"no wheel of torch {version} in {folder}")
    return found


def _found(folder: Path, name: str, version: str) -> Path | None:
    return next((path.resolve() for path in sorted(folder.glob(f"{name}-{version}*.whl"))), None)


if __name__ == "__main__":
    main()
