"""From a spec to a query: the digest of its repro and what it asks for. The repro itself goes nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bisect_tool.builds.channel import names
from bisect_tool.service.finding import AskedCase, AskedSpec, By, Query
from bisect_tool.spec.asked_identity import beside_of, naming_of
from bisect_tool.spec.model import Role, Spec
from bisect_tool.spec.reading import load_all
from bisect_tool.spec.repro import case_digest, read_repro


def query_of(path: Path, narrowed: Mapping[str, Any]) -> Query:
    """The query for a spec, its folder or a script; `narrowed` as in `Query`. Raises `SpecError`."""
    (read,) = load_all([path], channels=names())
    spec = read.spec
    package = narrowed.get("package") or spec.package
    own = {
        **narrowed,
        "package": package,
        "channels": spec.channel,
        "from_": spec.from_,
        "to": spec.to,
        "label": spec.name,
        "asked": _asked(spec),
    }
    return Query(read_repro(read).digest, By.SPEC, **own)


def _asked(spec: Spec) -> AskedSpec:
    cases = (
        AskedCase(case.name, case_digest(case, spec), case.role is Role.CONTROL, bool(spec.metrics_of(case)))
        for case in spec.cases
    )
    return AskedSpec(tuple(cases), beside_of(spec), naming_of(spec), spec.variant, spec.device, spec.python)
