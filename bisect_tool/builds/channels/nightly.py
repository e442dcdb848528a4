"""The channel `nightly`: PyTorch's nightlies, those that the index lists and those that it only hides.

How it works, what it costs and what could not be checked: `docs/nightlies.md`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import Build, Installation, Listing, Wanted
from bisect_tool.builds.channel import Access
from bisect_tool.builds.channels.release import ReleaseChannel
from bisect_tool.builds.index_address import IndexAddress, find_index
from bisect_tool.builds.nightly import undated
from bisect_tool.builds.nightly.assembling import Assembled, Assembler
from bisect_tool.builds.nightly.beside import Beside
from bisect_tool.builds.nightly.choice import AUTO, Line, lines_for
from bisect_tool.builds.nightly.dates import first_date, last_date, variant_in
from bisect_tool.builds.nightly.files import Files
from bisect_tool.builds.nightly.finder import Finder
from bisect_tool.builds.nightly.inside import Inside, Unreadable, WheelReader
from bisect_tool.builds.nightly.installation import Installer
from bisect_tool.builds.nightly.memory import FileFacts, Memory
from bisect_tool.builds.nightly.pages import Pages
from bisect_tool.builds.nightly.site import Site, Unanswered, open_site
from bisect_tool.builds.nightly.tables import Span, Tables, read_tables
from bisect_tool.builds.nightly.telling import no_builds, notes_on, nothing_runs
from bisect_tool.builds.nightly.thin import PythonPart, read_python_part
from bisect_tool.builds.nothing_fits import nothing_fits
from bisect_tool.errors import BoundError, IndexUnreachable, PackageNotFound

_ALWAYS_REQUIRED = "filelock"  # by every torch since 2.0


def open_channel(access: Access) -> NightlyChannel:
    """The nightlies at the address that `access` names, else PyTorch's own."""
    site = open_site(access.nightly_index)
    return NightlyChannel(site, Pages(site), Memory(access.pages), access)


