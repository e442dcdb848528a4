"""Running every check beside the others; one that breaks or hangs is a line of its own, never a traceback."""

from __future__ import annotations

import importlib
import pkgutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from bisect_tool import __version__
from bisect_tool.reports.checkup import Checkup, Finding
from bisect_tool.runs.doctor import checks
from bisect_tool.runs.doctor.place import Place

LIMIT = 20.0  # seconds for all checks together

Check = Callable[[Place], Iterator[Finding]]


@dataclass(slots=True)
class _Running:
    name: str
    thread: threading.Thread
    found: list[Finding] = field(default_factory=list)


def all_checks() -> dict[str, Check]:
    """The checks by their names, in the order in which their lines are shown."""
    modules = [
        importlib.import_module(f"{checks.__name__}.{module.name}") for module in pkgutil.iter_modules(checks.__path__)
    ]
    return {
        module.__name__.rpartition(".")[2]: module.check for module in sorted(modules, key=lambda module: module.ORDER)
    }


def examine(place: Place, wanted: Mapping[str, Check] | None = None, *, limit: float = LIMIT) -> Checkup:
    """The lines of all checks, or of those `wanted`; the whole takes at most `limit` seconds."""
    running = [_start(name, check, place) for name, check in (all_checks() if wanted is None else wanted).items()]
    end = time.monotonic() + limit
    findings: list[Finding] = []
    for one in running:
        one.thread.join(max(0.0, end - time.monotonic()))
        if one.thread.is_alive():
            one.found.append(_late(one.name, limit))
        findings += list(one.found)
    return Checkup(
        tool=f"bisect {__version__}",
        device=" or ".join(place.asked.device),
        channels=place.asked.channel,
        findings=tuple(findings),
    )


def _start(name: str, check: Check, place: Place) -> _Running:
    # Not waited for at the end of the program, so that a check that hangs holds up nothing.
    one = _Running(name, threading.Thread(daemon=True))
    one.thread = threading.Thread(target=_run, args=(one, check, place), daemon=True, name=f"check-{name}")
    one.thread.start()
    return one


def _run(one: _Running, check: Check, place: Place) -> None:
    try:
        one.found.extend(check(place))
    except Exception as error:  # noqa: BLE001  a check that breaks says so, and the others go on
        one.found.append(
            Finding(
                about=one.name,
                level="warning",
                says=f"could not be looked at: {type(error).__name__}: {error}",
                fix="report this line; the other lines do not depend on it",
            )
        )


def _late(name: str, limit: float) -> Finding:
    says = f"no result within {limit:g} s"
    return Finding(about=name, level="warning", says=says, fix="a disk, a driver or a network that hangs? Try again")
