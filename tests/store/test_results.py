from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event
from sqlalchemy.exc import PendingRollbackError

from bisect_tool.errors import CacheBroken, CacheNotWritable, CacheTooNew, DiskFull
from bisect_tool.store import faults, service_tables, tables
from bisect_tool.store.address import StoreAddress, file_address
from bisect_tool.store.database import Database
from bisect_tool.store.hosts import host_kind
from bisect_tool.store.results import Results, StoredTrial, Subject, Topic, open_results
from bisect_tool.store.schema import MIGRATIONS, NEWEST, bring_up_to_date
from bisect_tool.store.shape import metadata

SUBJECT = Subject("sha256:abc", "setting", "cpu")
TRIAL = StoredTrial(
    subject=SUBJECT, repro="repro", case_digest="digest", case_name="main", package="toy", version="1.0",
    observation={"exit_status": 1, "text": "größer \x00 \\ud800", "deep": [{"a": None}]}, folder="trials/x",
    command="python 'a b'", duration=1.25,
)  # fmt: skip

# Adds so many trials, says so after each, and waits; arguments: the database, a lock file, a name, a number.
WRITER = """
import sys, time, contextlib
from dataclasses import replace
from pathlib import Path
from bisect_tool.environments import locks
from bisect_tool.store.address import read_address
from bisect_tool.store.results import open_results
from tests.store.test_results import TRIAL
address, lock = read_address(sys.argv[1], Path()), Path(sys.argv[2])
results = open_results(address, lambda: locks.exclusive(lock))
for number in range(int(sys.argv[4])):
    results.add_trial(replace(TRIAL, version=f"{sys.argv[3]}.{number}"))
    print(number, flush=True)
if sys.argv[5:]:
    time.sleep(600)
"""


def opened(place: Path | StoreAddress) -> Results:
    return open_results(place, contextlib.nullcontext)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


def writer(address: StoreAddress, lock: Path, name: str, count: int, *more: str) -> subprocess.Popen[str]:
    where = address.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", WRITER, where, str(lock), name, str(count), *more]
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
    )


def test_a_trial_comes_back_as_it_was_stored(address: StoreAddress) -> None:
    with opened(address) as results:
        results.add_trial(TRIAL)
    with opened(address) as results:
        assert results.trials_of("repro", "setting", "cpu") == [TRIAL]


def test_trials_come_in_the_order_in_which_they_ended(address: StoreAddress) -> None:
    trials = [replace(TRIAL, version=version) for version in ("1.2", "1.0", "1.1", "1.0")]
    with opened(address) as results:
        for trial in trials:
            results.add_trial(trial)
        assert results.trials_of("repro", "setting", "cpu") == trials


@pytest.mark.parametrize(
    "other", [("other", "setting", "cpu"), ("repro", "other", "cpu"), ("repro", "setting", "H200")]
)
def test_trials_of_something_else_are_not_given(address: StoreAddress, other: tuple[str, str, str]) -> None:
    with opened(address) as results:
        results.add_trial(TRIAL)
        assert results.trials_of(*other) == []


def test_trials_that_are_forgotten_do_not_count(address: StoreAddress) -> None:
    with open_results(address, contextlib.nullcontext) as results:
        results.add_trial(TRIAL)
        results.add_trial(replace(TRIAL, folder="trials/new"))
        anew = replace(results, forgotten=1)
        assert [one.folder for one in anew.trials_of("repro", "setting", "cpu")] == ["trials/new"]
        topic = Topic("repro", "setting", "cpu")
        assert [one.folder for one in anew.gather([topic]).trials_of("repro", "setting", "cpu")] == ["trials/new"]
        assert replace(results, forgotten=2).trials_of("repro", "setting", "cpu") == []


