"""Jobs for an executor of any kind, over the tiny builds of an index, and what comes of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.builds.build import Build, Installation
from bisect_tool.environments.environment import Environment, EnvironmentKey
from bisect_tool.environments.interpreter import find_interpreter
from bisect_tool.environments.uv import find_uv
from bisect_tool.runs.executors import Arrival, Ended, Executor, Opened, OpenEnvironment, Result, RunTrial
from bisect_tool.trials.trial import TrialOrder
from tests.rig.index import Index


@dataclass
class Bench:
    """An executor with two slots, and a folder of this machine whose cache is the one of whoever decides."""

    executor: Executor
    folder: Path
    index: Index

    def opening(self, version: str, *, location: str | None = None) -> OpenEnvironment:
        """The order for a build of the index."""
        uv = find_uv(self.folder / "uv", dict(os.environ))
        name = f"toy-{version}-py3-none-any.whl"
        build = Build("toy", version, name, location or f"{self.index.url}/{name}", sha256=version.encode().hex())
        installation = Installation((f"toy=={version}",), ("--default-index", self.index.url))
        return OpenEnvironment(
            EnvironmentKey(build, find_interpreter(None, uv)), lambda: installation, device="cpu", as_of=None
        )

    def ended(self, slot: int = 0) -> Result | BaseException:
        """The end of the job of a slot."""
        return next(one.result for one in self.until(Ended) if isinstance(one, Ended) and one.slot == slot)

    def until(self, kind: type) -> list[Arrival]:
        """What arrives, until something of that kind has."""
        found: list[Arrival] = []
        while not any(isinstance(one, kind) for one in found):
            arrived = self.executor.arrivals(timeout=60)
            assert arrived, "nothing has happened for a minute"
            found += arrived
        return found

    @contextmanager
    def opened(self, version: str) -> Iterator[Environment]:
        """An environment, open."""
        self.executor.start(0, self.opening(version))
        opened = self.ended()
        assert isinstance(opened, Opened), opened
        with closing(opened.lease):
            yield opened.environment

    def trial(
        self,
        environment: Environment,
        script: bytes,
        name: str = "20260101-t",
        content: bytes = b"by content",
        **variables: str,
    ) -> RunTrial:
        """A trial of a script that is given a file of its own, with this content."""
        files = (("data/words.txt", content), ("repro.py", script))
        order = TrialOrder(files, ("python", "repro.py", "data/words.txt"), variables, 60, "cpu")
        return RunTrial(order, environment, self.folder / "cache" / "trials" / name)
