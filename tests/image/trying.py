"""What is tried in the image once it is built: as its own user, its root read-only, without a network."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psutil

from tests.image.building import Built
from tests.image.container import Container
from tests.image.toys import Toys

RAYJOB = Path(__file__).resolve().parents[2] / "deploy" / "ray" / "rayjob.yaml"
STRANGER = "1234560000:0"  # a uid without a name, as OpenShift gives one
OFFLINE = ("--channel", "wheelhouse", "--wheelhouse", "/wheels")
SETTLING = 20.0  # seconds; before they kill, Docker waits 10 and Kubernetes 30


class Wrong(Exception):
    """The image does not do what docs/container.md says."""


@dataclass(slots=True)
class Trying:
    """Tries `image` with toy questions in `place`."""

    image: Built
    place: Path
    toys: Toys = field(init=False)

    def __post_init__(self) -> None:
        self.toys = Toys(self.place)

    def all(self) -> Iterator[tuple[str, float, str]]:
        """Each check by name, with its seconds and what it says. Raises `Wrong` at the first that fails."""
        checks: tuple[Callable[[], str], ...] = (
            self.starts, self.is_healthy, self.doctor, self.answers, self.compiles, self.stops, self.goes_on, self.stranger,
        )  # fmt: skip
        if find_spec("bisect_tool.cli.batch"):
            checks += (self.batch,)
        if (self.image.root / "opt/bisect/bin/ray").exists():
            checks += (self.ray,)
        for check in checks:
            started = time.monotonic()
            says = check()
            yield check.__name__, time.monotonic() - started, says

    def starts(self) -> str:
        """Without words it shows its help."""
        done = self._run(*self.image.settings.command)
        _expect(done, 0, "Usage: bisect")
        return "bisect --help"

    def is_healthy(self) -> str:
        """The health check passes, and does not where the cache cannot be written."""
        words = self.image.settings.health
        with self._container("10001:0") as container:
            _expect(container.run(*words), 0, "bisect, version")
        with self._container("10001:0", owner=0, mode=0o755) as container:
            done = container.run(*words)
        if done.returncode == 0:
            raise Wrong("healthy with a cache that cannot be written")
        return "passes; fails where the cache cannot be written"

    def doctor(self) -> str:
        """Nothing is in the way of a wheelhouse, and compilers and header files are there."""
        done = self._run("doctor", "--device", "cpu", *OFFLINE)
        _expect(done, 0, "compiler")
        lines = [
            line for line in done.stdout.splitlines() if "warning" in line and ("compiler" in line or "python" in line)
        ]
        if lines:
            raise Wrong("\n".join(lines))
        return "no problem; compilers and header files are there"

    def answers(self) -> str:
        """A run from the wheelhouse names the planted build."""
        done = self._run(
            "run", "/specs/toy.yaml", *OFFLINE, "--json", "/results/toy.json", "--html", "/results/toy.html"
        )
        _expect(done, 0, "appeared in 1.7")
        answer = json.loads((self.place / "results" / "toy.json").read_text())
        return f"appeared in 1.7, {answer['counts']['trials']} trials"

    def compiles(self) -> str:
        """Trials can compile C++, and C against the header files of Python."""
        _expect(self._run("run", "/specs/compiled.yaml", *OFFLINE), 4, "")
        return "C++, and C with Python.h, inside a trial"

    def stops(self) -> str:
        """SIGTERM to process 1, as engines stop a container: status 130, what had finished is stored, no zombies on the way."""
        with self._container("10001:0", keep=True) as container:
            words = (*self.image.settings.entrypoint, "run", "/specs/slow.yaml", *OFFLINE, "--plain")
            process = container.start(*words)
            assert process.stdout is not None
            seen = next((line for line in process.stdout if "pass in" in line), None)
            if seen is None:
                raise Wrong("ended before a trial had finished")
            first = psutil.Process(process.pid).children()[0]
            zombies = sum(one.status() == psutil.STATUS_ZOMBIE for one in first.children(recursive=True))
            started = time.monotonic()
            os.kill(first.pid, signal.SIGTERM)
            process.communicate(timeout=SETTLING)
        if process.returncode != 130 or zombies:
            raise Wrong(f"exit status {process.returncode}, {zombies} zombies")
        return f"status 130, {time.monotonic() - started:.1f} s after SIGTERM"

    def goes_on(self) -> str:
        """The same command after that goes on from what was stored."""
        done = self._run("run", "/specs/slow.yaml", *OFFLINE, "--json", "/results/slow.json", keep=True)
        _expect(done, 4, "")
        counts = json.loads((self.place / "results" / "slow.json").read_text())["counts"]
        if not counts["trials_known"]:
            raise Wrong("nothing was kept")
        return f"{counts['trials_known']} trials known, {counts['trials']} made"

    def stranger(self) -> str:
        """Any uid with the group 0 can use it, a user without a name too."""
        _expect(self._run("run", "/specs/toy.yaml", *OFFLINE, user=STRANGER), 0, "appeared in 1.7")
        return f"uid {STRANGER.partition(':')[0]}, group 0"

    def batch(self) -> str:
        """All specs of a folder at once."""
        done = self._run("batch", "/specs", *OFFLINE, "--out", "/results/batch")
        if done.returncode not in {0, 3, 4}:
            raise Wrong(f"exit status {done.returncode}\n{done.stderr}")
        lines = (self.place / "results" / "batch" / "summary.jsonl").read_text().splitlines()
        if len(lines) != 3:
            raise Wrong(f"{len(lines)} lines in the summary instead of 3")
        return "three specs, three lines in summary.jsonl"

    def ray(self) -> str:
        """Ray is the one that the manifest of KubeRay names."""
        with self._container("10001:0") as container:
            done = container.run("ray", "--version")
        version = re.search(r'rayVersion: "(.+)"', RAYJOB.read_text())
        _expect(done, 0, f"version {version[1]}" if version else "no version in the manifest")
        return done.stdout.strip()

    def _run(self, *words: str, user: str = "10001:0", keep: bool = False) -> subprocess.CompletedProcess[str]:
        with self._container(user, keep=keep) as container:
            return container.run(*self.image.settings.entrypoint, *words)

    @contextmanager
    def _container(
        self, user: str, *, owner: int = 10001, mode: int = 0o2775, keep: bool = False
    ) -> Iterator[Container]:
        """One with folders mounted as an engine does: a new cache unless `keep`; by default its group may write it."""
        settings = self.image.settings
        name = "kept" if keep else f"cache-{time.monotonic_ns()}"
        volumes = {"/cache": self.place / name, "/results": self.place / "results"}
        for folder in volumes.values():
            folder.mkdir(exist_ok=True)
            os.chown(folder, owner, 0)
            folder.chmod(mode)
        volumes |= {"/specs": self.toys.specs, "/wheels": self.toys.wheels}
        yield Container(self.image.root, settings.environ, settings.folder, user, volumes, read_only=True, offline=True)


def _expect(done: subprocess.CompletedProcess[str], status: int, words: str) -> None:
    if done.returncode != status or words not in done.stdout:
        raise Wrong(f"exit status {done.returncode} instead of {status}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
