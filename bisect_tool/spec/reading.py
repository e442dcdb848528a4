"""Reading specs: every mistake of every file at once, each with its place, what was expected, and the likely word."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bisect_tool.errors import SpecError
from bisect_tool.spec import meaning
from bisect_tool.spec.document import UnreadableError, parse_document, plain
from bisect_tool.spec.mistake import (
    COMMAND_LINE,
    Location,
    Mistake,
    SpecProblems,
    described,
    in_order,
    likely_word,
    listed,
    quoted,
    spec_error,
)
from bisect_tool.spec.model import Case, Metric, NamedFailure, Samples, Spec
from bisect_tool.spec.salvage import without

MOST_BYTES = 1_000_000
YAML = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class ReadSpec:
    """A spec with the file that it came from; `folder` is what its paths are relative to."""

    spec: Spec
    path: Path
    folder: Path


# What pydantic expected, by its name of the mistake, in plain words.
_EXPECTED = {
    "string_type": "text",
    "string_unicode": "text",
    "string_too_short": "text that is not empty",
    "string_too_long": "text of at most {max_length} characters",
    "bool_type": "`true` or `false`",
    "bool_parsing": "`true` or `false`",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "greater_than": "a number greater than {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than_equal": "a number of at most {le:g}",
    "tuple_type": "a list",
    "too_short": "at least one entry",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
}


class _Refused(Exception):
    def __init__(self, problems: SpecProblems) -> None:
        super().__init__(str(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a spec is checked against, and what the command line says instead of it."""

    channels: Collection[str]
    changes: Mapping[str, Any]
    further: Callable[[Spec], Iterable[Mistake]] = lambda _spec: ()

    def flag_of(self, at: Location, content: object) -> str | None:
        """The flag that the value at a place of the changed content came from, None for a value of the spec."""
        key = str(at[0]) if at else ""
        if key not in self.changes:
            return None
        if key == "requires" and isinstance(content, dict) and len(at) > 1:
            own = len(content["requires"]) - len(self.changes[key])
            return None if isinstance(at[1], int) and at[1] < own else f"--{key}"
        return f"--{key.replace('_', '-')}"

    def apply(self, content: object) -> object:
        """The content with the changes; requirements are added, everything else is replaced."""
        if not isinstance(content, dict) or not self.changes:
            return content
        changed = {**content, **self.changes}
        own = content.get("requires", [])
        if "requires" in self.changes and isinstance(own, (list, tuple)):
            changed["requires"] = [*own, *self.changes["requires"]]
        return changed


def load_all(
    paths: Sequence[Path],
    *,
    channels: Collection[str],
    changes: Mapping[str, Any] | None = None,
    further: Callable[[Spec], Iterable[Mistake]] = lambda _spec: (),
) -> list[ReadSpec]:
    """Read every path: a spec, a folder with a `spec.yaml`, or a plain script.

    `changes` is what the command line says instead, by the key of the spec (`from_` for `from`); None leaves a value. It
    is checked like the spec itself. `further` finds more mistakes in a spec, of a place where not everything is allowed; what
    it says about a key is said instead of anything else.

    Raises `SpecError` with every mistake of every one.
    """
    given = {key.rstrip("_"): value for key, value in (changes or {}).items() if value not in (None, ())}
    rules = _Rules(channels, given, further)
    found: list[ReadSpec] = []
    problems: list[SpecProblems] = []
    for path in paths:
        try:
            found.append(_load(path, rules))
        except _Refused as refused:
            problems.append(refused.problems)
    if problems:
        raise spec_error(problems)
    return _with_distinct_names(found)


def spec_of_flags(changes: Mapping[str, Any], *, channels: Collection[str]) -> Spec:
    """What the command line says without a spec, as a spec whose repro does nothing; `changes` as in `load_all`.

    Raises `SpecError` with every mistake.
    """
    given = {key.rstrip("_"): value for key, value in changes.items() if value not in (None, ())}
    nothing = {"name": "command-line", "command": ["true"]}
    try:
        return _checked(nothing, COMMAND_LINE, Path.cwd(), _Rules(channels, given)).spec
    except _Refused as refused:
        raise spec_error([refused.problems]) from refused


def _load(path: Path, rules: _Rules) -> ReadSpec:
    if meaning.exists(path) and path.is_dir():
        path /= "spec.yaml"
    if not meaning.exists(path):
        raise _one(path, Mistake("no such file", "a spec or a script", likely=_near(path)))
    if path.suffix.lower() in YAML:
        return _load_spec(path, rules)
    return _load_script(path, rules)


def _load_script(path: Path, rules: _Rules) -> ReadSpec:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._")[:100] or "repro"
    return _checked({"name": name, "script": path.name}, path, path.parent, rules)


def _load_spec(path: Path, rules: _Rules) -> ReadSpec:
    content = _read_bytes(path)
    try:
        document = parse_document(content)
    except UnreadableError as error:
        raise _one(path, error.mistake) from error
    found = plain(document.root)
    if document.mistakes:
        # Go on, so that the user sees all mistakes; the tree holds what could be read.
        also = _mistakes_of(found, path, rules)
        raise _Refused(SpecProblems(path, in_order([*document.mistakes, *_placed(also, document.line_of)])))
    try:
        return _checked(found, path, path.parent, rules)
    except _Refused as refused:
        placed = _placed(refused.problems.mistakes, document.line_of)
        raise _Refused(SpecProblems(path, in_order(placed))) from refused


