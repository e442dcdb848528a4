"""Partial answers about a spec: how far its own question has come, else what other questions say of its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bisect_tool.service.finding import Query, Standing
from bisect_tool.service.narrowing import is_asked, narrowed
from bisect_tool.service.standings import standings_of
from bisect_tool.store.begun_asking import BegunRun
from bisect_tool.store.found_asking import Asker
from bisect_tool.store.record_asking import StoredRecord


def partial(asker: Asker, queries: Sequence[Query]) -> dict[Query, tuple[Standing, ...]]:
    """What is known of each query about a spec; those of which nothing is are not in it."""
    begun = standings_of(asker, {query.text for query in queries})
    found = {query: (told,) for query in queries if (told := _begun(query, begun.get(query.text))) is not None}
    return {**narrowed(asker, [query for query in queries if query not in found]), **found}


def _begun(query: Query, begun: tuple[BegunRun, Standing] | None) -> Standing | None:
    """How far the question of the query has come that was begun; None where it is another one."""
    if begun is None:
        return None
    run, told = begun
    if query.package not in {None, told.package}:
        return None
    if query.asked is None:  # which device it is about is not known
        return told if query.device is None else None
    record = StoredRecord(run.id, run.repro, run.spec, run.package, run.started, 0, run.record)
    about = is_asked(record, query)
    if about is None:
        return told if query.device is None else None
    if about is False:
        return None
    channel, device, python = (str(about[name]) for name in ("channel", "device", "python"))
    return replace(told, channel=channel, device=device, python=python, listed=run.started)
