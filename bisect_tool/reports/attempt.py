"""What `bisect try` found on one build, as a value (its JSON). Durations are in seconds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from bisect_tool.reports.discovery import Discovery
from bisect_tool.reports.part import Part
from bisect_tool.reports.rates import Rate
from bisect_tool.reports.report import Machine, MetricPart, Signature, SpecPart, State


class TriedBuild(Part):
    """The build that was tried, and where it came from. `unusable`: why it cannot be used at all."""

    version: str
    date: str | None = None
    revision: str | None = None
    channel: str
    source: str
    unusable: str | None = None


class TriedCase(Part):
    """One case: its state over all of its trials, and the end of what the most telling one of them printed.

    `trials` have a verdict, `known` of them were made before this command; `failed` shows how many failed, with bounds, where
    there are several. `failures` are ids of `Attempt.failures`.
    """

    name: str
    role: Literal["test", "control"]
    command: str
    state: State
    reason: str | None = None
    failures: tuple[str, ...] = ()
    trials: int = 0
    known: int = 0
    failed: Rate | None = None
    duration_s: float | None = None
    output: tuple[str, ...] = Field(default=(), description="The last lines of its output.")
    log: str | None = None
    metrics: tuple[MetricPart, ...] = ()


class LearnedFailure(Part):
    """A failure that a run would learn from these trials.

    `named` is its name in the spec, whose `match` fits it; None: the tool names it by its signature. `cases` have shown it,
    each with the number of its trials that did.
    """

    id: str
    named: str | None = None
    match: str | None = None
    signature: Signature
    cases: dict[str, int] = Field(default_factory=dict)


class Unseen(Part):
    """A failure that the spec names and that did not show."""

    name: str
    match: str


class Attempt(Part):
    """Everything that was seen on one build, and what to do next.

    `outcome`: `judged`, when every case that was asked for has a verdict and no control fails; else `not judged`, or
    `unfinished` when it was cut short. `controls_pass` is None without controls.
    """

    schema_version: Literal[1] = 1
    outcome: Literal["judged", "not judged", "unfinished"]
    spec: SpecPart
    build: TriedBuild
    cases: tuple[TriedCase, ...]
    failures: tuple[LearnedFailure, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    controls_pass: bool | None = None
    trials: int
    trials_known: int
    elapsed_s: float
    environment: Machine
    advice: tuple[str, ...] = ()
    next: tuple[str, ...] = Field(default=(), description="Commands that make sense now, the likeliest first.")
    discovery: Discovery | None = None
    cache: str | None = None


def attempt_schema() -> dict[str, Any]:
    """The JSON Schema of schema version 1, Draft 2020-12."""
    schema = Attempt.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
