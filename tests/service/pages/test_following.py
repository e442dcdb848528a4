from __future__ import annotations

from bisect_tool.service.event_log import EventLog
from bisect_tool.service.pages.following import Following
from bisect_tool.store.database import Database


def notice(number: int) -> tuple[str, dict[str, str]]:
    return "notice", {"text": f"line {number}"}


def lines(following: Following, events: EventLog, job: int) -> list[str]:
    return [line.text for line in following.view(events, "q", job, 0.0).lines]


def test_news_come_behind_what_was_read_and_other_jobs_have_their_own(database: Database) -> None:
    events, following = EventLog(database), Following()
    events.add("q", 1, [notice(1)])
    events.add("q", 2, [notice(2)])
    assert lines(following, events, 1) == ["line 1"]
    events.add("q", 1, [notice(3)])
    assert lines(following, events, 1) == ["line 1", "line 3"]
    assert lines(following, events, 2) == ["line 2"]


def test_more_events_than_are_read_at_once(database: Database) -> None:
    events = EventLog(database)
    events.add("q", 1, [notice(number) for number in range(1100)])
    assert lines(Following(), events, 1)[-1] == "line 1099"


def test_a_job_that_was_forgotten_is_read_again(database: Database) -> None:
    events, following = EventLog(database), Following(most=1)
    events.add("q", 1, [notice(1)])
    events.add("q", 2, [notice(2)])
    assert lines(following, events, 1) == ["line 1"]
    assert lines(following, events, 2) == ["line 2"]
    assert lines(following, events, 1) == ["line 1"]
