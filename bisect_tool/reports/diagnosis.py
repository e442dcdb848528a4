"""The part of a report that says which part of the compiler makes a failure (`--diagnose`)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bisect_tool.reports.part import Part

Shows = Literal["the failure", "passes", "another failure", "cannot judge"]


class RungPart(Part):
    """One rung of the ladder of backends on one build. `detail` names the other failure or the reason."""

    rung: str
    build: str
    shows: Shows
    detail: str = ""
    log: str | None = None


class BisectorPart(Part):
    """What PyTorch's compiler bisector found on the build with the failure, or the `reason` why it found nothing.

    `number` counts the applications of `subsystem` from 0; there were `of` of them. `what` is what it says of that one.
    """

    backend: str | None = None
    subsystem: str | None = None
    number: int | None = None
    of: int | None = None
    what: str | None = None
    trials: int = 0
    reason: str | None = None


class CodePart(Part):
    """How graphs and generated code of the two builds differ. `stage` is the first that does, `diff` its unified diff."""

    stage: str | None = None
    sentence: str
    diff: str = ""


class Diagnosis(Part):
    """Which part of the compiler makes a failure of a case, on the two builds of a change.

    `failure` is the id of the report's failure; `build` has it, `without` is the neighbour that has not. `part` names the part,
    None when nothing tells; `sentence` says so in words. `files` and `names` point to commits: where the part lies, what it is
    called. `evidence` is the folder, relative to the cache, with generated code, its diff and the minifier's files.
    """

    case: str
    failure: str
    build: str
    without: str
    part: str | None = None
    sentence: str
    rungs: tuple[RungPart, ...] = ()
    bisector: BisectorPart | None = None
    code: CodePart | None = None
    minified: str | None = Field(default=None, description="What the minifier left, relative to the cache.")
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    evidence: str = ""
