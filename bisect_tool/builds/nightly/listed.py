"""The builds that a page lists: which file of a version is taken, and what tells its content from another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from packaging.version import Version

from bisect_tool.builds.build import Target
from bisect_tool.builds.fitting import Fitting
from bisect_tool.builds.nightly.files import Answer, Files
from bisect_tool.builds.nightly.memory import FileFacts, fingerprint_of
from bisect_tool.builds.nightly.naming import Sighting
from bisect_tool.builds.nightly.pages import ListedFile


def of_variant(files: Iterable[ListedFile] | None, variant: str) -> list[ListedFile]:
    """The dated files of a variant; one at the root belongs to the variant that its version names."""
    there = [file for file in files or () if file.day is not None]
    return [file for file in there if (file.variant or file.name.version.local) == variant]


def best_of(files: Iterable[ListedFile], target: Target, days: set[date]) -> list[ListedFile]:
    """One file for each version of these dates, the one that fits best; oldest version first."""
    fitting = Fitting(target)
    groups: dict[Version, dict[str, ListedFile]] = {}
    for file in files:
        if day_of(file) in days and fitting.takes_python(file.requires_python):
            groups.setdefault(file.name.version, {})[file.filename] = file
    chosen = []
    for group in groups.values():
        best = fitting.best(file.name for file in group.values())
        chosen += [file for file in group.values() if file.name == best][:1]
    return sorted(chosen, key=lambda file: file.name.version)


def sightings_in(files: Iterable[ListedFile]) -> list[Sighting]:
    """The versions that are known to exist, by date."""
    dated = {(day_of(file), Version(file.name.version.base_version)) for file in files}
    return [Sighting(day, version) for day, version in sorted(dated)]


def day_of(file: ListedFile) -> date:
    """The date in its version; the earliest one of all when it has none."""
    return file.day.date() if file.day else date.min


@dataclass(frozen=True, slots=True)
class ListedFacts:
    """What is known of listed files.

    The times of a page are taken without a request when those of its oldest and its newest file are the times at which
    these files were changed; else each file is asked for, at the index itself, so that a build has the same identity listed
    and hidden. Only one that is not there is asked for where the page says.
    """

    files: Files

    def of(self, listed: Sequence[ListedFile]) -> dict[str, Answer]:
        """By the location that the page gives.

        Raises what `Files.facts` raises.
        """
        if self._times_are_right(listed):
            return self._by_page(listed)
        asked = self.files.facts({self._address(file): day_of(file) for file in listed}, "listed files")
        elsewhere = {file.location: day_of(file) for file in listed if not is_there(asked[self._address(file)])}
        asked |= self.files.facts(elsewhere)
        return {file.location: asked.get(file.location, asked[self._address(file)]) for file in listed}

    def _times_are_right(self, listed: Sequence[ListedFile]) -> bool:
        if not listed or not all(file.uploaded for file in listed):
            return False
        ends = {self._address(file): file for file in (listed[0], listed[-1])}
        asked = self.files.facts({address: day_of(file) for address, file in ends.items()})
        return all(_is_as_told(asked[address], file) for address, file in ends.items())

    def _by_page(self, listed: Sequence[ListedFile]) -> dict[str, Answer]:
        """The times that the page gives; the sizes where they are remembered for the same content."""
        kept = self.files.memory.of(self._address(file) for file in listed)
        found: dict[str, Answer] = {}
        for file in listed:
            known = kept.get(self._address(file))
            size = known.facts.size if known and known.facts.modified == file.uploaded else None
            found[file.location] = FileFacts(there=True, size=size, modified=file.uploaded)
        return found

    def _address(self, file: ListedFile) -> str:
        """Where the file lies on the index itself, whatever host the page points to."""
        return self.files.site.url(*([file.variant] if file.variant else []), file.filename)


def is_there(facts: Answer) -> bool:
    """Whether a file is known to be there."""
    return isinstance(facts, FileFacts) and facts.there


def _is_as_told(facts: Answer, file: ListedFile) -> bool:
    told = fingerprint_of(file.uploaded) if file.uploaded else None
    return isinstance(facts, FileFacts) and facts.there and facts.fingerprint == told
