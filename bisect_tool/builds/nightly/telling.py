"""The sentences about a choice, and the errors when there is nothing to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from bisect_tool.builds.build import Machine, Wanted
from bisect_tool.builds.cuda_fit import code_of_variant, why_not
from bisect_tool.builds.nightly.assembling import Assembled, Part
from bisect_tool.builds.nightly.choice import AUTO, least_driver
from bisect_tool.builds.nightly.tables import Span, Tables
from bisect_tool.errors import PackageNotFound


def notes_on(assembled: Assembled, wanted: Wanted) -> tuple[str, ...]:
    """Which variant and which Python, and why: one sentence each."""
    return (_of_variants(assembled, wanted), *_of_pythons(assembled, wanted))


def _of_variants(assembled: Assembled, wanted: Wanted) -> str:
    spans = _runs([(part, part.stretch.line.variant) for part in assembled.parts])
    if len(spans) > 1:
        return f"variants {_listed(spans)}, since no single one has builds of all these dates{_seams(assembled)}"
    name = spans[0][0] if spans else wanted.variant
    if wanted.variant != AUTO:
        return f"variant {name}, as asked for{_doubt(name, spans, wanted)}"
    if wanted.machine.device == "cpu":
        return f"variant {name}, since the device is the CPU"
    return f"variant {name}, the newest that has builds of these dates{_runs_with(wanted.machine)}"


def _doubt(name: str, spans: Sequence[tuple[str, date, date]], wanted: Wanted) -> str:
    """Why builds of a variant that was asked for may not run here; the health check has the last word."""
    if not spans or not wanted.target.tags:
        return ""
    why = why_not(code_of_variant(name, spans[-1][2], wanted.target.tags[0].platform), wanted.machine)
    return f"; it may not run here: {why}" if why and name.startswith("cu") else ""


def _of_pythons(assembled: Assembled, wanted: Wanted) -> tuple[str, ...]:
    spans = _runs([(part, part.stretch.line.target.python) for part in assembled.parts])
    if len(spans) > 1:
        return (f"Python {_listed(spans)}, since no single one has builds of all these dates{_seams(assembled)}",)
    if spans and spans[0][0] != wanted.target.python:
        return (f"Python {spans[0][0]}, since {wanted.target.python} does not have builds of all these dates",)
    return ()


def _runs(named: Sequence[tuple[Part, str]]) -> list[tuple[str, date, date]]:
    """Neighbouring parts of one name as one: the name, its first and its last date."""
    runs: list[tuple[str, date, date]] = []
    for part, name in named:
        days = part.found.days
        if not days:
            continue
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1], days[-1])
        else:
            runs.append((name, days[0], days[-1]))
    return runs


def _listed(runs: Sequence[tuple[str, date, date]]) -> str:
    return ", ".join(f"{name} from {first} to {last}" for name, first, last in runs)


def _seams(assembled: Assembled) -> str:
    days = " and ".join(str(day) for day in assembled.seams)
    return f"; builds of {days} are listed in both, so that such a change is told from one of the code" if days else ""


def _runs_with(machine: Machine) -> str:
    words = [f"driver {machine.driver}"] if machine.driver else []
    words += ["compute capability {}.{}".format(*machine.capability)] if machine.capability else []
    return f" and runs with {' and '.join(words)}" if words else ""


def nothing_runs(tables: Tables, wanted: Wanted, days: Span, where: str) -> PackageNotFound:
    """The error when no variant of these dates runs on the machine, by the tables."""
    there = ", ".join(one for one in tables.variants_on(days) if one.startswith("cu")) or "none"
    oldest = least_driver(tables, days)
    needs = f"; the oldest driver that one of them runs with is {oldest}" if oldest else ""
    machine = _runs_with(wanted.machine).removeprefix(" and ").replace("runs with", "with")
    return PackageNotFound(
        f"no CUDA variant of the nightlies from {days.first} to {days.last} runs on this machine {machine}\n"
        f"  those of these dates: {there}{needs}",
        where=where,
        advice="Update the driver, ask for other dates, name a variant with `variant:`, or use the CPU with --device cpu.",
    )


def no_builds(
    tables: Tables, wanted: Wanted, variants: Sequence[str], days: Span, where: str, listed: Sequence[str] | None
) -> PackageNotFound:
    """The error when nothing was found. `listed` are the variants that the index lists, None without a page of the package."""
    if listed is None and wanted.package != "torch":
        return PackageNotFound(
            f"the index of nightlies has no package {wanted.package!r}",
            where=where,
            advice="Look at the spelling of `package`; for its releases use the channel `release`.",
        )
    by_table = tables.variants_on(days)
    there = (
        ", ".join(dict.fromkeys((*by_table, *(one for one in listed or () if one not in by_table)))) or "none is known"
    )
    python = f"Python {wanted.target.python}" + (f" on {wanted.target.tags[0].platform}" if wanted.target.tags else "")
    return PackageNotFound(
        f"no nightlies of {wanted.package} in {' or '.join(variants)} from {days.first} to {days.last} "
        f"for {python}\n  variants of these dates: {there}",
        where=where,
        advice="Choose another `variant:`, other dates, or another Python with `python:`; a mirror is named with "
        "--nightly-index.",
    )
