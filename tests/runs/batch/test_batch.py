"""Whole batches over direct environments: every trial is a process, nothing is installed by uv."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bisect_tool.errors import (
    CacheNotWritable,
    DownloadFailed,
    IndexUnreachable,
    Interrupted,
    MachineFault,
    SettingError,
)
from bisect_tool.reports import events
from bisect_tool.runs.batch.merging import merge
from bisect_tool.runs.session import Session
from tests.rig.direct_batches import DirectBatches, direct_batches, failing


@pytest.fixture
def batch(tmp_path: Path) -> Iterator[DirectBatches]:
    with direct_batches(tmp_path) as made:
        yield made


def test_faults_of_single_specs_do_not_end_the_others(batch: DirectBatches) -> None:
    batch.publish(8, failing({"one": range(5, 8), "two": range(3, 8)}))
    for name in ("one", "two"):
        batch.spec(name)
    batch.spec("unlisted", package="nowhere")
    batch.spec("wrong", frm="1.0")
    batch.spec("mistyped", command=["no-such-program"])
    batch.spec("backwards", from_="1.5", to="1.2")
    told = batch.run()
    assert {name: (line.status, line.error and line.error.kind) for name, line in told.items()} == {
        "one": ("answered", None),
        "two": ("answered", None),
        "unlisted": ("failed", "PackageNotFound"),
        "wrong": ("invalid", "SpecError"),
        "mistyped": ("failed", "CommandFault"),
        "backwards": ("failed", "BoundError"),
    }
    assert [told[name].changes[0].first_with for name in ("one", "two")] == ["1.5", "1.3"]


def test_a_defect_in_one_question_ends_that_one(batch: DirectBatches, monkeypatch: pytest.MonkeyPatch) -> None:
    batch.publish(4, failing({"good": [3], "bad": [3]}))
    batch.spec("good")
    batch.spec("bad")
    asking = Session.asking

    def broken(session: Session) -> object:
        if session.asked.spec.name == "bad" and session.fault is None and session.seen:
            raise KeyError("a defect")
        return asking(session)

    monkeypatch.setattr(Session, "asking", broken)
    told = batch.run()
    assert told["good"].outcome == "exact"
    assert told["bad"].error is not None
    assert (told["bad"].error.kind, told["bad"].error.status) == ("defect", 70)
    assert "a defect" in (batch.out / "specs" / "bad" / "defect.txt").read_text()


def test_the_folder_of_results(batch: DirectBatches) -> None:
    batch.publish(4, failing({"one": [2, 3]}))
    batch.spec("one")
    batch.run()
    place = batch.out / "specs" / "one"
    assert sorted(path.name for path in batch.out.iterdir()) == ["index.html", "junit.xml", "specs", "summary.jsonl"]
    assert sorted(path.name for path in place.iterdir()) == ["logs", "report.html", "report.json", "report.md"]
    assert (
        json.loads((place / "report.json").read_text())["failures"][0]["episodes"][0]["appeared"]["first_with"] == "1.2"
    )
    assert sorted(path.name for path in (place / "logs").iterdir()) == [f"repro@1.{number}.txt" for number in range(4)]
    assert "one is broken" in (place / "logs" / "repro@1.2.txt").read_text()
    assert ET.parse(batch.out / "junit.xml").getroot()[0].get("failures") == "1"


def test_a_rerun_takes_everything_from_the_store(batch: DirectBatches) -> None:
    batch.publish(4, failing({"one": [2, 3]}))
    batch.spec("one")
    first = batch.run()["one"]
    again = batch.run()["one"]
    assert (again.trials, again.known) == (0, first.trials)
    assert again.changes == first.changes


def test_specs_of_one_name_have_results_of_their_own(batch: DirectBatches) -> None:
    batch.publish(3, failing({"one": [2], "two": [1, 2]}))
    batch.spec("one", name="same")
    batch.spec("two", name="same")
    told = batch.run()
    assert len(told) == 2
    assert {line.spec for line in told.values()} == {"same"}
    assert sorted(line.changes[0].first_with for line in told.values()) == ["1.1", "1.2"]
    assert all((batch.out / (line.folder or "") / "report.html").is_file() for line in told.values())


class Stop(Exception):
    """Raised by a test."""


def stop_after(trials: int, error: BaseException) -> object:
    """Raises when so many trials have ended."""
    left = [trials]

    def hear(event: events.Event) -> None:
        if isinstance(event, events.TrialFinished):
            left[0] -= 1
            if left[0] == 0:
                raise error

    return hear


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (DownloadFailed("the network is gone", advice="wait"), DownloadFailed),
        (CacheNotWritable("read-only", advice="see to it"), CacheNotWritable),
        (KeyboardInterrupt(), Interrupted),
    ],
)
def test_a_fault_of_the_machine_stops_the_batch_and_keeps_what_is_known(
    batch: DirectBatches, error: BaseException, raised: type[Exception]
) -> None:
    batch.publish(4, failing({"one": [2, 3], "two": [3]}))
    batch.spec("one")
    batch.spec("two")
    with pytest.raises(raised):
        batch.run(hear=stop_after(3, error))  # type: ignore[arg-type]
    assert {line.status for line in batch.lines().values()} == {"unfinished"}
    told = batch.run()
    assert {line.outcome for line in told.values()} == {"exact"}
    assert sum(line.known for line in told.values()) == 3


def test_an_index_that_nobody_reaches_is_the_machines_fault(batch: DirectBatches) -> None:
    batch.publish(3, failing({"one": [2]}))
    batch.spec("one")
    batch.spec("wrong", frm="1.0")
    batch.run()
    batch.spec("two")
    batch.flags["index"] = "http://127.0.0.1:9/"
    with pytest.raises(IndexUnreachable) as caught:
        batch.run()
    assert caught.value.status == 14
    statuses = {name: line.status for name, line in batch.lines().items()}
    assert statuses == {"one": "answered", "two": "unfinished", "wrong": "invalid"}


def test_an_index_that_only_some_specs_need_ends_those(batch: DirectBatches) -> None:
    batch.publish(3, failing({"near": [2]}))
    batch.spec("far", channel="nightly", from_="2026-01-01")
    batch.spec("near")
    batch.flags["nightly_index"] = "http://127.0.0.1:9/"
    told = batch.run()
    assert told["near"].outcome == "exact"
    assert (told["far"].status, told["far"].error and told["far"].error.status) == ("failed", 14)


def test_a_spec_is_in_the_folder_as_soon_as_it_is_answered(batch: DirectBatches) -> None:
    """What a batch leaves that is killed: `never` needs no search, so it is answered before the last trials of `one`."""
    batch.publish(9, failing({"one": range(4, 9)}))
    batch.spec("one")
    batch.spec("never", from_="1.7")
    seen: list[set[str]] = []

    def look(event: events.Event) -> None:
        if isinstance(event, events.TrialStarted):
            seen.append({name for name, line in batch.lines().items() if line.is_answered})

    batch.run(hear=look)
    assert {"never"} in seen


def test_three_specs_in_a_row_that_the_machine_spoils_stop_the_batch(batch: DirectBatches) -> None:
    batch.publish(3, {})
    for number in range(4):
        batch.spec(f"killed-{number}", script="import os\nos.kill(os.getpid(), 9)\n")
    with pytest.raises(MachineFault):
        batch.run()
    assert [line.status for line in batch.lines().values()].count("failed") == 2


def test_open_failures_are_looked_at_again_on_new_builds_only(batch: DirectBatches) -> None:
    batch.publish(5, failing({"fixed": [2, 3, 4], "still": [2, 3, 4]}))
    for name in ("fixed", "still", "never"):
        batch.spec(name)
    batch.run()
    first, second = str(batch.out), batch.folder / "second"
    quiet = batch.run(since=first, out=second)
    assert {name: line.since[0].now for name, line in quiet.items()} == {
        "fixed": "no new build",
        "still": "no new build",
    }

    batch.publish(8, failing({"fixed": [2, 3, 4], "still": range(2, 8)}))
    told = batch.run(since=first, out=second)
    (fixed,), (still,) = told["fixed"].since, told["still"].since
    assert (fixed.now, fixed.was, fixed.first_without, fixed.kind) == ("fixed", "1.4", "1.5", "exact")
    assert (still.now, still.last_with) == ("still failing", "1.7")
    assert (told["fixed"].first, told["fixed"].builds) == ("1.4", 4)
    assert "still failing" in (second / "index.html").read_text()

    assert set(batch.run(since="1.4", out=second)) == {"still"}  # the store says that `fixed` is not open any more
    with pytest.raises(SettingError, match="take the place"):
        batch.run(since=first)
    with pytest.raises(SettingError, match="neither a folder"):
        batch.run(since="no such thing", out=second)


def test_folders_are_merged_each_spec_once(batch: DirectBatches, tmp_path: Path) -> None:
    batch.publish(3, failing({"one": [2], "two": [1, 2]}))
    batch.spec("one")
    batch.run(out=tmp_path / "r" / "0")
    batch.spec("two")
    batch.run(out=tmp_path / "r" / "1")
    merge([tmp_path / "r" / "0", tmp_path / "r" / "1"], tmp_path / "r")
    told = batch.lines(tmp_path / "r")
    assert list(told) == ["one", "two"]
    assert told["one"].folder == "1/specs/one"  # what ended last
    assert 'href="1/specs/two/report.html"' in (tmp_path / "r" / "index.html").read_text()
    with pytest.raises(SettingError, match="no results"):
        merge([tmp_path], tmp_path / "r")