def test_unusable_builds(address: StoreAddress) -> None:
    with opened(address) as results:
        results.add_unusable(SUBJECT, "toy", "1.0", "first reason")
        results.add_unusable(SUBJECT, "toy", "1.0", "second reason")
        results.add_unusable(replace(SUBJECT, identity="sha256:def"), "toy", "1.1", "another")
        results.add_unusable(replace(SUBJECT, device="H200"), "toy", "1.0", "no kernel image")
        assert results.unusable("setting", "cpu") == {"sha256:abc": "second reason", "sha256:def": "another"}
        results.forget_unusable("setting", "cpu", ["sha256:abc", "sha256:def"])
        assert results.unusable("setting", "cpu") == {}
        assert results.unusable("setting", "H200") == {"sha256:abc": "no kernel image"}


def test_what_a_kind_of_host_found_is_for_hosts_of_that_kind(address: StoreAddress) -> None:
    with opened(address) as results:
        results.add_unusable(SUBJECT, "toy", "1.0", "its libcudart cannot be loaded", "old driver")
        results.add_unusable(SUBJECT, "toy", "1.0", "its libcudart cannot be loaded at all", "old driver")
        results.add_unusable(replace(SUBJECT, identity="sha256:def"), "toy", "1.1", "its wheel is damaged")
        assert results.unusable("setting", "cpu", "new driver") == {"sha256:def": "its wheel is damaged"}
        assert results.unusable("setting", "cpu", "old driver") == {
            "sha256:abc": "its libcudart cannot be loaded at all",
            "sha256:def": "its wheel is damaged",
        }


def test_the_kind_of_a_host_is_that_of_its_driver() -> None:
    assert host_kind("580.65.06") == host_kind("580.65.06") != host_kind("535.104.05") != host_kind(None)


def test_a_database_of_before_keeps_what_it_knew(path: Path) -> None:
    """Schema 0002 had neither hosts nor addresses of logs."""
    with opened(path) as results:
        results.add_trial(TRIAL)
        results.add_unusable(SUBJECT, "toy", "1.0", "its wheel is damaged")
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with results.engine.connect() as connection:
            config.attributes["connection"] = connection
            command.downgrade(config, "0002")
            connection.commit()
    with opened(path) as results:
        assert results.trials_of("repro", "setting", "cpu") == [TRIAL]
        assert results.unusable("setting", "cpu", "any") == {"sha256:abc": "its wheel is damaged"}


def test_healths(address: StoreAddress) -> None:
    with opened(address) as results:
        results.add_health(SUBJECT, {"version": "1.0"})
        results.add_health(SUBJECT, {"version": "1.0", "packages": {"toy": "1.0"}})
        assert results.healths("setting", "cpu") == {"sha256:abc": {"version": "1.0", "packages": {"toy": "1.0"}}}


def test_runs(address: StoreAddress) -> None:
    with opened(address) as results:
        results.start_run("id", spec="spec", repro="repro", package="toy")
        results.start_run("open", spec="spec", repro="repro", package="toy")
        results.end_run("id", "exact", {"answer": [1]})
        runs = results.runs(repro="repro")
        assert sorted((run.id, run.outcome) for run in runs) == [("id", "exact"), ("open", None)]
        assert (results.report_of("id"), results.report_of("open")) == ({"answer": [1]}, None)
        assert (results.runs(repro="other"), len(results.runs(most=1))) == ([], 1)


def test_what_was_stored_survives_a_kill(address: StoreAddress, path: Path) -> None:
    process = writer(address, path.with_suffix(".lock"), "1", 3, "wait")
    assert process.stdout is not None
    while process.stdout.readline() != "2\n":
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with opened(address) as results:
        assert [trial.version for trial in results.trials_of("repro", "setting", "cpu")] == ["1.0", "1.1", "1.2"]


