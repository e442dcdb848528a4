"""A spec with some changes: what a configuration is run as, and what is written for it, the same in every digit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from bisect_tool.runs.trying.axes import Effect
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import Repro

SOURCE = Path(__file__).with_name("configured.py")
RUNNER = "bisect_configured.py"
PYTHON = "python"


def runs_python(repro: Repro) -> bool:
    """Whether the runner can come between: the command is a script of Python or one of its modules."""
    words = repro.words
    return words[0] == PYTHON and len(words) > 1 and (words[1] == "-m" or not words[1].startswith("-"))


def changed_spec(read: ReadSpec, repro: Repro, effect: Effect) -> ReadSpec:
    """The spec of a configuration; its repro is that of `changed_repro`."""
    spec = read.spec
    update: dict[str, Any] = {}
    if effect.variables:
        update["env"] = {**spec.env, **effect.variables}
    if effect.runner:
        update["script"] = None
        update["command"] = _command(repro, effect)
        update["files"] = tuple(sorted({*(name for name, _ in repro.files), RUNNER}))
    if effect.device is not None:
        update["device"] = (effect.device,)
    if effect.variant is not None:
        update["variant"] = effect.variant
    return ReadSpec(spec.model_copy(update=update), read.path, read.folder)


def changed_repro(repro: Repro, effect: Effect) -> Repro:
    """The files and the command of a configuration."""
    if not effect.runner:
        return repro
    files = sorted([*repro.files, (RUNNER, SOURCE.read_bytes())])
    return Repro(tuple(files), _command(repro, effect))


def _command(repro: Repro, effect: Effect) -> tuple[str, ...]:
    return (PYTHON, RUNNER, *effect.runner, *repro.words[1:])


def fragment(read: ReadSpec, changed: ReadSpec, *, is_flaky: bool) -> str:
    """The keys of a spec that the configuration changes, as YAML to paste; empty when it changes none."""
    before = _keys(read.spec, is_flaky=False)
    keys = {key: value for key, value in _keys(changed.spec, is_flaky=is_flaky).items() if before.get(key) != value}
    gone = [key for key in ("script",) if key in before and key not in _keys(changed.spec, is_flaky=False)]
    comment = "".join(f"# instead of `{key}: {before[key]}`; {RUNNER} lies beside the spec\n" for key in gone)
    return comment + _yaml(keys) if keys else ""


def whole(changed: ReadSpec, comment: str, *, is_flaky: bool) -> str:
    """The whole spec of the configuration as YAML, below a comment."""
    lines = "".join(f"# {line}\n" for line in comment.split("\n"))
    return lines + _yaml(_keys(changed.spec, is_flaky=is_flaky))


def _keys(spec: Spec, *, is_flaky: bool) -> dict[str, Any]:
    """What was given of a spec, in its order, with plain values."""
    told = spec.model_dump(by_alias=True, exclude_defaults=True, exclude_none=True, mode="json")
    told = {key: value[0] if key == "channel" and len(value) == 1 else value for key, value in told.items()}
    return {**told, "flaky": "yes"} if is_flaky else told


def _yaml(keys: Mapping[str, Any]) -> str:
    """One line for each key, and one for each case or failure, as people write specs."""
    lines = []
    for key, value in keys.items():
        if isinstance(value, list) and any(isinstance(one, dict) for one in value):
            lines += [f"{key}:", *(f"  - {_flow(one)}" for one in value)]
        else:
            lines.append(_flow({key: value})[1:-1])
    return "".join(f"{line}\n" for line in lines)


def _flow(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100_000, default_flow_style=True).rstrip(
        "\n"
    )
