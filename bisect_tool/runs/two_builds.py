"""What lies between any two builds, versions, dates or commits, without running anything: `bisect range`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bisect_tool.builds import versions
from bisect_tool.builds.bound_text import DateBound, VersionBound, read_bound
from bisect_tool.builds.build import Build
from bisect_tool.errors import (
    BisectError,
    BoundError,
    DeviceMissing,
    EmptyRange,
    IndexUnreachable,
    PackageNotFound,
    PythonMissing,
    SettingError,
)
from bisect_tool.history.clues import Sought, collect_clues
from bisect_tool.history.git_program import Git, GitFailed
from bisect_tool.history.nightlies import NightlyMap
from bisect_tool.history.projects import DatedBuilds, Project, known_project, project_of_address, read_source
from bisect_tool.reports.range_report import RangeEnd, RangeReport
from bisect_tool.reports.report import Difference
from bisect_tool.runs.failure_clues import matches_of, pins_of, script_text
from bisect_tool.runs.history_reading import HOW, HistoryReader, Looked, with_revision
from bisect_tool.runs.one_build import RELEASE, some_days_before
from bisect_tool.runs.report_words import differences_of
from bisect_tool.runs.surveying import NIGHTLY, Means, Stage, Survey, Wishes, survey
from bisect_tool.runs.workshop import Workshop
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import read_repro

_COMMIT = re.compile(r"(?=.*[a-f])[0-9a-f]{7,40}|[0-9a-f]{40}", re.IGNORECASE)
_NO_LISTING = (BoundError, DeviceMissing, EmptyRange, IndexUnreachable, PackageNotFound, PythonMissing)


@dataclass(frozen=True, slots=True)
class Hints:
    """What the user knows about the failure: `text` of it (words or a traceback), `files`, what is looked for."""

    text: str = ""
    files: tuple[str, ...] = ()
    sought: Sought = Sought.BREAK


@dataclass(frozen=True, slots=True)
class _End:
    """An end: the build that it means, the survey that found it (None: taken by its name alone), what its environment held."""

    asked: str
    build: Build
    found: Survey | None = None
    health: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def look_at_range(
    workshop: Workshop,
    wanted: Spec | ReadSpec,
    ends: tuple[str, str],
    hints: Hints,
    tell: Callable[[str], None] = lambda _line: None,
) -> RangeReport:
    """What the second of `ends` has and the first has not, for the package and channel that `wanted` names.

    The repro of a `ReadSpec` is a clue. Raises `SettingError` when nobody knows the repository, what `survey` raises for a
    date that means no build, `SpecError`.
    """
    spec = wanted.spec if isinstance(wanted, ReadSpec) else wanted
    means = workshop.means(tell)
    project = _project(workshop, spec)
    finder = _Finder(workshop, spec, project, means, _folder(wanted))
    older, newer = (finder.find(text) for text in ends)
    reader = HistoryReader(means.history, tell)
    for end in (older, newer):
        if end.found is not None and end.found.unread:
            reader.give_up(project, f"{end.found.unread}; {HOW}")
    builds = [with_revision(end.build, end.health) for end in (older, newer)]
    looked = reader.look(project, builds[0], builds[1], _nightlies(older, newer))
    differences = _differences(older, newer, spec.package)
    repro = script_text(read_repro(wanted)) if isinstance(wanted, ReadSpec) else ""
    clues = collect_clues(
        sought=hints.sought,
        failure="\n".join([hints.text, *(text for one in spec.failures for text in matches_of(spec, one.name))]),
        script=repro,
        files=hints.files,
        pins=pins_of(differences or ()),
    )
    return RangeReport(
        package=spec.package,
        older=_end_part(older),
        newer=_end_part(newer),
        commits=looked.part,
        suspicion=looked.suspicion(clues),
        differences=differences,
        notes=(*older.notes, *newer.notes, *_order_note(looked)),
    )


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the build that a version or date means; a commit is taken as it is."""

    workshop: Workshop
    spec: Spec
    project: Project
    means: Means
    folder: Path

    def find(self, text: str) -> _End:
        text = text.strip()
        bound = None if _COMMIT.fullmatch(text) else _bound(text)
        if bound is None:
            return _End(text, Build(self.spec.package, text, "", "", revision=text.lower() if _is_hash(text) else text))
        channel = self._channel(bound)
        start = some_days_before(bound.start, channel) if isinstance(bound, DateBound) else text
        try:
            found = survey(self.spec, self.folder, _ALL, self.means, Stage(channel, start, text), least=1)
        except _NO_LISTING as error:
            if isinstance(bound, DateBound):
                raise
            return self._by_name(text, error)
        return self._found(text, bound, found)

    def _channel(self, bound: DateBound | VersionBound) -> str:
        """That of the spec; dates of a project with a nightly branch mean its nightlies, whatever the default is."""
        is_dated = isinstance(bound, DateBound) or versions.is_dated_pre_release(bound.version)
        listed = [
            channel for channel in self.spec.channel if channel != "commit"
        ]  # commits are no builds with a version
        is_default = self.spec.channel == Spec.model_fields["channel"].default
        is_nightly = is_default and self.project.dated is DatedBuilds.NIGHTLY_BRANCH
        if is_dated and (is_nightly or NIGHTLY in listed):
            return NIGHTLY
        return listed[0] if listed else RELEASE

    def _by_name(self, text: str, error: BisectError) -> _End:
        note = f"{text} is taken by its version alone: {error.what.splitlines()[0]}"
        return _End(text, Build(self.spec.package, text, "", "", versions.date_in(text)), notes=(note,))

    def _found(self, text: str, bound: DateBound | VersionBound, found: Survey) -> _End:
        """A date means the last build of that time, else the newest before it."""
        number = len(found.builds) - 1
        build, notes = found.builds[number], []
        if isinstance(bound, DateBound):
            inside = sum(one.date is not None and bound.start <= one.date for one in found.builds)
            notes += [f"{text} means {build.version}, the last of {inside} builds"] if inside > 1 else []
            notes += [] if inside else [f"{text} has no build of its own: {build.version} is the newest before it"]
        try:
            build = build if build.revision else found.channel.identified(build)
        except IndexUnreachable as error:
            notes.append(f"the commit inside {build.version} could not be read: {error.what}")
        return _End(text, build, found, self._health(found, number), tuple(notes))

    def _health(self, found: Survey, number: int) -> Mapping[str, Any]:
        results = self.workshop.results()
        try:
            healths = results.healths(found.setting_of(number), found.device.kind)
        finally:
            results.close()
        return healths.get(found.builds[number].identity, {})


_ALL = Wishes(pre=True, yanked=True)


def _bound(text: str) -> DateBound | VersionBound | None:
    """None: neither a date nor a version, so that it may be a tag or a branch."""
    try:
        return read_bound(text, frozenset())
    except BoundError:
        return None


def _is_hash(text: str) -> bool:
    return _COMMIT.fullmatch(text) is not None


def _folder(wanted: Spec | ReadSpec) -> Path:
    return wanted.folder if isinstance(wanted, ReadSpec) else Path.cwd()


def _project(workshop: Workshop, spec: Spec) -> Project:
    found = read_source(spec.source) if spec.source else known_project(spec.package) or _of_clone(workshop)
    if found is None:
        raise SettingError(
            f"nobody knows where {spec.package} is developed", where="source", advice="name it with --source owner/name"
        )
    return found


def _of_clone(workshop: Workshop) -> Project | None:
    """The project that the clone given with --repo was cloned from."""
    if workshop.settings.repo is None:
        return None
    try:
        address = Git(workshop.settings.repo, workshop.environ).call("config", "--get", "remote.origin.url")
    except GitFailed:
        return None
    return project_of_address(address.decode("utf-8", "replace").strip())


def _nightlies(older: _End, newer: _End) -> NightlyMap | None:
    """The nightlies around both ends; None when one is not known, because a map that lacks a stretch would mislead."""
    maps = [end.found.nightlies if end.found else None for end in (older, newer)]
    known = [one for one in maps if one is not None]
    return NightlyMap(tuple(n for one in known for n in one.nightlies)) if len(known) == len(maps) else None


def _differences(older: _End, newer: _End, package: str) -> tuple[Difference, ...] | None:
    return differences_of(older.health, newer.health, package) if older.health and newer.health else None


def _end_part(end: _End) -> RangeEnd:
    return RangeEnd(asked=end.asked, build=end.build.label, date=end.build.date.isoformat() if end.build.date else None)


def _order_note(looked: Looked) -> tuple[str, ...]:
    if not looked.is_backwards:
        return ()
    return ("The second one is the older: give them the other way round to see the commits between them.",)
