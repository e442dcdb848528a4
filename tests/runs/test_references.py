from __future__ import annotations

import pytest

from bisect_tool.builds.bounds import Selection
from bisect_tool.builds.build import Build
from bisect_tool.errors import SpecError
from bisect_tool.runs.references import check_references, reference_of
from bisect_tool.spec.model import Metric, Spec


def selection(*versions: str, open_start: bool = False) -> Selection:
    builds = tuple(Build("torch", version, f"torch-{version}.whl", "here") for version in versions)
    return Selection(builds, open_start, (), ())


def spec(reference: str) -> Spec:
    return Spec(name="a", script="a.py", metrics=(Metric(name="t", ratio=1.1, reference=reference),))


BUILDS = selection("2.8.0", "2.9.0+cu130", "2.10.0")


@pytest.mark.parametrize(
    ("reference", "number"), [("from", 0), ("to", 2), ("2.9.0+cu130", 1), ("2.9", 1), ("2.10.0", 2)]
)
def test_what_a_reference_means(reference: str, number: int) -> None:
    asked = spec(reference)
    check_references(asked, BUILDS, "a.yaml")
    assert reference_of(asked, asked.cases[0], BUILDS) == number


@pytest.mark.parametrize("reference", ["2.7", "2.9.0+cpu", "latest"])
def test_a_build_that_is_not_in_the_range(reference: str) -> None:
    with pytest.raises(SpecError) as caught:
        check_references(spec(reference), BUILDS, "a.yaml")
    assert caught.value.advice == "name one from 2.8.0 to 2.10.0, or widen the range"


def test_a_range_without_a_beginning_has_no_from() -> None:
    with pytest.raises(SpecError) as caught:
        check_references(spec("from"), selection("2.8.0", "2.9.0", open_start=True), "a.yaml")
    assert "the range has no `from`" in caught.value.what


def test_without_metrics_nothing_is_asked() -> None:
    check_references(Spec(name="a", script="a.py"), selection("2.8.0", "2.9.0", open_start=True), "a.yaml")
