from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import pytest

from bisect_tool.builds.build import Build, Installation, Wanted
from bisect_tool.builds.channel import Access, Channel, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.environments.cache_folder import CacheFolder, open_cache
from bisect_tool.environments.environment import Environment, EnvironmentKey, Environments, Step
from bisect_tool.environments.interpreter import Interpreter, find_interpreter
from bisect_tool.environments.uv import Uv, find_uv
from tests.rig.index import Index, serve
from tests.rig.toy import ToyBuild, toy_package


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    return find_interpreter(None, find_uv(tmp_path_factory.mktemp("uv"), os.environ))


@dataclass(slots=True)
class Bench:
    """A cache, real uv (or `program`), an index, and a channel that lists it.

    Pauses between attempts are noted, not waited.
    """

    root: Path
    index: Index
    cache: CacheFolder
    interpreter: Interpreter
    environ: dict[str, str]
    pauses: list[float] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    program: Path | None = None

    @property
    def uv(self) -> Uv:
        found = find_uv(self.cache.uv, self.environ)
        return replace(found, program=self.program or found.program)

    @property
    def channel(self) -> Channel:
        return open_channel("release", Access(index=self.index.url))

    def publish(self, package: str, *builds: ToyBuild) -> None:
        toy_package(self.index.folder, package, builds)

    def build(self, package: str = "toy", version: str = "1.0", channel: Channel | None = None) -> Build:
        listed = (channel or self.channel).listing(Wanted(package, target_for(self.interpreter.version)))
        found = {build.version: build for build in listed.builds}[version]
        self.index.log.clear()
        return found

    def key(self, build: Build, *, requires: tuple[str, ...] = (), base_system: bool = False) -> EnvironmentKey:
        return EnvironmentKey(build, self.interpreter, requires, base_system)

    def environments(self, max_cache: int | None = None) -> Environments:
        return Environments(self.cache, self.uv, self.environ, max_cache, sleep=self.pauses.append)

    def use(
        self, key: EnvironmentKey, *, as_of: datetime | None = None, install: Callable[[], Installation] | None = None
    ) -> AbstractContextManager[Environment]:
        return self.environments().use(
            key,
            install or (lambda: self.channel.installation(key.build)),
            device="cpu",
            as_of=as_of,
            tell=self.steps.append,
        )

    def make(self, key: EnvironmentKey, *, as_of: datetime | None = None) -> Environment:
        with self.use(key, as_of=as_of) as environment:
            return environment

    def packages(self, environment: Environment) -> Mapping[str, str]:
        return environment.health.packages


@pytest.fixture
def bench(tmp_path: Path, interpreter: Interpreter) -> Iterator[Bench]:
    """An index with toy 1.0 and 1.1."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "UV_HTTP_RETRIES": "0"}
    with serve(tmp_path / "wheels") as index:
        bench = Bench(tmp_path, index, open_cache(tmp_path / "cache"), interpreter, environ)
        bench.publish("toy", ToyBuild("1.0"), ToyBuild("1.1"))
        yield bench
