"""What verdicts of a spec depend on besides builds, machine and repro, as digests: so that two specs can be compared."""

from __future__ import annotations

import hashlib
import json

from bisect_tool.spec.model import Spec
from bisect_tool.spec.repro import case_digest

OF_MACHINE = "machine "


def beside_of(spec: Spec) -> str:
    """Sixteen digits over everything that is installed beside a build.

    `OF_MACHINE` stands before them where the packages of a machine belong to it, too, which nobody else knows.
    """
    installed = [spec.package, sorted(spec.requires), sorted(spec.hold), sorted(spec.as_is)]
    return OF_MACHINE + _digest(["system", *installed]) if spec.base == "system" else _digest(installed)


def naming_of(spec: Spec) -> str:
    """Sixteen digits over what makes two failures one: the names that the spec gives them, and its limits for numbers."""
    names = [[one.name, one.match] for one in spec.failures]
    of_case = {case.name: case_digest(case, spec) for case in spec.cases}  # what a case is called does not matter
    metrics = [
        {**one.model_dump(mode="json"), "case": None if one.case is None else of_case.get(one.case, one.case)}
        for one in spec.metrics
    ]
    flaky = [str(spec.flaky)] if spec.flaky != Spec.model_fields["flaky"].default else []
    return _digest([names, metrics, *flaky])


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
