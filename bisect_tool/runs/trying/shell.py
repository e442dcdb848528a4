"""`bisect shell`: a shell, or one command, in the environment of a build, with the variables that a trial has."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bisect_tool.environments.environment import Environment
from bisect_tool.environments.isolation import isolated_environment
from bisect_tool.environments.private import changed, links
from bisect_tool.reports import events
from bisect_tool.runs.job_news import event_of
from bisect_tool.runs.one_build import ask_one, survey_one
from bisect_tool.runs.surveying import Survey, Wishes
from bisect_tool.runs.trying.foreground import run_in_foreground
from bisect_tool.runs.trying.shells import FALLBACK, start_of
from bisect_tool.runs.workshop import Workshop
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.trials.trial import temporary_folder

View = Callable[[events.Event], None]


@dataclass(frozen=True, slots=True)
class ShellOrder:
    """What is asked for: the `build` as a text, the spec that says what belongs to it, a command (empty: a shell).

    `variables` are those of the spec and of the case that was chosen.
    """

    build: str
    wanted: Spec | ReadSpec
    words: tuple[str, ...] = ()
    variables: Mapping[str, str] | None = None


def open_shell(
    workshop: Workshop, order: ShellOrder, wishes: Wishes, view: Callable[[], AbstractContextManager[View]]
) -> int:
    """Open the environment, run the shell or the command in it, and give its exit status.

    The environment is held while it lasts, so that nothing removes it. `view` shows how it is made, and is closed before.
    Raises `BuildUnusable`, what `ask_one` raises, a `BisectError`.
    """
    with ExitStack() as stack:
        with view() as tell:
            found, number = _found(workshop, order, wishes, tell)
            environment = stack.enter_context(_private(workshop, found, number, tell))
        return _run(workshop, order, found, number, environment)


def _found(workshop: Workshop, order: ShellOrder, wishes: Wishes, tell: View) -> tuple[Survey, int]:
    means = workshop.means(lambda line: tell(events.Notice(line)), refresh=wishes.refresh)
    now, wanted = datetime.now(UTC), order.wanted
    if isinstance(wanted, ReadSpec):
        return ask_one(wanted, wishes, means, order.build, now)
    return survey_one(wanted, Path.cwd(), wishes, means, order.build, now)


@contextmanager
def _private(workshop: Workshop, found: Survey, number: int, tell: View) -> Iterator[Environment]:
    """A private copy of the environment of a build, made where needed."""
    build, key = found.builds[number], found.environment_key(number)
    environments = workshop.environments()
    with environments.use(
        key,
        lambda: found.channel.installation(build, found.spec.beside),
        device=found.device.name,
        as_of=build.date if found.listing.has_upload_times else None,
        tell=lambda step: tell(event_of(step, build, None, lock="")),
    ) as base:
        tell(events.Installed(build.version, base.seconds, base.cached))
        with environments.copied(key, base) as own:
            yield own


def _run(workshop: Workshop, order: ShellOrder, found: Survey, number: int, environment: Environment) -> int:
    build, own = found.builds[number], environment.folder / "run"
    own.mkdir()
    before = links(environment.folder / "venv" / "lib")
    with temporary_folder(own) as temporary:
        label = f"{build.package} {build.label}"
        is_interactive = not order.words and sys.stdin.isatty()
        shell = start_of(workshop.environ.get("SHELL") or FALLBACK, label, own, is_interactive=is_interactive)
        extra = {
            "TMPDIR": str(temporary),
            **(order.variables or {}),
            "BISECT_CHECKS": str(own / "checks.jsonl"),
            "BISECT_BUILD": label,
            **shell.variables,
        }
        variables = isolated_environment(
            workshop.environ, scratch=own, programs=environment.programs, device=found.device.name, extra=extra
        )
        if is_interactive:
            _say(f"{label}, Python {environment.health.python}, {found.device.name}, with the variables of a trial.")
            _say("This is a private copy: what you change in it is gone when the shell ends. `exit` leaves.")
        ending = signal.SIGTERM if order.words else signal.SIGHUP
        status = run_in_foreground(order.words or shell.words, variables, Path.cwd(), ending=ending)
    for path in changed(before):
        _say(
            f"{path} was written to, which is a file of the cache: `bisect cache verify --remove` makes it whole again"
        )
    return status


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201  beside the program that has the terminal
