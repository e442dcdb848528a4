from __future__ import annotations

from typing import Any

from bisect_tool.builds.build import Build
from bisect_tool.environments.holding import INSTEAD
from bisect_tool.runs.instead_notes import instead_notes

BUILDS = [Build("torch", f"2.{number}", f"torch-2.{number}.whl", "", sha256=str(number)) for number in range(20)]


def health(*sentences: str) -> dict[str, Any]:
    return {"facts": {INSTEAD: list(sentences)}}


def test_one_sentence_for_all_builds_that_it_is_true_of() -> None:
    healths: dict[str, dict[str, Any]] = {
        BUILDS[3].identity: health("a is taken"),
        BUILDS[1].identity: health("a is taken", "b gave way"),
        BUILDS[2].identity: health(),
    }
    assert instead_notes(BUILDS, healths) == ("a is taken (2 builds from 2.1 to 2.3)", "b gave way (2.1)")


def test_where_every_build_is_different_a_few_stand_for_all() -> None:
    notes = instead_notes(BUILDS, {build.identity: health(f"{build.version} gave way") for build in BUILDS})
    assert len(notes) == 9
    assert notes[-1] == "12 more requirements of this kind were not met"