def _read_bytes(path: Path) -> bytes:
    if not path.is_file():
        raise _one(path, Mistake("no regular file", "a file or a folder with a `spec.yaml`"))
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise _one(path, Mistake(f"a file of {size / 1e6:.0f} MB", "a spec of at most 1 MB"))
        return path.read_bytes()
    except OSError as error:
        raise _one(path, Mistake(f"a file that cannot be read ({error.strerror})", "a readable file")) from error


def _placed(mistakes: Sequence[Mistake], line_of: Any) -> list[Mistake]:
    return [one if one.line or one.flag else replace(one, line=line_of(one.at)) for one in mistakes]


def _mistakes_of(content: object, path: Path, rules: _Rules) -> tuple[Mistake, ...]:
    try:
        _checked(content, path, path.parent, rules)
    except _Refused as refused:
        return refused.problems.mistakes
    return ()


def _checked(content: object, path: Path, folder: Path, rules: _Rules) -> ReadSpec:
    """The spec, or `_Refused` with every mistake: those of its shape and, where that allows, those of its meaning."""
    content = rules.apply(content)
    spec, mistakes = _validated(content)
    mistakes += meaning.mistakes(content if isinstance(content, dict) else {}, spec, folder, rules.channels)
    further = [*rules.further(spec)] if spec is not None else []
    mistakes = [one for one in mistakes if one.at not in {other.at for other in further}] + further
    if mistakes or spec is None:
        named = [replace(one, flag=rules.flag_of(one.at, content)) for one in mistakes]
        raise _Refused(SpecProblems(path, in_order(named)))
    return ReadSpec(spec, path, folder)


def _validated(content: object) -> tuple[Spec | None, list[Mistake]]:
    """The spec and the mistakes of its shape; with mistakes, the spec is what is left without them.

    The second round finds what pydantic looks at only when every key is right: that there is one repro.
    """
    mistakes: list[Mistake] = []
    for _ in range(3):
        try:
            return Spec.model_validate(content), mistakes
        except ValidationError as error:
            details = _causes(error.errors(include_url=False))
        found = [_explained(detail) for detail in details]
        mistakes += found
        if not isinstance(content, dict):
            break
        content = without(content, [one.at for one in found])
    return None, mistakes


def _causes(details: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Without the lists that are too short only because the mistakes inside them leave nothing."""
    inside = {detail["loc"][:end] for detail in details for end in range(len(detail["loc"]))}
    return [detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in inside]


def _explained(detail: ErrorDetails) -> Mistake:
    """A mistake that pydantic found, in plain words."""
    at = tuple("from" if part == "from_" else part for part in detail["loc"] if part != "function-before")
    given, context = detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            key = str(at[-1])
            known = _keys_at(at[:-1])
            return Mistake(
                f"the unknown key {quoted(key)}", f"one of {listed(known)}", at, likely=likely_word(key, known)
            )
        case "missing":
            return Mistake("nothing", "a value, it is required", at)
        case "literal_error" | "enum":
            allowed = [word.strip(" '") for word in re.split(r",| or ", str(context.get("expected", "")))]
            likely = likely_word(given, allowed) if isinstance(given, str) else None
            return Mistake(described(given), listed(allowed), at, likely=likely)
        case "string_pattern_mismatch":
            return Mistake(described(given), "letters, digits, `.`, `_` and `-`, beginning with a letter or digit", at)
        case "value_error":
            found = described(given) if at else "both" if "script" in given and "command" in given else "neither"
            return Mistake(found, str(context.get("error", detail["msg"])), at)
        case kind:
            expected = _EXPECTED[kind].format_map(context) if kind in _EXPECTED else detail["msg"]
            return Mistake(described(given), expected, at)


def _keys_at(at: Location) -> list[str]:
    parts: dict[str, type[BaseModel]] = {"cases": Case, "failures": NamedFailure, "metrics": Metric}
    model = Samples if at[-1:] == ("trials",) else parts.get(str(at[0]), Spec) if at else Spec
    return [field.alias or name for name, field in model.model_fields.items()]


def _with_distinct_names(found: list[ReadSpec]) -> list[ReadSpec]:
    """Several specs of one run must have different names, because the names become file names."""
    problems = []
    seen: dict[str, Path] = {}
    for read in found:
        other = seen.setdefault(read.spec.name, read.path)
        if other is not read.path:
            mistake = Mistake(
                f'the name "{read.spec.name}", which {other} has too', "different names in one run", ("name",)
            )
            problems.append(SpecProblems(read.path, (mistake,)))
    if problems:
        raise spec_error(problems)
    return found


def _near(path: Path) -> str | None:
    try:
        names = [other.name for other in path.parent.iterdir()]
    except OSError:
        return None
    close = get_close_matches(path.name, names, 1)
    return str(path.parent / close[0]) if close else None


def _one(path: Path, mistake: Mistake) -> _Refused:
    return _Refused(SpecProblems(path, (mistake,)))


__all__ = ["ReadSpec", "SpecError", "load_all", "spec_of_flags"]
