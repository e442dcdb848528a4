"""Whole runs in the sandbox over toy builds: the answers are those of a run without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Place, history
from tests.integration.test_isolate import LIBRARY, nights, shown
from tests.integration.test_real_builds import CLICK, bisect, spec
from tests.integration.test_real_builds import ends as real_ends
from tests.integration.test_run import ends
from tests.rig.sandboxes import needs_sandbox

KINDS = {
    "fails": "RuntimeError: gradient is all zero",
    "crashes": "SIGSEGV",
    "leaks": "leak",
    "exits": "exit 125",
    "checks": "check failed grad: zero",
    "passes": "pass",
}
CASES = [{"name": name, "args": [name]} for name in KINDS]


@needs_sandbox
def test_every_kind_of_repro_has_the_answer_that_it_has_without_a_sandbox(place: Place) -> None:
    place.publish(history(2, {1: dict(KINDS)}))
    spec = place.spec(cases=CASES, timeout=30)
    answers = [place.answer("run", spec, "--sandbox", mode, "--fresh") for mode in ("off", "on")]
    without, inside = ([_told(answer, name) for name in KINDS] for answer in answers)
    assert inside == without
    assert ends(answers[1])[0][:3] == ("exact", "1.0", "1.1")


@needs_sandbox
def test_a_part_of_another_build_works_inside(place: Place, tmp_path: Path) -> None:
    """Environments that are links to two others: what is linked is shown."""
    place.extra["BISECT_SANDBOX"] = "auto"
    report = nights(place, tmp_path, {LIBRARY: "bad"})
    assert set(shown(report).values()) == {"before", "after"}
    assert report["isolation"][0]["part"] == "binaries"


@needs_sandbox
@pytest.mark.network
def test_a_real_package_in_the_sandbox(tmp_path: Path) -> None:
    given = spec(tmp_path, CLICK, package="click", from_="8.1.8", to="8.2.1")
    answer = bisect(tmp_path, given, "--sandbox", "on")
    assert real_ends(answer["failures"][0]) == [("exact", "8.1.8", "8.2.0"), ("exact", "8.2.0", "8.2.1")]


def _told(answer: dict[str, Any], case: str) -> Any:
    (one,) = (one for one in answer["cases"] if one["name"] == case)
    return [(entry["build"], entry["state"], entry.get("failures"), entry.get("reason")) for entry in one["timeline"]]


@pytest.mark.parametrize("missing", ["bwrap"])
def test_without_bubblewrap_nothing_runs_when_there_has_to_be_a_sandbox(place: Place, missing: str) -> None:
    place.publish(history(2, {}))
    spec, nowhere = place.spec(cases=[{"name": "main", "args": ["main"]}]), {"PATH": str(place.root)}
    refused = place.run("run", spec, "--sandbox", "on", environ=nowhere)
    assert refused.status == 18
    assert f"bubblewrap (`{missing}`) is not installed" in refused.err
    assert "install the package `bubblewrap`" in refused.err
    assert place.run("run", spec, "--sandbox", "auto", environ=nowhere).status == 4
