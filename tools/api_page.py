"""The page of `docs/` on the API, made from its OpenAPI description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Described = Mapping[str, Any]
_HEAD = """\
# The API

Made from the OpenAPI description of the server, which each server also gives at `/openapi.json` (here: `openapi.json`).
[service.md](service.md) says how a server is started and what tokens are.

Whoever asks shows a token as `Authorization: Bearer TOKEN`; on a server that is open none is needed. A request that is
not done is answered with problem details ([Problem](#problem), `application/problem+json`): what happened, where, and
what to do next. Besides the statuses that are listed, every request may get 401 (a token is needed), 403 (it does not
allow this, or the request comes from another web site), 422 (mistakes; all of them are listed), 429 (too many requests)
and 503 (the database is away): the last two say in `Retry-After` when to ask again. Times are UTC.
"""
_USUAL = {"401", "403", "422", "429", "503"}


def api_page(description: Described) -> str:
    """The page, with a section for each kind of route and one for each part of what is sent."""
    lines = [_HEAD]
    for tag, routes in _by_tag(description).items():
        lines += [f"## {tag.capitalize()}", ""]
        for method, path, operation in routes:
            lines += _route(method, path, operation)
    lines += ["## Parts", ""]
    for name, part in sorted(description["components"]["schemas"].items()):
        lines += _part(name, part)
    return "\n".join(lines).rstrip() + "\n"


def _by_tag(description: Described) -> dict[str, list[tuple[str, str, Described]]]:
    found: dict[str, list[tuple[str, str, Described]]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            found.setdefault(operation.get("tags", ["other"])[0], []).append((method.upper(), path, operation))
    return found


def _route(method: str, path: str, operation: Described) -> Iterator[str]:
    yield f"### {method} {path}"
    yield ""
    yield " ".join(operation.get("description", "").split())
    yield ""
    parameters = operation.get("parameters", [])
    if parameters:
        yield "| parameter | in | type | meaning |"
        yield "|---|---|---|---|"
        for one in parameters:
            word = ", required" if one.get("required") else ""
            yield f"| `{one['name']}` | {one['in']} | {_type(one['schema'])}{word} | {one.get('description', '')} |"
        yield ""
    if body := operation.get("requestBody"):
        yield f"Takes {' or '.join(_content(kind, one) for kind, one in body['content'].items())}."
        yield ""
    for status, answer in sorted(operation["responses"].items()):
        if status not in _USUAL:
            yield f"- {status}: {_answer(answer)}"
    yield ""


def _answer(answer: Described) -> str:
    text = answer.get("description", "").strip().rstrip(".")
    kinds = [
        _content(kind, one) for kind, one in answer.get("content", {}).items() if kind != "application/problem+json"
    ]
    return ": ".join(part for part in (text, " or ".join(kinds)) if part)


def _content(kind: str, one: Described) -> str:
    schema = one.get("schema", {})
    if "$ref" in schema:
        return f"{_type(schema)} as JSON"
    fields = schema.get("properties") if kind == "multipart/form-data" else None
    return f"`{kind}`" + (f" with the fields {', '.join(f'`{name}`' for name in fields)}" if fields else "")


def _part(name: str, part: Described) -> Iterator[str]:
    yield f"### {name}"
    yield ""
    yield " ".join(part.get("description", "").split())
    yield ""
    if "enum" in part:
        yield f"One of {', '.join(f'`{word}`' for word in part['enum'])}."
    elif "properties" in part:
        yield "| key | type | meaning |"
        yield "|---|---|---|"
        needed = part.get("required", [])
        for key, one in part["properties"].items():
            word = "" if key in needed else ", may be left out"
            yield f"| `{key}` | {_type(one)}{word} | {one.get('description', '')} |"
    yield ""


def _type(schema: Described) -> str:
    """A schema in the words of JSON; parts are links to their sections."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if options := schema.get("anyOf"):
        return " or ".join(_type(one) for one in options)
    if words := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return " or ".join(f"`{word}`" for word in words)
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    names = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
        "object": "object",
    }
    return "time" if schema.get("format") == "date-time" else names.get(str(kind), str(kind))
