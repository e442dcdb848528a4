"""A Dockerfile as stages and steps, as far as ours goes; anything else is refused, so that no step is passed over."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

KNOWN = frozenset(
    {"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "HEALTHCHECK", "LABEL", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME"}
    | {"WORKDIR"}
)


class NotUnderstood(Exception):
    """An instruction that is not carried out here."""


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction: its word, its text with lines joined, and the number of its first line."""

    word: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Stage:
    """What stands from one FROM to the next. `base` is an image, or the name of an earlier stage."""

    name: str
    base: str
    steps: tuple[Step, ...]


@dataclass(slots=True)
class Settings:
    """What the steps have set so far; a stage takes over that of its base. `labels` and the last words are for looking at."""

    shell: list[str] = field(default_factory=lambda: ["/bin/sh", "-c"])
    environ: dict[str, str] = field(
        default_factory=lambda: {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    )
    arguments: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    volumes: list[str] = field(default_factory=list)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    stop_signal: str = "SIGTERM"

    def copy(self) -> Settings:
        """One that can change by itself; arguments end with their stage."""
        return Settings(
            list(self.shell), dict(self.environ), {}, dict(self.labels), self.folder, self.user, list(self.volumes),
            list(self.entrypoint), list(self.command), list(self.health), self.stop_signal,
        )  # fmt: skip

    def words(self, text: str) -> str:
        """`text` with `$NAME` and `${NAME}` replaced. Raises `NotUnderstood` for a name that nothing has set."""
        known = {**self.arguments, **self.environ}

        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            if name not in known:
                raise NotUnderstood(f"nothing has set ${name}")
            return known[name]

        return re.sub(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", value, text)

    def set(self, step: Step) -> None:
        """Take over a step that only sets something. Raises `NotUnderstood` for any other."""
        match step.word:
            case "ARG":
                name, _, default = step.text.partition("=")
                self.arguments.setdefault(name, default)
            case "ENV":
                self.environ |= pairs(self.words(step.text))
            case "LABEL":
                self.labels |= pairs(self.words(step.text))
            case "SHELL":
                self.shell = array(step)
            case "USER":
                self.user = self.words(step.text)
            case "WORKDIR":
                self.folder = str(Path(self.folder) / self.words(step.text))
            case "VOLUME":
                self.volumes += array(step)
            case "ENTRYPOINT":
                self.entrypoint = array(step)
            case "CMD":
                self.command = array(step)
            case "HEALTHCHECK":
                self.health = array(Step("CMD", step.text.partition("CMD ")[2], step.line))
            case "STOPSIGNAL":
                self.stop_signal = step.text
            case _:
                raise NotUnderstood(f"line {step.line}: {step.word}")


def parse(text: str) -> tuple[Stage, ...]:
    """The stages in their order. Raises `NotUnderstood`."""
    stages: list[tuple[str, str, list[Step]]] = []
    for step in _steps(text):
        if step.word == "FROM":
            words = step.text.split()
            if len(words) != 3 or words[1].upper() != "AS":
                raise NotUnderstood(f"line {step.line}: FROM without a name for its stage")
            stages.append((words[2], words[0], []))
        elif step.word not in KNOWN or not stages:
            raise NotUnderstood(f"line {step.line}: {step.word}")
        else:
            stages[-1][2].append(step)
    return tuple(Stage(name, base, tuple(steps)) for name, base, steps in stages)


def needed(stages: tuple[Stage, ...], target: str) -> tuple[Stage, ...]:
    """The stages that `target` is made of, itself last."""
    by_name = {stage.name: stage for stage in stages}
    wanted: set[str] = set()
    open_ = [target]
    while open_:
        stage = by_name[open_.pop()]
        if stage.name not in wanted:
            wanted.add(stage.name)
            sources = (stage.base, *(copied_from(step) for step in stage.steps if step.word == "COPY"))
            open_ += [name for name in sources if name in by_name]
    return tuple(stage for stage in stages if stage.name in wanted)


def copied_from(step: Step) -> str | None:
    """The stage that a COPY takes from; None for the files of the checkout."""
    match = re.search(r"(?:^|\s)--from=(\S+)", step.text)
    return match[1] if match else None


def copied(step: Step) -> tuple[list[str], str]:
    """Sources and target of a COPY. Raises `NotUnderstood` for options other than `--from`."""
    words = [word for word in shlex.split(step.text) if not word.startswith("--from=")]
    if any(word.startswith("--") for word in words) or len(words) < 2:
        raise NotUnderstood(f"line {step.line}: COPY {step.text}")
    return words[:-1], words[-1]


def array(step: Step) -> list[str]:
    """The words of an instruction in JSON. Raises `NotUnderstood` for the other form, which needs a shell."""
    try:
        words = json.loads(step.text)
    except ValueError as error:
        raise NotUnderstood(f"line {step.line}: {step.word} is not written as a JSON array") from error
    return [str(word) for word in words]


def pairs(text: str) -> Mapping[str, str]:
    """`A=1 B="two words"` as a mapping."""
    return dict(word.split("=", 1) for word in shlex.split(text))


def _steps(text: str) -> Iterator[Step]:
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        whole = line.strip()
        while whole.endswith("\\"):
            more = next(lines)[1]
            whole = whole[:-1] + ("\\" if more.lstrip().startswith("#") else more.strip())
        word, _, rest = whole.partition(" ")
        yield Step(word.upper(), rest.strip(), number)
