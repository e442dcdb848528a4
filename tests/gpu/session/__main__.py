"""`python -m tests.gpu.session`: run the parts, write what is known after each. `tests/gpu/run` calls it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click

from tests.gpu.session.gathering import gather, machine
from tests.gpu.session.jobs import Job, run_jobs
from tests.gpu.session.parts import PARTS
from tests.gpu.session.place import Place, place_in


@click.command()
@click.option("--only", default=",".join(PARTS), show_default=True, help="Parts, with commas, in their order.")
@click.option("--device", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True)
@click.option("--limit", default=560.0, show_default=True, help="Seconds for all of it.")
@click.option("--together", is_flag=True, help="Start the parts at once instead of one after the other.")
@click.option(
    "--job", "patterns", multiple=True, help="Only jobs of that name, `*` stands for anything; may be repeated."
)
@click.option("--again", is_flag=True, help="Also what was done well before.")
def main(only: str, device: str, limit: float, patterns: tuple[str, ...], *, together: bool, again: bool) -> None:
    """Run parts of the session; exit status 1 when a job did not end well."""
    names = [name.strip() for name in only.split(",") if name.strip()]
    if unknown := [name for name in names if name not in PARTS]:
        raise click.UsageError(f"no part is called {unknown[0]}: there are {', '.join(PARTS)}")
    place, deadline = place_in(os.environ, device).made(), time.monotonic() + limit
    state = _state(place)
    state["machine"] = machine(place)
    say = _Speaker(time.monotonic())
    say.say(f"{device}: {state['machine']['gpu']}")
    for group in [names] if together else [[name] for name in names]:
        found = [job for name in group for job in PARTS[name](place) if again or not _is_done(state, job)]
        jobs = [job for job in found if not patterns or any(fnmatch(job.name, pattern) for pattern in patterns)]
        say.say(f"{', '.join(group)}: {len(jobs)} to run, {max(0, deadline - time.monotonic()):.0f} s left")
        _run(place, state, jobs, say, deadline)
    gather(place, state)
    if any(not done["is_good"] for done in state["jobs"].values()):
        raise SystemExit(1)


class _Speaker:
    """Prints lines with the seconds since the start."""

    def __init__(self, started: float) -> None:
        self.started = started

    def say(self, line: str) -> None:
        """One line, at once."""
        click.echo(f"[{time.monotonic() - self.started:6.1f} s] {line}")


def _run(place: Place, state: dict[str, Any], jobs: Sequence[Job], say: _Speaker, deadline: float) -> None:
    if not jobs:
        return
    if deadline - time.monotonic() < 10:
        say.say(f"no time is left for {', '.join(job.name for job in jobs)}")
        return
    for done in run_jobs(jobs, place.logs, say.say, deadline):
        state["jobs"][done.name] = asdict(done)
    _keep(place, state)
    gather(place, state)


def _state(place: Place) -> dict[str, Any]:
    """What earlier calls have done, by job."""
    path = place.home / f"state-{place.device}.json"
    if path.exists():
        return dict(json.loads(path.read_text()))
    return {"started": datetime.now(UTC).isoformat(timespec="seconds"), "jobs": {}}


def _keep(place: Place, state: dict[str, Any]) -> None:
    path = Path(place.home / f"state-{place.device}.json")
    part = path.with_suffix(".part")
    part.write_text(json.dumps(state, indent=1))
    part.replace(path)


def _is_done(state: dict[str, Any], job: Job) -> bool:
    return bool(state["jobs"].get(job.name, {}).get("is_good"))


if __name__ == "__main__":
    main()
