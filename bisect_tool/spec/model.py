"""The spec as frozen types: what the YAML file says, after reading.

Reading and its mistakes are in `bisect_tool.spec.reading`; the JSON Schema comes from these types.
"""

from __future__ import annotations

import re
import warnings
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator, model_validator

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"


class Role(StrEnum):
    """`TEST` cases are the question; a `CONTROL` must pass, else the build cannot be judged."""

    TEST = "test"
    CONTROL = "control"


def _one_or_many(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _yes_or_no(value: object) -> object:
    return {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value


# Other readers of YAML, and so the editors that check specs, take `yes` and `no` for booleans.
Flaky = Annotated[
    Literal["auto", "yes", "no"],
    BeforeValidator(_yes_or_no),
    WithJsonSchema({"enum": ["auto", "yes", "no", True, False]}),
]
# YAML's `off` is False for most readers.
Warm = Annotated[
    Literal["auto", "off"],
    BeforeValidator(lambda value: "off" if value is False else value),
    WithJsonSchema({"enum": ["auto", "off", False]}),
]
Words = Annotated[tuple[str, ...], BeforeValidator(_one_or_many)]


class Frozen(BaseModel):
    """Immutable; unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Case(Frozen):
    """One way to run the repro."""

    name: str = Field(pattern=NAME, description="How the report calls this case.")
    args: tuple[str, ...] = Field(default=(), description="Arguments, added after the script or the command.")
    env: dict[str, str] = Field(default_factory=dict, description="Environment variables of this case.")
    role: Role = Field(default=Role.TEST, description="A `control` must pass, else the build is untestable.")
    timeout: float | None = Field(default=None, gt=0, le=86_400, description="Seconds; left out: that of the spec.")


class NamedFailure(Frozen):
    """A name for the failures whose text matches."""

    name: str = Field(pattern=NAME, description="How the report calls this failure.")
    match: str = Field(min_length=1, description="A regular expression, searched in the text of the failure.")

    @field_validator("match")
    @classmethod
    def _compiles(cls, value: str) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `[[a]` may mean something else in a later Python: not the user's concern
            try:
                re.compile(value)
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(f"a regular expression: {error}") from error
        return value


class Samples(Frozen):
    """How many trials of each of the two builds a comparison takes."""

    least: int = Field(default=6, ge=6, le=100, description="Trials of each build before the first look.")
    most: int = Field(default=30, ge=6, le=100, description="After so many of each without an answer: untestable.")
    warm_up: int = Field(default=0, ge=0, le=10, description="Trials of each build that come before and do not count.")


class Metric(Frozen):
    """A number that each trial gives, compared with that of the reference build."""

    name: str = Field(
        pattern=NAME, description="A check with a `value`, or the trial's own `duration_s` or `peak_memory_bytes`."
    )
    case: str | None = Field(default=None, description="The case that gives it; left out: every test case.")
    ratio: float = Field(
        gt=0,
        le=1e6,
        allow_inf_nan=False,
        description="1.1: fails when at least 1.1 times the reference; 0.9: when at most 0.9 times.",
    )
    reference: str = Field(default="from", min_length=1, description="`from`, `to`, or the version of a build.")
    trials: Samples = Field(default_factory=Samples, description="How many trials a comparison takes.")
    floor: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Smaller numbers count as this; for errors that may be 0."
    )
    unit: str = Field(default="", max_length=20, description="Printed behind the numbers.")


class Spec(Frozen):
    """The repro, its cases, and where to look."""

    name: str = Field(pattern=NAME, description="Short name; also the name of result files.")
    title: str = Field(default="", description="One sentence: what goes wrong.")
    issue: str | None = Field(default=None, description="Address of the report.")
    package: str = Field(default="torch", pattern=NAME, description="The distribution whose builds are searched.")
    source: str | None = Field(default=None, description="Repository of the package: `owner/name` or its address.")
    channel: Words = Field(default=("release",), min_length=1, description="Where the builds come from.")
    variant: str = Field(default="auto", description="Variant of nightlies: `auto`, `cpu`, `cu130`, `rocm7.2`, `xpu`.")
    from_: str | None = Field(default=None, alias="from", description="Date or version; left out: walk back.")
    to: str | None = Field(default=None, description="Date or version; left out: the newest build.")
    look_at: Words = Field(
        default=(), description="Versions or dates that the report names: tested for sure, wherever the search goes."
    )
    device: Annotated[tuple[Literal["cuda", "cpu"], ...], BeforeValidator(_one_or_many)] = Field(
        default=("cuda", "cpu"), min_length=1, description="The first of these that the machine has is used."
    )
    python: str | None = Field(default=None, description="Python version or interpreter; left out: the tool's own.")
    base: Literal["isolated", "system"] = Field(
        default="isolated", description="`system`: on top of the packages that the interpreter already has."
    )
    as_is: Words = Field(
        default=(),
        description="With `base: system`: packages of the base that are taken whatever the build asks for, such as `nvidia-*`.",
    )
    requires: tuple[str, ...] = Field(default=(), description="More requirements, as of the date of the build.")
    hold: Words = Field(
        default=(),
        description="Requirements that are the same for every build, such as `torch==2.14.1`; pins of the build give way.",
    )
    script: str | None = Field(default=None, description="The repro, relative to the spec.")
    command: Words | None = Field(default=None, description="Instead of a script: a command line or a list of words.")
    files: tuple[str, ...] = Field(default=(), description="More files that the repro needs, relative to the spec.")
    env: dict[str, str] = Field(default_factory=dict, description="Environment variables of every case.")
    flaky: Flaky = Field(
        default="auto", description="Whether failures come and go: `yes`, `no`, or `auto` to notice it."
    )
    warm: Warm = Field(
        default="auto",
        description="`auto`: trials may be forked from a process that has imported torch; `off`: each starts fresh.",
    )
    share_caches: bool = Field(
        default=False, description="Whether the trials of a case on a build find what those before them compiled."
    )
    timeout: float = Field(default=300, gt=0, le=86_400, description="Seconds that one trial may take.")
    cases: tuple[Case, ...] = Field(default=(Case(name="repro"),), min_length=1, description="Ways to run the repro.")
    failures: tuple[NamedFailure, ...] = Field(default=(), description="Names for failures; others are named for you.")
    metrics: tuple[Metric, ...] = Field(default=(), description="Numbers that may not differ from a reference build.")

    @model_validator(mode="after")
    def _has_one_repro(self) -> Spec:
        if (self.script is None) == (self.command is None):
            raise ValueError("exactly one of `script` and `command`")
        return self

    @property
    def beside(self) -> tuple[str, ...]:
        """Everything that is required beside the build."""
        return (*self.requires, *self.hold)

    @property
    def tests(self) -> tuple[Case, ...]:
        """The cases that ask the question."""
        return tuple(case for case in self.cases if case.role is Role.TEST)

    @property
    def controls(self) -> tuple[Case, ...]:
        """The cases that must pass."""
        return tuple(case for case in self.cases if case.role is Role.CONTROL)

    def metrics_of(self, case: Case) -> tuple[Metric, ...]:
        """The numbers of `case` that are compared; a control has none."""
        asked = () if case.role is Role.CONTROL else self.metrics
        return tuple(metric for metric in asked if metric.case in {None, case.name})

    def timeout_of(self, case: Case) -> float:
        """Seconds that a trial of `case` may take."""
        return case.timeout if case.timeout is not None else self.timeout
