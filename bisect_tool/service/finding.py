"""What a look-up asks and what it answers: the models of `POST /api/v1/lookups`, and of `bisect when --json`.

Plain dataclasses: a command that looks something up in its own store loads no more than it needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

MOST_QUERIES = 100
MOST_ANSWERS = 20
LONGEST_QUERY = 1_048_576  # characters


class By(StrEnum):
    """What a query is: `auto` looks at the text. `spec` is the digest of a repro, as `bisect when SPEC` computes it."""

    AUTO = "auto"
    TEXT = "text"
    NAME = "name"
    ISSUE = "issue"
    PACKAGE = "package"
    SPEC = "spec"


class Match(StrEnum):
    """Why an answer is one.

    `failure`: the same failure, by its signature. `question`: the same spec and range. `repro`: the same script, asked for
    another range, channel or device. `name`: the name stands in the texts of the failure. `issue`, `package`: those of the
    spec. `near`: another failure that shares words.
    """

    FAILURE = "failure"
    QUESTION = "question"
    REPRO = "repro"
    NAME = "name"
    ISSUE = "issue"
    PACKAGE = "package"
    NEAR = "near"


class Found(StrEnum):
    """`yes`: what was asked for is known. `partly`: something near it, or an answer that is not finished. `no`: nothing."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True, slots=True)
class AskedCase:
    """A case of a spec: `digest` is over its arguments, variables and time limit. `compared`: its numbers are compared."""

    name: str
    digest: str
    is_control: bool = False
    compared: bool = False


@dataclass(frozen=True, slots=True)
class AskedSpec:
    """What verdicts must agree with to be about the same spec, besides the repro: `bisect when SPEC` computes it.

    `beside` is the digest of what is installed beside a build, `naming` that of the names of failures. `devices` are `cpu` and
    `cuda`; `python` is a version such as `3.12`, None: any one that is said with the answer.
    """

    cases: tuple[AskedCase, ...]
    beside: str
    naming: str
    variant: str = "auto"
    devices: tuple[str, ...] = ("cuda", "cpu")
    python: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """One question "when did this regress?".

    `text` is what was pasted, a name, the address of an issue, or the digest of a repro with the rest of its `spec`. `package`
    and `device` (kind of device, `cpu`) leave out what is about others. `label` is what the finding calls the query. With
    `asked` a range that nobody asked for is answered as far as the verdicts of other questions go.
    """

    text: str
    by: By = By.AUTO
    package: str | None = None
    device: str | None = None
    channels: tuple[str, ...] = ()
    from_: str | None = None
    to: str | None = None
    most: int = 5
    label: str = ""
    asked: AskedSpec | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that the report calls worth looking at: a hint, never a verdict."""

    sha: str
    title: str = ""
    pull: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    """One end of an episode, as the report has it: `before` and `after` are the builds on its sides, None at the edge.

    `kind` is exact, narrowed or open; only an exact one is between neighbours, and only a `verified` one was run again.
    `untestable` are the first of the builds between that could not be tested, `untestable_count` says how many there are, and
    `not_tried` how many were not tried. `is_rate`: only how often it shows changes. `instead`: the failures that
    the build without this one has, which may hide it.
    """

    kind: str
    before: str | None
    after: str | None
    before_date: str | None = None
    after_date: str | None = None
    verified: bool = False
    untestable: tuple[str, ...] = ()
    untestable_count: int = 0
    compare: str | None = None
    confidence: float | None = None
    is_rate: bool = False
    not_tried: int = 0
    instead: tuple[str, ...] = ()
    same_code: str | None = None
    also_differs: str | None = None
    suspects: tuple[Commit, ...] = ()


@dataclass(frozen=True, slots=True)
class Episode:
    """One stretch of builds that have the failure."""

    appeared: End
    fixed: End


@dataclass(frozen=True, slots=True)
class Answer:
    """What a stored report says of one failure; of a report without failures, `failure` is empty and `summary` tells.

    `score` (0 to 1) is how much of the query's words it shares, weighed by how rare they are; 1 unless the match is `near`.
    `finished`: the run came to its end. `page` is where the service shows the question. `repeat` is the command that
    asks it again.
    """

    match: Match
    score: float
    failure: str
    identity: str
    case: str
    title: str
    kind: str
    spec: str
    spec_title: str
    issue: str | None
    package: str
    channel: str
    device: str
    python: str
    first: str
    last: str
    outcome: str
    finished: bool
    episodes: tuple[Episode, ...]
    summary: tuple[str, ...]
    run: str
    ended: str
    repeat: str
    page: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Between which builds a failure of a case changes, as far as trials tell; `left` builds between were not tried yet.

    `left` is None where no listing is known that reaches from one to the other: then there may be any number.
    `appeared`: from the build before to the build after the failure comes, else it goes. `verified`: both sides were run again.
    """

    failure: str
    title: str
    case: str
    appeared: bool
    before: str
    after: str
    left: int | None
    untestable: int
    verified: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What trials tell of a question that was begun and not answered; `is_begun` false: that nobody asked, from others' trials.

    `tried` of `builds` builds have a state; about `steps_left` more are to be installed for the answer, None where not all
    builds are known. `counts` says how many builds are in each state, by case. `channel`, `device` and `python` are where the
    trials ran, `listed` when the builds were listed, empty where that is not known. `notes` are sentences: what is not known,
    and on which builds trials disagree.
    """

    run: str
    spec: str
    package: str
    started: str
    first: str
    last: str
    builds: int
    tried: int
    steps_left: int | None
    changes: tuple[Change, ...]
    counts: dict[str, dict[str, int]]
    is_begun: bool = True
    channel: str = ""
    device: str = ""
    python: str = ""
    listed: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known about one query. `by` is what it was taken for, `title` the failure that was read in a pasted text.

    `answers` come best first; `standing` what is known of a question that was not answered. `notes` are sentences.
    """

    query: str
    by: By
    found: Found
    title: str = ""
    answers: tuple[Answer, ...] = ()
    standing: tuple[Standing, ...] = ()
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Lookups:
    """The body of `POST /api/v1/lookups`: up to `MOST_QUERIES` queries."""

    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The answer of `POST /api/v1/lookups`: a finding for each query, in their order."""

    findings: tuple[Finding, ...]
