"""Decisions explained, kept and made again."""

from __future__ import annotations

import json
import sqlite3

from tests.integration.conftest import Place, failing, history

MAIN = [{"name": "main", "args": ["main"]}]


def test_a_run_is_explained_and_replayed(place: Place) -> None:
    place.publish(history(9, failing(range(5, 9))))
    ran = place.run("run", place.spec(cases=MAIN, from_="1.0"), "--explain", "--plain")
    assert ran.status == 0, ran.err
    assert "why: end of the range: the ends of the range come first" in ran.err
    assert "main: between 1.0 and 1.8, 7 untried" in ran.err
    assert "learned: main on 1.4: passes" in ran.err
    replayed = place.run("replay", "last")
    assert replayed.status == 0, replayed.out + replayed.err
    assert "main: between 1.0 and 1.8, 7 untried" in replayed.out
    assert "decisions are the same" in replayed.out.splitlines()[-1]


def test_a_record_that_was_changed_does_not_replay(place: Place) -> None:
    place.publish(history(5, failing(range(3, 5))))
    assert place.run("run", place.spec(cases=MAIN, from_="1.0"), "--quiet").status == 0
    with sqlite3.connect(place.cache / "results.sqlite") as database:
        (line,) = database.execute("SELECT line FROM decisions WHERE number = 3").fetchone()
        changed = json.loads(line)
        changed["choice"]["build"] = 1
        database.execute("UPDATE decisions SET line = ? WHERE number = 3", (json.dumps(changed),))
    ran = place.run("replay", "last", "--quiet")
    assert ran.status == 1
    assert "the first is number 3" in ran.out.splitlines()[-1]
    with sqlite3.connect(place.cache / "results.sqlite") as database:
        database.execute("UPDATE decisions SET line = '{}' WHERE number = 3")
    broken = place.run("replay", "last", "--quiet")
    assert broken.status == 23
    assert "the record of this run cannot be read" in broken.err


def test_specs_that_ran_together_have_one_record(place: Place) -> None:
    place.publish(history(5, {**failing([3, 4]), **failing([4], case="other")}))
    one = place.spec("one", cases=MAIN, from_="1.0")
    two = place.spec("two", cases=[{"name": "other", "args": ["other"]}], from_="1.0")
    assert place.run("run", one, two, "--quiet").status == 0
    listed = place.run("replay").out.splitlines()
    assert sorted(line.split()[2] for line in listed) == ["one", "two"]
    for line in listed:
        ran = place.run("replay", line.split()[0], "--quiet")
        assert ran.status == 0, ran.out
        assert "decisions are the same" in ran.out


def test_a_name_that_no_run_has(place: Place) -> None:
    ran = place.run("replay", "feed")
    assert ran.status == 2
    assert "no run begins with 'feed'" in ran.err
    assert place.run("replay").out.strip() == "this cache knows no run"


def test_the_report_says_how_far_a_search_without_a_start_went_back(place: Place) -> None:
    place.publish(history(9, failing(range(5, 9))))
    answer = place.answer("run", place.spec(cases=MAIN))
    assert "no start was asked for: the search walked back to 1.1, where the behaviour is another" in answer["advice"]
    shorter = place.answer("run", place.spec(cases=MAIN, to="1.4"), status=4)
    assert shorter["advice"] == ["no start was asked for: the search walked back to 1.0, the oldest build"]
