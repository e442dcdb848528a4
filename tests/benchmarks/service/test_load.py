"""Small versions of what `docs/service-figures.md` measures: nothing is lost, nothing is asked twice, each stream gets all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bisect_tool.service.question import Asker
from bisect_tool.service.questions import Questions
from tests.benchmarks.service.load import burst, loaded, streams
from tests.rig.asked import submission


def test_a_burst_and_many_streams(tmp_path: Path) -> None:
    with loaded(tmp_path) as place:
        found = burst(place, 60, 20)
        assert found.statuses == {201: 60, 200: 60}
        assert (found.ids, found.kept, found.jobs) == (60, 60, 60)
        question = Questions(place.results.database).submit(submission("streams"), Asker()).question.id
        watched = streams(place, question, 200, 3)
        assert watched.told == Counter({3: 200})
        assert place.server.stop() == 0
