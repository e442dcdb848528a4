"""Which CUDA variants fit the driver and the GPU, and which torch that means: by the tables, nothing is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from packaging.version import Version

from bisect_tool.builds.cuda_fit import releases_for
from bisect_tool.builds.fitting import target_for
from bisect_tool.builds.nightly.choice import number_of, runnable
from bisect_tool.builds.nightly.dates import first_date, last_date
from bisect_tool.builds.nightly.tables import Span, Tables, read_tables
from bisect_tool.errors import BoundError
from bisect_tool.reports.checkup import Finding, Level
from bisect_tool.runs.doctor.place import Place

ORDER = 20


def check(place: Place) -> Iterator[Finding]:
    """Releases, nightlies by variant, and the range that was asked for."""
    if place.machine.device != "cuda" and place.needs_gpu:
        yield Finding(about="cuda", level="ok", says="without a GPU it is not known which variants would run")
        return
    if place.machine.device != "cuda":
        yield Finding(
            about="cuda", level="ok", says="not needed: on the CPU every release and the nightlies' `cpu` run"
        )
        return
    yield from _releases(place)
    tables = read_tables()
    yield _nightlies(place, tables)
    yield from _range(place, tables)


def _releases(place: Place) -> Iterator[Finding]:
    can: list[str] = []
    cannot: list[str] = []
    for row, end, why in releases_for(place.machine, place.platform):
        last = f"{end.major}.{end.minor - 1}" if end else _minor(row.since)
        named = f"torch {_minor(row.since)}" + (f" to {last}" if last != _minor(row.since) else "")
        if why:
            cannot.append(f"{named}: {why}")
        else:
            can.append(f"{named} ({row.variant})")
    facts = {"runs": can, "does_not_run": cannot}
    if can:
        yield Finding(about="cuda", level="ok", says=f"releases that run here: {'; '.join(can)}", facts=facts)
    if cannot:
        level: Level = "ok" if can else "problem" if "release" in place.asked.channel else "warning"
        fix = "update the driver, or take nightlies of an older variant"
        yield Finding(
            about="cuda", level=level, says=f"releases that do not: {'; '.join(cannot)}", fix=fix, facts=facts
        )


def _minor(version: Version) -> str:
    return f"{version.major}.{version.minor}"


def _spans(place: Place, tables: Tables) -> dict[str, list[Span]]:
    """The dates on which each CUDA variant's nightlies run here, the newest variant first."""
    target = target_for("3.11")
    found: dict[str, list[Span]] = {}
    rows = [row for row in tables.variants if row.name.startswith("cu")]
    for row in sorted(rows, key=lambda row: number_of(row.name), reverse=True):
        found.setdefault(row.name, []).extend(runnable(tables, row, place.machine, target))
    return found


def _nightlies(place: Place, tables: Tables) -> Finding:
    spans = _spans(place, tables)
    can = [f"{name} ({' and '.join(_dates(span) for span in found)})" for name, found in spans.items() if found]
    cannot = [name for name, found in spans.items() if not found]
    says = f"nightlies that run here: {', '.join(can) or 'none'}"
    says += f"; variants that do not: {', '.join(cannot)}" if cannot else ""
    level: Level = "ok" if can else "problem" if "nightly" in place.asked.channel else "warning"
    facts = {"runs": can, "does_not_run": cannot}
    return Finding(about="cuda", level=level, says=says, fix="update the driver, or use --device cpu", facts=facts)


def _dates(span: Span) -> str:
    return f"{span.first} to {span.last}" if span.last != date.max else f"since {span.first}"


def _range(place: Place, tables: Tables) -> Iterator[Finding]:
    """Whether the nightlies of the range that was asked for run here."""
    asked = place.asked
    if "nightly" not in asked.channel or (asked.from_ is None and asked.to is None):
        return
    try:
        first, last = first_date(tables, asked.from_), last_date(tables, asked.to, place.now().date())
    except BoundError as error:
        yield Finding(about="cuda", level="problem", says=error.what, fix=error.advice)
        return
    days = Span(first or tables.begin, last)
    spans = {
        name: [both for one in found if (both := one.meets(days))] for name, found in _spans(place, tables).items()
    }
    yield _served(days, spans, asked.variant)


def _served(days: Span, spans: Mapping[str, list[Span]], variant: str) -> Finding:
    """How much of the dates `days` has builds that run here, all of them or those of one variant."""
    named = spans if variant == "auto" else {variant: spans.get(variant, [])}
    whole = [name for name, found in named.items() if any(one == days for one in found)]
    some = [f"{name} ({', '.join(_dates(one) for one in found)})" for name, found in named.items() if found]
    when, fix = f"{days.first} to {days.last}", "update the driver, take other dates or --variant auto, or the CPU"
    if whole:
        return Finding(about="cuda", level="ok", says=f"{when}: {whole[0]} serves all of it")
    if not some:
        what = "no CUDA variant" if variant == "auto" else f"no build of {variant}"
        return Finding(about="cuda", level="problem", says=f"{what} of the nightlies from {when} runs here", fix=fix)
    missing = _uncovered(days, [one for found in named.values() for one in found])
    if missing is None:
        return Finding(about="cuda", level="ok", says=f"{when} takes several variants: {', '.join(some)}")
    says = f"{when}: not all of it runs here, such as builds of {missing}; what does: {', '.join(some)}"
    return Finding(about="cuda", level="warning", says=says, fix=fix)


def _uncovered(days: Span, spans: list[Span]) -> date | None:
    """The first day that no span has."""
    reached = days.first
    for span in sorted(spans, key=lambda span: span.first):
        if span.first > reached:
            break
        reached = max(reached, span.last + timedelta(days=1))
    return reached if reached <= days.last else None
