"""Whether a build's CUDA code can run with the driver and the GPU of a machine, as far as data tells before it is downloaded.

CUDA's rules: a driver serves every toolkit of its own major version from the first on ("minor version compatibility",
docs.nvidia.com/deploy/cuda-compatibility), so that 525 is enough for every 12.x and 580 for every 13.x. Only code that is
compiled on the machine from PTX needs a driver as new as the toolkit. A `cuda-compat` package can make more possible on
data centre GPUs: nothing here knows of it, which is why a variant that a spec names is never refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing, Machine, Wanted
from bisect_tool.builds.limits import place_of
from bisect_tool.builds.nightly.choice import serves
from bisect_tool.builds.nightly.tables import ArchitectureRow, Tables, read_tables

FILE = Path(__file__).with_name("cuda_releases.toml")


@dataclass(frozen=True, slots=True)
class CudaCode:
    """What a wheel is built for: its CUDA `variant`, the least `driver`, the architectures (90 is 9.0); None: not known.

    `variant` None: the wheel is without CUDA.
    """

    variant: str | None
    driver: Version | None = None
    architectures: ArchitectureRow | None = None


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """Releases of torch from `since` on are built for `variant` on `machines` (`x86_64`), as that was on the day `as_of`."""

    since: Version
    variant: str
    as_of: date
    machines: tuple[str, ...]


@cache
def release_rows(path: Path = FILE) -> tuple[tuple[ReleaseRow, ...], Version]:
    """The rows of the table, oldest first, and the newest release that it speaks of."""
    file = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = [ReleaseRow(Version(r["since"]), r["variant"], r["as_of"], tuple(r["machines"])) for r in file["release"]]
    return tuple(rows), Version(file["checked"])


def code_of_release(version: Version, platform: str, tables: Tables | None = None) -> CudaCode | None:
    """What the wheel of a release of torch on the usual index is built for; None where the table does not tell.

    `platform` is a platform tag, or the name of a machine (`x86_64`).
    """
    rows, checked = release_rows()
    begun = [row for row in rows if row.since <= version]
    if not begun or Version(version.base_version) > checked:
        return None
    row = begun[-1]
    if not platform.endswith(row.machines):
        return CudaCode(None)
    return code_of_variant(row.variant, row.as_of, platform, tables)


def code_of_variant(variant: str, day: date, platform: str, tables: Tables | None = None) -> CudaCode:
    """What builds of a CUDA variant are built for, as of a day."""
    tables = tables or read_tables()
    drivers = [row.driver for row in tables.variants if row.name == variant]
    rows = [row for row in tables.architectures if variant in row.variants and day in row.span]
    here = next((row for row in rows if platform.endswith(row.machine)), None)
    return CudaCode(variant, drivers[0] if drivers else None, here)


def why_not(code: CudaCode, machine: Machine) -> str | None:
    """Why a machine cannot run that code; None when it can, or nobody knows. Only CUDA is judged."""
    if machine.device != "cuda":
        return None
    if code.variant is None:
        return "its wheel for this machine is without CUDA"
    driver = versions.parsed(machine.driver or "")
    if driver is not None and code.driver is not None and driver < code.driver:
        return f"{code.variant} needs driver {code.driver} or newer, and this machine has {machine.driver}"
    if machine.capability is None or code.architectures is None or serves(code.architectures, machine.capability):
        return None
    have = ", ".join(f"sm_{one}" for one in code.architectures.have)
    return f"{code.variant} is built for {have}, and this GPU is sm_{machine.capability[0]}{machine.capability[1]}"


def without_unfit(listing: Listing, wanted: Wanted, *, is_usual_index: bool) -> Listing:
    """The listing with builds of torch left out that cannot run on the machine, each with the reason.

    A wheel that names its variant (`2.9.0+cu126`) is judged by it, any other by the table of releases, if it is from the
    index that the table speaks of.
    """
    if canonicalize_name(wanted.package) != "torch" or wanted.machine.device != "cuda":
        return listing
    judged = [(build, _reason(build, wanted.machine, is_usual_index=is_usual_index)) for build in listing.builds]
    out = [LeftOut(build.version, build.date, LeftOutBecause.DEVICE, why) for build, why in judged if why]
    if not out:
        return listing
    left_out = sorted((*listing.left_out, *out), key=lambda one: place_of(one, dated=listing.dated))
    return replace(listing, builds=tuple(build for build, why in judged if not why), left_out=tuple(left_out))


def _reason(build: Build, machine: Machine, *, is_usual_index: bool) -> str | None:
    code = _code_of(build, is_usual_index=is_usual_index)
    return why_not(code, machine) if code else None


def _code_of(build: Build, *, is_usual_index: bool) -> CudaCode | None:
    version = versions.parsed(build.version)
    if version is None:
        return None
    platform = build.filename.removesuffix(".whl").rpartition("-")[2]
    if build.variant is not None:
        if build.variant == "cpu":
            return CudaCode(None)
        known = build.variant.startswith("cu") and build.date is not None
        return code_of_variant(build.variant, build.date.date(), platform) if known and build.date else None
    return code_of_release(version, platform) if is_usual_index else None


def releases_for(machine: Machine, platform: str) -> Iterator[tuple[ReleaseRow, Version | None, str | None]]:
    """Each row of the table, the first release that is no longer of it (None: still), and why it cannot run here."""
    rows, _ = release_rows()
    for row, after in zip(rows, (*rows[1:], None), strict=True):
        code = code_of_release(row.since, platform)
        yield row, after.since if after else None, why_not(code, machine) if code else None
