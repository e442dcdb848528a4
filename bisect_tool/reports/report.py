"""The report as a value: everything that a reader is told, before it becomes text.

It is data first: the formats in `bisect_tool.reports.formats` are functions from this value to text, and the JSON
format is this value itself (`schema_version` 1), which reads back with `Report.model_validate_json`. All times are UTC
in ISO 8601, durations in seconds, sizes in bytes. `build` is always the version string as the index has it.

Texts are cleaned on the way in: output of a repro may hold terminal escapes, control characters and lone surrogates,
and no format should have to think of them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bisect_tool.reports.commits import Commits, Suspicion
from bisect_tool.reports.diagnosis import Diagnosis
from bisect_tool.reports.part import Part
from bisect_tool.reports.rates import RateStudy

Kind = Literal["exact", "narrowed", "open"]
Outcome = Literal["exact", "narrowed", "no change", "not judged", "unfinished"]
State = Literal["pass", "failing", "flaky", "untestable", "not tried"]


class SpecPart(Part):
    """Which question was asked; `digest` identifies the repro's content."""

    name: str
    title: str = ""
    issue: str | None = None
    package: str
    path: str | None = None
    digest: str


class Range(Part):
    """What was asked for (`from`/`to` as written), and the builds at the ends. `notes`: bounds that moved, and why."""

    asked_from: str | None = None
    asked_to: str | None = None
    first: str
    last: str
    notes: tuple[str, ...] = ()


class MetricPart(Part):
    """What a comparison said of one number: of `samples` trials of the build and as many of `reference`, made in turn.

    `ratio` is that of the medians; the interval from `low` to `high` holds the true one with a confidence of 99 %, however
    often one has looked. `different`: it is `limit` or more (less, where the limit is below 1). The p-values are two-sided.
    """

    name: str
    unit: str = ""
    state: Literal["same", "different", "undecided"]
    limit: float
    reference: str
    ratio: float
    low: float
    high: float
    reference_median: float
    build_median: float
    samples: int
    mann_whitney: float
    kolmogorov_smirnov: float


class Entry(Part):
    """One case on one build. `failure` is the id of the first of `failures`; `rate` the share of trials that failed.

    Where numbers are compared, a comparison counts as one trial, and `metrics` tells what the last one said.
    """

    build: str
    date: str | None = None
    state: State
    failure: str | None = None
    failures: tuple[str, ...] = ()
    reason: str | None = None
    trials: int = 0
    rate: float | None = None
    duration_s: float | None = None
    log: str | None = None
    metrics: tuple[MetricPart, ...] = ()


class CasePart(Part):
    """One case and its timeline over all builds of the range, oldest first."""

    name: str
    role: Literal["test", "control"]
    command: str
    timeline: tuple[Entry, ...]


class Signature(Part):
    """What makes two failures the same; `title` is for people, `text` is the failure as one build printed it."""

    kind: Literal["exception", "signal", "timeout", "check", "exit", "metric"]
    title: str
    types: tuple[str, ...] = ()
    message: str = ""
    where: str | None = None
    text: str = ""


class Hole(Part):
    """A build inside an end that could not be tested; `tried` false: left alone, because its neighbours could not.

    `thin`: only its Python files were tried, on the binaries of another build, which proves nothing.
    """

    build: str
    reason: str
    tried: bool = True
    thin: bool = False


class Appeared(Part):
    """The beginning of an episode. `changed_from`: ids of other failures that the build before had instead.

    `confidence`: how sure it is that the rate of a flaky failure changes here, 0 to 1; `is_rate`: it shows on both sides.
    `same_code`: why both builds have the same code (two variants of one date, one commit), so that it is no regression.
    `also_differs`: what else differs between the two builds and may be the cause, although they are neighbours.
    `suspicion`: which commits of the boundary are worth looking at for this failure, None when there is no list of them.
    """

    kind: Kind
    last_without: str | None
    first_with: str
    untestable: tuple[str, ...] = ()
    holes: tuple[Hole, ...] = ()
    changed_from: tuple[str, ...] = ()
    verified: bool = False
    compare: str | None = None
    left_out: tuple[str, ...] = ()
    same_code: str | None = None
    also_differs: str | None = None
    confidence: float | None = None
    is_rate: bool = False
    suspicion: Suspicion | None = None


class Fixed(Part):
    """The end of an episode. `changed_into`: ids of other failures that the next build has, which may hide this one.

    `confidence`, `is_rate`, `same_code` and `also_differs` as in `Appeared`.
    `same_code` and `suspicion` as in `Appeared`.
    """

    kind: Kind
    last_with: str
    first_without: str | None
    untestable: tuple[str, ...] = ()
    holes: tuple[Hole, ...] = ()
    changed_into: tuple[str, ...] = ()
    verified: bool = False
    compare: str | None = None
    left_out: tuple[str, ...] = ()
    same_code: str | None = None
    also_differs: str | None = None
    confidence: float | None = None
    is_rate: bool = False
    suspicion: Suspicion | None = None


