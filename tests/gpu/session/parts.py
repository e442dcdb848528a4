"""The parts of a session: what each runs, and how long it may take on an H200."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

from tests.gpu.session.adapting import adapted, names_of_older, names_of_specs
from tests.gpu.session.jobs import Job
from tests.gpu.session.place import AS_THEY_ARE_WORDS, ROOT, Place

ANSWERS = frozenset({0, 3, 4})  # exact, narrowed, no change: see docs/exit-statuses.md
DIAGNOSED = ("cumsum-scalar-constant", "diagonal-scatter-grad", "cumprod-backward-split-scan")
LIGER = "liger-cross-entropy-gradient"


def doctor(place: Place) -> list[Job]:
    """What this machine can run."""
    listed = subprocess.run([sys.executable, "-m", "bisect_tool", "--help"], capture_output=True, text=True, check=True)
    if " doctor " not in listed.stdout:
        return []
    words = place.bisect("doctor", "--json", str(place.reports / "doctor.json"))
    return [Job("doctor", words, 60, good=frozenset({0, 1, 3}))]


def tests(place: Place) -> list[Job]:
    """The tests with the mark `gpu`."""
    words = [sys.executable, "-m", "pytest", "tests/gpu", "-m", "gpu", "-q", "-p", "no:cacheprovider", "--durations=20"]
    xml = f"--junitxml={place.reports / 'tests.xml'}"
    environ = {"BISECT_GPU_PYTHON": place.python, "BISECT_CACHE": str(place.cache)}
    return [Job("tests", [*words, xml], 500, environ)]


def specs(place: Place) -> list[Job]:
    """Every spec of torch over the wheels, side by side: they share the environments."""
    return [job for name in names_of_specs() for job in _searched(place, name, (), 570)]


def older(place: Place) -> list[Job]:
    """Specs of older releases, each in an environment with all that it requires, from the folder `older` among the wheels."""
    alone = {"base": "isolated", "requires": [], "as_is": []}
    return [
        job
        for name in names_of_older()
        for job in _searched(place, name, (), 570, keys=alone, wheels=place.wheels / "older")
    ]


def drafts(place: Place) -> list[Job]:
    """What `bisect init` makes of the reports in $BISECT_REPORTS, for CUDA alone, with no edit but the keys of this machine."""
    reports = Path(os.environ.get("BISECT_REPORTS") or ROOT.parent / "shared" / "reports")
    jobs = []
    for report in sorted(reports.glob("*.txt")):
        folder = place.specs / "drafted" / report.stem
        command = [sys.executable, "-m", "bisect_tool", "init", str(report), "--out", str(folder), "--force"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if yaml.load((folder / "spec.yaml").read_text(), Loader=yaml.BaseLoader)["device"] in ("cuda", ["cuda"]):
            jobs += _searched(place, report.stem, (), 570, "draft-", of=folder)
    return jobs


def diagnose(place: Place) -> list[Job]:
    """Which part of the compiler, after the same searches, whose results are known by then."""
    return [
        job
        for name in DIAGNOSED
        for job in _searched(place, name, ("--diagnose", "--diagnose-jobs", "4"), 570, "diagnose-")
    ]


def liger(place: Place) -> list[Job]:
    """The dated builds of a kernel library."""
    if not (ROOT / "repro_specs" / LIGER).is_dir():
        return []
    return _searched(place, LIGER, (), 400)


def nightlies(place: Place) -> list[Job]:
    """Sixty nightlies made of two releases."""
    words = [sys.executable, "-m", "tests.gpu.session.nightlies", "--device", place.device]
    return [Job("nightlies", words, 500)]


def times(place: Place) -> list[Job]:
    """How a trial's time is spent on every build that was installed."""
    return [Job("times", [sys.executable, "-m", "tests.gpu.session.times", "--device", place.device], 240)]


def _searched(
    place: Place,
    name: str,
    more: Sequence[str],
    limit: float,
    prefix: str = "",
    *,
    of: Path | None = None,
    keys: Mapping[str, object] | None = None,
    wheels: Path | None = None,
) -> list[Job]:
    spec = adapted(place, name, f"{prefix}search", keys, of=of)
    if spec is None:
        return []
    words = place.bisect(
        "run",
        str(spec),
        "--wheelhouse",
        str(wheels or place.wheels),
        "--verify",
        "1",
        "--plain",
        *AS_THEY_ARE_WORDS,
    )
    reports = [
        word for suffix in ("json", "markdown") for word in (f"--{suffix}", str(_report(place, prefix + name, suffix)))
    ]
    return [Job(prefix + name, [*words, *reports, *more], limit, good=ANSWERS)]


def _report(place: Place, name: str, suffix: str) -> object:
    return place.reports / f"{name}.{'md' if suffix == 'markdown' else suffix}"


PARTS: Mapping[str, Callable[[Place], list[Job]]] = {
    "doctor": doctor,
    "tests": tests,
    "specs": specs,
    "older": older,
    "drafts": drafts,
    "nightlies": nightlies,
    "liger": liger,
    "diagnose": diagnose,
    "times": times,
}
