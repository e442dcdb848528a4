from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from bisect_tool.store.results import open_results
from tests.cli.sessions import bisect
from tests.rig.answered_reports import keep, report_of, shown_by

ERROR = """Traceback (most recent call last):
  File "{folder}/repro.py", line 3, in <module>
ValueError: the gradient of size {number} is zero
"""
IMPORTS = """
import sys
from bisect_tool.cli import cli
try:
    cli.main(["when", *sys.argv[1:]], standalone_mode=False)
finally:
    print(sorted({name.partition(".")[0] for name in sys.modules} & {"sqlalchemy", "pydantic", "yaml", "requests", "scipy"}))
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that knows one answer, finished, and another one that was cut short."""
    folder = tmp_path_factory.mktemp("cache")
    shown = shown_by(ERROR.format(folder="/somewhere", number=12))
    with open_results(folder / "results.sqlite", nullcontext) as results:
        keep(results, "1", report_of(shown, name="zero", title="It is zero", issue="https://github.com/o/n/issues/7"))
        begun = shown_by(ERROR.replace("zero", "infinite").format(folder="/somewhere", number=12))
        keep(results, "2", report_of(begun, name="infinite", repro="b" * 64, outcome="unfinished"))
    return folder


def test_a_pasted_traceback_is_the_same_failure(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "pasted.txt").write_text(ERROR.format(folder="/elsewhere", number=99))
    with (tmp_path / "pasted.txt").open() as pasted:
        done = subprocess.run(
            [sys.executable, "-m", "bisect_tool", "when", "-", "--most", "1", "--cache", str(cache)],
            stdin=pasted, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "known: ValueError: the gradient of size 99 is zero\n"
        "\n"
        "  the same failure · torch · zero, case main\n"
        "    ValueError: the gradient of size 12 is zero\n"
        "    appeared in 2.12.0; last without it: 2.11.0 (exact, verified)\n"
        "    still there in 2.13.0, the newest build that was judged\n"
        f"    release 2.10.0 to 2.13.0 on cpu, cpython-3.11.7-x86_64; {done.stdout.splitlines()[6][-10:]}\n"
        "    issue:  https://github.com/o/n/issues/7\n"
        "    more:   bisect run zero\n"
    )


@pytest.mark.parametrize(
    ("query", "status", "first"),
    [
        ("zero", 0, "known: zero"),
        ("o/n#7", 0, "known: o/n#7"),
        (
            "ValueError: the gradient of size 5 is infinite",
            3,
            "not known exactly: ValueError: the gradient of size 5 is infinite",
        ),
        ("TypeError: quite another one", 4, "not known: TypeError: quite another one"),
    ],
)
def test_the_exit_status_says_how_well_it_is_known(
    cache: Path, tmp_path: Path, query: str, status: int, first: str
) -> None:
    done = bisect(tmp_path, "when", query, "--cache", str(cache))
    assert (done.returncode, done.stdout.splitlines()[0]) == (status, first)


def test_a_spec_is_found_by_its_script(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("print(1)\n")
    done = bisect(tmp_path, "when", "repro.py", "--cache", str(cache), "--json")
    assert done.returncode == 4
    found = json.loads(done.stdout)
    assert (found["query"], found["by"], found["found"], found["answers"]) == ("repro", "spec", "no", [])


def test_a_cache_that_does_not_exist_yet_knows_nothing(tmp_path: Path) -> None:
    done = bisect(tmp_path, "when", "zero", "--cache", str(tmp_path / "none"))
    assert (done.returncode, done.stdout.splitlines()[0]) == (4, "not known: zero")


@pytest.mark.parametrize("query", ["zero", "ValueError: the gradient of size 5 is infinite"])
def test_the_usual_look_up_loads_nothing_heavy(cache: Path, query: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, query, "--cache", str(cache)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
