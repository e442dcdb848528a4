"""The session itself, which has no second chance on a GPU machine: jobs, limits, specs, results. Needs no GPU."""

from __future__ import annotations

import json
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from bisect_tool.builds.channel import names
from bisect_tool.spec.reading import load_all
from tests.gpu.session import adapting
from tests.gpu.session.gathering import gather
from tests.gpu.session.jobs import Job, run_jobs
from tests.gpu.session.parts import PARTS
from tests.gpu.session.place import ROOT, Place
from tests.gpu.test_failures import REPROS, expected_of, is_memory, is_right
from tests.gpu.wheels import NCCL, NVSHMEM, locked_for, spread, torch_requirements

pytestmark = pytest.mark.anywhere
FOREVER = "import signal, time\nsignal.signal(signal.SIGTERM, lambda *_: exit(7))\nprint('begun', flush=True)\ntime.sleep(600)"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home", tmp_path / "out", tmp_path / "wheels", sys.executable, "cpu").made()


def test_jobs_run_side_by_side_and_keep_what_they_print(place: Place) -> None:
    said: list[str] = []
    jobs = [
        Job(name, [sys.executable, "-c", f"print({name!r}); exit({code})"], 60) for name, code in (("a", 0), ("b", 4))
    ]
    done = {one.name: one for one in run_jobs(jobs, place.logs, said.append, time.monotonic() + 60)}
    assert (done["a"].is_good, done["b"].is_good, done["b"].status) == (True, False, 4)
    assert (place.logs / "a.log").read_text() == "a\n"
    assert len(said) == 2


def test_a_job_beyond_its_limit_is_asked_to_end_and_is_not_good(place: Place) -> None:
    (done,) = run_jobs(
        [Job("long", [sys.executable, "-c", FOREVER], 1)], place.logs, lambda _: None, time.monotonic() + 60
    )
    assert (done.timed_out, done.is_good) == (True, False)
    assert done.status in (7, -15)


def test_the_session_ends_at_its_deadline(place: Place) -> None:
    (done,) = run_jobs(
        [Job("long", [sys.executable, "-c", FOREVER], 600)], place.logs, lambda _: None, time.monotonic() + 1
    )
    assert done.timed_out


def test_a_spec_runs_over_the_packages_of_the_machine(place: Place) -> None:
    path = adapting.adapted(place, "cumsum-scalar-constant", "search")
    assert path is not None
    keys = yaml.safe_load(path.read_text())
    assert (keys["base"], keys["channel"], keys["device"], keys["python"]) == (
        "system",
        "wheelhouse",
        "cpu",
        sys.executable,
    )
    assert (path.parent / keys["script"]).is_file()


def test_a_spec_for_another_device_is_left_out(place: Place) -> None:
    assert adapting.adapted(place, "associative-scan-dynamic", "search") is None
    assert "cumprod-backward-split-scan" in adapting.names_of_specs()
    assert adapting.names_of_older() == ["torch-bmm-out-dtype"]


def test_every_part_says_what_it_runs(place: Place) -> None:
    jobs = {name: make(place) for name, make in PARTS.items()}
    assert [len(jobs[name]) for name in ("tests", "specs", "nightlies", "times")] == [1, 3, 1, 1]
    names = [job.name for part in jobs.values() for job in part]
    assert len(set(names)) == len(names)


def test_the_results_are_three_files_with_everything_inside(place: Place) -> None:
    state: dict[str, Any] = {"started": "now", "machine": {"gpu": "H200\nH200"}, "jobs": {}}
    state["jobs"]["specs"] = {"is_good": True, "timed_out": False, "status": 0, "seconds": 3.0}
    (place.reports / "times.json").write_text('{"builds": [{"import": 3.5}]}')
    (place.logs / "specs.log").write_text("a line\n")
    evidence = place.cache / "trials" / "diagnosis-abc"
    (evidence / "driver").mkdir(parents=True)
    (evidence / "driver" / "big").write_text("x")
    (evidence / "code.diff").write_text("+ a\n")
    gather(place, state)
    assert sorted(path.name for path in place.out.iterdir()) == ["results.tar.gz", "summary.json", "summary.md"]
    with tarfile.open(place.out / "results.tar.gz") as archive:
        names = archive.getnames()
    assert {"reports/times.json", "logs/specs.log", "evidence/diagnosis-abc/code.diff"} <= set(names)
    assert "evidence/diagnosis-abc/driver/big" not in names
    assert json.loads((place.out / "summary.json").read_text())["reports"]["times"] == {"builds": [{"import": 3.5}]}
    assert "| specs | good | 3.0 |" in (place.out / "summary.md").read_text()


def test_what_is_fetched_for_torch() -> None:
    assert torch_requirements(["2.12.1", "2.13.0"]) == ["torch==2.12.1", "torch==2.13.0", "triton==3.7.1", NCCL]
    assert torch_requirements(["2.15.0"])[-1] == NVSHMEM
    assert spread(list("abcdefghi"), 3) == ["a", "e", "i"]
    assert spread(list("ab"), 3) == ["a", "b"]


def test_every_script_that_fails_has_words_that_are_expected() -> None:
    unknown = [path.stem for path in REPROS if not (expected_of(path) or is_memory(path) or is_right(path))]
    assert unknown == []


def test_every_adapted_spec_is_one_that_the_tool_reads(place: Place) -> None:
    cuda = Place(place.home, place.out, place.wheels, place.python, "cuda")
    paths = [
        adapting.adapted(cuda, path.parent.name, "check") for path in sorted((ROOT / "repro_specs").glob("*/spec.yaml"))
    ]
    here = [path for path in paths if path is not None]
    assert len(here) >= 11
    for path in here:
        spec = load_all([path], channels=names(), changes={})[0].spec
        assert (spec.base, spec.channel, spec.device) == ("system", ("wheelhouse",), ("cuda",))


def test_specs_of_older_releases_and_drafts_are_ones_that_the_tool_reads(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reports").mkdir()
    code = "import torch\ny = torch.cuda.Event()\nassert y is None, 'triton: wrong event'"
    (tmp_path / "reports" / "wrong-sum.txt").write_text(
        f"Wrong sum on CUDA in torch 2.13.0\n\n```python\n{code}\n```\n"
    )
    monkeypatch.setenv("BISECT_REPORTS", str(tmp_path / "reports"))
    cuda = Place(place.home, place.out, place.wheels, place.python, "cuda").made()
    (older,) = PARTS["older"](cuda)
    (draft,) = PARTS["drafts"](cuda)
    specs = {job.name: load_all([Path(job.words[4])], channels=names(), changes={})[0].spec for job in (older, draft)}
    assert {name: spec.base for name, spec in specs.items()} == {
        "torch-bmm-out-dtype": "isolated",
        "draft-wrong-sum": "system",
    }
    assert str(place.wheels / "older") in older.words


def test_what_is_locked_for_another_python() -> None:
    lock = (
        "# made by uv\n"
        "a==1 \\\n    --hash=sha256:11 \\\n    --hash=sha256:12\n    # via c\n"
        "b==1 ; python_full_version < '3.12' \\\n    --hash=sha256:21\n"
        "b==2 ; python_full_version >= '3.12' \\\n    --hash=sha256:22\n"
    )
    kept = locked_for("3.12.3", lock)
    assert [line for line in kept.splitlines() if not line.startswith(" ")] == ["a==1 \\", "b==2 \\"]
    assert "sha256:12" in kept
    assert "sha256:21" not in kept
