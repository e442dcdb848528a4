"""Which build the numbers of a case are compared with."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

from bisect_tool.builds.bounds import Selection
from bisect_tool.errors import SpecError
from bisect_tool.spec.model import Case, Spec


def check_references(spec: Spec, selection: Selection, where: str) -> None:
    """Raise `SpecError` for a metric whose reference is no build of the range."""
    for case in spec.tests:
        if spec.metrics_of(case):
            _reference(spec, case, selection, where)


def reference_of(spec: Spec, case: Case, selection: Selection) -> int:
    """The number of the build that the metrics of `case` are compared with; the spec was checked."""
    return _reference(spec, case, selection, spec.name)


def _reference(spec: Spec, case: Case, selection: Selection, where: str) -> int:
    metric = spec.metrics_of(case)[0]
    match metric.reference:
        case "from" if selection.open_start:
            raise SpecError(
                f"`{metric.name}` is compared with the build `from`, but the range has no `from`",
                where=where,
                advice="give `from`, or name the build with `reference:`, for instance `reference: to`",
            )
        case "from":
            return 0
        case "to":
            return len(selection.builds) - 1
        case text:
            found = [number for number, build in enumerate(selection.builds) if _is_named(build.version, text)]
            if not found:
                raise SpecError(
                    f"`{metric.name}` is compared with {text}, which is none of the builds of the range",
                    where=where,
                    advice=f"name one from {selection.builds[0].version} to {selection.builds[-1].version}, or widen the range",
                )
            return found[0]


def _is_named(version: str, text: str) -> bool:
    """Whether `text` names a version; it may leave out the local part (`+cu130`)."""
    try:
        named, whole = Version(text), Version(version)
    except InvalidVersion:
        return version == text
    return named == (whole if named.local else Version(whole.public))
