"""The process that answers one question: ``python -m bisect_tool.service.answering``, started by a worker.

Standard input: the order (`bisect_tool.service.order`). Standard output: events as lines of JSON, the last one is the end with
the run, its outcome, and the error if there was one. SIGINT and SIGTERM: it stops, and reports what is known. It dies with the
thread that started it, however that ends; what was stored by then is there for whoever goes on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from bisect_tool.builds.channel import names
from bisect_tool.errors import BisectError, Interrupted, MachineFault, interrupted
from bisect_tool.reports import events
from bisect_tool.runs.run import Stopped, run_specs
from bisect_tool.runs.surveying import Wishes
from bisect_tool.runs.watch import Watch
from bisect_tool.runs.workshop import open_workshop
from bisect_tool.search.planner import Policy
from bisect_tool.service.asking_again import asked_again
from bisect_tool.service.news import END, event_line, line_of
from bisect_tool.service.order import Order, read_order
from bisect_tool.service.question import Purpose, fault_values
from bisect_tool.spec.reading import ReadSpec, load_all

_PR_SET_PDEATHSIG = 1


class _Stopped(KeyboardInterrupt):
    """As in `bisect_tool.cli`: Python ends by the signal itself when a plain one passes an `exec`."""


@dataclass(slots=True)
class Begun(Watch):
    """Remembers the run of the question: the last one, as each channel has one of its own."""

    run: str | None = None

    def begins(self, spec: ReadSpec, run: str) -> None:  # noqa: ARG002  there is one spec
        """A run of the spec has begun."""
        self.run = run


def answer(order: Order, environ: Mapping[str, str], tell: Callable[[events.Event], None]) -> dict[str, Any]:
    """Answer the question of an order; gives the `run` with its report, the `outcome`, and the `error` in place of it."""
    begun, wishes = Begun(), _wishes(order)
    try:
        (read,) = load_all([Path(order.spec)], channels=names(), changes={"device": order.device})
        read, wishes = asked_again(read, wishes, order.purpose, order.narrow)
        workshop = replace(open_workshop(order.settings, environ), forgotten=order.after)
        if order.token:  # for the history alone: neither uv nor a trial sees it
            workshop = replace(workshop, environ={**workshop.environ, "GITHUB_TOKEN": order.token})
        (report,) = run_specs(workshop, [read], wishes, tell, begun)
    except Stopped as stopped:
        outcome = stopped.reports[0].outcome if stopped.reports else None
        return _end(begun.run if outcome else None, outcome, stopped.error)
    except BisectError as error:
        return _end(None, None, error)
    except KeyboardInterrupt:
        return _end(None, None, interrupted())
    except MemoryError:
        return _end(None, None, MachineFault("no memory is left", advice="give the worker more, or run fewer at once"))
    return _end(begun.run, report.outcome, None)


def _end(run: str | None, outcome: str | None, error: BisectError | None) -> dict[str, Any]:
    values = None if error is None else fault_values(error.what, error.advice, error.status, error.where)
    return {"run": run, "outcome": outcome, "error": values}


def _wishes(order: Order) -> Wishes:
    """Old trials count or not by `Order.after`, so that an answer without them goes on when it was cut short."""
    is_anew = order.purpose in {Purpose.FRESH, Purpose.VERIFY}
    return Wishes(
        policy=Policy(verify=order.settings.verify),
        retry_untestable=is_anew,
        refresh=order.purpose is not Purpose.ANSWER,
        thin=order.settings.thin,
    )


def main() -> None:
    """Read the order, answer, and say how it ended."""
    order = read_order(sys.stdin.readline())
    _die_with(order.parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    out, environ = _own_output(), dict(os.environ)
    os.environ.update(order.libraries)  # for this process alone: what it starts gets `environ`

    def say(line: str) -> None:
        with suppress(BrokenPipeError):  # the worker is gone, and so are we, in a moment
            out.write(line)
            out.flush()

    try:
        end = answer(order, environ, lambda event: say(event_line(event)))
    except Exception as error:  # noqa: BLE001  a defect of the tool: whoever reads the log of the worker finds it there
        traceback.print_exc()
        what = f"bisect has a defect: {type(error).__name__}: {error}"
        end = {"run": None, "outcome": None, "error": fault_values(what, "report it", BisectError.status)}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say(line_of(END, end))


def _die_with(parent: int) -> None:
    """End by SIGKILL with the thread that started us; at once when that is gone already."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit(Interrupted.status)


def _own_output() -> TextIO:
    """Our standard output for ourselves; whatever else prints goes where errors go."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped


if __name__ == "__main__":
    main()
