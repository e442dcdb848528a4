"""`bisect run --diagnose` and `bisect diagnose`, over nightlies with a compiler of a few passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tests.integration.conftest import Place
from tests.rig.compiler import compiler_files
from tests.rig.nightly_index import NightlyIndex, NightlyPlan

FIRST = date(2026, 8, 3)
SECOND = FIRST + timedelta(days=1)
SCRIPT = "import torch\ntorch.compile(lambda: 1)()\n"
PART = "inductor → post_grad_passes → application 2 of 3 (fold_cat)"


@contextmanager
def nights(place: Place, script: str = SCRIPT) -> Iterator[Path]:
    """Two nights; the second one has a wrong pass."""
    files = {day: compiler_files(guilty) for day, guilty in ((FIRST, None), (SECOND, "fold_cat"))}
    plan = NightlyPlan(first=FIRST, last=SECOND, files=files, bare=True)
    with NightlyIndex(plan) as index:
        index.today = SECOND
        place.extra |= {"BISECT_NIGHTLY_INDEX": index.address, "BISECT_INDEX": index.default_index}
        yield place.spec(
            package="torch", channel="nightly", script=script, variant="cpu",
            from_=FIRST.isoformat(), to=SECOND.isoformat(), failures=[{"name": "zero", "match": "all zero"}],
        )  # fmt: skip


def shown(report: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """What each rung shows on the build with the failure, and on its neighbour."""
    (diagnosis,) = report["diagnoses"]
    cells = {(rung["rung"], rung["build"]): rung["shows"] for rung in diagnosis["rungs"]}
    builds = diagnosis["build"], diagnosis["without"]
    return {
        rung["rung"]: (cells[rung["rung"], builds[0]], cells[rung["rung"], builds[1]]) for rung in diagnosis["rungs"]
    }


def test_the_pass_is_named_kept_and_not_asked_for_twice(place: Place) -> None:
    with nights(place) as spec:
        report = place.answer("run", spec, "--diagnose", "--verify", "0")
        (diagnosis,) = report["diagnoses"]
        assert diagnosis["part"] == PART
        assert shown(report)["aot_eager"] == ("passes", "passes")
        assert shown(report)["inductor"] == ("the failure", "passes")
        assert (
            f"The part of the compiler that makes zero of repro on {diagnosis['build']}: {PART}." in report["summary"]
        )
        assert diagnosis["bisector"]["trials"] == 5  # two subsystems without, the count, two halves
        assert diagnosis["files"][0] == "torch/_inductor/fx_passes.py"
        assert diagnosis["code"]["stage"] is None
        evidence = place.cache / diagnosis["evidence"]
        assert (evidence / "diagnosis.json").is_file()
        assert len(list((evidence / "code").glob("*.log"))) == 2
        trials = len(list((place.cache / "trials").iterdir()))
        again = place.answer("diagnose", "last", "--verify", "0", "--quiet")
        assert again["diagnoses"] == report["diagnoses"]
        assert len(list((place.cache / "trials").iterdir())) == trials


def test_a_repro_that_does_not_compile_is_told(place: Place) -> None:
    script = "import torch\nassert torch.GUILTY is None, 'all zero'\n"
    with nights(place, script) as spec:
        (diagnosis,) = place.answer("run", spec, "--diagnose", "--verify", "0")["diagnoses"]
    assert diagnosis["part"] is None
    assert "nothing was switched" in diagnosis["sentence"]
    assert [rung["rung"] for rung in diagnosis["rungs"]] == ["uncompiled", "uncompiled"]  # on both builds, and no more
