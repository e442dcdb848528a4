"""What making an environment costs: seconds, bytes fetched, bytes written.

``python -m tests.benchmarks.speed.unpacking OLDER.whl NEWER.whl --bandwidth 30MB``: two real torch releases (for the CPU) under
the names of nightlies, served on this machine over a wire of that bandwidth; what torch requires comes from the usual index.
Each way has a cache of its own: `ours`, and `uv`, where uv fetches the wheel.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import click

from bisect_tool.builds.build import Build
from bisect_tool.builds.channel import Access, Channel, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.environments import room
from bisect_tool.environments.cache_folder import CacheFolder, open_cache
from bisect_tool.environments.environment import EnvironmentKey, Environments, remove
from bisect_tool.environments.interpreter import Interpreter, find_interpreter
from bisect_tool.environments.uv import find_uv
from bisect_tool.quantities import format_duration, format_size, parse_size
from tests.builds.nightly.conftest import wanted
from tests.rig.nightly_index import NightlyIndex, NightlyPlan, Real
from tests.rig.wire import Wire

FIRST, LAST = date(2026, 8, 3), date(2026, 8, 4)
WAYS: Mapping[str, Mapping[str, str]] = {"ours": {}, "uv": {"UV_KEYRING_PROVIDER": "disabled"}}


@dataclass(slots=True)
class Place:
    """One way of fetching, with its cache."""

    way: str
    cache: CacheFolder
    index: NightlyIndex
    channel: Channel
    interpreter: Interpreter

    def environments(self) -> Environments:
        environ = {**os.environ, **WAYS[self.way]}
        return Environments(self.cache, find_uv(self.cache.uv, os.environ), environ)

    def key(self, build: Build, *requires: str) -> EnvironmentKey:
        return EnvironmentKey(build, self.interpreter, requires)

    def measure(self, what: str, key: EnvironmentKey) -> None:
        """Make the environment and print a row."""
        self.index.requests.clear()
        disk, written = room.size_of(self.cache.root), _written()
        started = time.monotonic()
        with self.environments().use(
            key, lambda: self.channel.installation(key.build, key.requires), device="cpu", as_of=None
        ):
            seconds = time.monotonic() - started
        fetched = self.index.requests.written[key.build.filename]
        share = fetched / (key.build.size or 1)
        click.echo(
            f"| {self.way} | {what} | {format_duration(seconds)} | {format_size(fetched)} ({share:.3f}) "
            f"| {format_size(_written() - written)} | {format_size(room.size_of(self.cache.root) - disk)} |"
        )


def _written() -> int:
    """Bytes that this process and its finished children gave to the disk so far."""
    return sum(resource.getrusage(who).ru_oublock * 512 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@click.command()
@click.argument("wheels", nargs=2, type=click.Path(exists=True, path_type=Path))
@click.option("--bandwidth", default="30MB", show_default=True, help="Bytes a second of the wire.")
@click.option("--per-connection", default=None, help="Bytes a second of each connection.")
@click.option("--latency", default=0.03, show_default=True, help="Seconds to and fro.")
@click.option("--variant", default="cpu", show_default=True)
def main(wheels: tuple[Path, Path], bandwidth: str, per_connection: str | None, latency: float, variant: str) -> None:
    """Print the table."""
    wire = Wire(parse_size(bandwidth), parse_size(per_connection) if per_connection else None, latency)
    plan = NightlyPlan(
        first=FIRST, last=LAST, variants=(variant,), pythons=("cp311",),
        real=tuple(Real(day, wheel) for day, wheel in zip((FIRST, LAST), wheels, strict=True)),
    )  # fmt: skip
    click.echo(f"{platform.machine()}, {os.cpu_count()} cores; {bandwidth}/s, {latency * 1000:.0f} ms\n")
    click.echo("| way | step | time | wheel fetched | written | new on disk |\n|---|---|---|---|---|---|")
    for way in WAYS:
        folder = Path(tempfile.mkdtemp(prefix="bisect-unpacking-"))
        try:
            with NightlyIndex(plan, wire=wire) as index:
                _measure_all(way, open_cache(folder), index, variant)
        finally:
            shutil.rmtree(folder)


def _measure_all(way: str, cache: CacheFolder, index: NightlyIndex, variant: str) -> None:
    uv = find_uv(cache.uv, os.environ)
    channel = open_channel("nightly", Access(pages=cache.pages, nightly_index=index.address))
    interpreter = find_interpreter("3.11", uv)
    listing = channel.listing(wanted(FIRST.isoformat(), LAST.isoformat(), variant=variant))
    assert target_for(interpreter.version).tags
    place = Place(way, cache, index, channel, interpreter)
    first, last = (place.key(build) for build in listing.builds)
    place.measure("first build", first)
    place.measure("next build", last)
    with place.environments().use(
        last, lambda: channel.installation(last.build), device="cpu", as_of=None
    ) as environment:
        made = environment.folder
    remove(made)
    place.measure("next build again, its environment gone", last)
    place.measure("next build, another requirement", place.key(last.build, "packaging"))


if __name__ == "__main__":
    main()
