"""Whether verdicts that hold in one place are about what a look-up asks. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bisect_tool.service.finding import AskedSpec, Query

_CPU = "cpu"


def is_device(wanted: str | None, device: str) -> bool:
    """Whether a kind of device is the wanted one: `cuda` is any GPU, `cpu` and the name of a GPU are themselves."""
    return wanted is None or device == wanted or (wanted.lower() in {"cuda", "gpu"} and device != _CPU)


def agrees(about: Mapping[str, Any], query: Query) -> bool:
    """Whether what `about` describes (`bisect_tool.runs.record_places`) is the same but for builds and cases."""
    asked = query.asked
    if asked is None or not asked.beside:  # as versions before said it of all specs that use the packages of a machine
        return False
    device = about["device"]
    return bool(
        about["package"] == query.package
        and about["channel"] in query.channels
        and about["variant"] == asked.variant
        and (_CPU if device == _CPU else "cuda") in asked.devices
        and is_device(query.device, device)
        and _is_python(asked.python, about["python"])
        and (about["beside"], about["naming"]) == (asked.beside, asked.naming)
    )


def has_same_cases(about: Mapping[str, Any], asked: AskedSpec) -> bool:
    """Whether the cases are the same, whatever they are called."""
    own = sorted((digest, name in about["controls"]) for name, digest in about["cases"].items())
    return own == sorted((case.digest, case.is_control) for case in asked.cases)


def _is_python(wanted: str | None, identity: str) -> bool:
    """Whether an interpreter, `cpython-3.11.7-x86_64`, is of the wanted version; of a path nobody knows."""
    version = identity.partition("-")[2].partition("-")[0]
    return wanted is None or version == wanted or version.startswith(f"{wanted}.")
