"""Everything that can end a command early: one tree, each class with its exit status; the text is ready to be shown.

A `BisectError` says what happened, where, and what to do next. It is caught in one place (`bisect_tool.cli.main`), printed
without a traceback, and its `status` becomes the exit status of the process. Statuses 0 to 5 are answers, not errors:
see `Answered`. `docs/exit-statuses.md` is made from this file.
"""

from __future__ import annotations

from enum import IntEnum


class Answered(IntEnum):
    """Exit statuses of a run that ended by itself."""

    EXACT = 0  # every change found lies between two neighbouring builds
    NARROWED = 3  # a change was found, but builds that could not be tested lie inside at least one end
    NO_CHANGE = 4  # every testable build of the range behaves the same
    NOT_JUDGED = 5  # too few builds could be tested to say anything


class BisectError(Exception):
    """The root. `what` happened, `where` (a path, an address, a build), and what to do `next`."""

    status = 70

    def __init__(self, what: str, *, where: str | None = None, advice: str) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        lines.append(f"  next:  {self.advice}")
        return "\n".join(lines)


class SpecError(BisectError):
    """The spec or the script cannot be used as it is written; `what` lists every mistake."""

    status = 10


class BoundError(BisectError):
    """`from` or `to` is not a date or version, or they are in the wrong order."""

    status = 11


class EmptyRange(BisectError):
    """Fewer than two builds lie in the range, so that there is nothing to compare."""

    status = 12


class PackageNotFound(BisectError):
    """The channel knows no package of that name, or none of its builds fits this machine."""

    status = 13


class IndexUnreachable(BisectError):
    """The package index did not answer, or not with an index page."""

    status = 14


class DeviceMissing(BisectError):
    """The spec demands a device that this machine does not have."""

    status = 15


class UvMissing(BisectError):
    """uv cannot be started, or is too old."""

    status = 16


class PythonMissing(BisectError):
    """No such Python interpreter here, and uv cannot fetch it."""

    status = 17


class SettingError(BisectError):
    """A flag, an environment variable or the settings file holds a value that cannot be used."""

    status = 18


class DiskFull(BisectError):
    """No space is left, or `--max-cache` leaves none."""

    status = 20


class CacheNotWritable(BisectError):
    """The cache folder cannot be made or written."""

    status = 21


class CacheTooNew(BisectError):
    """The cache was written by a newer version of the tool."""

    status = 22


class CacheBroken(BisectError):
    """A file of the cache is damaged."""

    status = 23


class StoreUnreachable(BisectError):
    """The results database of `--store` did not answer, or not any more. Trials that had ended are kept, and stored later."""

    status = 29


class DownloadFailed(BisectError):
    """A wheel could not be fetched after several attempts: the network's fault, never the build's."""

    status = 24


class CommandFault(BisectError):
    """The command of the spec does not exist or cannot be started (exit 126 or 127): the machine's fault, not the build's."""

    status = 25


class MachineFault(BisectError):
    """Something else of this machine failed: memory, a device, a limit."""

    status = 26


class RequirementsUnmet(BisectError):
    """What the spec `requires` cannot be resolved: true of every build, so no build is to blame."""

    status = 27


class OutputNotWritten(BisectError):
    """A report could not be written where it was asked for; the answer itself is stored."""

    status = 28


class DownloadsUsedUp(BisectError):
    """The run may fetch no more (`--max-downloads`). Everything learned so far is stored and reported."""

    status = 36


class HistoryUnavailable(BisectError):
    """The commits between two builds cannot be read: no network, a rate limit, a clone that lacks them."""

    status = 31


class RevisionUnknown(BisectError):
    """The history does not have such a commit, tag or branch, or the name fits several."""

    status = 32


class SpecsUnanswered(BisectError):
    """`bisect batch`: at least one spec is invalid or failed by itself. The others are answered, see the results folder."""

    status = 40


class ServerUnreachable(BisectError):
    """The server of `--server` did not answer, or not as a server of bisect."""

    status = 50


class ServerRefused(BisectError):
    """The server of `--server` does not do what was asked: a token is missing, there is no such question."""

    status = 51


class PortTaken(BisectError):
    """`bisect serve` cannot listen where it was asked to."""

    status = 52


class Interrupted(BisectError):
    """Ctrl-C or SIGTERM. Everything that had finished is stored."""

    status = 130


def interrupted() -> Interrupted:
    """The error for Ctrl-C and SIGTERM, wherever they are noticed."""
    return Interrupted("interrupted", advice="run the same command again: it goes on from where it stopped")
