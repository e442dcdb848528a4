"""Reports that another process writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bisect_tool.errors import OutputNotWritten
from bisect_tool.runs.batch.scribe import PENDING, Scribe, Sheet
from tests.reports.samples import ALL


def _sheet(folder: Path, name: str) -> Sheet:
    return Sheet(folder / name, ALL[name](), folder / "cache")


def _told(told: dict[str, Exception | None], name: str) -> Callable[[Exception | None], None]:
    def ended(error: Exception | None) -> None:
        told[name] = error

    return ended


def _files(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


def test_another_process_writes_the_same_files_and_tells_of_them_in_order(tmp_path: Path) -> None:
    told: dict[str, Exception | None] = {}
    scribe = Scribe(alone=0)
    names = list(ALL)
    for name in names:
        scribe.write(_sheet(tmp_path / "there", name), _told(told, name))
        _sheet(tmp_path / "here", name).write()
        for one in told:  # only what lies there is told of
            assert _files(tmp_path / "there" / one) == _files(tmp_path / "here" / one)
    assert len(names) > 10
    scribe.finish()
    assert told == dict.fromkeys(names)
    assert list(told) == names
    for name in names:
        assert _files(tmp_path / "there" / name) == _files(tmp_path / "here" / name)


def test_the_first_ones_are_written_at_once(tmp_path: Path) -> None:
    told: dict[str, Exception | None] = {}
    scribe = Scribe(alone=1)
    scribe.write(_sheet(tmp_path, "exact"), _told(told, "exact"))
    assert told == {"exact": None}
    (tmp_path / "flaky").write_text("a file where a folder is to be")
    with pytest.raises(OutputNotWritten):
        Scribe(alone=1).write(_sheet(tmp_path, "flaky"), _told(told, "flaky"))


def test_what_a_process_that_was_killed_has_left_undone_is_done_here(tmp_path: Path) -> None:
    told: dict[str, Exception | None] = {}
    scribe = Scribe(alone=0)
    scribe.write(_sheet(tmp_path, "exact"), _told(told, "exact"))
    scribe.finish()
    scribe.write(_sheet(tmp_path, "long"), _told(told, "long"))
    assert scribe._process is not None
    scribe._process.kill()
    for name in ("flaky", "open"):
        scribe.write(_sheet(tmp_path, name), _told(told, name))
    scribe.finish()
    assert told == {"exact": None, "long": None, "flaky": None, "open": None}
    assert all(len(_files(tmp_path / name)) == 3 for name in told)


def test_a_fault_is_that_of_the_one_who_gave_it(tmp_path: Path) -> None:
    told: dict[str, Exception | None] = {}
    (tmp_path / "flaky").write_text("a file where a folder is to be")
    scribe = Scribe(alone=0)
    for name in ("exact", "flaky", "open"):
        scribe.write(_sheet(tmp_path, name), _told(told, name))
    scribe.finish()
    assert isinstance(told.pop("flaky"), OutputNotWritten)
    assert told == {"exact": None, "open": None}


def test_no_more_than_a_few_are_under_way(tmp_path: Path) -> None:
    told: list[int] = []
    scribe, report = Scribe(alone=0), ALL["exact"]()
    for number in range(PENDING + 5):
        scribe.write(Sheet(tmp_path / str(number), report, tmp_path), lambda _error, number=number: told.append(number))  # type: ignore[misc]
        assert number - len(told) < PENDING
    scribe.finish()
    assert told == list(range(PENDING + 5))


def test_where_no_process_can_be_started_it_is_written_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("bisect_tool.runs.batch.scribe.subprocess.Popen", refuse)
    told: dict[str, Exception | None] = {}
    scribe = Scribe(alone=0)
    for name in ("exact", "flaky", "unchanged"):
        scribe.write(_sheet(tmp_path, name), _told(told, name))
    assert told == {"exact": None, "flaky": None, "unchanged": None}
    scribe.finish()
