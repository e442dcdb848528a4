"""What builds there are, and what is known of them: `bisect builds`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bisect_tool.builds.build import Build, LeftOut
from bisect_tool.builds.limits import place_of
from bisect_tool.reports.builds_list import BuildRow, BuildsList, KnownState
from bisect_tool.runs.asking import ask
from bisect_tool.runs.report_words import failure_names, word_of
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import Survey, Wishes, survey
from bisect_tool.runs.workshop import Workshop
from bisect_tool.search.states import Untestable
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import ReadSpec


def list_builds(
    workshop: Workshop, wanted: Spec, wishes: Wishes, *, commits: bool, tell: Callable[[str], None]
) -> BuildsList:
    """The builds of the package, channel, range, variant, Python and device that `wanted` names.

    With `commits` each build is asked for the commit that it was built from; without, the nightly branch tells it by date.

    Raises what `survey` raises.
    """
    found = survey(wanted, Path.cwd(), wishes, workshop.means(tell), least=1)
    return _listed(workshop, found, None, commits=commits)


def list_builds_of(
    workshop: Workshop, read: ReadSpec, wishes: Wishes, *, commits: bool, tell: Callable[[str], None]
) -> BuildsList:
    """The same for the range of a spec, with the states that are known of its cases.

    Raises what `ask` raises.
    """
    asked = ask(read, wishes, workshop.means(tell), least=1)
    results = workshop.results()
    try:
        session = Session(asked, results, workshop.environments())
        session.load()
        return _listed(workshop, asked, session, commits=commits)
    finally:
        results.close()


def _listed(workshop: Workshop, found: Survey, session: Session | None, *, commits: bool) -> BuildsList:
    environments = workshop.environments()
    rows = [
        _row(
            found,
            found.channel.identified(build) if commits else build,
            ready=environments.is_ready(found.environment_key(number)),
            states=_states(session, number),
        )
        for number, build in enumerate(found.builds)
    ]
    unread = [f"the commits of the builds are not known: {found.unread}"] if found.unread else []
    return BuildsList(
        package=found.spec.package,
        channel=found.stage.channel,
        source=found.channel.source_address(),
        device=found.device.kind,
        notes=(*found.listing.notes, *found.selection.notes, *unread),
        cases=tuple(case.name for case in found.spec.cases) if session else (),
        rows=tuple(_with_left_out(rows, found)),
    )


def _row(found: Survey, build: Build, *, ready: bool, states: tuple[KnownState, ...]) -> BuildRow:
    commit, known_from = build.main_revision, "wheel"
    if commit is None and build.revision:
        commit = found.nightlies.main_of(build.revision) if found.nightlies else build.revision
    if commit is None and found.nightlies and build.date:
        nightly = found.nightlies.newest_until(build.date.date())
        commit, known_from = (nightly.main if nightly else None), "date"
    return BuildRow.model_validate(
        {
            "version": build.version,
            "date": build.date.isoformat() if build.date else None,
            "status": "hidden" if build.hidden else "listed",
            "variant": build.variant,
            "python": build.python,
            "size": build.size,
            "ready": ready,
            "commit": commit,
            "commit_from": known_from if commit else None,
            "location": build.location,
            "states": states,
        }
    )


def _states(session: Session | None, number: int) -> tuple[KnownState, ...]:
    if session is None:
        return ()
    states = [(case.name, session.state(case.name, number)) for case in session.asked.spec.cases]
    return tuple(
        KnownState(
            case=name,
            state=word_of(state),
            failures=failure_names(session, state),
            reason=state.reason if isinstance(state, Untestable) else None,
        )
        for name, state in states
    )


def _with_left_out(rows: Sequence[BuildRow], found: Survey) -> list[BuildRow]:
    """What is no build in its place: by the date in a dated stream, else by the version."""
    left_out = list(found.selection.left_out)
    merged: list[BuildRow] = []
    for row, build in zip(rows, found.builds, strict=True):
        while left_out and _comes_before(left_out[0], build, dated=found.selection.dated):
            merged.append(_left_out_row(left_out.pop(0)))
        merged.append(row)
    return [*merged, *(_left_out_row(one) for one in left_out)]


def _comes_before(left: LeftOut, build: Build, *, dated: bool) -> bool:
    return place_of(left, dated=dated) < place_of(build, dated=dated)


def _left_out_row(left: LeftOut) -> BuildRow:
    detail = f" ({left.detail})" if left.detail else ""
    return BuildRow(
        version=left.version,
        date=left.date.isoformat() if left.date else None,
        status="left out",
        because=f"{left.because.value}{detail}",
    )
