"""How a shell is started so that its prompt names the build, whatever the user's own start files would do.

The trial's `HOME` is an empty folder, so that those are not read: they could change PATH or variables, and the shell would not
show what a trial sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FALLBACK = "/bin/sh"


@dataclass(frozen=True, slots=True)
class Start:
    """The words that start a shell, and the variables that it needs besides."""

    words: tuple[str, ...]
    variables: Mapping[str, str]


def start_of(shell: str, label: str, folder: Path, *, is_interactive: bool) -> Start:
    """How `shell`, a program, is started; its start files are written into `folder`. `label` comes before the prompt."""
    if not is_interactive:
        return Start((shell,), {})  # which reads commands from the standard input
    plain = "".join(character for character in label if character.isalnum() or character in " .+_-:,")
    match Path(shell).name:
        case "bash":
            rc = _written(folder / "bashrc", f"PS1='({plain}) \\W \\$ '\n")
            return Start((shell, "--noprofile", "--rcfile", str(rc), "-i"), {})
        case "zsh":
            _written(folder / ".zshrc", f"PROMPT='({plain}) %1~ %# '\n")
            return Start((shell, "-i"), {"ZDOTDIR": str(folder)})
        case "fish":
            prompt = f"function fish_prompt; echo -n '({plain}) '(prompt_pwd)'> '; end"
            return Start((shell, "--private", "--interactive", "--init-command", prompt), {})
        case _:
            # POSIX: an interactive shell reads the file that ENV names.
            rc = _written(folder / "shrc", f"PS1='({plain}) $ '\n")
            return Start((shell, "-i"), {"ENV": str(rc), "PS1": f"({plain}) $ "})


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
