"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bisect_tool.settings import Settings
    from bisect_tool.spec.reading import ReadSpec

F = TypeVar("F", bound=Callable[..., Any])


def settings_options(function: F) -> F:
    """Where things lie and how much room they may take."""
    for option in (
        click.option("--bandwidth", metavar="RATE", help="Bytes a second for the wheels of builds, for instance 20MB."),
        click.option("--max-cache", metavar="SIZE", help="Room for the cache, for instance 40GB."),
        click.option("--wheelhouse", metavar="DIR", help="The folder of the channel `wheelhouse`."),
        click.option("--nightly-index", metavar="URL", help="Index of the channel `nightly`; left out: PyTorch's own."),
        click.option("--github-api", metavar="URL", help="Where GitHub's API answers; left out: its own address."),
        click.option("--repo", metavar="DIR", help="A clone of the package's repository, instead of GitHub's API."),
        click.option("--index", metavar="URL", help="Package index; left out: uv's or pip's usual settings decide."),
        click.option("--logs", metavar="URL", help="A folder or address for the logs of trials, for several hosts."),
        click.option("--store", metavar="URL", help="The results database: sqlite:///PATH, postgresql+psycopg://…"),
        click.option("--cache", metavar="DIR", help="Where environments, logs and results lie."),
    ):
        function = option(function)
    return function


def confining_options(function: F) -> F:
    """What processes of trials may see and take."""
    for option in (
        click.option("--trial-processes", metavar="N", help="Processes that a trial may have at a time, or off."),
        click.option("--trial-memory", metavar="SIZE", help="Memory that a trial may take, for instance 20GB, or off."),
        click.option("--trial-file-size", metavar="SIZE", help="The largest file that a trial may write, or off."),
        click.option("--trial-disk", metavar="SIZE", help="Room that a trial may take in its own folder, or off."),
        click.option("--trial-cpu", metavar="SECONDS", help="Processor time that a trial may use in all, or off."),
        click.option(
            "--sandbox-shows", metavar="DIRS", help="Further folders to read in the sandbox, with `:` between."
        ),
        click.option("--sandbox", metavar="MODE", help="Whether trials run in a sandbox: off, auto or on."),
    ):
        function = option(function)
    return function


def executor_options(function: F) -> F:
    """Where the trials run."""
    for option in (
        click.option("--ray-address", metavar="ADDR", help="The Ray cluster: auto, host:port, ray://host:port, local."),
        click.option("--executor", metavar="NAME", help="Where trials run: local, or ray for a Ray cluster."),
    ):
        function = option(function)
    return function


def question_options(function: F) -> F:
    """What the command line may say instead of the spec."""
    for option in (
        click.option("--yanked", is_flag=True, help="Also test versions that were yanked."),
        click.option("--pre", is_flag=True, help="Also test pre-releases."),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Time that a trial may take.",
        ),
        click.option("--warm", metavar="MODE", help="Whether trials may be forked after the imports: auto or off."),
        click.option("--flaky", metavar="MODE", help="Whether failures come and go: auto, yes or no."),
        click.option(
            "--as-is", multiple=True, metavar="NAME", help="A package of the base that is taken as it is; `*` too."
        ),
        click.option("--base", metavar="BASE", help="isolated, or system: over the packages of the interpreter."),
        click.option("--hold", multiple=True, metavar="REQ", help="A requirement that is the same for every build."),
        click.option("--requires", multiple=True, metavar="REQ", help="A further requirement; may be repeated."),
        click.option("--python", metavar="VERSION", help="Python version or interpreter."),
        click.option("--device", metavar="DEVICE", help="cuda or cpu."),
        click.option("--to", "to", metavar="BOUND", help="Last build: a version or a date."),
        click.option("--from", "from_", metavar="BOUND", help="First build: a version or a date."),
        click.option("--channel", metavar="NAME", help="Where builds come from: commit, nightly, release, wheelhouse."),
        click.option("--variant", metavar="NAME", help="Variant of nightlies: auto, cpu, cu130, rocm7.2, xpu."),
        click.option("--package", metavar="NAME", help="The package whose builds are tested."),
    ):
        function = option(function)
    return function


def read_settings_from(flags: dict[str, Any]) -> Settings:
    """The settings; takes their flags out of `flags`."""
    from bisect_tool.settings import read_settings

    own: dict[str, object] = {
        name: flags.pop(name)
        for name in (
            "ahead",
            "bandwidth",
            "cache",
            "executor",
            "github_api",
            "index",
            "jobs",
            "lease",
            "logs",
            "max_cache",
            "max_downloads",
            "nightly_index",
            "ray_address",
            "repo",
            "sandbox",
            "sandbox_shows",
            "server",
            "store",
            "trial_cpu",
            "trial_disk",
            "trial_file_size",
            "trial_memory",
            "trial_processes",
            "wheelhouse",
            "verify",
            "thin",
            "wait_for_gpu",
        )
        if name in flags
    }
    return read_settings(own, os.environ, Path.home())


def adjusted_specs(paths: tuple[str, ...], flags: dict[str, Any]) -> list[ReadSpec]:
    """The specs with what the command line says; takes their flags out of `flags`."""
    from bisect_tool.builds.channel import names
    from bisect_tool.spec.reading import load_all

    return load_all([Path(path) for path in paths], channels=names(), changes=changes_in(flags))


def changes_in(flags: dict[str, Any]) -> dict[str, Any]:
    """What the command line says instead of a spec, by key; takes it out of `flags`. A command need not have every flag."""
    keys = ("package", "from_", "to", "python", "timeout", "requires", "channel", "variant", "flaky", "warm", "device")
    more = ("base", "as_is", "hold")
    return {key: flags.pop(key, None) for key in (*keys, *more)}


def words_given(but: Collection[str]) -> tuple[str, ...]:
    """The options that the command line of the current command has, as words, without those called `but`; no passwords."""
    from bisect_tool.builds.index_address import without_credentials

    context = click.get_current_context()
    words: list[str] = []
    for option in context.command.params:
        name = option.name or ""
        is_given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not isinstance(option, click.Option) or name in but or not is_given:
            continue
        value = context.params[name]
        values = value if isinstance(value, tuple) else (value,)
        values = tuple(without_credentials(one) if "://" in str(one) else one for one in values)
        words += [option.opts[0]] if option.is_flag else [word for one in values for word in (option.opts[0], str(one))]
    return tuple(words)


def check_cases(read: ReadSpec, wanted: Collection[str]) -> None:
    """Raises `UsageError` for the name of a case that the spec does not have."""
    from difflib import get_close_matches

    names = [case.name for case in read.spec.cases]
    for name in wanted:
        if name not in names:
            near = get_close_matches(name, names, 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No such case: {name!r}; the spec has {', '.join(names)}.{meant}")
