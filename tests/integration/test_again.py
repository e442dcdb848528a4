"""A question that was answered is asked again."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from tests.integration.conftest import Place
from tests.integration.test_history import BROKEN, Project, appeared, check_the_answer, nightly_spec, plan
from tests.rig.github import serve
from tests.rig.nightly_index import NightlyIndex


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("project") / "pytorch.git")


def heads(index: NightlyIndex) -> list[str]:
    """The dates of the files that were asked for their head, oldest first."""
    asked = [one.name for one in index.requests.of(name="torch-*") if one.method == "HEAD"]
    return sorted(found[1] for name in asked if (found := re.search(r"dev(\d{8})", name)))


def test_again_asks_only_whether_the_files_of_the_answer_are_the_same(place: Place, project: Project) -> None:
    with NightlyIndex(plan(project)) as index, serve(project.folder) as github:
        spec = nightly_spec(place, index)
        place.extra["BISECT_GITHUB_API"] = github.url
        check_the_answer(place.answer("run", spec), project)
        for log in (index.requests, index.default.log):
            log.clear()
        asked = github.count()
        again = place.answer("run", spec)
        check_the_answer(again, project)
        assert heads(index) == [f"{day:%Y%m%d}" for day in (BROKEN - timedelta(days=1), BROKEN)]
        assert index.requests.count() == 2
        assert index.default.log.counts() == {}
        assert github.count() == asked
        assert (again["counts"]["trials"], again["counts"]["builds_installed"]) == (0, 0)
        assert any("the builds are those that the index had at" in line for line in again["advice"])
        place.run("check", spec)
        assert index.requests.count() == 2
        # The file of the answer is replaced by one without the fault, within the hour.
        index.replace(f"torch-*{BROKEN:%Y%m%d}*", changes=())
        newer = place.answer("run", spec)
        assert appeared(newer)["first_with"] == "2.12.0.dev20260307+cpu"
        # What was replaced is not taken over: the next run asks again.
        assert appeared(place.answer("run", spec))["first_with"] == "2.12.0.dev20260307+cpu"
