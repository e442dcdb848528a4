"""The commits between two versions of a package that a build pins, as a link: triton, above all. Asks nobody."""

from __future__ import annotations

from bisect_tool.builds.versions import is_dated_pre_release, parsed
from bisect_tool.history.carried import revision_in_version
from bisect_tool.history.projects import Project, known_project
from bisect_tool.history.revisions import tags_of


def pinned_range(package: str, before: str | None, after: str | None) -> str | None:
    """The page with the commits between two versions; None for an unknown project, or where a version names no commit.

    A version names one by the hash in it (`3.7.1+git5d6048aa`), or, for a release, by the tag that its project gives releases.
    """
    project = known_project(package)
    if project is None or before is None or after is None:
        return None
    older, newer = (_commit_of(version, project) for version in (before, after))
    return project.compare_link(older, newer) if older and newer and older != newer else None


def _commit_of(version: str, project: Project) -> str | None:
    read = parsed(version)
    if carried := revision_in_version(version):
        return carried
    if read is None or read.local or read.is_prerelease or is_dated_pre_release(version):
        return None
    return next(iter(tags_of(version, project.tags)), None)
