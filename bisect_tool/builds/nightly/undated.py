"""Builds at the root of the nightlies whose versions have no date: PyTorch's own triton, one for each commit that was pinned.

`triton-3.7.1+git5d6048aa-cp312-….whl`: the label is the commit of triton, and says nothing of the order. That is told by the
time at which the file was changed, as the page or the server gives it. New ones come only when PyTorch pins another commit. The
page keeps 60 versions without regard to the labels, and so all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing, Wanted
from bisect_tool.builds.fitting import Fitting
from bisect_tool.builds.limits import place_of
from bisect_tool.builds.nightly.beside import TRITON
from bisect_tool.builds.nightly.files import Files
from bisect_tool.builds.nightly.listed import ListedFacts
from bisect_tool.builds.nightly.memory import FileFacts
from bisect_tool.builds.nightly.pages import ListedFile, Pages
from bisect_tool.builds.nightly.site import Unanswered

_COMMIT = re.compile(r"(?:git)?([0-9a-f]{7,40})\Z")
PACKAGES = TRITON


@dataclass(frozen=True, slots=True)
class Undated:
    """Lists such builds; `source` is the index, for people."""

    files: Files
    pages: Pages
    source: str

    def listing(self, wanted: Wanted) -> Listing:
        """Every build that fits, in the order of the times at which the files were changed; empty without a page.

        Raises `IndexUnreachable`, `CacheNotWritable`, `DiskFull`, `CacheBroken`.
        """
        page = self.pages.of(wanted.package) or ()
        chosen, left_out = _chosen(page, wanted)
        facts = ListedFacts(self.files).of(chosen)
        builds: list[Build] = []
        for file in chosen:
            told = facts[file.location]
            if isinstance(told, FileFacts) and told.there and told.modified is not None:
                builds.append(_build(file, told, wanted.package))
            else:
                why = told.reason if isinstance(told, Unanswered) else "the page lists it, but it is not there"
                left_out.append(LeftOut(file.name.spelled, file.uploaded, LeftOutBecause.MISSING, why))
        ordered = sorted(builds, key=lambda build: place_of(build, dated=True))
        note = "in the order in which the files were published: their versions name a commit, and no date"
        return Listing(tuple(ordered), tuple(left_out), self.source, dated=True, notes=(note,))


def _chosen(page: Sequence[ListedFile], wanted: Wanted) -> tuple[list[ListedFile], list[LeftOut]]:
    """The file of each version that fits best, and the versions without one."""
    fitting = Fitting(wanted.target)
    groups: dict[Version, list[ListedFile]] = {}
    for file in page:
        groups.setdefault(file.name.version, []).append(file)
    chosen: list[ListedFile] = []
    left_out: list[LeftOut] = []
    for group in groups.values():
        best = fitting.best(file.name for file in group if fitting.takes_python(file.requires_python))
        found = next((file for file in group if file.name == best), None)
        if found is not None:
            chosen.append(found)
        else:
            left_out.append(LeftOut(group[0].name.spelled, group[0].uploaded, LeftOutBecause.NO_WHEEL))
    return sorted(chosen, key=lambda file: file.name.version), left_out


def _build(file: ListedFile, told: FileFacts, package: str) -> Build:
    commit = _COMMIT.match(file.name.version.local or "")
    return Build(
        package=package,
        version=file.name.spelled,
        filename=file.filename,
        location=file.location,
        date=told.modified,
        size=told.size,
        revision=commit[1] if commit else None,
        fingerprint=told.fingerprint,
    )
