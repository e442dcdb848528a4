from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bisect_tool.reports.schema import report_schema
from bisect_tool.spec.schema import json_schema
from tests.cli.sessions import bisect

HEAVY = ("jinja2", "pydantic", "requests", "rich", "sqlalchemy", "uv")


def test_the_schema_of_a_spec_is_printed(tmp_path: Path) -> None:
    done = bisect(tmp_path, "schema")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == json_schema()


def test_the_schema_of_a_report_is_printed(tmp_path: Path) -> None:
    found = json.loads(bisect(tmp_path, "schema", "--report").stdout)
    Draft202012Validator.check_schema(found)
    assert found == json.loads(json.dumps(report_schema()))


def test_help_answers_in_a_blink(tmp_path: Path) -> None:
    assert bisect(tmp_path, "--help").returncode == 0
    took = []
    for _ in range(5):
        begun = children_seconds()
        bisect(tmp_path, "--help")
        took.append(children_seconds() - begun)
    assert min(took) < 0.25


def children_seconds() -> float:
    """Processor time of all processes that were started and have ended: a busy machine makes nothing slower."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("check", "--help"), ("cache", "--help")])
def test_help_imports_nothing_heavy(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bisect_tool", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert "click" in imported
    assert not imported.intersection(HEAVY)


@pytest.mark.parametrize("command", ["run", "check", "schema", "settings"])
def test_an_unknown_option(tmp_path: Path, command: str) -> None:
    done = bisect(tmp_path, command, "--nope")
    assert done.returncode == 2
    assert "--nope" in done.stderr
    assert f"{command} --help" in done.stderr


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("run", "x.yaml", "--timeout", "soon"), 2),
        (("run", "x.yaml", "--timeout", "0"), 2),
        (("run", "x.yaml", "--scan", "-1"), 2),
        (("run", "x.yaml", "--verify", "two"), 18),
        (("run", "x.yaml", "--cache", ""), 18),
        (("run", "x.yaml"), 10),
        (("run", "."), 10),
        (("run", ""), 10),
        (("check", "/dev/null"), 10),
        (("check", "\udce9.yaml"), 10),
        (("check", "x" * 5000), 10),
        (("settings", "extra"), 2),
        (("cache", "prune"), 2),
    ],
)
def test_a_wrong_command_line_gets_a_message(tmp_path: Path, words: tuple[str, ...], status: int) -> None:
    done = bisect(tmp_path, *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert "  next:  " in done.stderr or "--help' for help." in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["MAX_CACHE", "VERIFY"])
def test_a_wrong_variable_gets_a_message(tmp_path: Path, name: str) -> None:
    done = bisect(tmp_path, "settings", **{f"BISECT_{name}": "much"})
    assert done.returncode == 18
    assert f"  where: BISECT_{name}\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_name_and_place_of_every_setting(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("verify = 3\n")
    done = bisect(tmp_path, "settings", "--max-cache", "1GB", BISECT_CONFIG="settings.toml", BISECT_CACHE="/srv/builds")
    rows = [line.rsplit(maxsplit=1) for line in done.stdout.splitlines()]
    assert [(row[0].split()[0], row[-1]) for row in rows] == [
        ("ahead", "default"),
        ("bandwidth", "default"),
        ("cache", "BISECT_CACHE"),
        ("executor", "default"),
        ("github-api", "default"),
        ("index", "default"),
        ("jobs", "default"),
        ("keep-days", "default"),
        ("lease", "default"),
        ("logs", "default"),
        ("max-cache", "--max-cache"),
        ("max-downloads", "default"),
        ("nightly-index", "default"),
        ("ray-address", "default"),
        ("repo", "default"),
        ("reviews", "default"),
        ("sandbox", "default"),
        ("sandbox-shows", "default"),
        ("server", "default"),
        ("store", "default"),
        ("thin", "default"),
        ("token", "default"),
        ("trial-cpu", "default"),
        ("trial-disk", "default"),
        ("trial-file-size", "default"),
        ("trial-memory", "default"),
        ("trial-processes", "default"),
        ("verify", "settings.toml"),
        ("wait-for-gpu", "default"),
        ("watch-days", "default"),
        ("watch-every", "default"),
        ("wheelhouse", "default"),
    ]


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "bisect_tool", "schema", "--report"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 130


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_while_something_is_imported(tmp_path: Path, number: str) -> None:
    # `exec` of a text, as `dataclass` does it: a plain KeyboardInterrupt that passes one makes Python end by the signal.
    stopped = f"""
import signal, click, bisect_tool.cli as cli
@cli.cli.command()
def stop() -> None:
    exec("import signal; signal.raise_signal(signal.{number})")
cli.Commands.get_command = lambda *_: stop
cli.Commands.list_commands = lambda *_: ["stop"]
import sys; sys.argv[1:] = ["stop"]
cli.main()
"""
    (tmp_path / "stopped.py").write_text(stopped)
    done = subprocess.run([sys.executable, "-m", "stopped"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "interrupted" in done.stderr
    assert done.returncode == 130


def test_a_full_disk_under_the_output(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    with full.open("w") as output:
        done = subprocess.run(
            [sys.executable, "-m", "bisect_tool", "schema"],
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 20
    assert done.stderr == "bisect: no space is left\n  next:  make room\n"
