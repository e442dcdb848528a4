"""Which executor does the work of a run: it is found by its name, and loaded only when it is asked for.

An executor is one module of this folder with a function ``open_place(opening) -> Place``; its file name is what `--executor`
takes. What it is made of lies in a folder beside it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Protocol, cast

from bisect_tool.environments.sandbox import ON
from bisect_tool.errors import SettingError
from bisect_tool.runs import executors

if TYPE_CHECKING:
    from bisect_tool.environments.environment import Environments
    from bisect_tool.reports import events
    from bisect_tool.runs.executors import Executor
    from bisect_tool.runs.session import Session
    from bisect_tool.runs.surveying import Means
    from bisect_tool.settings import Settings


@dataclass(frozen=True, slots=True)
class Opening:
    """What a place is opened with. `environ` is that of this process; `tell` takes what is worth knowing of the place."""

    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    tell: Callable[[events.Event], None] = field(repr=False)


INSIDE = frozenset({"local"})  # executors whose trials are started by this process, with its sandbox


class Place(Protocol):
    """Where the trials of a run are done. Its methods are called from the thread of the loop."""

    def means(self, means: Means) -> Means:
        """The means of asking, with the devices of this place. Raises a `BisectError` when the place cannot be used."""

    def environments(self, own: Environments) -> Environments:
        """`own`, those of this machine, or what answers for them whether an environment is where trials run."""

    def open(self, sessions: Sequence[Session]) -> Executor:
        """The executor for trials of `sessions`; called once. Raises a `BisectError` when there is no slot."""

    @property
    def beside(self) -> Callable[[Sequence[Session]], Executor] | None:
        """Opens a further executor with the same slots, for a search of thin builds; None where those cannot be made."""

    def notes(self) -> tuple[str, ...]:
        """Sentences for the reports on where trials ran; none where that is this machine."""

    def close(self) -> None:
        """Let go of everything. The executor was closed before."""


def names() -> tuple[str, ...]:
    """The executors that exist."""
    own = __name__.rpartition(".")[2]
    return tuple(
        sorted(one.name for one in pkgutil.iter_modules(executors.__path__) if not one.ispkg and one.name != own)
    )


def open_place(opening: Opening) -> Place:
    """The place of the executor that the settings name.

    Raises `SettingError` when there is no such executor, or what it needs is not installed.
    """
    name = opening.settings.executor
    if name not in names():
        near = get_close_matches(name, names(), 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise SettingError(
            f"there is no executor {name!r}{meant}",
            where=opening.settings.sources["executor"],
            advice=f"executors are {', '.join(names())}",
        )
    if opening.settings.sandbox == ON and name not in INSIDE:
        raise SettingError(
            f"the executor {name!r} does not pass the sandbox on to its nodes",
            where=opening.settings.sources["sandbox"],
            advice="use the executor `local`; or leave `sandbox` off here and set BISECT_SANDBOX=on on every node",
        )
    module = importlib.import_module(f"{executors.__name__}.{name}")
    return cast("Place", module.open_place(opening))
