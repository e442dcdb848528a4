"""The reference parts of `docs/`, made from the code. `--check` tells whether they are current instead of writing them."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bisect_tool import errors
from bisect_tool.reports.attempt import attempt_schema
from bisect_tool.reports.checkup import checkup_schema
from bisect_tool.reports.meanings import KINDS, OUTCOMES, STATES
from bisect_tool.reports.report import Report
from bisect_tool.reports.schema import report_schema
from bisect_tool.service.app import description
from bisect_tool.spec.drafting.rules import RULES
from bisect_tool.spec.model import Case, Metric, NamedFailure, Samples, Spec
from bisect_tool.spec.schema import json_schema
from tools.api_page import api_page

DOCS = Path(__file__).resolve().parent.parent / "docs"


def exit_statuses() -> str:
    """One row for each way in which `bisect` ends."""
    lines = [
        "# Exit statuses",
        "",
        "Made from `bisect_tool/errors.py`. Every status has one meaning; 0 to 5 are answers of `bisect run` and",
        "`bisect try`, the others end it early with a message that says what happened, where, and what to do next. `bisect",
        "shell` ends with the status of what ran in it: 128 + N when signal N ended that.",
        "",
        "`bisect batch` ends with 0 when every spec is answered (exact, or nothing changes), 3 when some change is only",
        "narrowed down, 5 when some spec could not be judged, 40 when some spec has no answer at all. What stops it early has",
        "the status that it has in `bisect run`.",
        "",
        "`bisect when` ends with 0 when what was asked for is known, 3 when only something near it or a part of the answer",
        "is, 4 when nothing is.",
        "",
        "| status | name | meaning |",
        "|---|---|---|",
    ]
    meanings = {
        errors.Answered.EXACT: "every change that was found lies between two neighbouring builds; `bisect try`: every case was "
        "judged and no control fails, with `--discover` the failure shows",
        errors.Answered.NARROWED: "a change was found, but at least one end of it is only narrowed down",
        errors.Answered.NO_CHANGE: "every testable build of the range behaves the same; `bisect try --discover`: no "
        "configuration that was tried shows the failure",
        errors.Answered.NOT_JUDGED: "too few builds could be tested to say anything; `bisect try` and `bisect shell`: the "
        "build cannot be used, or a case of it cannot be judged",
    }
    rows = [(int(status), status.name.lower().replace("_", " "), meaning) for status, meaning in meanings.items()]
    rows += [(kind.status, kind.__name__, _first_line(kind)) for kind in _kinds()]
    rows += [
        (
            1,
            "findings",
            "`bisect cache verify` found a changed file, `bisect replay` a decision that differs, `bisect doctor` a problem",
        ),
        (2, "usage", "the command line cannot be understood"),
        (errors.BisectError.status, "defect", "a defect of bisect itself; its traceback is printed"),
    ]
    lines += [f"| {status} | {name} | {meaning} |" for status, name, meaning in sorted(rows)]
    return "\n".join(lines) + "\n"


def _kinds() -> Iterator[type[errors.BisectError]]:
    for _, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.BisectError) and kind is not errors.BisectError:
            yield kind


def _first_line(kind: type) -> str:
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())


def spec_reference() -> str:
    """One row for each key of a spec."""
    lines = [
        "# The keys of a spec",
        "",
        "Made from `bisect_tool/spec/model.py`; `bisect schema` prints the JSON Schema.",
        "",
    ]
    parts = (
        ("A spec", Spec),
        ("A case", Case),
        ("A named failure", NamedFailure),
        ("A metric", Metric),
        ("The trials of a metric", Samples),
    )
    for title, model in parts:
        lines += [f"## {title}", "", "| key | left out | meaning |", "|---|---|---|"]
        for name, field in model.model_fields.items():
            default = "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
            lines.append(f"| `{field.alias or name}` | {default} | {field.description} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _default(value: object) -> str:
    if value is None or value in ((), "", {}):
        return ""
    if isinstance(value, BaseModel):
        return f"`{value}`"
    if isinstance(value, tuple):
        return ", ".join(f"`{getattr(one, 'name', one)}`" for one in value)
    return f"`{value}`"


def init_rules() -> str:
    """One row for each rule of `bisect init`."""
    lines = [
        "# The rules of `bisect init`",
        "",
        "Made from `bisect_tool/spec/drafting/rules.py`. The first column is how a rule is called in the code; `init.md`",
        "explains how they work together.",
        "",
        "| rule | looks at | makes |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {looks} | {makes} |" for name, (looks, makes) in RULES.items()]
    return "\n".join(lines) + "\n"


def words_of_reports() -> str:
    """The words of a report, then every part of the JSON report with its keys."""
    lines = [
        "# States, and the parts of a report",
        "",
        "Made from `bisect_tool/reports/`. The JSON report (`--json FILE`) has `schema_version` 1; `report-schema.json` is its",
        "schema.",
        "",
    ]
    for title, words in (("State of a case on a build", STATES), ("End of an episode", KINDS), ("Outcome", OUTCOMES)):
        lines += [f"## {title}", "", "| word | meaning |", "|---|---|"]
        lines += [*(f"| `{word}` | {meaning} |" for word, meaning in words.items()), ""]
    for part in _parts(Report):
        lines += [f"## `{part.__name__}`", "", inspect.cleandoc(part.__doc__ or ""), "", "| key | type |", "|---|---|"]
        lines += [*(f"| `{field.alias or name}` | {_shown(field.annotation)} |" for name, field in _keys(part)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _keys(part: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    return list(part.model_fields.items())


def _parts(root: type[BaseModel]) -> list[type[BaseModel]]:
    """A model and those that it is made of, each once, in the order in which they are met."""
    found: dict[type[BaseModel], None] = {}
    waiting = [root]
    while waiting:
        part = waiting.pop(0)
        if part not in found:
            found[part] = None
            waiting += [one for _, field in _keys(part) for one in _models(field.annotation)]
    return list(found)


def _models(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [one for argument in get_args(annotation) for one in _models(argument)]


def _shown(annotation: object) -> str:
    """A type in the words of JSON; parts are links to their sections."""
    match get_origin(annotation), get_args(annotation):
        case (None, _) if annotation in _JSON:
            return _JSON[annotation]
        case (None, _) if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
        case (origin, (first, *_)) if origin is tuple:
            return f"list of {_shown(first)}"
        case (origin, (_, second)) if origin in {dict, Mapping}:
            return f"object of {_shown(second)}"
        case (origin, words) if origin is Literal:
            return " or ".join(f"`{word}`" for word in words)
        case (origin, options) if origin in {Union, UnionType}:
            return " or ".join(_shown(option) for option in options)
        case (origin, (first, *_)) if origin is Annotated:
            return _shown(first)
        case _:
            raise TypeError(annotation)


_JSON: dict[object, str] = {
    str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "null", object: "anything",
}  # fmt: skip


PAGES: dict[str, Callable[[], str]] = {
    "api.md": lambda: api_page(description()),
    "exit-statuses.md": exit_statuses,
    "init-rules.md": init_rules,
    "spec.md": spec_reference,
    "states.md": words_of_reports,
    "openapi.json": lambda: json.dumps(description(), indent=1, ensure_ascii=False) + "\n",
    "spec-schema.json": lambda: json.dumps(json_schema(), indent=2) + "\n",
    "report-schema.json": lambda: json.dumps(report_schema(), indent=2) + "\n",
    "doctor-schema.json": lambda: json.dumps(checkup_schema(), indent=2) + "\n",
    "try-schema.json": lambda: json.dumps(attempt_schema(), indent=2) + "\n",
}


def main() -> int:
    """Write the pages, or compare them."""
    stale = []
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"not current: {', '.join(stale)}. Run: python tools/generate_docs.py")  # noqa: T201
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
