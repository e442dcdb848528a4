"""How a program that has the terminal ends, and what is told of it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from bisect_tool.runs.trying.foreground import run_in_foreground
from bisect_tool.runs.trying.shells import start_of


def ran(folder: Path, *words: str) -> int:
    return run_in_foreground(words, {"PATH": os.environ["PATH"]}, folder, ending=signal.SIGTERM)


def test_the_status_is_that_of_a_shell(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert ran(tmp_path, "sh", "-c", "exit 7") == 7
    assert ran(tmp_path, "sh", "-c", "kill -9 $$") == 137
    assert ran(tmp_path, "no-such-command") == 127
    assert ran(tmp_path, str(tmp_path)) == 126
    assert "no-such-command: there is no such command" in capfd.readouterr().err


def test_whoever_is_told_to_end_ends_the_program(tmp_path: Path) -> None:
    parent = os.getpid()
    # The signal comes at once, maybe before the program is known here.
    assert ran(tmp_path, "sh", "-c", f"kill -TERM {parent}; exec sleep 60") == 128 + signal.SIGTERM
    assert ran(tmp_path, "sh", "-c", f"trap 'exit 4' INT; kill -INT {parent}; kill -INT $$; sleep 60") == 4


@pytest.mark.parametrize(
    ("shell", "words", "file", "text"),
    [
        ("/bin/bash", ("--noprofile", "--rcfile", "bashrc", "-i"), "bashrc", "PS1='(toy 1.0) \\W \\$ '\n"),
        ("/usr/bin/zsh", ("-i",), ".zshrc", "PROMPT='(toy 1.0) %1~ %# '\n"),
        ("/bin/dash", ("-i",), "shrc", "PS1='(toy 1.0) $ '\n"),
    ],
)
def test_a_prompt_names_the_build(tmp_path: Path, shell: str, words: tuple[str, ...], file: str, text: str) -> None:
    start = start_of(shell, "toy 1.0'$(rm)", tmp_path, is_interactive=True)
    assert [word.removeprefix(f"{tmp_path}/") for word in start.words] == [shell, *words]
    assert (tmp_path / file).read_text() == text.replace("1.0", "1.0rm")  # nothing that a shell would run


def test_a_shell_without_a_terminal_reads_commands(tmp_path: Path) -> None:
    assert start_of("/bin/bash", "toy 1.0", tmp_path, is_interactive=False).words == ("/bin/bash",)
