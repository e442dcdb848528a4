"""Whether the files that an answer rests on are still those that were tried: as far as later searches have listed them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bisect_tool.service.build_lines import Stretch
from bisect_tool.service.finding import Answer, Finding, Found, Match
from bisect_tool.service.listings import UNREADABLE, Listings, about_of, place_of, stretch_of
from bisect_tool.store.found_asking import Asker
from bisect_tool.store.record_asking import StoredOpening, forgotten_in, openings_of_runs

_NOTE = "the file of {} was replaced since this answer: `bisect run` tries the new one"


def with_replaced(asker: Asker, findings: Sequence[Finding]) -> list[Finding]:
    """The findings; an answer to the very question of a spec is none any more where a file on a side of a change is another.

    What was said of other questions and failures is what their reports say, of the files of that time.
    """
    runs = {answer.run for finding in findings for answer in finding.answers if answer.match is Match.QUESTION}
    openings = openings_of_runs(asker, runs) if runs else {}
    listings = Listings(asker)
    gone = {run: replaced_since(opening, listings) for run, opening in openings.items()}
    return [_with_notes(finding, gone) for finding in findings]


def _with_notes(finding: Finding, gone: Mapping[str, frozenset[str]]) -> Finding:
    found = (
        build
        for answer in finding.answers
        if answer.match is Match.QUESTION
        for build in _sides(answer)
        if build in gone.get(answer.run, ())
    )
    builds = list(dict.fromkeys(found))
    if not builds:
        return finding
    known = Found.PARTLY if finding.found is Found.YES else finding.found
    return replace(finding, found=known, notes=(*finding.notes, *map(_NOTE.format, builds)))


def _sides(answer: Answer) -> list[str]:
    """The builds on both sides of every end."""
    ends = [end for episode in answer.episodes for end in (episode.appeared, episode.fixed)]
    return [build for end in ends for build in (end.before, end.after) if build is not None]


def replaced_since(opening: StoredOpening, listings: Listings) -> frozenset[str]:
    """The builds of whose versions a later search has listed another file."""
    try:
        opened = json.loads(opening.line)
        about = about_of(opened, opening.place)
        own = stretch_of(opened, opening.place, opening.started) if about["listing"] is not None else None
        forgotten = forgotten_in(opening.forgetting, opening.place)
    except UNREADABLE:
        return frozenset()
    if own is None:
        return frozenset()
    newest: dict[str, str] = {}
    for later in _later(own, listings.of(place_of(about))):
        for build in later.builds:
            newest.setdefault(build.version, build.file)
    return frozenset(
        one.version
        for one in own.without_files(forgotten).builds
        if one.file and newest.get(one.version, "") not in {"", one.file}
    )


def _later(own: Stretch, others: Sequence[Stretch]) -> list[Stretch]:
    return [one for one in others if one.listed > own.listed]
