"""`bisect try` and `bisect shell` as a user runs them, over toy builds, with uv."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.integration.conftest import Place, failing, history
from tests.rig.wheel_maker import WheelFault

CASES = [{"name": "good", "args": ["good"], "role": "control"}, {"name": "main", "args": ["main"]}]
PATIENCE = 120.0  # seconds for a screen to show something
# The terminal becomes that of the new session, so that Ctrl-C reaches whoever is in its foreground.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
WAITS = """import time
try:
    print("star" + "ted", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    raise SystemExit(3)
"""


def published(place: Place) -> Path:
    place.publish(history(3, failing([1, 2])))
    return place.spec(cases=CASES, failures=[{"name": "zero", "match": "all zero"}])


def test_the_newest_build_is_tried(place: Place) -> None:
    spec = published(place)
    ran = place.run("try", spec, "--json", place.root / "try.json", "--quiet")
    assert ran.status == 0, ran.err
    assert "✗ main  test     failing" in ran.out
    assert "zero: RuntimeError: gradient is all zero" in ran.out
    assert f"bisect run {spec}" in ran.out
    made = json.loads((place.root / "try.json").read_text())
    assert (made["build"]["version"], made["controls_pass"], made["trials"]) == ("1.2", True, 2)


def test_a_build_that_cannot_be_used_and_one_that_is_not_there(place: Place) -> None:
    place.publish(history(2, {}, broken={1: [WheelFault.NO_MODULE]}))
    spec = place.spec()
    ran = place.run("try", spec, "--quiet")
    assert ran.status == 5
    assert "=> this build cannot be used:" in ran.out
    assert place.run("try", spec, "--build", "1.7", "--quiet").status == 12
    assert place.run("shell", "1.1", spec, "--quiet", "--", "true").status == 5


def test_a_command_runs_in_a_private_copy(place: Place) -> None:
    published(place)
    words = ("shell", "1.1", "--package", "toy", "--quiet", "--")
    write = "import toy, sys; open(toy.__file__, 'a').write('# edited'); print(toy.__version__); sys.exit(7)"
    ran = place.run(*words, "python", "-c", write)
    assert (ran.status, ran.out) == (7, "1.1\n")
    read = (
        "import toy, os; print(open(toy.__file__).read().count('edited'), os.environ['HOME'].startswith(os.getcwd()))"
    )
    assert place.run(*words, "python", "-c", read).out == "0 True\n"
    assert list(place.cache.glob("environments/*/scratch/copy-*")) == []


class Screen:
    """A terminal with a `bisect` on it, which goes with it."""

    def __init__(self, place: Place, *words: str | Path) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *place.command(*words)], stdin=theirs, stdout=theirs, stderr=theirs,
            cwd=place.root, start_new_session=True, env={**place.environ(), "SHELL": "/bin/bash", "TERM": "dumb"},
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            os.close(self.ours)

    def wait_for(self, pattern: str) -> None:
        """Read until `pattern` shows in what was not waited for before."""
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self.seen)) is None:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.ours], [], [], 1.0)[0]:
                self.seen += os.read(self.ours, 4096).decode()
        self.seen = self.seen[found.end() :]

    def type(self, text: str) -> None:
        """As a user types it."""
        os.write(self.ours, text.encode())

    def end(self) -> int:
        """Its exit status, with everything that it still prints."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.seen
            with suppress(OSError):
                if select.select([self.ours], [], [], 0.1)[0]:
                    self.seen += os.read(self.ours, 4096).decode()
        os.close(self.ours)
        return self.process.returncode


def test_a_shell_on_a_terminal_names_the_build_and_takes_ctrl_c(place: Place) -> None:
    published(place)
    with Screen(place, "shell", "1.1", "--package", "toy", "--quiet") as screen:
        screen.wait_for(r"\(toy 1\.1\) [^$#]*[$#] ")
        screen.type("python -c 'import toy; print(\"is\", toy.__version__)'\n")
        screen.wait_for(r"is 1\.1\r\n")
        screen.wait_for(r"\(toy 1\.1\)")
        # From inside the command: a shell that is still starting one may swallow the signal.
        screen.type("sh -c 'echo started; exec sleep 600'\n")
        screen.wait_for(r"started\r\n")
        screen.type("\x03")
        screen.wait_for(r"\(toy 1\.1\)")  # the command is gone, the shell is not
        screen.type("exit 9\n")
        assert screen.end() == 9


def test_ctrl_c_goes_to_a_command_and_its_status_comes_back(place: Place) -> None:
    published(place)
    with Screen(place, "shell", "1.1", "--package", "toy", "--quiet", "--", "python", "-c", WAITS) as screen:
        screen.wait_for("started")
        screen.type("\x03")
        assert screen.end() == 3
