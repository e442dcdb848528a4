from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bisect_tool.builds.build import Build, Listing, Wanted
from bisect_tool.builds.channel import Access
from bisect_tool.environments.interpreter import Interpreter
from bisect_tool.environments.uv import Uv
from bisect_tool.errors import PackageNotFound
from bisect_tool.history.source import HistoryAccess
from bisect_tool.runs.device import Device
from bisect_tool.runs.surveying import Means, Wishes
from bisect_tool.runs.surveys import Surveys
from bisect_tool.spec.model import Spec
from tests.rig.scripted_executor import PYTHON, StillChannel

BUILDS = tuple(Build("toy", f"1.{n}", f"toy-1.{n}.whl", f"/wheels/toy-1.{n}.whl", sha256=f"{n:064x}") for n in range(9))


class Counted(StillChannel):
    """Counts its listings; lists no package called `nowhere`."""

    listed: list[str] = []  # noqa: RUF012  one for all, emptied by each test

    def listing(self, wanted: Wanted) -> Listing:
        self.listed.append(wanted.package)
        if wanted.package == "nowhere":
            raise PackageNotFound("no such package", advice="correct it")
        return Listing(self.builds, (), "here")


@pytest.fixture
def means(tmp_path: Path) -> Means:
    Counted.listed.clear()
    uv = Uv(Path("/uv"), tmp_path, {})

    def python(wanted: str | None, uv: Uv, *, keep_environment: bool = False) -> Interpreter:  # noqa: ARG001
        Counted.listed.append("python")
        return PYTHON

    def device(wanted: Sequence[str], environ: object) -> Device:  # noqa: ARG001
        return Device("cpu", "cpu")

    return Means(
        Access(), HistoryAccess(), uv, {}, device, python, lambda _own, _uv: (), lambda _name, _access: Counted(BUILDS)
    )


def spec(**keys: object) -> Spec:
    base = {"name": "x", "package": "toy", "channel": "wheelhouse", "script": "x.py", "from": "1.0"}
    return Spec.model_validate({**base, **keys})


def test_specs_over_the_same_builds_share_their_survey(means: Means) -> None:
    surveys = Surveys()
    one = surveys.survey(spec(), Path("/a"), Wishes(), means)
    two = surveys.survey(spec(name="y", requires=["numpy"]), Path("/b"), Wishes(), means)
    assert one.selection is two.selection
    assert (two.spec.name, two.spec.requires) == ("y", ("numpy",))
    assert one.setting_of(0) != two.setting_of(0)
    assert Counted.listed == ["python", "toy"]


def test_other_ranges_share_the_listing(means: Means) -> None:
    surveys = Surveys()
    surveys.survey(spec(), Path("/a"), Wishes(), means)
    short = surveys.survey(spec(to="1.3"), Path("/a"), Wishes(), means)
    assert len(short.builds) == 4
    assert Counted.listed == ["python", "toy"]


def test_what_cannot_be_listed_is_asked_once(means: Means) -> None:
    surveys = Surveys()
    for _ in range(3):
        with pytest.raises(PackageNotFound):
            surveys.survey(spec(package="nowhere"), Path("/a"), Wishes(), means)
    assert Counted.listed == ["python", "nowhere"]
