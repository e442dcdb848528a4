"""What the store keeps, as values, and how a trial lies in its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

REVIEW = "review"  # the outcome of a run that found an old answer again: its report is no answer


@dataclass(frozen=True, slots=True)
class Subject:
    """What a result is about, besides the repro: content of the wheel, setting, kind of device (see `tables`)."""

    identity: str
    setting: str
    device: str


class JsonText(str):
    """A text that is JSON already, for a column that takes JSON: it is not made into a string of JSON."""

    __slots__ = ()


class Topic(NamedTuple):
    """What a question is about, whatever its range: content of the repro, setting, kind of device."""

    repro: str
    setting: str
    device: str


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """One trial as it is stored. `observation` are plain values; `folder` is relative to the cache of whoever made it.

    `log` is the address of its log in the shared folder of logs; None: it lies in `folder` only.
    """

    subject: Subject
    repro: str
    case_digest: str
    case_name: str
    package: str
    version: str
    observation: Mapping[str, Any]
    folder: str
    command: str
    duration: float
    log: str | None = None


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of a spec; `started` in UTC; `outcome` is None when it never came to a report."""

    id: str
    spec: str
    package: str
    started: str
    outcome: str | None


def row_of(trial: StoredTrial) -> dict[str, Any]:
    """The columns of a trial that ends now."""
    row = {
        "repro": trial.repro,
        "case_digest": trial.case_digest,
        "identity": trial.subject.identity,
        "setting": trial.subject.setting,
        "device": trial.subject.device,
        "case_name": trial.case_name,
        "package": trial.package,
        "version": trial.version,
        "observation": dict(trial.observation),
        "folder": trial.folder,
        "command": trial.command,
        "finished": now(),
        "duration": trial.duration,
        "log": trial.log,
    }
    return {name: storable(value) for name, value in row.items()}


# The columns of a trial in the order in which `trial_of` takes them.
COLUMNS = (
    *("identity", "setting", "device"),
    *("repro", "case_digest", "case_name", "package", "version", "observation", "folder", "command", "duration", "log"),
)


def trial_of(row: Sequence[Any]) -> StoredTrial:
    """The inverse of `row_of`, for a row of `COLUMNS`."""
    identity, setting, device, *rest = row
    return StoredTrial(Subject(identity, setting, device), *rest)


def now() -> str:
    """The time, UTC, to the second: for people, no decision rests on it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def storable(value: Any) -> Any:
    """Text that every database takes.

    Names of files need not be text, and PostgreSQL's text has no NUL; what is no character shows as its escape.
    """
    return (
        value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00") if isinstance(value, str) else value
    )
