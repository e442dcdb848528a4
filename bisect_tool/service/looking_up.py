"""Looking up what is known: many queries, few questions to the database, nothing is run.

Every answer is what a stored report says. A failure is found by its identity first, then others by the words that they share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bisect_tool.reports.cleaning import clean
from bisect_tool.service.agreeing import agrees, has_same_cases, is_device
from bisect_tool.service.finding import MOST_ANSWERS, MOST_QUERIES, Answer, By, Finding, Found, Match, Query
from bisect_tool.service.stored_answers import answer_of
from bisect_tool.service.weighing_words import Near, nearest
from bisect_tool.store.found_asking import Asker, FoundRow, is_filled, postings, questions_of, rows_with
from bisect_tool.store.found_rows import issue_key, key
from bisect_tool.store.words import names_in

if TYPE_CHECKING:
    from bisect_tool.service.pasted import Pasted
    from bisect_tool.store.results import Results

MOST_NARROWED = 500  # rows of a word that are read where those of other packages or devices are left out
FILL_SECONDS = 0.5  # that a look-up gives to reports of before the index
_ISSUE = re.compile(r"^(?:https?://\S+|[\w.-]+/[\w.-]+#\d+)$")
_DIGEST = re.compile(r"^[0-9a-f]{64}$")
_NAME = re.compile(r"^[\w.:()`'+-]+$")
_POOR = "the text says too little to tell this failure from others; what shares its words is listed"
_NOT_FILLED = "older reports are still being taken in; ask again in a while"


def look_up(results: Results, queries: Sequence[Query], *, fill_seconds: float = FILL_SECONDS) -> list[Finding]:
    """What is known about each query, in their order. Raises `ValueError` for more than `MOST_QUERIES`."""
    from bisect_tool.service.askers import DatabaseAsker
    from bisect_tool.store.found import fill

    def ask(read: Callable[[Asker], list[Finding]]) -> list[Finding]:
        return results.database.read(lambda connection: read(DatabaseAsker(connection, results.database.is_server)))

    if fill_seconds and not results.database.read(
        lambda connection: is_filled(DatabaseAsker(connection, results.database.is_server))
    ):
        fill(results.database, seconds=fill_seconds)
    return ask(lambda asker: look_up_in(asker, queries))


def look_up_in(asker: Asker, queries: Sequence[Query]) -> list[Finding]:
    """The same in an open database, which is only read."""
    if len(queries) > MOST_QUERIES:
        raise ValueError(f"{len(queries)} queries, at most {MOST_QUERIES} at once")
    sought = [_Sought.of(query) for query in queries]
    rows = _Rows.read(asker, sought)
    made = [_found(one, rows) for one in sought]
    if any(one.query.asked is not None for one in sought):
        from bisect_tool.service.replaced_files import with_replaced

        made = with_replaced(asker, made)
    made = _with_standings(asker, sought, made)
    pages = questions_of(asker, (answer.run for finding in made for answer in finding.answers))
    notes = () if is_filled(asker) else (_NOT_FILLED,)
    return [_finished(finding, pages, notes) for finding in made]


def _with_standings(asker: Asker, sought: Sequence[_Sought], made: Sequence[Finding]) -> list[Finding]:
    """With how far questions have come that were begun and not answered, or that nobody asked for just so."""
    unanswered = [one for one, finding in zip(sought, made, strict=True) if _is_unanswered(one, finding)]
    if not unanswered:
        return list(made)
    from bisect_tool.service.partial import partial  # with the search, which other look-ups need not load

    found = partial(asker, [one.about_spec for one in unanswered])
    return [
        replace(finding, found=Found.PARTLY, standing=standing)
        if _is_unanswered(one, finding) and (standing := found.get(one.about_spec, ()))
        else finding
        for one, finding in zip(sought, made, strict=True)
    ]


def _is_unanswered(one: _Sought, finding: Finding) -> bool:
    return one.by is By.SPEC and finding.found is not Found.YES


def _finished(finding: Finding, pages: Mapping[str, str], notes: tuple[str, ...]) -> Finding:
    answers = tuple(
        replace(answer, page=f"/q/{pages[answer.run]}") if answer.run in pages else answer for answer in finding.answers
    )
    return replace(finding, answers=answers, notes=(*finding.notes, *notes))


@dataclass(frozen=True, slots=True)
class _Sought:
    """A query that was read: what it is taken for, and by what it is found."""

    query: Query
    by: By
    key: str = ""
    pasted: Pasted | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: Query) -> _Sought:
        by = _kind_of(query)
        text = clean(query.text[:1000]).strip()
        match by:
            case By.TEXT:
                from bisect_tool.service.pasted import read_pasted  # a name needs none of its rules

                return cls(query, by, pasted=read_pasted(query.text))
            case By.ISSUE:
                return cls(query, by, key=issue_key(text))
            case By.NAME:
                return cls(query, by, key=text, names=tuple(names_in(text)))
            case _:
                return cls(query, by, key=text)

    @property
    def about_spec(self) -> Query:
        """The query about a spec, with nothing but the digest as its text."""
        return replace(self.query, text=self.key)

    @property
    def most(self) -> int:
        return max(1, min(self.query.most, MOST_ANSWERS))

    def wants(self, row: FoundRow) -> bool:
        """Whether it is about the package and device that were asked for."""
        query = self.query
        return (query.package is None or row.package == query.package) and (is_device(query.device, row.device))


def _kind_of(query: Query) -> By:
    if query.by is not By.AUTO:
        return query.by
    text = query.text.strip()
    if _ISSUE.match(text):
        return By.ISSUE
    if _DIGEST.match(text):
        return By.SPEC
    return By.NAME if _NAME.match(text) else By.TEXT


@dataclass(frozen=True, slots=True)
class _Rows:
    """Everything that was read for all queries."""

    by_word: Mapping[str, list[int]]
    by_id: Mapping[int, FoundRow]
    near: Mapping[tuple[str, ...], list[Near]] = field(default_factory=dict)
    abouts: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)

    @classmethod
    def read(cls, asker: Asker, sought: Sequence[_Sought]) -> _Rows:
        words = {word for one in sought for word in _words_of(one)}
        # Of what is left out afterwards more must be read, or older answers are not found behind it.
        is_narrow = any(one.query.package or one.query.device for one in sought if one.by is not By.SPEC)
        by_word = postings(asker, words, MOST_NARROWED if is_narrow else MOST_ANSWERS)
        texts = [one.pasted.words for one in sought if one.pasted is not None and one.pasted.words]
        near, by_id = nearest(asker, texts, MOST_ANSWERS)
        wanted = {number for numbers in by_word.values() for number in numbers}
        by_id |= rows_with(asker, wanted - by_id.keys())
        return cls(by_word, by_id, near, _abouts(asker, sought, by_word, by_id))

    def with_word(self, word: str) -> list[FoundRow]:
        """The newest rows with a word, those of finished runs first."""
        # A run that ends between two questions to the database takes the rows of the one before it away.
        found = [self.by_id[number] for number in self.by_word.get(word, ()) if number in self.by_id]
        return sorted(found, key=lambda row: not row.finished)


def _abouts(
    asker: Asker, sought: Sequence[_Sought], by_word: Mapping[str, list[int]], by_id: Mapping[int, FoundRow]
) -> Mapping[str, Mapping[str, Any] | None]:
    """Where the runs were asked that may answer the very question of a spec."""
    runs = {
        by_id[number].run
        for one in sought
        if one.by is By.SPEC and one.query.asked is not None
        for number in by_word.get(key("repro", one.key), ())
        if number in by_id and _is_of_range(one.query, by_id[number].entry)
    }
    if not runs:
        return {}
    from bisect_tool.store.record_asking import abouts_of

    return abouts_of(asker, runs)


def _words_of(one: _Sought) -> Iterator[str]:
    """The words and keys by which a query is found, but for the words that are only near."""
    yield from (key(kind, one.key) for kind in _COLUMNS.get(one.by, ()))
    yield from one.names
    if one.pasted is not None:
        yield from (key("identity", identity) for identity in (*one.pasted.identities, *one.pasted.poor))


_COLUMNS: Mapping[By, tuple[str, ...]] = {
    By.ISSUE: ("issue",),
    By.PACKAGE: ("package",),
    By.SPEC: ("repro",),
    By.NAME: ("spec", "package", "identity"),
}


def _found(one: _Sought, rows: _Rows) -> Finding:
    answers = _answers(one, rows)
    title, notes = "", []
    if one.names and answers and all(answer.match is Match.NEAR for answer in answers):
        notes = [f"no stored text holds {one.names[0]}; these hold {_held(one, rows)}"]
    if one.pasted is not None:
        title = one.pasted.title
        is_same = any(answer.match is Match.FAILURE for answer in answers)
        notes = [_POOR] if one.pasted.poor and not is_same else []
    return Finding(
        clean(one.query.label or one.query.text[:200]),
        one.by,
        _how_well(answers),
        title,
        tuple(answers),
        notes=tuple(notes),
    )


def _how_well(answers: Sequence[Answer]) -> Found:
    if not answers:
        return Found.NO
    is_it = any(answer.finished and answer.match not in {Match.NEAR, Match.REPRO} for answer in answers)
    return Found.YES if is_it else Found.PARTLY


def _answers(one: _Sought, rows: _Rows) -> list[Answer]:
    """Best first, each question and failure once."""
    found: dict[int, Answer] = {}
    for match, score, row in _matches(one, rows):
        if one.wants(row) and row.id not in found and len(found) < one.most:
            found[row.id] = answer_of(row, match, score)
    return list(found.values())


def _matches(one: _Sought, rows: _Rows) -> list[tuple[Match, float, FoundRow]]:
    def keyed(kind: str, text: str, match: Match) -> list[tuple[Match, float, FoundRow]]:
        return [(match, 1.0, row) for row in rows.with_word(key(kind, text))]

    match one.by:
        case By.ISSUE:
            return keyed("issue", one.key, Match.ISSUE)
        case By.PACKAGE:
            return keyed("package", one.key, Match.PACKAGE)
        case By.SPEC:
            return _of_spec(one.query, rows, rows.with_word(key("repro", one.key)))
        case By.NAME:
            own = [*keyed("spec", one.key, Match.NAME), *keyed("identity", one.key, Match.FAILURE)]
            return [*own, *_named(one, rows), *keyed("package", one.key, Match.PACKAGE)]
        case _:
            assert one.pasted is not None
            same = [found for own in one.pasted.identities for found in keyed("identity", own, Match.FAILURE)]
            same += [
                found for own in one.pasted.poor for found in keyed("identity", own, Match.FAILURE) if _is_own(found[2])
            ]
            near = rows.near.get(one.pasted.words, [])
            return [*same, *((Match.NEAR, two.score, rows.by_id[two.id]) for two in near if two.id in rows.by_id)]


def _is_own(row: FoundRow) -> bool:
    """Whether the place of a failure is the module that the package under test is."""
    where = (row.entry.get("failure") or {}).get("where") or ""
    return str(where).partition(".py:")[0] == row.package.replace("-", "_").lower()


def _named(one: _Sought, rows: _Rows) -> list[tuple[Match, float, FoundRow]]:
    """The failures whose texts hold the name; of a name that none holds, those with the operator or the last part of it."""
    for number, name in enumerate(one.names):
        found = rows.with_word(name)
        if found:
            is_as_asked = number == 0
            return [(Match.NAME if is_as_asked else Match.NEAR, 1.0 if is_as_asked else 0.5, row) for row in found]
    return []


def _held(one: _Sought, rows: _Rows) -> str:
    """The first of the names that some text holds."""
    return next((name for name in one.names if rows.by_word.get(name)), "")


def _of_spec(query: Query, rows: _Rows, found: Sequence[FoundRow]) -> list[tuple[Match, float, FoundRow]]:
    """Those of the same question first, then those of other ranges, channels or devices."""
    ranked = [(Match.QUESTION if _is_asked(query, rows, row) else Match.REPRO, 1.0, row) for row in found]
    return sorted(ranked, key=lambda one: one[0] is not Match.QUESTION)


def _is_asked(query: Query, rows: _Rows, row: FoundRow) -> bool:
    """Whether it is the same range and, where the query says more of its spec, also the same cases, requirements and names."""
    if not _is_of_range(query, row.entry):
        return False
    if query.asked is None:
        return True
    about = rows.abouts.get(row.run)
    try:
        return about is not None and agrees(about, query) and has_same_cases(about, query.asked)
    except (KeyError, TypeError, AttributeError):
        return False


def _is_of_range(query: Query, entry: Mapping[str, Any]) -> bool:
    """Whether it is the same range; a spec of several channels is answered in the last of them that shows the change."""
    return entry["channel"] in query.channels and (query.from_, query.to) == (entry["asked_from"], entry["asked_to"])
