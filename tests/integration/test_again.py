"""A question that was answered is asked again."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Place
from tests.integration.test_history import BROKEN, Project, appeared, check_the_answer, nightly_spec, plan
from tests.rig.github import serve
from tests.rig.nightly_index import NightlyIndex


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("project") / "pytorch.git")


def test_again_asks_nobody_until_it_is_told_to(place: Place, project: Project) -> None:
    with NightlyIndex(plan(project)) as index, serve(project.folder) as github:
        spec = nightly_spec(place, index)
        place.extra["BISECT_GITHUB_API"] = github.url
        check_the_answer(place.answer("run", spec), project)
        for log in (index.requests, index.default.log):
            log.clear()
        asked = github.count()
        again = place.answer("run", spec)
        check_the_answer(again, project)
        assert index.requests.counts() == index.default.log.counts() == {}
        assert github.count() == asked
        assert (again["counts"]["trials"], again["counts"]["builds_installed"]) == (0, 0)
        assert any("the builds are those that the index had at" in line for line in again["advice"])
        place.run("check", spec)
        assert index.requests.counts() == {}
        # The file of the answer is replaced by one without the fault: nobody is told until the index is asked.
        index.replace(f"torch-*{BROKEN:%Y%m%d}*", changes=())
        assert appeared(place.answer("run", spec))["first_with"] == "2.12.0.dev20260306+cpu"
        newer = place.answer("run", spec, "--refresh")
        assert appeared(newer)["first_with"] == "2.12.0.dev20260307+cpu"
        assert not any("the builds are those that the index had at" in line for line in newer["advice"])
        # What was replaced is not taken over: the next run asks again.
        assert appeared(place.answer("run", spec))["first_with"] == "2.12.0.dev20260307+cpu"
