"""Searches as runs leave them in the store: a record with what was learned, and where it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import update

from bisect_tool.runs.record_places import file_name
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.record import decision, opening, text_of
from bisect_tool.search.states import Fail, NoVerdict, Pass, Result
from bisect_tool.search.together import Asking
from bisect_tool.service.finding import AskedCase, AskedSpec, By, Query
from bisect_tool.store import tables
from bisect_tool.store.results import Results
from bisect_tool.trials.judge import RULES

REPRO = "a" * 64
FAILURE = "0123456789ab"
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
WORDS: Mapping[str, Result] = {"p": Pass(), "f": Fail(frozenset({FAILURE})), "g": Fail(frozenset({"another"}))}
ASKED = AskedSpec((AskedCase("main", "1" * 64),), "beside", "naming")


@dataclass(frozen=True)
class StoredSearch:
    """A search of `versions`, of which `seen` says what trials did (`2.3`: `pf`, a pass and a failure; `?` for no verdict).

    `files` are other contents than those of the version, `cases` the digests of the cases; `about` says where it was instead.
    """

    versions: Sequence[str]
    seen: Mapping[str, str | Mapping[str, str]]
    repro: str = REPRO
    from_: str | None = None
    to: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    cases: Mapping[str, str] = field(default_factory=lambda: {"main": "1" * 64})
    controls: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    dates: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def known(self) -> Known:
        """What it knows."""
        results = {
            (case, self.versions.index(version)): tuple(WORDS.get(one, NoVerdict("odd")) for one in words)
            for version, told in self.seen.items()
            for case, words in ({"main": told} if isinstance(told, str) else told).items()
        }
        return Known(results, {self.versions.index(version): reason for version, reason in self.broken.items()})

    @property
    def asking(self) -> Asking:
        """As the search has it."""
        tests = tuple(case for case in self.cases if case not in self.controls)
        question = Question(len(self.versions), tests, self.controls, compared=self.compared)
        return Asking(question, self.known, Policy(verify=1), tuple(self.versions))

    @property
    def where(self) -> dict[str, Any]:
        """What the first line says besides."""
        about = {
            "package": "torch", "channel": "release", "variant": "auto", "source": "the index", "device": "cpu",
            "python": "cpython-3.11.7-x86_64", "from": self.from_, "to": self.to, "dated": False, "beside": "beside",
            "naming": "naming", "cases": dict(self.cases), "controls": list(self.controls), "settings": ["setting"],
            "listing": 0, "rules": RULES,
        }  # fmt: skip
        days = {version: FIRST_DAY + timedelta(days=number) for number, version in enumerate(self.versions)}
        days.update(self.dates)
        dates = [int(days[version].timestamp()) for version in self.versions]
        files = [file_name(self.files.get(version, version)) for version in self.versions]
        return {"about": [{**about, **self.about}], "listings": [{"dates": dates, "files": files}]}

    def keep(self, results: Results, run: str, *, ended: bool = True) -> None:
        """Store it as run number `run`, which says when it began."""
        results.start_run(run, spec="a-spec", repro=self.repro, package="torch")
        started = f"2026-11-{int(run):02}T10:00:00+00:00"
        with results.engine.begin() as connection:
            change = update(tables.runs).where(tables.runs.c.id == run)
            connection.execute(change.values(started=started, outcome="exact" if ended else None, found=1))
        asking = replace(self.asking, known=Known())
        first = opening([asking], [self.versions], "1.0") | self.where
        results.add_decision(run, 0, text_of(first))
        results.add_decision(run, 1, text_of(decision(1, None, [asking], None)))
        results.add_decision(run, 2, text_of(decision(2, [Known()], [self.asking], None)))


def query(from_: str | None = None, to: str | None = None, **more: Any) -> Query:
    """A look-up of the spec, of a range."""
    own: dict[str, Any] = {"package": "torch", "channels": ("release",), "asked": ASKED, **more}
    return Query(REPRO, By.SPEC, from_=from_, to=to, **own)


def as_sent(one: Query) -> dict[str, Any]:
    """As it goes over the wire."""
    sent: dict[str, Any] = json.loads(json.dumps(asdict(one)))
    return sent
