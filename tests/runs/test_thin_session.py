from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bisect_tool.builds.build import Build, Installation, Listing, Wanted
from bisect_tool.builds.python_files import PythonFiles
from bisect_tool.runs.stretches import thinned
from bisect_tool.runs.thin_session import ThinChannel

OLD = Build("torch", "2.15.0.dev20260801", "old.whl", "http://x/old", fingerprint="modified:1", size=600)
NEW = Build("torch", "2.15.0.dev20261003", "new.whl", "http://x/new", fingerprint="modified:2", size=600)


@dataclass
class Place:
    """A channel whose files can be replaced."""

    replaced: Mapping[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def listing(self, wanted: Wanted) -> Listing:
        return Listing((), (), wanted.package)

    def source_address(self) -> str:
        return "http://x"

    def identified(self, build: Build) -> Build:
        return build

    def current(self, build: Build) -> Build:
        self.asked.append(build.filename)
        return replace(build, fingerprint=self.replaced.get(build.filename, build.fingerprint))

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        return Installation((build.location, *requires))

    def python_part(self, build: Build, folders: tuple[str, ...]) -> PythonFiles:
        raise AssertionError(f"nobody needs the files of {build.version} in {folders}")


def test_a_thin_build_is_installed_as_a_layer_over_its_base() -> None:
    installation = ThinChannel(Place(), ("torch",)).installation(thinned(OLD, NEW), ("numpy",))
    assert installation.requirements == ()
    assert installation.layer is not None
    assert installation.layer.under().requirements == ("http://x/new", "numpy")


def test_what_stayed_the_same_is_the_same_build_and_bases_are_asked_for_once() -> None:
    place = Place()
    channel, thin = ThinChannel(place, ("torch",)), thinned(OLD, NEW)
    assert channel.current(thin) is thin
    assert channel.current(thin) is thin
    assert place.asked == ["new.whl", "old.whl", "old.whl"]


def test_a_file_that_was_replaced_makes_another_thin_build() -> None:
    thin = thinned(OLD, NEW)
    found = {
        ThinChannel(Place({name: "modified:9"}), ("torch",)).current(thin).identity for name in ("old.whl", "new.whl")
    }
    assert len(found | {thin.identity}) == 3
