"""Carries out the steps of a Dockerfile, each stage in a root folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.image import context
from tests.image.container import Container
from tests.image.dockerfile import NotUnderstood, Settings, Stage, Step, copied, copied_from, needed, parse

# What tells pip of this machine where packages come from: given to the steps as an engine gives proxies, kept nowhere.
PASSED_ON = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST")
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
# Files of the machine that a step sees: its name server, its package mirrors, and the certificates that these are signed with.
CERTIFICATES = "etc/lent-certificates.crt"
LENT = {
    "etc/resolv.conf": Path("/etc/resolv.conf"),
    "etc/pip.conf": Path("/etc/pip.conf"),
    "etc/apt/apt.conf.d": Path("/etc/apt/apt.conf.d"),
    CERTIFICATES: Path(os.environ.get("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")),
}


class StepFailed(Exception):
    """A step ended with another status than 0."""


@dataclass(frozen=True, slots=True)
class Built:
    """A stage that was carried out: its root, what its steps have set, and the seconds of each step."""

    root: Path
    settings: Settings
    seconds: tuple[tuple[Step, float], ...]


@dataclass(slots=True)
class Builder:
    """Builds from `checkout` inside `place`. `base` makes the root of an image in the folder that it is given."""

    checkout: Path
    place: Path
    base: Callable[[str, Path], None]
    tell: Callable[[str], None] = print
    built: dict[str, Built] = field(default_factory=dict)

    def build(self, target: str) -> Built:
        """The last stage of those that `target` needs. Raises `NotUnderstood`, `StepFailed`."""
        stages = needed(parse((self.checkout / "Dockerfile").read_text(encoding="utf-8")), target)
        for stage in stages:
            if stage.name not in self.built:
                self.built[stage.name] = self._stage(stage)
        return self.built[target]

    def _stage(self, stage: Stage) -> Built:
        root, parent = self.place / stage.name, self.built.get(stage.base)
        self.tell(f"stage {stage.name} from {stage.base.partition('@')[0]}")
        if parent is None:
            root.mkdir(parents=True)
            self.base(stage.base, root)
        else:
            subprocess.run(["cp", "--archive", "--reflink=auto", str(parent.root), str(root)], check=True)
        settings = parent.settings.copy() if parent else Settings()
        return Built(root, settings, tuple(self._step(step, root, settings) for step in stage.steps))

    def _step(self, step: Step, root: Path, settings: Settings) -> tuple[Step, float]:
        started = time.monotonic()
        if step.word == "RUN":
            run_step(step, root, settings)
        elif step.word == "COPY":
            self._copy(step, root, settings)
        else:
            settings.set(step)
            if step.word == "WORKDIR":
                (root / settings.folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
        seconds = time.monotonic() - started
        if seconds > 1:
            self.tell(f"  {seconds:6.1f} s  line {step.line}: {step.word} {step.text[:80]}")
        return step, seconds

    def _copy(self, step: Step, root: Path, settings: Settings) -> None:
        sources, target = copied(step)
        into = root / str(Path(settings.folder) / target).lstrip("/")
        stage = copied_from(step)
        if stage is not None:
            for source in sources:
                into.parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "--archive", f"{self.built[stage].root}{source}", str(into)], check=True)
            return
        copy_files(self.checkout, sources, into, is_folder=target.endswith("/"))


def copy_files(checkout: Path, sources: Sequence[str], into: Path, *, is_folder: bool) -> None:
    """As COPY does, for what `.dockerignore` leaves. Raises `NotUnderstood` when it leaves nothing of a source."""
    sent = context.files(checkout)
    for source in sources:
        found = [path for path in sent if path == Path(source) or Path(source) in path.parents]
        if not found:
            raise NotUnderstood(f"COPY {source}: there is no such file, or .dockerignore keeps it back")
        for path in found:
            # The content of a folder is copied, and a file under its own name where the target is a folder.
            place = into / path.relative_to(source) if path != Path(source) else into / path.name if is_folder else into
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(checkout / path, place)
            place.chmod(0o644 | (place.stat().st_mode & 0o111))


def run_step(step: Step, root: Path, settings: Settings) -> None:
    """Run one RUN as root would in an engine. Raises `StepFailed` with what it printed."""
    given = {name: os.environ[name] for name in (*PASSED_ON, *PROXIES) if name in os.environ}
    given |= {"HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", "PIP_CERT": f"/{CERTIFICATES}"}
    environ = {**given, **settings.environ, **settings.arguments}
    with _Lent(root, {name: path for name, path in LENT.items() if path.exists()}):
        container = Container(root, environ, settings.folder, settings.user)
        done = container.run(*settings.shell, step.text, timeout=900)
    if done.returncode != 0:
        printed = (done.stdout + done.stderr)[-4000:]
        raise StepFailed(f"line {step.line}, exit status {done.returncode}: {step.text}\n{printed}")


@dataclass(slots=True)
class _Lent:
    """Files of the machine that a step sees, and that are not in the root afterwards."""

    root: Path
    files: Mapping[str, Path]

    def __enter__(self) -> None:
        for name, source in self.files.items():
            place, kept = self.root / name, self._kept(name)
            if place.exists() or place.is_symlink():
                place.rename(kept)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, place) if source.is_dir() else shutil.copy2(source.resolve(), place)

    def __exit__(self, *_: object) -> None:
        for name in self.files:
            place, kept = self.root / name, self._kept(name)
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            if kept.exists() or kept.is_symlink():
                kept.rename(place)

    def _kept(self, name: str) -> Path:
        place = self.root / name
        return place.with_name(f".kept-{place.name}")
