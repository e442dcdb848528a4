"""``bisect cache``: what lies in the cache, making room, and proving that nothing was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bisect_tool.cli._options import read_settings_from, settings_options
from bisect_tool.settings import without_secrets

if TYPE_CHECKING:
    from bisect_tool.environments.cache_folder import CacheFolder
    from bisect_tool.environments.uv import Uv


@click.group()
def command() -> None:
    """List, prune and verify the cache."""


@command.command("list")
@settings_options
def list_(**flags: Any) -> None:
    """Print what the cache holds and how much room it takes."""
    from bisect_tool.environments import room
    from bisect_tool.environments.kept_wheels import kept_wheels
    from bisect_tool.quantities import format_size

    cache, _ = _open(flags)
    click.echo(f"cache at {cache.root}")
    for one in room.occupants(cache):
        click.echo(
            f"  {one.package:<20} {one.version:<32} {format_size(one.bytes_):>9}  {one.state:<9} "
            f"used {one.used:%Y-%m-%d %H:%M}"
        )
    for kept in kept_wheels(cache):
        begun = "fetched" if kept.here == kept.size else f"{format_size(kept.here)} of {format_size(kept.size)}"
        click.echo(f"  {kept.label.package:<20} {kept.label.version:<32} {format_size(kept.here):>9}  wheel, {begun}")
    shared = room.size_of(cache.environments)
    click.echo(f"environments    {format_size(shared):>9}  (files shared with the wheels count once in the total)")
    click.echo(f"wheels of uv    {format_size(room.size_of(cache.uv)):>9}")
    click.echo(f"wheels begun    {format_size(room.size_of(cache.wheels)):>9}")
    click.echo(f"logs of trials  {format_size(room.size_of(cache.trials)):>9}")
    click.echo(f"total           {format_size(room.size_of(cache.root)):>9}")
    for line in _elsewhere(flags):
        click.echo(line)


@command.command()
@click.option("--all", "everything", is_flag=True, help="Remove every environment that is not in use.")
@settings_options
def prune(*, everything: bool, **flags: Any) -> None:
    """Remove wheels that were only begun and the environments that were not used for longest, down to --max-cache."""
    from bisect_tool.environments import room
    from bisect_tool.environments.kept_wheels import kept_wheels, remove_kept
    from bisect_tool.quantities import format_size

    settings = read_settings_from(dict(flags))
    if not everything and settings.max_cache is None:
        raise click.UsageError("name a size with --max-cache, for instance --max-cache 40GB, or use --all")
    cache, uv = _open(flags)
    before = room.size_of(cache.root)
    if everything:
        gone = [one for one in room.occupants(cache) if room.remove_unused(cache, one)]
        for kept in kept_wheels(cache):
            remove_kept(cache, kept)
        uv.call("cache", "clean")
    else:
        gone = room.make_room(cache, uv, settings.max_cache or 0)
    for one in gone:
        click.echo(f"removed {one.package} {one.version}")
    click.echo(f"freed {format_size(max(0, before - room.size_of(cache.root)))}; results and logs were kept")


@command.command()
@click.option("--remove", is_flag=True, help="Remove damaged environments, so that they are made again.")
@settings_options
def verify(*, remove: bool, **flags: Any) -> int:
    """Compare the files of every environment with what their wheels say."""
    from bisect_tool.environments import room
    from bisect_tool.environments.kept_wheels import damaged_wheels, remove_kept
    from bisect_tool.environments.verify import verify as check

    cache, uv = _open(flags)
    findings = check(cache)
    for finding in findings:
        click.echo(str(finding))
    for kept in damaged_wheels(cache):
        # Nobody has it yet: it is fetched again when it is wanted.
        if remove_kept(cache, kept):
            click.echo(f"removed the damaged wheel of {kept.label.package} {kept.label.version}")
    for line in _elsewhere(flags):
        click.echo(line)
    if not findings:
        click.echo("every environment is as it was installed")
        return 0
    if remove:
        damaged = {finding.folder for finding in findings}
        for one in room.occupants(cache):
            if one.folder in damaged and room.remove_unused(cache, one):
                # Changed files are hard links: what uv keeps of this package is changed too.
                uv.call("cache", "clean", one.package)
                click.echo(f"removed {one.package} {one.version}")
        return 0
    return 1


def _elsewhere(flags: dict[str, Any]) -> list[str]:
    """What a cache usually holds and this one does not: a line for each."""
    settings = read_settings_from(dict(flags))
    places = (("results", settings.store), ("logs", settings.logs))
    shown = [(name, without_secrets(address)) for name, address in places if address]
    return [f"{name:<15} at {address}, which `bisect doctor` looks at" for name, address in shown]


def _open(flags: dict[str, Any]) -> tuple[CacheFolder, Uv]:
    import os

    from bisect_tool.runs.workshop import open_workshop

    workshop = open_workshop(read_settings_from(dict(flags)), os.environ)
    return workshop.cache, workshop.uv
