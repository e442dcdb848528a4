"""What bounds the processes of a run, handed down to wherever they are started.

The rooms below take what they need from the variables of a run, because these reach every executor and every helper of it;
no process of a trial sees them (`bisect_tool.environments.isolation`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bisect_tool.environments import sandbox
from bisect_tool.errors import MachineFault
from bisect_tool.settings import Settings
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.strangers import refuse_strange
from bisect_tool.trials import limits
from bisect_tool.trials.limits import read_limits

FOR_STRANGERS = "what workers do unless --sandbox or BISECT_SANDBOX says otherwise"


def confined(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a run: those of the tool, with the sandbox and the limits as the settings have them.

    Raises `SettingError` when the sandbox is on and does not work here.
    """
    bounds = {
        limits.MEMORY: settings.trial_memory,
        limits.DISK: settings.trial_disk,
        limits.PROCESSES: settings.trial_processes,
        limits.CPU: settings.trial_cpu,
        limits.FILE_SIZE: settings.trial_file_size,
    }
    kept = {name: value for name, value in environ.items() if name not in bounds}
    given = {name: str(value or "off") for name, value in bounds.items() if value is not None}
    found = kept | given | {sandbox.SHOWS: settings.sandbox_shows or ""}
    read_limits(found)
    found[sandbox.WISH] = sandbox.settled_wish(settings.sandbox, found, settings.sources["sandbox"])
    return found


def for_strangers(settings: Settings) -> Settings:
    """The settings of whoever answers questions of others: the sandbox is on unless somebody said otherwise."""
    if settings.sources["sandbox"] != "default":
        return settings
    return replace(settings, sandbox=sandbox.ON, sources={**settings.sources, "sandbox": FOR_STRANGERS})


def check_asked(settings: Settings, environ: Mapping[str, str], specs: Sequence[ReadSpec]) -> None:
    """Before anything of these specs is run, where the sandbox is on.

    Raises `SpecError` for what would run or read outside, and as `check_confined` does.
    """
    if settings.sandbox == sandbox.ON:
        refuse_strange(specs)
        check_confined(settings, environ)


def check_confined(settings: Settings, environ: Mapping[str, str]) -> None:
    """Before anything is run: the variables of a run say what the settings say.

    Raises `MachineFault` when the sandbox is on and whoever made these variables has lost it.
    """
    if settings.sandbox == sandbox.ON and sandbox.wish_of(environ) != sandbox.ON:
        raise MachineFault(
            "the sandbox is on, and the variables of this run have lost that",
            where=settings.sources["sandbox"],
            advice="this is a defect of bisect: report it; nothing was run",
        )
