"""Partial answers about a spec: how far its own question has come, else what other questions say of its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bisect_tool.service.finding import Query, Standing
from bisect_tool.service.listings import Listings
from bisect_tool.service.narrowing import is_asked, narrowed
from bisect_tool.service.replaced_files import replaced_since
from bisect_tool.service.standings import BegunStanding, standings_of
from bisect_tool.store.found_asking import Asker
from bisect_tool.store.record_asking import StoredOpening, StoredRecord


def partial(asker: Asker, queries: Sequence[Query]) -> dict[Query, tuple[Standing, ...]]:
    """What is known of each query about a spec; those of which nothing is are not in it."""
    listings = Listings(asker)
    begun = standings_of(asker, {query.text for query in queries})
    begun = {repro: one for repro, one in begun.items() if not _is_replaced(one, listings)}
    found = {query: (told,) for query in queries if (told := _begun(query, begun.get(query.text))) is not None}
    return {**narrowed(asker, [query for query in queries if query not in found], listings), **found}


def _is_replaced(begun: BegunStanding, listings: Listings) -> bool:
    """Whether the file of a build that was looked at is another one since: then it counts as far as the other files do."""
    opening = StoredOpening(begun.run.started, 0, begun.run.record[0], begun.run.record[1:])
    return not begun.looked_at.isdisjoint(replaced_since(opening, listings))


def _begun(query: Query, begun: BegunStanding | None) -> Standing | None:
    """How far the question of the query has come that was begun; None where it is another one."""
    if begun is None:
        return None
    run, told = begun.run, begun.told
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
