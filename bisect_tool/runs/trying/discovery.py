"""From an attempt without the failure to a discovery: what there is to change here, the search, and what it says."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.version import Version

from bisect_tool.builds.bound_text import VersionBound, read_bound
from bisect_tool.errors import BisectError, BoundError, DeviceMissing, OutputNotWritten, SpecError, interrupted
from bisect_tool.reports import events
from bisect_tool.reports.attempt import Attempt
from bisect_tool.reports.cleaning import one_line
from bisect_tool.reports.discovery import Discovery
from bisect_tool.reports.sentences import plural
from bisect_tool.reports.writing import write
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import NIGHTLY
from bisect_tool.runs.trying.advising import command
from bisect_tool.runs.trying.attempting import AttemptStopped, Desk
from bisect_tool.runs.trying.axes import Situation, cannot, changes_for, effect_of
from bisect_tool.runs.trying.configuring import RUNNER, SOURCE, changed_spec, fragment, runs_python, whole
from bisect_tool.runs.trying.discovering import Search, name_of
from bisect_tool.runs.trying.look import Look
from bisect_tool.runs.trying.mentions import Mentions, mentions_in
from bisect_tool.search.configurations import Limits, NoneReproduces, Reproduces, Shown
from bisect_tool.spec.model import Role
from bisect_tool.spec.reading import ReadSpec

INSTALL = 300.0  # seconds, for a build that was never installed here
OPEN = 5.0
OTHER_VARIANTS = ("cu126", "cu130")
MARK = "`bisect try --discover`"  # in every file that is written
LOWER_PRECISION = ("dtype float16", "dtype bfloat16")


@dataclass(frozen=True, slots=True)
class Wish:
    """How the search goes: its limits, the text of the report, whether the spec that shows the failure is written.

    `given` are the words of the command line that say so.
    """

    limits: Limits = field(default_factory=Limits)
    report: str = ""
    writes: bool = False
    given: tuple[str, ...] = ()


def discover(desk: Desk, made: Attempt, session: Session, number: int, look: Look, wish: Wish) -> Attempt:
    """The attempt with what the search has found.

    Raises `SpecError` for a spec whose numbers are compared, `OutputNotWritten`, and `AttemptStopped` when the machine or the
    user ends it early.
    """
    read = session.asked.read
    if read.spec.metrics:
        raise SpecError(
            "a configuration cannot be looked for where numbers are compared",
            where=str(read.path),
            advice="try the spec on other builds with `bisect try --build`, or look at its numbers with `bisect run`",
        )
    search, situation = _search(desk, session, number, look, wish)
    began = time.monotonic()
    try:
        if search.begin(session, number) is Shown.WANTED:
            return made.model_copy(update={"discovery": _shows_already(made, search)})
        end = search.run()
    except (BisectError, KeyboardInterrupt) as error:
        stopped = error if isinstance(error, BisectError) else interrupted()
        partial = _told(search, NoneReproduces(0), situation, look, wish, time.monotonic() - began, cut_short=True)
        raise AttemptStopped(
            stopped, made.model_copy(update={"discovery": partial, "outcome": "unfinished"})
        ) from error
    found = _told(search, end, situation, look, wish, time.monotonic() - began)
    runs = (command("run", found.written[0], *look.given),) if found.written else ()
    following = (found.try_it, *runs) if found.try_it else made.next[1:]
    return made.model_copy(update={"discovery": found, "next": following})


def _search(desk: Desk, session: Session, number: int, look: Look, wish: Wish) -> tuple[Search, Situation]:
    asked = replace(session.asked, spec=session.asked.read.spec)
    tests = tuple(
        case for case in asked.spec.cases if case.role is Role.TEST and (not look.cases or case.name in look.cases)
    )
    if not tests:
        raise SpecError(
            "no test case is among those that were chosen",
            where=str(asked.read.path),
            advice="leave `--case` out, or name a case that is not a control",
        )
    situation = _situation(desk, session, number, look, wish)
    seconds = [session.seen[case.name, number][0].duration for case in tests if session.seen.get((case.name, number))]
    made = Search(
        _without_states(desk), asked, look.build, tests, changes_for(situation), wish.limits, max(sum(seconds), 1.0)
    )
    return made, situation


def _without_states(desk: Desk) -> Desk:
    """The desk, which tells no states any more: those of other configurations are not states of the spec."""
    heard = desk.tell

    def tell(event: events.Event) -> None:
        if not isinstance(event, events.StateKnown):
            heard(event)

    desk.tell = tell
    return desk


def _situation(desk: Desk, session: Session, number: int, look: Look, wish: Wish) -> Situation:
    asked = session.asked
    health = session.healths.get(asked.builds[number].identity, {})
    told = _mentions(asked.read, asked.repro.files, wish.report)
    return Situation(
        has_torch="torch" in health.get("packages", {}),
        runs_python=runs_python(asked.repro),
        device=asked.device.name,
        mentions=told,
        devices=tuple(_devices(desk, asked.device.name)),
        builds=_builds(session, number, told, look),
        variants=_variants(session, number),
        variables=asked.read.spec.env,
    )


def _mentions(read: ReadSpec, files: Sequence[tuple[str, bytes]], report: str) -> Mentions:
    """What the report, the spec and the repro mention; a variable that the repro sets itself is set already."""
    script = "\n".join(content.decode("utf-8", "replace") for name, content in files if name.endswith(".py"))
    try:
        own = read.path.read_text("utf-8", errors="replace")
    except OSError:
        own = read.spec.title
    said, repro = mentions_in(f"{report}\n{own}"), mentions_in(script)
    ours = {name for name, _ in repro.variables}
    variables = tuple((name, value) for name, value in said.variables if name not in ours)
    return Mentions(variables, said.builds, said.words | repro.words)


def _devices(desk: Desk, used: str) -> Iterator[str]:
    means = desk.workshop.means()
    for name in ("cuda", "cpu"):
        if name != used:
            try:
                found = means.find_device((name,), means.environ)
            except DeviceMissing:
                continue
            if found.name == name:
                yield name


def _builds(session: Session, number: int, told: Mentions, look: Look) -> dict[str, float]:
    """The builds that the spec and the report name, with the seconds that each takes to make; not the one in use."""
    spec, used = session.asked.read.spec, session.asked.builds[number]
    proven = {Version(str(health["version"])).public for health in session.healths.values() if health.get("version")}
    ends = (spec.from_, spec.to if look.build is not None else None)
    found: dict[str, float] = {}
    for text in (*ends, *(told.builds if spec.package == "torch" else ())):
        try:
            bound = read_bound(text, frozenset()) if text else None
        except BoundError:
            continue
        if bound is None or (isinstance(bound, VersionBound) and _is_same(bound.version, used.version)):
            continue
        name = bound.version.public if isinstance(bound, VersionBound) else bound.text
        found.setdefault(name, OPEN if name in proven else INSTALL)
    return found


def _is_same(version: Version, used: str) -> bool:
    return Version(version.public) == Version(Version(used).public)


def _variants(session: Session, number: int) -> dict[str, float]:
    asked = session.asked
    if asked.stage.channel != NIGHTLY or asked.device.name != "cuda":
        return {}
    return {name: INSTALL for name in OTHER_VARIANTS if name != asked.builds[number].variant}


def _wanted(search: Search) -> tuple[str, ...]:
    named = tuple(one.name for one in search.asked.spec.failures)
    return named or ("any failure of a test",)


def _shows_already(made: Attempt, search: Search) -> Discovery:
    return Discovery(
        wanted=_wanted(search),
        found=(),
        sentence=f"the failure shows on {made.build.version} as it is: nothing needs to be changed",
        tried=search.parts(),
    )


def _told(
    search: Search,
    end: Reproduces | NoneReproduces,
    situation: Situation,
    look: Look,
    wish: Wish,
    seconds: float,
    *,
    cut_short: bool = False,
) -> Discovery:
    tried = search.parts()
    trials = sum(one.trials for one in tried[1:])
    told = Discovery(
        wanted=_wanted(search),
        sentence="it was cut short: what was tried so far does not show the failure"
        if cut_short
        else _none(search, end),
        tried=tried,
        left=end.left if isinstance(end, NoneReproduces) else 0,
        cannot=cannot(situation),
        trials=trials,
        seconds=round(seconds, 1),
    )
    return _found(search, end, told, look, wish) if isinstance(end, Reproduces) else told


def _none(search: Search, end: Reproduces | NoneReproduces) -> str:
    count = len(search.places) - 1
    left = end.left if isinstance(end, NoneReproduces) else 0
    more = f"; {left} more were not tried within the limits (--max-trials, --max-time)" if left else ""
    which = "none of them shows" if count != 1 else "it does not show"
    once = [
        f"{name_of(one)} (1 of {len(place.shown)} looks)"
        for one, place in search.places.items()
        if one and Shown.WANTED in place.shown
    ]
    seen = f"; seen once and not again: {', '.join(once)}: try it with more --repeat" if once else ""
    return (
        f"{plural(count, 'configuration')} tried, {which} {' or '.join(_wanted(search))} twice{seen}{more}"
        if once
        else (f"{plural(count, 'configuration')} tried, {which} {' or '.join(_wanted(search))}{more}")
    )


def _found(search: Search, end: Reproduces, told: Discovery, look: Look, wish: Wish) -> Discovery:
    asked, effect = search.asked, effect_of(end.configuration)
    changed = changed_spec(asked.read, asked.repro, effect)
    part = next(one for one in told.tried if one.changes == tuple(change.name for change in end.configuration))
    is_flaky = end.is_flaky or effect.is_repeated
    as_it_is = told.tried[0]
    count = f"{part.shown} of {plural(part.trials, 'trial')} on {part.build}"
    what = one_line(part.detail, 160)
    sentence = f"{name_of(end.configuration)}: {what} ({count}); as it is, 0 of {as_it_is.trials}"
    path, own = asked.read.path, _own_spec(changed, sentence, is_flaky=is_flaky)
    files = tuple(_write(asked.read, own, changed)) if wish.writes else ()
    build = effect.build or look.build
    chosen = ("--build", build) if build else ()
    pasted = fragment(asked.read, changed, is_flaky=is_flaky)
    shows_it = command("try", files[0] if files else str(path), *look.given, *chosen)
    asked_for = ("--build", look.build) if look.build else ()
    writes_it = command("try", str(path), *look.given, *asked_for, "--discover", *wish.given, "--write")
    return told.model_copy(
        update={
            "found": part.changes,
            "is_flaky": is_flaky,
            "sentence": sentence,
            "fragment": pasted or None,
            "written": files,
            # The same with `--write` takes what is known of every configuration from the store.
            "try_it": shows_it if files or not pasted else writes_it,
            "notes": tuple(_notes(search, part.changes, is_flaky=is_flaky, build=effect.build)),
        }
    )


def _own_spec(changed: ReadSpec, sentence: str, *, is_flaky: bool) -> str:
    name = f"{changed.spec.name[:88]}-discovered"
    renamed = ReadSpec(changed.spec.model_copy(update={"name": name}), changed.path, changed.folder)
    return whole(renamed, f"Made by {MARK}:\n{sentence}", is_flaky=is_flaky)


def _write(read: ReadSpec, text: str, changed: ReadSpec) -> Iterator[str]:
    """Write the spec, and the runner where it needs that, beside the one that was given; gives their paths.

    Raises `OutputNotWritten` for a file that something else has made.
    """
    path = read.folder / f"{read.path.stem}-discovered.yaml"
    wanted = {path: text}
    if RUNNER in changed.spec.files:
        wanted[read.folder / RUNNER] = SOURCE.read_text(encoding="utf-8")
    for place, content in wanted.items():
        _refuse_others(place)
        write(place, content)
        yield str(place)


def _refuse_others(place: Path) -> None:
    if place.exists() and MARK not in place.read_text("utf-8", errors="replace"):
        raise OutputNotWritten(
            "a file that `bisect try` did not make has the name that the discovered spec gets",
            where=str(place),
            advice="move it away, then run the same command again: nothing is run twice",
        )


def _notes(search: Search, changes: Sequence[str], *, is_flaky: bool, build: str | None) -> Iterator[str]:
    spec = search.asked.spec
    if not spec.failures:
        yield (
            "the spec names no failure, so any failure of a test counted: see in the log whether it is the one that is meant, "
            "and name it under `failures:`"
        )
    if not spec.controls:
        yield "the spec has no control: whether the changes break more than what is looked for was not seen"
    if any(change in LOWER_PRECISION for change in changes):
        yield "with a lower precision a wrong result may be mere rounding: look at the numbers before you believe it"
    if is_flaky:
        yield "not every trial of it shows the failure: `flaky: yes` has a run repeat its trials until the answer is sure"
    if build is not None:
        yield f"the failing build is {build}: give the run a range (`from`, `to`) that holds it"
    if any(change.startswith("device ") for change in changes):
        yield "results are stored for each device: trials on one say nothing about the other"
