from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import check_jsonschema
import pytest
import yaml
from jsonschema import Draft7Validator

from tests.deploy.schemas import DEPLOY
from tests.rig.scripted_bisect import calls, scripted_bisect

ACTION = DEPLOY / "action" / "action.yml"
WORKFLOW = DEPLOY / "action" / "example-workflow.yml"
STEP = DEPLOY / "action" / "run"
VENDORED = Path(check_jsonschema.__file__).parent / "builtin_schemas" / "vendor"


class Runner:
    """The step "Run" with the variables of a runner."""

    def __init__(self, folder: Path, told: str, reports: dict[str, str] | None = None, **inputs: str) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("BISECT_", "GITHUB_", "RUNNER_"))
        }
        self.environ = {
            **kept,
            "GITHUB_ACTION_PATH": str(STEP.parent),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "RUNNER_TEMP": str(folder / "temp"),
            "BISECT_ACTION_PROGRAM": str(scripted_bisect(folder, told, reports)),
            "BISECT_ACTION_SPECS": "specs\n",
            **{f"BISECT_ACTION_{name.upper()}": value for name, value in inputs.items()},
        }

    def run(self) -> int:
        return subprocess.run(["bash", STEP], env=self.environ, capture_output=True, timeout=60, check=False).returncode

    @property
    def words(self) -> list[str]:
        (call,) = calls(self.folder)
        return [str(word) for word in call["words"]]

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text()


def test_inputs_become_words_of_bisect(tmp_path: Path) -> None:
    runner = Runner(tmp_path, "0", specs="a spec\nother.yaml\n", channel="nightly", from_="", device="cpu")
    assert runner.run() == 0
    out = f"{runner.workspace}/bisect-results"
    assert runner.words == [
        "batch",
        "--plain",
        "--out",
        out,
        "--channel=nightly",
        "--device=cpu",
        "--",
        "a spec",
        "other.yaml",
    ]
    assert runner.output == f"status=0\nresults={out}\n"


def test_an_input_never_becomes_a_command_or_an_option(tmp_path: Path) -> None:
    runner = Runner(tmp_path, "0", specs="$(touch broken); `touch broken`\n--fresh\n", channel="x; touch broken")
    runner.run()
    assert runner.words[-3:] == ["--", "$(touch broken); `touch broken`", "--fresh"]
    assert "--channel=x; touch broken" in runner.words
    assert not list(tmp_path.rglob("broken"))


def test_an_output_cannot_be_forged_by_a_name_of_two_lines(tmp_path: Path) -> None:
    runner = Runner(tmp_path, "0", out="results\nstatus=0")
    assert (runner.run(), calls(tmp_path)) == (2, [])


def test_what_is_known_is_kept_apart_from_what_can_be_made_again(tmp_path: Path) -> None:
    Runner(tmp_path, "0").run()
    (call,) = calls(tmp_path)
    assert call["environ"]["BISECT_STORE"] == f"sqlite:///{tmp_path}/temp/bisect/store/results.sqlite"
    assert call["environ"]["BISECT_CACHE"] == f"{tmp_path}/temp/bisect/cache"


@pytest.mark.parametrize(
    ("status", "accept", "ends"), [("3", "0 3 4", 0), ("5", "0 3 4", 5), ("3", "0", 3), ("26", "0 3 4", 26)]
)
def test_only_accepted_statuses_pass(tmp_path: Path, status: str, accept: str, ends: int) -> None:
    runner = Runner(tmp_path, status, accept=accept)
    assert runner.run() == ends
    assert f"status={status}\n" in runner.output


def test_reports_become_the_summary(tmp_path: Path) -> None:
    runner = Runner(tmp_path, "0", {"b": "# second\n", "a": "# first\n"})
    runner.run()
    assert runner.summary == "# first\n\n# second\n\n"


def test_a_summary_stays_below_what_github_takes(tmp_path: Path) -> None:
    runner = Runner(tmp_path, "0", {"a": "x" * 600_000, "b": "y" * 600_000})
    runner.run()
    assert "y" not in runner.summary.partition("More in the results")[0]
    assert len(runner.summary) < 1_000_000


def test_a_cancelled_job_stops_bisect_cleanly(tmp_path: Path) -> None:
    runner = Runner(tmp_path, "wait")
    process = subprocess.Popen(["bash", STEP], env=runner.environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert "status=130" in runner.output


def violations(document: Any, schema: str) -> list[str]:
    vendored = json.loads((VENDORED / f"{schema}.json").read_text(encoding="utf-8"))
    return [error.message for error in Draft7Validator(vendored).iter_errors(document)]


def test_the_action_and_the_workflow_fit_githubs_schemas() -> None:
    assert violations(yaml.safe_load(ACTION.read_text()), "github-actions") == []
    workflow = yaml.safe_load(WORKFLOW.read_text())
    workflow["on"] = workflow.pop(True)  # YAML 1.1 reads `on` as a truth value, GitHub as a word
    assert violations(workflow, "github-workflows") == []


def test_the_schema_finds_a_wrong_key() -> None:
    action = yaml.safe_load(ACTION.read_text())
    action["runs"]["steps"][0]["use"] = action["runs"]["steps"][0].pop("uses")
    assert violations(action, "github-actions")


def test_no_expression_stands_in_a_command() -> None:
    """What stands in `run:` is put together before the shell sees it: an input there would be a command."""
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert len(commands) == 2
    assert not [command for command in commands if "${{" in command]


def test_every_action_that_is_used_is_named_by_its_commit() -> None:
    used = re.findall(r"uses: (\S+)", ACTION.read_text() + WORKFLOW.read_text())
    others = [name for name in used if not name.startswith("./")]
    assert len(others) == 6
    assert [name for name in others if not re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", name)] == []


def test_every_input_reaches_the_step_and_nothing_else_does() -> None:
    action = yaml.safe_load(ACTION.read_text())
    used = set(re.findall(r"inputs\.([\w-]+)", ACTION.read_text()))
    assert used == set(action["inputs"])
    assert all(one["description"] for one in action["inputs"].values())
