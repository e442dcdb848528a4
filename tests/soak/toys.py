"""The questions of the soak: over a toy package whose answers are known, each with an issue of its own."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.service.question import Submission
from tests.rig.index import Index
from tests.rig.toy import ToyBuild, day, toy_package

BUILDS = 4
LAST = f"1.{BUILDS - 1}"
FIXED_IN = f"1.{BUILDS}"
TEXT = "RuntimeError: gradient is all zero"
REPOSITORY = "somebody/toy"


@dataclass
class Asked:
    """A question: the build in which its failure appears (`first`: 1.first), its issue, and what happened to it since.

    `is_watched`: the build that fixes the failure was looked at. `edited`: the whole text of our comment after somebody
    else had changed it; None: nobody did.
    """

    first: int
    issue: int
    is_watched: bool = False
    edited: str | None = None


def publish(index: Index) -> None:
    """Builds 1.0 to `LAST`; the case `from-2` fails from 1.2 on."""
    toy_package(index.folder, "toy", [_build(number, range(1, number + 1)) for number in range(BUILDS)])


def publish_fix(index: Index) -> None:
    """One more build, in which every case passes; it is there as a whole or not at all."""
    with tempfile.TemporaryDirectory(dir=index.folder.parent) as folder:
        (made,) = toy_package(Path(folder), "toy", [_build(BUILDS, ())])
        made.rename(index.folder / made.name)


def question(number: int, first: int, host: str = "github.com", *, to: str | None = None) -> Submission:
    """A question of its own for each number, whose failure appears in the build `first`; `host` is that of its issue."""
    script = f"import sys, toy  # {number}\ntoy.run(sys.argv[1])\n"
    spec = {
        "name": f"soak-{number}", "package": "toy", "channel": "release", "device": "cpu", "flaky": "no", "warm": "off",
        "script": "repro.py", "timeout": 60, "cases": [{"name": "main", "args": [f"from-{first}"]}],
        "issue": f"http://{host}/{REPOSITORY}/issues/{number + 1}", **({"to": to} if to else {}),
    }  # fmt: skip
    return Submission(json.dumps(spec), (("repro.py", script.encode()),))


def _build(number: int, failing: range | tuple[()]) -> ToyBuild:
    return ToyBuild(f"1.{number}", {f"from-{first}": TEXT for first in failing}, uploaded=day(number + 1))
