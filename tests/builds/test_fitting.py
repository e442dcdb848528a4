from __future__ import annotations

import sys

import pytest
from packaging.tags import Tag, sys_tags

from bisect_tool.builds.build import Target
from bisect_tool.builds.fitting import Fitting, read_wheel_name, target_for
from bisect_tool.errors import SettingError

TAGS = ("cp311-cp311-manylinux_2_28_x86_64", "cp311-cp311-manylinux_2_17_x86_64", "cp39-abi3-manylinux_2_17_x86_64")
TARGET = Target("3.11.7", tuple(Tag(*tag.split("-")) for tag in (*TAGS, "py3-none-any")))


def best(*filenames: str) -> str | None:
    names = {name: filename for filename in filenames if (name := read_wheel_name(filename))}
    chosen = Fitting(TARGET).best(names)
    return names[chosen] if chosen else None


def test_the_better_tag_wins() -> None:
    assert best(
        "a-1.0-py3-none-any.whl",
        "a-1.0-cp311-cp311-manylinux_2_17_x86_64.whl",
        "a-1.0-cp311-cp311-manylinux_2_28_x86_64.whl",
        "a-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
    ) == "a-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"  # fmt: skip


def test_the_best_of_several_tags_of_one_wheel_counts() -> None:
    both = "a-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"
    assert best("a-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", both) == both


def test_the_higher_build_number_wins_among_equal_tags() -> None:
    assert (
        best("a-1.0-py3-none-any.whl", "a-1.0-10-py3-none-any.whl", "a-1.0-9b-py3-none-any.whl")
        == "a-1.0-10-py3-none-any.whl"
    )


def test_a_build_number_does_not_beat_a_better_tag() -> None:
    platform = "a-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
    assert best("a-1.0-7-py3-none-any.whl", platform) == platform


def test_nothing_fits() -> None:
    assert best("a-1.0-cp311-cp311-win_amd64.whl", "a-1.0-cp310-cp310-manylinux_2_17_x86_64.whl") is None


@pytest.mark.parametrize(
    "filename", ["a-1.0.tar.gz", "a-1.0.whl", "a-one-py3-none-any.whl", "", "a-1.0-py3-none-any.exe"]
)
def test_invalid_names_are_passed_over(filename: str) -> None:
    assert read_wheel_name(filename) is None


def test_the_name_keeps_the_spelling_of_the_version() -> None:
    name = read_wheel_name("certifi-2022.09.24-py3-none-any.whl")
    assert name is not None
    assert (name.spelled, str(name.version)) == ("2022.09.24", "2022.9.24")


@pytest.mark.parametrize(
    ("requires", "taken"),
    [
        (">=3.10", True),
        (">=3.12", False),
        ("<3.11", False),
        (None, True),
        ("", True),
        ("three", True),
        (">=3.11.5", True),
    ],
)
def test_requires_python(requires: str | None, taken: bool) -> None:  # noqa: FBT001 - a parameter of the table
    assert Fitting(TARGET).takes_python(requires) is taken


def test_a_candidate_of_python_counts_as_its_release() -> None:
    assert Fitting(Target("3.15.0rc1", ())).takes_python(">=3.15")


def test_the_target_of_this_interpreter_is_what_packaging_says() -> None:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert set(target_for(own).tags) == set(sys_tags())
    assert target_for(own).tags[0] == next(sys_tags())


def test_the_target_of_another_interpreter() -> None:
    tags = [str(tag) for tag in target_for("3.13.1").tags]
    assert tags[0].startswith("cp313-cp313-")
    assert any(tag.startswith("cp38-abi3-") for tag in tags)
    assert "py3-none-any" in tags
    assert "cp312-cp312-linux_x86_64" not in tags


def test_a_free_threaded_interpreter_takes_no_stable_abi() -> None:
    tags = [str(tag) for tag in target_for("3.14", free_threaded=True).tags]
    assert tags[0].startswith("cp314-cp314t-")
    assert not any("-abi3-" in tag for tag in tags)


@pytest.mark.parametrize("text", ["three", "3", "", "/usr/bin/python3", "3.x"])
def test_no_python_version(text: str) -> None:
    with pytest.raises(SettingError, match="is not a Python version"):
        target_for(text)