def test_two_writers_make_the_database_together(empty: StoreAddress, path: Path) -> None:
    # On a server the lock is of no use to two hosts: each has its own.
    files = [path.with_suffix(".lock" if empty.path else f".{name}") for name in ("1", "2")]
    processes = [writer(empty, file, name, 30) for file, name in zip(files, ("1", "2"), strict=True)]
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0]
    with opened(empty) as results:
        versions = [trial.version for trial in results.trials_of("repro", "setting", "cpu")]
    assert sorted(versions) == sorted(f"{name}.{number}" for name in ("1", "2") for number in range(30))
    assert [version for version in versions if version[0] == "1"] == [f"1.{number}" for number in range(30)]


def test_a_commit_is_on_the_disk(path: Path) -> None:
    with opened(path) as results, results.database.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


def test_the_migrations_make_the_tables(empty: StoreAddress) -> None:
    assert {tables.trials, service_tables.questions} <= set(metadata.tables.values())
    with opened(empty) as results, results.database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_newest_schema_is_the_last_migration() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_current_head() == NEWEST


@pytest.mark.parametrize("statement", range(1, 88, 4))
def test_a_making_that_was_cut_off_at_any_statement(path: Path, statement: int) -> None:
    engine = create_engine(f"sqlite:///{path}")
    left = iter(range(1, statement))

    @event.listens_for(engine, "before_cursor_execute")
    def cut_off(*_: object) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    # Alembic clears up behind a statement that fails, which a connection that was cut off refuses.
    with contextlib.suppress(KeyboardInterrupt, PendingRollbackError):
        bring_up_to_date(engine, contextlib.nullcontext, "here")
    engine.dispose()
    with opened(path) as results:
        results.add_trial(TRIAL)
        assert results.trials_of("repro", "setting", "cpu") == [TRIAL]


def test_a_database_of_a_newer_version(path: Path) -> None:
    with opened(path):
        pass
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(CacheTooNew, match="has schema 9999, this version knows schemas up to 0008"), opened(path):
        pass


def test_a_making_that_was_cut_off_before_it_began(path: Path) -> None:
    path.touch()
    with opened(path) as results:
        assert results.trials_of("repro", "setting", "cpu") == []


@pytest.mark.parametrize("content", [b"not a database " * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_database(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(CacheBroken) as raised, opened(path):
        pass
    assert raised.value.where == str(path)
    assert path.read_bytes() == content


def test_a_database_that_is_damaged_in_the_middle(path: Path) -> None:
    with opened(path) as results:
        for number in range(200):
            results.add_trial(replace(TRIAL, version=str(number)))
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (path.stat().st_size - 8192))
    with pytest.raises(CacheBroken), opened(path) as results:
        results.trials_of("repro", "setting", "cpu")


def test_a_folder_in_its_place(path: Path) -> None:
    path.mkdir()
    with pytest.raises(CacheNotWritable, match="unable to open"), opened(path):
        pass


def test_a_database_that_may_only_be_read(path: Path) -> None:
    with opened(path) as results:
        engine = create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")
        read_only = Results(Database(engine, file_address(path)))
        with pytest.raises(CacheNotWritable, match="readonly"):
            read_only.add_trial(TRIAL)
        read_only.close()
        assert results.trials_of("repro", "setting", "cpu") == []


def test_a_writer_that_does_not_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "BUSY", 0.2)
    with opened(path) as results, contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CacheNotWritable, match="another process has held the results database"):
            results.add_trial(TRIAL)


def test_a_database_that_cannot_grow(path: Path) -> None:
    with opened(path) as results:
        with results.database.engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            connection.commit()
        with pytest.raises(DiskFull):
            results.add_trial(replace(TRIAL, observation={"output": "x" * 1_000_000}))
    assert shutil.disk_usage(path.parent).free > faults.NO_ROOM


def test_a_name_that_is_no_text_is_stored_as_its_escape(address: StoreAddress) -> None:
    with opened(address) as results:
        results.add_trial(replace(TRIAL, command=os.fsdecode(b"python repro-\xff.py")))
        assert [trial.command for trial in results.trials_of("repro", "setting", "cpu")] == ["python repro-\\udcff.py"]
