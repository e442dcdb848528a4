"""What is installed beside a nightly by its address: the triton that it pins, and torchvision or torchaudio if asked for.

A pinned triton is found on the pages, else at the addresses that it may have: triton wheels lie at the root of the nightlies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.build import Build, Target
from bisect_tool.builds.fitting import Fitting, read_wheel_name, target_for
from bisect_tool.builds.nightly.choice import Line
from bisect_tool.builds.nightly.finder import Finder
from bisect_tool.builds.nightly.listed import is_there
from bisect_tool.builds.nightly.naming import Naming, wheel_filename
from bisect_tool.builds.nightly.tables import Span

# Every name that PyTorch's build of triton has had, and the packages of the nightlies themselves.
TRITON = frozenset({
    "torchtriton", "pytorch-triton", "pytorch-triton-rocm", "pytorch-triton-xpu", "triton", "triton-rocm", "triton-xpu",
})  # fmt: skip
COMPANIONS = ("torchvision", "torchaudio")
# Days that a companion may be older than torch, in the steps in which they are looked at: most are of the same day.
_BACK = ((0, 1), (1, 6), (6, 31))


@dataclass(frozen=True, slots=True)
class Pin:
    """A requirement of exactly one version, with its local label."""

    name: str
    version: Version
    spelled: str


def triton_pin(requires: Iterable[str], target: Target) -> Pin | None:
    """The triton that Requires-Dist lines pin exactly, for the interpreter of `target`; None where there is none."""
    for need in _needed(requires, target):
        spelled = _exact(need)
        version = versions.parsed(spelled or "")
        if canonicalize_name(need.name) in TRITON and spelled and version is not None:
            return Pin(canonicalize_name(need.name), version, spelled)
    return None


def torch_pin(requires: Iterable[str], target: Target) -> Pin | None:
    """The nightly of torch that a companion pins exactly, None where there is none."""
    for need in _needed(requires, target):
        version = versions.parsed(_exact(need) or "")
        if canonicalize_name(need.name) == "torch" and version is not None and versions.date_in(version):
            return Pin("torch", version, str(version))
    return None


def chosen_triton(requires: Iterable[str]) -> list[str]:
    """The requirements of a spec that name one triton, by its version or its address: it takes the place of the pinned one."""
    needs = {text: Requirement(text) for text in requires}
    return [
        text for text, need in needs.items() if canonicalize_name(need.name) in TRITON and (need.url or _exact(need))
    ]


def companions_in(requires: Iterable[str]) -> list[Requirement]:
    """The requirements of a spec that are built beside torch; those with an address of their own are left alone."""
    needs = (Requirement(text) for text in requires)
    return [need for need in needs if canonicalize_name(need.name) in COMPANIONS and need.url is None]


def target_of(build: Build) -> Target:
    """What fits the interpreter that a wheel was built for, on this machine."""
    name = read_wheel_name(build.filename)
    tag = next(iter(name.tags)) if name else None
    digits = tag.interpreter.removeprefix("cp") if tag else ""
    if tag is None or not digits.isdecimal():
        raise ValueError(f"{build.filename} is not for a CPython")
    return target_for(f"{digits[0]}.{digits[1:]}", free_threaded=tag.abi.endswith("t"))


@dataclass(frozen=True, slots=True)
class Beside:
    """Finds what belongs to a build of torch; `finder` says where, whatever its package."""

    finder: Finder

    def address_of(self, pin: Pin, build: Build) -> str | None:
        """Where the wheel of a pin is, for the Python of `build`; None when it is not found.

        Raises `IndexUnreachable`, `CacheNotWritable`, `DiskFull`.
        """
        target = target_of(build)
        return self._listed(pin, build.variant, target) or self._hidden(pin, build, target)

    def companion(self, need: Requirement, build: Build) -> Build | None:
        """The build of the nearest date up to that of torch, in its variant and for its Python; None when there is none.

        Raises `IndexUnreachable`, `CacheNotWritable`, `DiskFull`.
        """
        if build.date is None or build.variant is None:
            return None
        last, target = build.date.date(), target_of(build)
        line = Line(build.variant, target, Span(last - timedelta(days=_BACK[-1][1]), last), (0, 0))
        finder = replace(self.finder, package=canonicalize_name(need.name))
        for nearest, farthest in _BACK:
            days = [last - timedelta(days=number) for number in range(nearest, farthest)]
            found = finder.find(line, days, build.python).builds
            fitting = [one for one in found if need.specifier.contains(one.version, prereleases=True)]
            if fitting:
                return fitting[-1]
        return None

    def torch(self, pin: Pin, build: Build) -> Build | None:
        """The torch that a companion pins, in the variant and for the Python of `build`; None when it is not found.

        Raises `IndexUnreachable`, `CacheNotWritable`, `DiskFull`.
        """
        day = versions.date_in(pin.version)
        if day is None or build.variant is None:
            return None
        line = Line(build.variant, target_of(build), Span(day.date(), day.date()), (0, 0))
        found = replace(self.finder, package="torch").find(line, [day.date()], build.python).builds
        return next((one for one in found if _is(pin.version, Version(one.version))), None)

    def expected(self, package: str, build: Build) -> str:
        """The version that the companion of the same date is likely to have."""
        day = build.date.date() if build.date else date.max
        base = Naming(self.finder.tables, package, build.variant or "", target_of(build)).versions(day)[0]
        return f"{base}.dev{day:%Y%m%d}" + (f"+{build.variant}" if build.variant else "")

    def _listed(self, pin: Pin, variant: str | None, target: Target) -> str | None:
        files = self.finder.pages.of(pin.name, variant) or ()
        there = {
            file.name: file for file in files if file.name.version == pin.version and file.variant in (None, variant)
        }
        best = Fitting(target).best(there)
        return there[best].location if best else None

    def _hidden(self, pin: Pin, build: Build, target: Target) -> str | None:
        day = build.date.date() if build.date else date.max
        addresses = dict.fromkeys(self._candidates(pin, build.variant or "", day, target), day)
        facts = self.finder.files.facts(addresses)
        return next((address for address in addresses if is_there(facts[address])), None)

    def _candidates(self, pin: Pin, variant: str, day: date, target: Target) -> Iterator[str]:
        fitting = Fitting(target)
        for folder in ((), (variant,)):
            for tag in self.finder.tables.platforms_of("triton", variant, day):
                filename = wheel_filename(pin.name, pin.spelled, target, tag)
                name = read_wheel_name(filename)
                if name is not None and fitting.rank(name) is not None:
                    yield self.finder.files.site.url(*folder, filename)


def _is(pinned: Version, version: Version) -> bool:
    """Whether a version is the pinned one; a pin without a local label takes any."""
    return version == pinned if pinned.local else Version(version.public) == pinned


def _exact(need: Requirement) -> str | None:
    """The one version that a requirement allows."""
    exact = [
        part.version for part in need.specifier if part.operator in {"==", "==="} and not part.version.endswith(".*")
    ]
    return exact[0] if exact else None


def _needed(requires: Iterable[str], target: Target) -> Iterator[Requirement]:
    here = {name: str(value) for name, value in default_environment().items()}
    environment = {**here, **_python(target), "extra": ""}
    for line in requires:
        try:
            need = Requirement(line)
        except InvalidRequirement:
            continue  # not ours to judge: uv reads it too, and says so
        if need.marker is None or need.marker.evaluate(environment):
            yield need


def _python(target: Target) -> dict[str, str]:
    version = Version(target.python)
    full = target.python if len(version.release) > 2 else f"{target.python}.0"
    return {"python_version": f"{version.major}.{version.minor}", "python_full_version": full}