class Episode(Part):
    """One stretch of builds that have the failure."""

    appeared: Appeared
    fixed: Fixed


class Failure(Part):
    """A failure of one case, and all its episodes; `studies` of its rate, when it comes and goes."""

    id: str
    name: str
    case: str
    signature: Signature
    episodes: tuple[Episode, ...]
    studies: tuple[RateStudy, ...] = ()


class Difference(Part):
    """A package or fact that differs between the environments on the two sides of a change.

    `compare` shows the package's own commits between the two versions, where they name some.
    """

    name: str
    before: str | None
    after: str | None
    compare: str | None = None


class Boundary(Part):
    """Two neighbouring builds with different states: what else differs between their environments, their revisions.

    `main_before` and `main_after` are the commits of the main line, where the builds name others (PyTorch's nightlies).
    `commits` are those between the two; None when nobody knows where the package is developed, or the run was cut short.
    """

    before: str
    after: str
    revision_before: str | None = None
    revision_after: str | None = None
    main_before: str | None = None
    main_after: str | None = None
    differences: tuple[Difference, ...] = ()
    commits: Commits | None = None


class CrossTest(Part):
    """A case on one build (`base`) with a `part` of the other one.

    `shows` says whose state that is; `reason` why there is none. `failures` are their ids or titles.
    """

    base: str
    part: str
    taken_from: str
    shows: Literal["before", "after", "neither", "not judged"]
    failures: tuple[str, ...] = ()
    reason: str | None = None


class Isolation(Part):
    """Which part of two neighbouring builds makes a change of a case; `part` is None when the tests do not tell."""

    case: str
    before: str
    after: str
    part: str | None
    sentence: str
    tests: tuple[CrossTest, ...] = ()


class ThinPart(Part):
    """How many `builds` were looked at thin (their Python files `on` the binaries of others), in so many `trials`.

    Of `compared` states of a case that were looked at whole as well, `agreed` were the same. `not_valid` are builds whose
    Python files do not fit the binaries that they were laid over. Thin builds say where to look; no answer rests on them.
    """

    builds: int
    trials: int
    compared: int
    agreed: int
    on: tuple[str, ...] = ()
    not_valid: tuple[Hole, ...] = ()


class Counts(Part):
    """The work it took. `trials` and `builds_installed` count this run; `trials_known` came from the store."""

    builds_considered: int
    builds_installed: int
    trials: int
    trials_known: int = 0


class TimePart(Part):
    """Where the time of the whole run went, seconds; with several specs that of all of them together.

    Every moment of `total_s` counts once, for the first of: a trial runs (`run_s`), a new environment is proven (`import_s`),
    unpacked (`unpack_s`), downloaded (`download_s`), another run is waited for (`wait_s`); `own_s` is the rest, that of bisect
    itself. `overlapped_s` are seconds of such work that went on beside other work. `bytes_fetched` are those of all downloads,
    also of those that were called off; `made_ahead` environments were made before they were needed, and `used_ahead` of them
    were. The estimates are from before the search began; None where too little was known.
    """

    total_s: float
    run_s: float
    import_s: float
    unpack_s: float
    download_s: float
    wait_s: float
    own_s: float
    overlapped_s: float
    slots: int
    trials: int
    bytes_fetched: int
    made_ahead: int = 0
    used_ahead: int = 0
    estimated_s: float | None = None
    estimated_bytes: int | None = None


class Machine(Part):
    """Where the trials ran."""

    platform: str
    python: str
    device: str
    cpu: str = ""
    driver: str | None = None
    tool: str = ""
    uv: str = ""


class StagePart(Part):
    """What a coarser channel said before this report's own was searched."""

    channel: str
    source: str
    first: str
    last: str
    outcome: Outcome
    summary: tuple[str, ...]
    cases: tuple[CasePart, ...]


class Report(Part):
    """The answer to one spec."""

    schema_version: Literal[1] = 1
    outcome: Outcome
    summary: tuple[str, ...] = Field(description="The answer in sentences, the first thing that a reader sees.")
    spec: SpecPart
    channel: str
    source: str
    range: Range
    cases: tuple[CasePart, ...]
    failures: tuple[Failure, ...]
    boundaries: tuple[Boundary, ...] = ()
    isolation: tuple[Isolation, ...] = Field(default=(), description="Which part makes a change, by cross tests.")
    diagnoses: tuple[Diagnosis, ...] = Field(default=(), description="Which part of the compiler makes a failure.")
    counts: Counts
    thin: ThinPart | None = Field(default=None, description="Builds that were looked at thin, where there were any.")
    elapsed_s: float
    time: TimePart | None = Field(default=None, description="Where the time went; absent where nothing was searched.")
    environment: Machine
    repeat: str = Field(description="The command that asks the same question again.")
    advice: tuple[str, ...] = Field(default=(), description="What to do next, or to be wary of.")
    stages: tuple[StagePart, ...] = Field(default=(), description="The coarser channels that were searched before.")
    started: str
    cache: str = Field(default="", description="The folder that log paths are relative to.")
