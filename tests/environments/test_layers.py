"""Environments that lie over others, and mixtures of two."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from bisect_tool.builds.build import Build, FileChange, Installation, Layer
from bisect_tool.environments import locks
from bisect_tool.environments.environment import BuildUnusable, Environment, Environments, remove
from bisect_tool.environments.layering import blob_hash
from bisect_tool.environments.mixing import Swap
from bisect_tool.environments.verify import verify
from tests.environments.conftest import Bench
from tests.rig.toy import ToyBuild

NEW = b"STATE = 'laid over'\n"


def over(base: Build) -> Build:
    return Build("toy", "0123456789ab", "0" * 40, "release", revision="0" * 40, base=base)


def installed(bench: Bench, base: Build, *changes: FileChange) -> Installation:
    layer = Layer(("toy",), under=lambda: bench.channel.installation(base), changes=lambda: changes)
    return Installation((), layer=layer)


def said(environment: Environment, words: str) -> str:
    return subprocess.run(
        [environment.programs / "python", "-c", words], capture_output=True, text=True, check=True, env={}
    ).stdout.strip()


def test_files_of_a_commit_over_an_installed_build(bench: Bench) -> None:
    base = bench.build()
    build = over(base)
    change = FileChange("toy/added.py", NEW)
    with bench.use(bench.key(build), install=lambda: installed(bench, base, change)) as environment:
        assert said(environment, "from toy import added; print(added.STATE)") == "laid over"
        assert (environment.health.version, environment.health.revision) == ("1.0", "0" * 40)
        with locks.exclusive_or_none(bench.cache.locks / f"{bench.key(base).folder_name}.lock") as free:
            assert not free
    assert bench.environments().is_ready(bench.key(base))
    with bench.use(bench.key(base)) as below:
        assert not list((below.folder / "venv").rglob("added.py"))
    assert verify(bench.cache) == []


def test_a_base_that_was_evicted_is_made_again_before_its_layer_is_used(bench: Bench) -> None:
    base = bench.build()
    key = bench.key(over(base))
    with bench.use(key, install=lambda: installed(bench, base, FileChange("toy/added.py", NEW))):
        pass
    remove(bench.cache.environments / bench.key(base).folder_name)
    with bench.use(key, install=lambda: installed(bench, base)) as environment:
        assert environment.cached
        assert said(environment, "import toy; from toy import added; print(toy.__version__)") == "1.0"


def test_a_base_of_another_commit_makes_the_overlay_unusable(bench: Bench) -> None:
    base = bench.build()
    change = FileChange("toy/version.py", NEW, blob_hash(b"other"))
    use = bench.use(bench.key(over(base)), install=lambda: installed(bench, base, change))
    with pytest.raises(BuildUnusable, match=r"^overlay not valid here: toy/version\.py of the base is not as in"), use:
        pass


@pytest.fixture
def two(bench: Bench) -> Iterator[tuple[Environments, list[Environment], list[Build]]]:
    """toy 1.0 with part 1.0, and toy 2.0 with part 2.0."""
    bench.publish("part", ToyBuild("1.0"), ToyBuild("2.0"))
    bench.publish("toy", ToyBuild("3.0", requires=("part==1.0",)), ToyBuild("4.0", requires=("part==2.0",)))
    builds = [bench.build(version=version) for version in ("3.0", "4.0")]
    with ExitStack() as stack:
        yield bench.environments(), [stack.enter_context(bench.use(bench.key(build))) for build in builds], builds


def test_another_package_is_taken_from_the_other_environment(
    bench: Bench, two: tuple[Environments, list[Environment], list[Build]]
) -> None:
    environments, (older, newer), builds = two
    swap = Swap(frozenset({"part"}))
    with environments.mixed(bench.key(builds[1]), newer, older, swap, "cpu") as mixture:
        assert dict(mixture.health.packages) == {"toy": "4.0", "part": "1.0"}
        assert said(mixture, "import toy, part; print(toy.__version__, part.__version__)") == "4.0 1.0"
    assert not mixture.folder.exists()
    assert said(newer, "import toy, part; print(toy.__version__, part.__version__)") == "4.0 2.0"


def test_python_files_are_taken_from_the_other_environment(
    bench: Bench, two: tuple[Environments, list[Environment], list[Build]]
) -> None:
    environments, (older, newer), builds = two
    with environments.mixed(bench.key(builds[1]), newer, older, Swap(python_of="toy"), "cpu") as mixture:
        assert said(mixture, "import toy; print(toy.__version__)") == "3.0"
        assert mixture.health.version == "4.0"
    assert said(newer, "import toy; print(toy.__version__)") == "4.0"
