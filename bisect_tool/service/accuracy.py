"""How often the service is right about its own answers, and how often it has one.

Precision is that of a sample: old answers whose builds were run again (`reviews`). It says how often the same builds show the
same thing again; not whether a spec asks the right question (docs/watches.md). Everything but `read_accuracy` is pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, select

from bisect_tool.errors import BisectError
from bisect_tool.search.flaky.evidence import Tally
from bisect_tool.search.flaky.interval import rate_of
from bisect_tool.service.recheck import Checked, Kind, Verdict, checked_from
from bisect_tool.store import service_tables as tables
from bisect_tool.store.database import Database

ANSWERS = frozenset({"exact", "narrowed", "no change"})  # outcomes that say when, or that it is the same all the way
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One old answer that was run again. `at` is when that ended, in seconds since 1970; `checks` are its single changes."""

    question: str
    name: str
    package: str
    at: float
    verdict: Verdict
    checks: tuple[Checked, ...] = ()
    is_doubted: bool = False

    @property
    def kind(self) -> Kind:
        """The least certain kind of its changes."""
        kinds = {one.kind for one in self.checks}
        return next((kind for kind in (Kind.FLAKY, Kind.NARROWED, Kind.EXACT) if kind in kinds), Kind.NO_CHANGE)


@dataclass(frozen=True, slots=True)
class Precision:
    """Of `same` + `differs` answers that were found again or not, the share of `same`, from `low` to `high` with 95 %.

    The interval is exact (Clopper and Pearson). Not in it: `no_answer`, where a build could not be judged again, and
    `replaced`, where another file lies under the name of a build now, so that the old answer is about something else.
    """

    same: int = 0
    differs: int = 0
    no_answer: int = 0
    replaced: int = 0
    low: float = 0.0
    high: float = 1.0

    @property
    def share(self) -> float | None:
        """The precision that was seen, 0 to 1; None without any."""
        counted = self.same + self.differs
        return self.same / counted if counted else None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its state, the outcome of its answer, and the name of the fault that ended it."""

    state: str
    outcome: str | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the questions `asked` were `answered`; `outcomes` of those, and `why_not` of the others, by count."""

    asked: int = 0
    answered: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    why_not: Mapping[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float | None:
        """Of all that are not still under way, 0 to 1; None without any."""
        over = self.asked - self.why_not.get(UNDER_WAY, 0)
        return self.answered / over if over else None


UNDER_WAY = "not yet: in the queue or under way"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Everything that the accuracy page shows.

    `answers` counts whole answers, `changes` single boundaries; `kinds`, `packages` and `weeks` (the Monday, in UTC) are of
    answers. `doubted` are those that differ and have no newer answer yet; `last` the newest reviews, newest first.
    """

    answers: Precision
    changes: Precision
    kinds: Mapping[str, Precision]
    packages: Mapping[str, Precision]
    weeks: Mapping[str, Precision]
    coverage: Coverage
    doubted: tuple[Reviewed, ...] = ()
    last: tuple[Reviewed, ...] = ()


def accuracy_of(reviews: Sequence[Reviewed], asked: Iterable[Asked], *, last: int = 50) -> Accuracy:
    """The whole of it, from rows."""
    return Accuracy(
        answers=precision(one.verdict for one in reviews),
        changes=precision(check.verdict for one in reviews for check in one.checks),
        kinds=_grouped(reviews, lambda one: one.kind.value),
        packages=_grouped(reviews, lambda one: one.package),
        weeks=_grouped(reviews, lambda one: monday(one.at)),
        coverage=coverage(asked),
        doubted=tuple(one for one in reviews if one.is_doubted),
        last=tuple(sorted(reviews, key=lambda one: -one.at)[:last]),
    )


def precision(verdicts: Iterable[Verdict]) -> Precision:
    """The precision of a sample."""
    counts = Counter(verdicts)
    same, differs = counts[Verdict.SAME], counts[Verdict.DIFFERS]
    interval = rate_of(Tally(same, same + differs)) if same + differs else None
    return Precision(
        same=same,
        differs=differs,
        no_answer=counts[Verdict.NO_ANSWER],
        replaced=counts[Verdict.REPLACED],
        low=interval.low if interval else 0.0,
        high=interval.high if interval else 1.0,
    )


def coverage(asked: Iterable[Asked]) -> Coverage:
    """How many questions have an answer, and why the others have none."""
    questions = list(asked)
    outcomes = Counter(one.outcome or "" for one in questions if one.outcome in ANSWERS)
    why_not = Counter(_why_not(one) for one in questions if one.outcome not in ANSWERS)
    return Coverage(len(questions), outcomes.total(), dict(outcomes), dict(why_not.most_common()))


def monday(at: float) -> str:
    """The first day of the week of a time, in UTC."""
    day = datetime.fromtimestamp(at, UTC).date()
    return day.fromordinal(day.toordinal() - day.weekday()).isoformat()


def read_accuracy(database: Database, *, last: int = 50) -> Accuracy:
    """What the database knows now."""
    return database.read(lambda connection: accuracy_of(_reviews(connection), _asked(connection), last=last))


def _why_not(one: Asked) -> str:
    if one.state in {"queued", "running"}:
        return UNDER_WAY
    if one.state == "cancelled":
        return "cancelled"
    if one.outcome == "not judged":
        return "no build could be judged"
    return one.fault or one.outcome or one.state


def _grouped(reviews: Iterable[Reviewed], key: Callable[[Reviewed], K]) -> dict[K, Precision]:
    groups: defaultdict[K, list[Verdict]] = defaultdict(list)
    for one in sorted(reviews, key=lambda one: str(key(one))):
        groups[key(one)].append(one.verdict)
    return {name: precision(verdicts) for name, verdicts in groups.items()}


def _reviews(connection: Connection) -> list[Reviewed]:
    review, question = tables.reviews.c, tables.questions.c
    query = (
        select(review.question, question.name, question.package, review.ended, review.verdict, review.detail)
        .add_columns((review.of_run == question.run).label("stands"))
        .join_from(tables.reviews, tables.questions, review.question == question.id)
        .where(review.verdict.is_not(None))
        .order_by(review.ended, review.id)
    )
    return [_reviewed(row) for row in connection.execute(query)]


def _reviewed(row: Row[Any]) -> Reviewed:
    verdict = Verdict(row.verdict)
    is_doubted = bool(row.stands) and verdict in {Verdict.DIFFERS, Verdict.REPLACED}
    checks = checked_from(row.detail)
    return Reviewed(row.question, row.name, row.package, row.ended, verdict, checks, is_doubted)


def _asked(connection: Connection) -> list[Asked]:
    table = tables.questions.c
    query = select(table.state, table.outcome, table.error)
    return [Asked(row.state, row.outcome, fault_name(row.error)) for row in connection.execute(query)]


def fault_name(error: Mapping[str, Any] | None) -> str | None:
    """What `docs/exit-statuses.md` calls an error as a question has it (`fault_values`)."""
    if error is None:
        return None
    names = {one.status: one.__name__ for one in reversed(list(_tree(BisectError)))}
    return names.get(int(error.get("status", BisectError.status)), BisectError.__name__)


def _tree(root: type[BisectError]) -> Iterator[type[BisectError]]:
    yield root
    for one in root.__subclasses__():
        yield from _tree(one)
