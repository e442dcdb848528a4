"""The command line. Each command is a file of this folder; nothing heavy is imported before a command needs it."""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import sys
import traceback
from errno import ENOSPC
from keyword import iskeyword
from types import FrameType

import click

from bisect_tool import __version__
from bisect_tool.errors import BisectError, DiskFull, Interrupted, interrupted


class Commands(click.Group):
    """The commands are the modules of this package that have a `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Their names, in the order of the alphabet."""
        return sorted(
            module.name.rstrip("_") for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the module of one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        # `try` is a word of Python: its module is `try_`.
        found = importlib.import_module(f"{__name__}.{cmd_name}{'_' if iskeyword(cmd_name) else ''}").command
        return found if isinstance(found, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the likely word for a wrong one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), 1) if args else []
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"{error.message}{meant}", error.ctx) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="bisect")
def cli() -> None:
    """Find the build in which a failure appeared or was fixed.

    `bisect run spec.yaml` runs the repro of a spec on builds of a package, newest and oldest first, and narrows down every
    change of its behaviour. `bisect run repro.py --from 2.12 --to 2.15` does the same for a plain script: exit status 0 is
    pass, 125 "cannot judge here", anything else a failure.
    """


def main() -> None:
    """The console script: the one place where errors become messages and exit statuses."""
    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup or in the background of a script
            signal.signal(number, _interrupt)
    try:
        status = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        status = _show(interrupted())
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except BisectError as error:
        status = _show(error)
    except (BrokenPipeError, SystemExit):
        # Whoever read our output has gone (click exits by itself then); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = Interrupted.status
    except KeyboardInterrupt:
        status = _show(interrupted())
    except OSError as error:
        status = _show(DiskFull("no space is left", advice="make room")) if error.errno == ENOSPC else _defect()
    except Exception:  # noqa: BLE001  a defect of the tool: the whole traceback is what its developers need
        status = _defect()
    sys.exit(status if isinstance(status, int) else 0)


def _show(error: BisectError) -> int:
    click.echo(f"bisect: {error}", err=True)
    return error.status


def _defect() -> int:
    traceback.print_exc()
    click.echo("\nbisect has a defect. Please report the lines above; everything learned so far is stored.", err=True)
    return BisectError.status


class _Stopped(KeyboardInterrupt):
    """Python ends by the signal itself, whatever was made of it, when a plain one passes an `exec`, as of a dataclass."""


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped
