"""Reading what lies between builds, for reports: once for each pair of builds, and never an error that hides the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bisect_tool.builds.build import Build
from bisect_tool.errors import BisectError
from bisect_tool.history.between import Between, look_between
from bisect_tool.history.clues import Clues
from bisect_tool.history.nightlies import NightlyMap
from bisect_tool.history.projects import Project
from bisect_tool.history.source import HistoryAccess, Source, open_source
from bisect_tool.history.suspects import Ranking, rank
from bisect_tool.reports.commits import Commits, Suspicion
from bisect_tool.runs.commit_parts import commits_part, no_commits, suspicion_part

HOW = "name a clone with --repo, or run again with access to GitHub"


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found between two builds: the part of the report, and what commits are ranked in; None: no list."""

    part: Commits
    found: Between | None = None

    @property
    def is_backwards(self) -> bool:
        """Whether the second build is an older one on the line of the first."""
        span = self.found.commits.span if self.found and self.found.commits else None
        return span is not None and not span.commits and span.only_base > 0

    def suspicion(self, clues: Clues) -> Suspicion | None:
        """The ranking of the commits for these clues."""
        if self.found is None or self.found.commits is None:
            return None
        return suspicion_part(self.rank(clues))

    def rank(self, clues: Clues) -> Ranking:
        """The same as the room of histories has it."""
        listed = self.found.commits.listed if self.found and self.found.commits else ()
        return rank(listed, clues)


@dataclass(slots=True)
class HistoryReader:
    """Reads histories through `access`; `tell` takes a line about what takes a while.

    GitHub is not asked again when it could not be read once: each try may cost a minute of waiting.
    """

    access: HistoryAccess
    tell: Callable[[str], None] = lambda _line: None
    _sources: dict[Project, Source] = field(default_factory=dict)
    _dead: dict[Project, str] = field(default_factory=dict)
    _looked: dict[tuple[Project, Build, Build], Looked] = field(default_factory=dict)

    def give_up(self, project: Project, why: str) -> None:
        """Do not ask about `project` any more; `why` it cannot be read."""
        self._dead.setdefault(project, why)

    def look(self, project: Project, before: Build, after: Build, nightlies: NightlyMap | None) -> Looked:
        """What lies between two builds; their `revision` is what they say of themselves. Raises nothing."""
        key = (project, before, after)
        if key not in self._looked:
            self._looked[key] = self._look(project, before, after, nightlies)
        return self._looked[key]

    def _look(self, project: Project, before: Build, after: Build, nightlies: NightlyMap | None) -> Looked:
        why = self._dead.get(project)
        try:
            if why is None:
                self.tell(f"reading the commits of {project.repository} between {before.version} and {after.version}")
                found = look_between(self.source(project), before, after, Clues(), nightlies=nightlies)
                if found.unavailable is None:
                    return Looked(commits_part(project, found), found)
                why = found.unavailable
                self._note(project, why)
            found = look_between(self._kept(project), before, after, Clues(), nightlies=nightlies)
        except BisectError as error:  # the cache is full, the clone is none: the answer counts more
            return Looked(no_commits(project, _missing(project, f"{error.what}; {error.advice}")))
        except KeyboardInterrupt:
            self.give_up(project, "reading them was interrupted; run again to read them")
            return Looked(no_commits(project, _missing(project, self._dead[project])))
        if found.commits is not None:
            return Looked(commits_part(project, found), found)
        return Looked(no_commits(project, _missing(project, why), found.link))

    def _note(self, project: Project, why: str) -> None:
        """A clone may lack one range and have the next; a network that does not answer is not asked again."""
        if self.access.clone is None:
            self.give_up(project, why)

    def source(self, project: Project) -> Source:
        """The history of a project, opened once. Raises `HistoryUnavailable` for a clone that is none."""
        if project not in self._sources:
            self._sources[project] = open_source(project, self.access)
        return self._sources[project]

    def _kept(self, project: Project) -> Source:
        """What earlier runs have asked GitHub and kept, and links; asks nobody."""
        return open_source(project, replace(self.access, clone=None, offline=True))


def with_revision(build: Build, health: Mapping[str, Any]) -> Build:
    """The build with the revision that its health check found, which is surer than what the listing says."""
    revision = health.get("revision") or build.revision
    return replace(build, revision=None if revision is None else str(revision))


def _missing(project: Project, why: str) -> str:
    return f"The commits of {project.repository} between the builds are not known: {why}."
