"""What verdicts of a spec depend on besides builds, machine and repro, as digests: so that two specs can be compared."""

from __future__ import annotations

import hashlib
import json

from bisect_tool.spec.model import Spec


def beside_of(spec: Spec) -> str:
    """Sixteen digits over everything that is installed beside a build; empty where the packages of a machine belong to it."""
    if spec.base == "system":
        return ""
    return _digest([spec.package, sorted(spec.requires), sorted(spec.hold), sorted(spec.as_is)])


def naming_of(spec: Spec) -> str:
    """Sixteen digits over what makes two failures one: the names that the spec gives them, and its limits for numbers."""
    names = [[one.name, one.match] for one in spec.failures]
    return _digest([names, [one.model_dump(mode="json") for one in spec.metrics]])


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
