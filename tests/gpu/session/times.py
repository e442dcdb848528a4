"""How a trial's time is spent: import, first use of the device, compiling, running; on every build that is installed."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from tests.gpu.session.place import Place, place_in

STEPS = Path(__file__).parents[1] / "steps.py"
LIMIT = 120


@click.command()
@click.option("--device", default="cuda")
def main(device: str) -> None:
    """Measure every build, one after the other, so that they do not disturb each other."""
    place = place_in(os.environ, device).made()
    measured = []
    for python in pythons(place):
        try:
            measured.append(measure(python, device))
        except (subprocess.SubprocessError, ValueError) as error:
            click.echo(f"{python}: {error}")
            continue
        click.echo(json.dumps(measured[-1]))
        # After each, so that what is known stays when the time is up.
        (place.reports / "times.json").write_text(json.dumps({"builds": measured}, indent=1) + "\n")


def pythons(place: Place) -> Iterator[str]:
    """The interpreter of the machine, then those of the environments with torch."""
    yield place.python
    for folder in sorted(place.cache.glob("environments/torch-*")):
        if (folder / "venv" / "bin" / "python").exists():
            yield str(folder / "venv" / "bin" / "python")


def measure(python: str, device: str) -> dict[str, object]:
    """One process with empty caches. Raises `subprocess.SubprocessError`, `ValueError` for output that is no JSON."""
    with tempfile.TemporaryDirectory() as folder:
        own = {
            name: f"{folder}/{name.lower()}" for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_HOME")
        }
        environ = {**os.environ, **own, "BISECT_DEVICE": device}
        done = subprocess.run(
            [python, str(STEPS)], env=environ, cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=True
        )
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
