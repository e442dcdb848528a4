"""What `bisect doctor` says: whole (`golden/`, written by `python -m tests.runs.doctor.test_doctor`) and by line."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.reports.checkup import Checkup, Finding, render
from bisect_tool.runs.doctor.checks import cuda, disk, github, gpu, index, python, store
from bisect_tool.runs.doctor.examination import all_checks, examine
from bisect_tool.runs.doctor.place import Fetched, Place
from bisect_tool.store.results import open_results
from tests.rig.nvml_library import BUSY_L4, H200, SLICED_H200, V100, FakeLibrary
from tests.rig.postgres import PostgresServer
from tests.runs.doctor.machines import GB, asking, offline, place

GOLDEN = Path(__file__).parent / "golden"
# Those whose lines depend on this very machine, whatever a test makes up, are looked at by themselves.
STABLE = ("gpu", "cuda", "index", "compiler", "github")
MACHINES: dict[str, Callable[[Path], Place]] = {
    "h200": lambda folder: place(folder, FakeLibrary((H200, BUSY_L4))),
    "laptop": lambda folder: place(folder, FakeLibrary(broken="Driver Not Loaded")),
    "v100-old-driver": lambda folder: place(
        folder,
        FakeLibrary((V100,), driver="535.104.05", cuda=12020),
        asking(device="cuda", channel="nightly", from_="2026-10-01")
    ),
    "no-network": lambda folder: place(
        folder, FakeLibrary((SLICED_H200,)), asking(channel="wheelhouse"), fetch=offline, which=lambda _name: None
    ),
}  # fmt: skip


def examined(name: str, folder: Path) -> Checkup:
    checks = {one: check for one, check in all_checks().items() if one in STABLE}
    return examine(MACHINES[name](folder), checks)


def text_of(name: str, folder: Path) -> str:
    return render(examined(name, folder)).replace(str(folder), "CACHE")


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine(tmp_path: Path, name: str) -> None:
    assert text_of(name, tmp_path) == (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize(
    ("name", "is_well"), [("h200", True), ("laptop", True), ("v100-old-driver", False), ("no-network", False)]
)
def test_only_what_was_asked_for_is_a_problem(tmp_path: Path, name: str, *, is_well: bool) -> None:
    checkup = examined(name, tmp_path)
    assert checkup.is_well is is_well
    assert Checkup.model_validate_json(checkup.model_dump_json()) == checkup


def test_every_check_finds_something_here(tmp_path: Path) -> None:
    """The real limits, disk and programs of whatever machine this is."""
    checkup = examine(place(tmp_path, FakeLibrary((H200,))))
    assert {"gpu", "cuda", "uv", "python", "index", "clock", "disk", "compiler", "history", "limits"} <= {
        finding.about for finding in checkup.findings
    }
    assert not any("could not be looked at" in finding.says for finding in checkup.findings)


def test_a_check_that_breaks_is_a_line_and_one_that_hangs_as_well(tmp_path: Path) -> None:
    stop = threading.Event()

    def hangs(_place: Place) -> Iterator[Finding]:
        stop.wait()
        yield from ()

    def breaks(_place: Place) -> Iterator[Finding]:
        raise ZeroDivisionError("division by zero")

    def works(_place: Place) -> Iterator[Finding]:
        yield Finding(about="works", level="ok", says="well")

    checks = {"hangs": hangs, "breaks": breaks, "works": works}
    said = [finding.says for finding in examine(place(tmp_path, FakeLibrary()), checks, limit=0.2).findings]
    stop.set()
    assert said == ["no result within 0.2 s", "could not be looked at: ZeroDivisionError: division by zero", "well"]


def says(found: Iterator[Finding]) -> list[tuple[str, str]]:
    return [(finding.level, finding.says) for finding in found]


def test_a_gpu_that_is_demanded_and_missing(tmp_path: Path) -> None:
    machine = place(tmp_path, FakeLibrary((H200,)), asking(device="cuda"))
    hidden = place(tmp_path, FakeLibrary((H200,)), asking(device="cuda"), environ={"CUDA_VISIBLE_DEVICES": ""})
    assert [level for level, _ in says(gpu.check(machine))] == ["ok"]
    assert says(gpu.check(hidden)) == [("problem", "none: CUDA_VISIBLE_DEVICES hides every GPU")]
    assert says(cuda.check(hidden)) == [("ok", "without a GPU it is not known which variants would run")]


@pytest.mark.parametrize(
    ("from_", "to", "line"),
    [
        ("2026-05-01", "2026-06-01", ("ok", "2026-05-01 to 2026-06-01: cu132 serves all of it")),
        ("2025-06-01", "2026-11-01", (
            "ok", "2025-06-01 to 2026-11-01 takes several variants: cu134 (2026-08-10 to 2026-11-01), "
            "cu132 (2026-04-01 to 2026-11-01), cu130 (2025-08-27 to 2026-11-01), cu129 (2025-06-16 to 2025-09-01, "
            "2025-10-15 to 2026-04-01), cu128 (2025-06-01 to 2026-02-28), cu126 (2025-06-01 to 2026-09-07), "
            "cu118 (2025-06-01 to 2025-06-08)")),
    ],
)  # fmt: skip
def test_the_variants_of_a_range(tmp_path: Path, from_: str, to: str, line: tuple[str, str]) -> None:
    machine = place(tmp_path, FakeLibrary((H200,)), asking(channel="nightly", from_=from_, to=to))
    assert says(cuda.check(machine))[-1] == line


@pytest.mark.parametrize(("free", "level"), [(5 * GB, "problem"), (10 * GB, "warning"), (30 * GB, "ok")])
def test_room_for_the_cache(tmp_path: Path, free: int, level: str) -> None:
    machine = place(tmp_path / "none" / "yet", FakeLibrary(), room=lambda _path: (100 * GB, free))
    assert next(disk.check(machine)).level == level
    assert list(tmp_path.iterdir()) == []


def test_a_clock_that_is_wrong(tmp_path: Path) -> None:
    late = Fetched(200, 0.1, {"date": "Mon, 30 Nov 2026 13:00:00 GMT"})
    machine = place(tmp_path, FakeLibrary(), fetch=lambda _address, _headers: late)
    assert ("warning", "the clock of this machine is 60 minutes behind") in says(index.check(machine))


def test_no_password_is_shown(tmp_path: Path) -> None:
    machine = place(tmp_path, FakeLibrary(), environ={"UV_DEFAULT_INDEX": "https://me:secret@index.example/simple"})
    machine = place(tmp_path, FakeLibrary(), environ=machine.environ, fetch=offline)
    assert "secret" not in examine(machine, {"index": index.check}).model_dump_json()


@pytest.mark.parametrize(
    ("wanted", "level"), [("3.12", "ok"), ("3.11.7", "ok"), ("3.13", "warning"), ("3.7", "problem")]
)
def test_the_python_that_was_asked_for(tmp_path: Path, wanted: str, level: str) -> None:
    machine = place(tmp_path, FakeLibrary(), asking(python=wanted))
    assert next(one for one in python.check(machine) if "asked for" in one.says).level == level


def test_a_uv_that_does_not_answer_says_nothing_of_a_python(tmp_path: Path) -> None:
    machine = place(tmp_path, FakeLibrary(), asking(python="3.13"), call=lambda _words: None)
    (level, line), *_ = says(python.check(machine))
    assert (level, line.partition("; ")[2]) == ("warning", "uv does not say which others there are")
    assert not any("asked for" in line for _, line in says(python.check(machine)))


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        (Fetched(200, 0.1, {}, '{"resources": {"core": {"limit": 60, "remaining": 3, "reset": 1}}}'), "warning"),
        (Fetched(200, 0.1, {}, '{"resources": {"core": {"limit": 5000, "remaining": 4990, "reset": 1}}}'), "ok"),
        (Fetched(401, 0.1, {}, ""), "warning"),
        (Fetched(503, 0.1, {}, "<html>"), "warning"),
    ],
)
def test_what_is_left_of_the_limit_of_github(tmp_path: Path, answer: Fetched, level: str) -> None:
    machine = place(tmp_path, FakeLibrary(), fetch=lambda _address, _headers: answer)
    assert [finding.level for finding in github.check(machine)] == [level]


def shared(folder: Path, **changes: Any) -> list[Finding]:
    made = place(folder, FakeLibrary())
    return list(store.check(replace(made, settings=replace(made.settings, **changes))))


def test_a_store_and_logs_of_the_cache_are_no_line(tmp_path: Path) -> None:
    assert shared(tmp_path) == []


def test_a_shared_store(tmp_path: Path, postgres: PostgresServer) -> None:
    with postgres.database() as address, open_results(address, nullcontext) as results:
        assert results.leases is not None
        results.leases.take("key", "work")
        results.start_run("run", spec="spec", repro="repro", package="toy")
        (found,) = shared(tmp_path, store=address.url.render_as_string(hide_password=False))
    assert re.fullmatch(
        rf"{re.escape(str(address))} answers in \d+ ms: 1 runs, 1 questions being worked on", found.says
    )


def test_a_store_without_tables_is_not_touched(tmp_path: Path, postgres: PostgresServer) -> None:
    with postgres.database(empty=True) as address:
        url = address.url.render_as_string(hide_password=False)
        says = [shared(tmp_path, store=url)[0].says for _ in range(2)]
    assert all(said.endswith("no tables yet, the first run makes them") for said in says)


def test_a_store_that_does_not_answer(tmp_path: Path) -> None:
    (found,) = shared(tmp_path, store="postgresql://me:secret@127.0.0.1:9/bisect")
    assert found.level == "problem"
    assert "the results database does not answer" in found.says
    assert found.says.endswith("(postgresql://127.0.0.1:9/bisect)")
    assert "secret" not in found.model_dump_json()


def test_where_logs_go(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert [shared(tmp_path, logs=logs)[0].level for logs in (str(tmp_path / "new"), str(tmp_path / "file"))] == [
        "ok",
        "warning",
    ]
    (found,) = shared(tmp_path, logs="nosuch://me:secret@x")
    assert (found.level, "secret" in found.model_dump_json()) == ("problem", False)


if __name__ == "__main__":
    for machine_name in MACHINES:
        with tempfile.TemporaryDirectory() as name:
            (GOLDEN / f"{machine_name}.txt").write_text(text_of(machine_name, Path(name)))
