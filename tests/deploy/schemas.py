"""What is wrong with a manifest: Kubernetes' own schemas, and for KubeRay's resource that of its operator."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
RAYJOB = ("ray.io/v1", "RayJob")


def documents(path: Path) -> list[dict[str, Any]]:
    """The documents of a file."""
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def faults(document: Mapping[str, Any], kubernetes: str) -> list[str]:
    """Each violation with its place; `kubernetes` is the version whose schemas count (`1.33`)."""
    if (document["apiVersion"], document["kind"]) != RAYJOB:
        return _by_kubernetes(document, kubernetes)
    found = [f"{error.json_path}: {error.message}" for error in _rayjob().iter_errors(document)]
    return found + [
        f"{place}: {fault}"
        for place, template in pods(document)
        for fault in _by_kubernetes({"apiVersion": "v1", "kind": "PodTemplate", "template": template}, kubernetes)
    ]


def pods(document: Mapping[str, Any], place: str = "$") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every template of a pod in a document, with its place."""
    for name, part in document.items():
        parts = enumerate(part) if isinstance(part, list) else [("", part)]
        for number, one in parts:
            if not isinstance(one, dict):
                continue
            where = f"{place}.{name}{f'[{number}]' if isinstance(part, list) else ''}"
            if "containers" in one.get("spec", {}):
                yield where, one
            else:
                yield from pods(one, where)


def _by_kubernetes(document: Mapping[str, Any], version: str) -> list[str]:
    try:
        kubernetes_validate.validate(dict(document), version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{'.'.join(map(str, error.path))}: {error.message}"]
    return []


@cache
def _rayjob() -> Draft202012Validator:
    return Draft202012Validator(json.loads(Path(__file__).with_name("rayjob_schema.json").read_text(encoding="utf-8")))
