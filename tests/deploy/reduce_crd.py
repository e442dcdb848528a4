"""Makes `rayjob_schema.json` from KubeRay's own definition: `python -m tests.deploy.reduce_crd ray.io_rayjobs.yaml [--write]`.

The definition is in ray-project/kuberay on GitHub, `ray-operator/config/crd/bases/`, and 1.4 MB long, because it spells out
all of a pod in several places. Here such a place says only that it is one, `{"pod": true}`: Kubernetes' own schema checks it.
What is left are the keys of KubeRay, which may not have others beside them, as `kubectl` says with `--validate=strict`.
The one that is here was made from v1.7.0.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

SCHEMA = Path(__file__).with_name("rayjob_schema.json")
VERSION = "v1"
KEPT = ("type", "enum", "required", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern")


def reduced(definition: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of the newest version of a custom resource, with pods left out."""
    version = next(one for one in definition["spec"]["versions"] if one["name"] == VERSION)
    schema = dict(version["schema"]["openAPIV3Schema"])
    schema["properties"] = {name: part for name, part in schema["properties"].items() if name != "status"}
    return _part(schema)


def _part(schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    if "containers" in properties.get("spec", {}).get("properties", {}):
        return {"pod": True}
    found: dict[str, Any] = {name: schema[name] for name in KEPT if name in schema}
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    if properties:
        found["properties"] = {name: _part(part) for name, part in properties.items()}
        found["additionalProperties"] = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    elif isinstance(schema.get("additionalProperties"), dict):
        found["additionalProperties"] = _part(schema["additionalProperties"])
    if "items" in schema:
        found["items"] = _part(schema["items"])
    return found


if __name__ == "__main__":
    made = json.dumps(reduced(yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))), sort_keys=True) + "\n"
    if "--write" in sys.argv:
        SCHEMA.write_text(made, encoding="utf-8")
    else:
        print(made, end="")