@dataclass(frozen=True, slots=True)
class NightlyChannel:
    """Lists nightlies by date. `clock` gives the time (UTC, aware)."""

    site: Site
    pages: Pages
    memory: Memory
    access: Access
    tables: Tables = field(default_factory=read_tables, repr=False)
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC), repr=False)

    def source_address(self) -> str:
        """The address of the index of nightlies, without credentials."""
        return self.site.address

    def listing(self, wanted: Wanted) -> Listing:
        """The builds of the range, oldest first, in one variant for one Python; cut where no single one serves.

        Raises:
            BoundError: a bound is neither date nor version, or `from` is after `to`.
            PackageNotFound: no such package or variant, or none of its builds of these dates runs here.
            IndexUnreachable: no answer, or no index page.
            CacheNotWritable, DiskFull: answers cannot be kept.
        """
        if canonicalize_name(wanted.package) in undated.PACKAGES:
            return self._undated(wanted)
        wanted = self._with_variant(wanted)
        first, last = self._dates(wanted)
        finder = self._finder(wanted.package)
        span = Span(first or self.tables.begin, last)
        lines = [
            line for line in self._known_longer(lines_for(self.tables, wanted), finder) if self._may_serve(line, span)
        ]
        if not lines and wanted.variant == AUTO and wanted.machine.device != "cpu":
            raise nothing_runs(self.tables, wanted, span, self.source_address())
        assembled = Assembler(finder, wanted.target).assemble(lines, first, last)
        if not assembled.builds:
            raise self._nothing(wanted, lines, span)
        return self._as_listing(assembled, wanted)

    def _undated(self, wanted: Wanted) -> Listing:
        files = Files(self.site, self.memory, self.clock, self.access.tell)
        found = undated.Undated(files, self.pages, self.source_address()).listing(wanted)
        if not found.builds:
            raise nothing_fits(found, wanted)
        return replace(found, has_upload_times=self._others_have_times(wanted))

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        """The file itself, its triton and the torchvision or torchaudio of the spec by their addresses.

        Everything else comes from the usual index, as of the date of the build.

        Raises:
            IndexUnreachable: no answer.
            CacheNotWritable, DiskFull: answers cannot be kept.
        """
        index = self._default_index()
        beside = Beside(self._finder(build.package))
        installer = Installer(self.site, self._reader(), beside, None if index.is_default else index.url)
        return installer.installation(build, requires)

    def inside(self, build: Build) -> Inside:
        """What a build says of itself: its commit (of the nightly branch), CUDA version, requirements; some 0.2 MB.

        Raises:
            Unreadable: the wheel cannot be read in parts.
            IndexUnreachable: no answer.
            CacheNotWritable, DiskFull: answers cannot be kept.
        """
        return self._reader().inside(build)

    def current(self, build: Build) -> Build:
        """The build as the index has it now; asks for it. A build that is gone stays as it was: uv says so.

        Raises:
            IndexUnreachable: no answer.
            CacheNotWritable, DiskFull: the answer cannot be kept.
        """
        addresses = dict.fromkeys((self._address_of(build), build.location))
        for address in addresses:
            facts = self.site.ask([address])[address]
            if isinstance(facts, Unanswered):
                raise facts.error
            self.memory.keep({address: facts}, self.clock())
            if facts.there:
                return _as_it_is(build, facts)
        return build

    def identified(self, build: Build) -> Build:
        """The build with the commit of the nightly branch that its wheel names, read by parts; else as it was.

        Raises:
            IndexUnreachable: no answer.
            CacheNotWritable, DiskFull: the answer cannot be kept.
        """
        try:
            inside = self.inside(build)
        except Unreadable:
            return build
        return replace(build, revision=inside.revision)

    def python_part(self, build: Build, folders: tuple[str, ...]) -> PythonPart:
        """What the Python part of a build, the files of `folders` that are no binaries, holds; two requests.

        Raises:
            NotReadable: the wheel cannot be read in parts.
            IndexUnreachable: no answer.
        """
        return read_python_part(self.site, build.location, build.version, folders)

    def _address_of(self, build: Build) -> str:
        """Where its identity comes from: the file on the index itself; the page may point to another host."""
        at_root = f"/{build.variant}/" not in build.location
        return self.site.url(*([] if at_root or not build.variant else [build.variant]), build.filename)

    def _with_variant(self, wanted: Wanted) -> Wanted:
        named = variant_in(wanted.from_, wanted.to) if wanted.variant == AUTO else None
        return replace(wanted, variant=named) if named else wanted

    def _dates(self, wanted: Wanted) -> tuple[date | None, date]:
        today = self.clock().date()
        first, last = first_date(self.tables, wanted.from_), last_date(self.tables, wanted.to, today)
        if first is not None and first > last:
            if first > today:
                raise BoundError(f"from {wanted.from_}: that is after today", advice="Give an earlier `from`.")
            raise BoundError(
                f"from ({wanted.from_}) is after to ({wanted.to})",
                advice="Exchange them: `from` is the older one, also when a fix is looked for.",
            )
        return first, last

    def _default_index(self) -> IndexAddress:
        return find_index(self.access.index, os.environ, Path.home())

    def _reader(self) -> WheelReader:
        return WheelReader(self.site, self.memory, self.tables)

    def _finder(self, package: str) -> Finder:
        files = Files(self.site, self.memory, self.clock, self.access.tell)
        return Finder(files, self.pages, self.tables, canonicalize_name(package))

    def _known_longer(self, lines: Sequence[Line], finder: Finder) -> list[Line]:
        """A variant that the table ends lately may still be listed: then it goes on to what the page says."""
        lately = self.clock().date() - self.tables.after - self.tables.after
        longer = []
        for line in lines:
            newest = finder.newest_listed(line.variant) if lately < line.span.last < self.clock().date() else None
            longer.append(replace(line, span=Span(line.span.first, max(newest, line.span.last))) if newest else line)
        return longer

    def _may_serve(self, line: Line, span: Span) -> bool:
        return line.span.widened(self.tables.before, self.tables.after).meets(span) is not None

    def _nothing(self, wanted: Wanted, lines: Sequence[Line], span: Span) -> Exception:
        files = self.pages.of(wanted.package)
        listed = None if files is None else sorted({file.variant for file in files if file.variant})
        variants = list(dict.fromkeys(line.variant for line in lines))
        return no_builds(self.tables, wanted, variants or [wanted.variant], span, self.source_address(), listed)

    def _as_listing(self, assembled: Assembled, wanted: Wanted) -> Listing:
        return Listing(
            builds=tuple(self._with_revision(build) for build in assembled.builds),
            left_out=assembled.left_out,
            source=self.source_address(),
            dated=True,
            has_upload_times=self._others_have_times(wanted),
            notes=notes_on(assembled, wanted),
        )

    def _with_revision(self, build: Build) -> Build:
        """With the commit, where somebody looked inside before."""
        known = self._reader().known(build)
        return replace(build, revision=known.revision) if known and known.revision else build

    def _others_have_times(self, wanted: Wanted) -> bool:
        """Whether what a nightly requires can be had as of a date: the index of everything else says so of one of them.

        An index that does not answer now is reported when something is installed from it.
        """
        try:
            others = ReleaseChannel(self._default_index(), self.access.pages, self.site.backoff)
            return others.listing(Wanted(_ALWAYS_REQUIRED, wanted.target)).has_upload_times
        except (IndexUnreachable, PackageNotFound):
            return True


def _as_it_is(build: Build, facts: FileFacts) -> Build:
    return replace(build, size=facts.size, fingerprint=facts.fingerprint)
