"""Discovery over toy builds of a moment each: what is found, confirmed, written, and that nothing is believed too early."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.builds.channel import names
from bisect_tool.errors import OutputNotWritten
from bisect_tool.reports.attempt import Attempt
from bisect_tool.reports.discovery import Discovery
from bisect_tool.runs.run import run_specs
from bisect_tool.runs.surveying import Wishes
from bisect_tool.runs.trying.attempting import Desk, attempt
from bisect_tool.runs.trying.discovery import Wish, discover
from bisect_tool.runs.trying.look import Look
from bisect_tool.search.configurations import Limits
from bisect_tool.spec.reading import load_all
from bisect_tool.spec.repro import read_repro
from tests.rig.direct_runs import DirectRuns, direct_runs

HEAD = """import os, pathlib, sys, torch
def turn():
    count = pathlib.Path(os.environ["COUNTER"])
    count.write_text(count.read_text() + "x" if count.exists() else "x")
    return len(count.read_text())
env, case = os.environ.get, sys.argv[1]
"""
CASES = [{"name": "good", "args": ["good"], "role": "control"}, {"name": "bad", "args": ["bad"]}]
ZERO = [{"name": "zero", "match": "all zero"}]
FAILS = 'sys.exit("gradient is all zero")\n'
REPORT = "Run TORCH_SPEED_A=1 TORCH_SPEED_B=2 python repro.py"


@dataclass
class Table:
    """A folder with builds, and the report that is searched with."""

    runs: DirectRuns
    folder: Path

    def discovered(
        self, script: str, report: str = REPORT, wish: Wish | None = None, build: str | None = None, **keys: Any
    ) -> tuple[Attempt, Discovery]:
        """What is found for a script, which is put behind `HEAD`."""
        workshop = self.runs.workshop()
        results = workshop.results()
        keys = {"cases": CASES, "failures": ZERO, "env": {"COUNTER": str(self.folder / "count")}, **keys}
        desk = Desk(workshop, results, Wishes(), lambda _event: None)
        look = Look(build)
        wish = wish or Wish(report=report)
        try:
            made, session, number = attempt(desk, self.runs.spec(HEAD + script, **keys), look)
            made = discover(desk, made, session, number, look, wish)
        finally:
            desk.close()
            results.close()
        assert made.discovery is not None
        return made, made.discovery


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with direct_runs(tmp_path, 2) as runs:
        yield Table(runs, tmp_path)


def looks(found: Discovery) -> dict[str, tuple[str, int, int]]:
    return {", ".join(one.changes) or "as it is": (one.shows, one.shown, one.trials) for one in found.tried}


def test_a_variable_that_the_report_names_is_found_confirmed_and_written(table: Table) -> None:
    script = f'if case == "bad" and env("TORCH_SPEED_B") == "2" and not env("TORCH_SPEED_A"):\n    {FAILS}'
    made, found = table.discovered(script, wish=Wish(report=REPORT, writes=True))
    assert found.found == ("env TORCH_SPEED_B=2",)
    assert looks(found) == {
        "as it is": ("passes", 0, 1),
        "env TORCH_SPEED_A=1 TORCH_SPEED_B=2": ("passes", 0, 1),
        "env TORCH_SPEED_A=1": ("passes", 0, 1),
        "env TORCH_SPEED_B=2": ("the failure", 2, 2),
    }
    assert found.fragment is not None
    assert "TORCH_SPEED_B: '2'" in found.fragment
    assert found.written == (str(table.folder / "spec-discovered.yaml"),)
    assert made.next == (f"bisect try {found.written[0]}", f"bisect run {found.written[0]}")
    # What was written is what was tried: nothing of it is run again.
    (read,) = load_all([Path(found.written[0])], channels=names())
    workshop = table.runs.workshop()
    results = workshop.results()
    desk = Desk(workshop, results, Wishes(), lambda _event: None)
    again, _, _ = attempt(desk, read, Look())
    results.close()
    assert (again.trials, again.trials_known) == (0, 3)
    assert [case.state for case in again.cases] == ["pass", "failing"]


def test_a_pair_is_found_when_no_single_change_does_it(table: Table) -> None:
    script = f'if case == "bad" and env("TORCH_SPEED_A") and torch.__version__ == "1.0":\n    {FAILS}'
    made, found = table.discovered(script, "TORCH_SPEED_A=1 python x.py")
    assert found.found == ("env TORCH_SPEED_A=1", "build 1.0")
    assert list(looks(found)) == [
        "as it is", "env TORCH_SPEED_A=1", "repeats 4", "build 1.0", "env TORCH_SPEED_A=1, repeats 4",
        "repeats 4, build 1.0", "env TORCH_SPEED_A=1, build 1.0",
    ]  # fmt: skip
    assert made.next[0].endswith("--discover --write")


def test_a_failing_control_or_another_failure_is_no_reproduction(table: Table) -> None:
    script = f'if env("TORCH_SPEED_A"):\n    {FAILS}if env("TORCH_SPEED_B"):\n    sys.exit("something else")\n'
    _, found = table.discovered(script)
    assert found.found is None
    shown = looks(found)
    assert shown["env TORCH_SPEED_A=1"] == ("not judged", 0, 1)
    assert shown["env TORCH_SPEED_B=2"] == ("another failure", 0, 1)
    details = {one.detail for one in found.tried if one.shows == "not judged"}
    assert details == {
        "the failure shows, but a control does not pass: good (zero: exit status 1: gradient is all zero)"
    }


def test_a_failure_that_comes_and_goes_is_found_by_repeats(table: Table) -> None:
    script = f'if case == "bad" and turn() in (3, 5):\n    {FAILS}'
    _, found = table.discovered(script, report="")
    assert found.found == ("repeats 4",)
    assert found.is_flaky
    assert found.fragment == "flaky: 'yes'\n"
    assert looks(found)["repeats 4"] == ("the failure", 2, 4)


def test_what_shows_once_is_not_believed(table: Table) -> None:
    script = f'if case == "bad" and env("TORCH_SPEED_A") and turn() == 1:\n    {FAILS}'
    _, found = table.discovered(script, report="TORCH_SPEED_A=1 python x.py")
    assert found.found is None
    assert looks(found)["env TORCH_SPEED_A=1"] == ("the failure", 1, 5)


def test_a_build_that_the_spec_names_is_tried(table: Table) -> None:
    script = f'if case == "bad" and torch.__version__ == "1.0":\n    {FAILS}'
    made, found = table.discovered(script, report="")
    assert found.found == ("build 1.0",)
    assert found.fragment is None
    assert made.next[0].endswith("--build 1.0")


def test_the_limits_hold_and_what_shows_already_is_said(table: Table) -> None:
    _, found = table.discovered("", wish=Wish(Limits(looks=1), REPORT))
    assert (found.found, found.trials) == (None, 1)
    assert found.left > 0
    assert "more were not tried within the limits" in found.sentence
    _, found = table.discovered(f'if case == "bad":\n    {FAILS}')
    assert found.found == ()
    assert looks(found) == {"as it is": ("the failure", 1, 1)}


def test_a_run_that_saw_no_failure_offers_it(table: Table) -> None:
    spec = table.runs.spec("print()", title="a gradient is zero")
    (report,) = run_specs(table.runs.workshop(), [spec], Wishes(), lambda _event: None)
    assert report.outcome == "no change"
    assert any(f"`bisect try {spec.path} --discover` looks for" in text for text in report.advice)


def test_no_file_of_others_is_replaced(table: Table) -> None:
    (table.folder / "spec-discovered.yaml").write_text("name: mine\n")
    script = f'if case == "bad" and env("TORCH_SPEED_A"):\n    {FAILS}'
    with pytest.raises(OutputNotWritten):
        table.discovered(script, wish=Wish(report=REPORT, writes=True))


def test_the_runner_makes_a_spec_of_its_own(table: Table) -> None:
    """Through the parts, since no toy has a dtype: what is written has the repro that was tried."""
    from bisect_tool.runs.trying.axes import Effect
    from bisect_tool.runs.trying.configuring import RUNNER, SOURCE, changed_repro, changed_spec, fragment, whole

    read = table.runs.spec("print()", cases=CASES)
    repro = read_repro(read)
    effect = Effect(runner=("--dtype", "float64"))
    changed = changed_spec(read, repro, effect)
    (table.folder / "other.yaml").write_text(whole(changed, "a comment", is_flaky=False))
    (table.folder / RUNNER).write_bytes(SOURCE.read_bytes())
    (written,) = load_all([table.folder / "other.yaml"], channels=names())
    assert written.spec.command == ("python", RUNNER, "--dtype", "float64", "repro.py")
    assert read_repro(written).digest == changed_repro(repro, effect).digest
    pasted = fragment(read, changed, is_flaky=False)
    assert pasted.startswith(f"# instead of `script: repro.py`; {RUNNER} lies beside the spec\n")
