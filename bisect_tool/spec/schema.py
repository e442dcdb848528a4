"""The JSON Schema of a spec, so that editors complete and check it."""

from __future__ import annotations

from typing import Any

from bisect_tool.spec.model import Spec

# What a spec takes as one word or a list of words.
ONE_OR_MANY = frozenset({"channel", "device", "command", "as_is", "hold", "look_at"})
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema, Draft 2020-12. What a spec takes as text may be written as a number (`from: 2.11`)."""
    schema = Spec.model_json_schema(by_alias=True)
    schema = {"$schema": DIALECT, "title": "A spec of bisect", **{k: v for k, v in schema.items() if k != "title"}}
    for part in (schema, *schema["$defs"].values()):
        for name, field in part.get("properties", {}).items():
            _widen(field)
            if name in ONE_OR_MANY:
                _or_one(field)
            field.pop("title", None)
    schema["oneOf"] = [{"required": ["script"]}, {"required": ["command"]}]
    schema["examples"] = [
        {
            "name": "zero-gradient",
            "from": "2.11",
            "to": "2.15",
            "script": "repro.py",
            "cases": [{"name": "eager", "args": ["--eager"], "role": "control"}, {"name": "inductor"}],
        }
    ]
    return schema


def _widen(field: dict[str, Any]) -> None:
    """Where text is expected, YAML writes numbers and booleans without quotes."""
    for part in (field, field.get("items"), field.get("additionalProperties"), *field.get("anyOf", ())):
        if isinstance(part, dict) and part.get("type") == "string":
            part["type"] = ["string", "number", "boolean"]


def _or_one(field: dict[str, Any]) -> None:
    """A list of words may be written as one word."""
    kept = {key: field.pop(key) for key in ("type", "items", "minItems", "anyOf") if key in field}
    many = kept.get("anyOf", [kept])
    items = next(part["items"] for part in many if "items" in part)
    field["anyOf"] = [items, *many]
