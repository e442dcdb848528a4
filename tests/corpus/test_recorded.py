"""The answers of the corpus, made again from the trials that were recorded: nothing is installed and nothing is run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.builds.channel import names
from bisect_tool.reports.report import Report
from bisect_tool.runs.reporting import Circumstances, report_of
from bisect_tool.runs.session import Session
from bisect_tool.spec.reading import load_all
from tests.corpus.keep import REPORTS, ROOT
from tests.corpus.recorded import FOLDER, Stale, session_of

CORPUS = sorted(path.stem for path in FOLDER.glob("*.json"))
LUA = "pygments-lua-hang"


def recorded(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text()))


def opened(name: str, folder: Path, record: Mapping[str, Any] | None = None) -> Session:
    """A session that knows what was recorded of a spec, in `folder`."""
    (read,) = load_all([ROOT / "repro_specs" / name], channels=names())
    return session_of(record or recorded(name), read, folder)


def report(session: Session) -> Report:
    made = report_of([session], Circumstances(datetime(2026, 11, 30, tzinfo=UTC), 0.0, "CACHE", "uv", "", 0))
    session.results.close()
    return made


def answer_of(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a report, as plain values, says of each failure."""
    return [
        {
            "case": failure["case"],
            "failure": failure["name"],
            "episodes": [
                {side: _end(episode[side]) for side in ("appeared", "fixed")} for episode in failure["episodes"]
            ],
        }
        for failure in values["failures"]
    ]


def _end(end: Mapping[str, Any]) -> tuple[Any, ...]:
    sides = ("last_without", "first_with") if "last_without" in end else ("last_with", "first_without")
    return (end["kind"], *(end[side] for side in sides))


def test_there_is_something_to_look_at() -> None:
    assert LUA in CORPUS


@pytest.mark.parametrize("name", CORPUS)
def test_the_answer_is_that_of_the_real_run(name: str, tmp_path: Path) -> None:
    session = opened(name, tmp_path)
    assert session.plan().probes == ()
    then = json.loads((REPORTS / f"{name}.json").read_text())
    again = report(session).model_dump(mode="json")
    assert answer_of(again) == answer_of(then)
    assert again["outcome"] == (then["stages"] or [then])[0]["outcome"]


def test_the_hang_is_told_from_the_facts_of_its_trials(tmp_path: Path) -> None:
    made = report(opened(LUA, tmp_path))
    (failure,) = made.failures
    assert (failure.name, failure.signature.title) == (
        "timeout",
        "timeout: no end after 10 s in repro.py:main > pygments/lexer.py:get_tokens_unprocessed",
    )
    (episode,) = failure.episodes
    assert (episode.appeared.last_without, episode.appeared.first_with) == ("2.18.0", "2.19.0")
    assert (episode.fixed.last_with, episode.fixed.first_without) == ("2.19.1", "2.19.2")


def test_other_facts_make_another_answer(tmp_path: Path) -> None:
    """Had the trials of 2.19.1 ended by themselves, the hang would have been gone there."""
    record = recorded(LUA)
    for trial in record["trials"]:
        if (trial["build"], trial["case"]) == ("2.19.1", "many-blanks"):
            trial["observation"] = {"exit_status": 0, "duration": 0.1, "output": "7 tokens\n"}
    (failure,) = report(opened(LUA, tmp_path, record)).failures
    assert (failure.episodes[0].fixed.last_with, failure.episodes[0].fixed.first_without) == ("2.19.0", "2.19.1")


def test_what_was_not_recorded_is_wanted(tmp_path: Path) -> None:
    record = recorded(LUA)
    record["trials"] = [trial for trial in record["trials"] if trial["build"] != "2.19.2"]
    session = opened(LUA, tmp_path, record)
    assert session.asked.builds[session.plan().probes[0].build].version == "2.19.2"
    session.results.close()


def test_a_spec_that_was_changed_since_is_to_be_run_again(tmp_path: Path) -> None:
    record = recorded(LUA)
    with pytest.raises(Stale, match="run it again and record it"):
        opened(LUA, tmp_path, {**record, "repro": "0" * 64})
    with pytest.raises(Stale, match="run it again and record it"):
        opened(LUA, tmp_path, {**record, "cases": {}})


def test_no_place_of_a_machine_is_recorded() -> None:
    for name in CORPUS:
        text = (FOLDER / f"{name}.json").read_text().replace("\\n", "\n")
        assert re.search(r"(?<!\w)/(?:tmp|root|home)/", text) is None, name
