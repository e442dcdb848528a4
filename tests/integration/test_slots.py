"""Runs in several slots, and what is made ahead of need, with real uv and real processes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import psutil

from tests.integration.conftest import Place, failing, history, kill
from tests.integration.test_run import MAIN, ends

# Says where it is, and goes on once the test says so.
WAITING = (
    "import os, time, toy\nfrom pathlib import Path\n"
    "place = Path(os.environ['PLACE'])\n(place / f'{toy.__version__}.{os.getpid()}').touch()\n"
    "while not (place / 'go').exists():\n    time.sleep(0.02)\n"
    "if toy.__version__ in ('1.7', '1.8', '1.9', '1.10', '1.11'):\n    raise RuntimeError('late')\n"
)


def waiting_spec(place: Place) -> tuple[Path, Path]:
    """A spec whose trials wait for the file `go`, and the folder where they say that they run."""
    folder = place.root / "place"
    folder.mkdir()
    place.publish(history(12, {}))
    return place.spec(script=WAITING, env={"PLACE": str(folder)}, from_="1.0"), folder


def wait_for(folder: Path, count: int) -> list[int]:
    """The process ids of the trials, once so many run."""
    deadline = time.monotonic() + 60
    while len(found := [int(path.suffix[1:]) for path in folder.glob("1.*")]) < count:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def started_below(place: Place) -> list[psutil.Process]:
    """Every process whose command names the folder of the test."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(place.root) in word for word in process.cmdline()) and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_four_slots_find_the_same_and_the_record_replays(place: Place) -> None:
    place.publish(history(30, failing(range(17, 30))))
    answer = place.answer("run", place.spec(cases=MAIN, from_="1.0"), "--jobs", "4", "--plain")
    assert ends(answer) == [("exact", "1.16", "1.17", "open", "1.29", None)]
    assert answer["time"]["slots"] == 4
    assert answer["time"]["trials"] == answer["counts"]["trials"]
    replayed = place.run("replay", "last", "--quiet")
    assert replayed.status == 0, replayed.out


def test_four_trials_run_at_once_and_ctrl_c_ends_all_of_them(place: Place) -> None:
    spec, folder = waiting_spec(place)
    process = place.start("run", spec, "--jobs", "4")
    pids = wait_for(folder, 4)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert started_below(place) == []


def test_a_killed_run_leaves_nothing_and_goes_on(place: Place) -> None:
    spec, folder = waiting_spec(place)
    process = place.start("run", spec, "--jobs", "4")
    pids = wait_for(folder, 4)
    kill(process)
    psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], timeout=30)
    assert not any(psutil.pid_exists(pid) for pid in pids)
    (folder / "go").touch()
    assert ends(place.answer("run", spec, "--jobs", "3")) == [("exact", "1.6", "1.7", "open", "1.11", None)]


def test_while_a_trial_runs_what_comes_next_is_made(place: Place) -> None:
    spec, folder = waiting_spec(place)
    process = place.start("run", spec, "--plain")
    wait_for(folder, 1)
    marks = place.cache / "environments"
    deadline = time.monotonic() + 60
    while sum('"ready"' in mark.read_text() for mark in marks.glob("*/bisect-environment.json")) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (folder / "go").touch()
    _, told = process.communicate(timeout=120)
    assert process.returncode == 0, told
    assert "made ahead of need" in told


def test_nothing_is_made_ahead_when_that_is_off(place: Place) -> None:
    place.publish(history(12, failing(range(7, 12))))
    answer = place.answer("run", place.spec(cases=MAIN, from_="1.0"), "--ahead", "off")
    assert answer["time"]["made_ahead"] == 0
    made = list((place.cache / "environments").glob("*/bisect-environment.json"))
    assert len(made) == answer["counts"]["builds_installed"]


def test_a_run_that_may_fetch_no_more_says_what_it_knows(place: Place) -> None:
    place.publish(history(12, failing(range(7, 12))))
    path = place.root / "answer.json"
    ran = place.run("run", place.spec(cases=MAIN, from_="1.0"), "--max-downloads", "9kB", "--json", path)
    assert ran.status == 36, ran.err
    assert "the run may fetch 9.0 kB" in ran.err
    answer = json.loads(path.read_text())
    assert answer["outcome"] == "unfinished"
    assert answer["time"]["bytes_fetched"] <= 9000
    assert ends(place.answer("run", place.spec(cases=MAIN, from_="1.0")))[0][:3] == ("exact", "1.6", "1.7")
