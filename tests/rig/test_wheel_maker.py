from __future__ import annotations

import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

from tests.rig.wheel_maker import WheelFault, make_sdist, make_wheel

MODULES = {"toy/__init__.py": "value = 1\n"}


def test_a_wheel_has_its_metadata_and_a_right_record(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "Toy.Nightly", "1.0", modules=MODULES, requires=["helper<2"], requires_python=">=3.8")
    assert wheel.name == "toy_nightly-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("toy_nightly-1.0.dist-info/METADATA").decode().splitlines()
        record = archive.read("toy_nightly-1.0.dist-info/RECORD").decode().splitlines()
    assert metadata[1:3] == ["Name: Toy.Nightly", "Version: 1.0"]
    assert metadata[-2:] == ["Requires-Python: >=3.8", "Requires-Dist: helper<2"]
    # as `printf 'value = 1\n' | openssl dgst -sha256 -binary | base64` says
    assert record[0] == "toy/__init__.py,sha256=WFyTZm_LBGt7Jk0_pzICqio4JUroKks7oZ6HPC1amIY,10"
    assert record[-1] == "toy_nightly-1.0.dist-info/RECORD,,"


def test_the_same_wheel_has_the_same_bytes_at_any_time(tmp_path: Path) -> None:
    first = make_wheel(tmp_path / "a", "toy", "1.0", modules=MODULES).read_bytes()
    time.sleep(0.01)
    assert make_wheel(tmp_path / "b", "toy", "1.0", modules=MODULES).read_bytes() == first


def test_the_time_of_the_file_is_the_upload(tmp_path: Path) -> None:
    uploaded = datetime(2026, 3, 1, 4, tzinfo=UTC)
    assert make_wheel(tmp_path, "toy", "1.0", modules=MODULES, uploaded=uploaded).stat().st_mtime == 1772337600


def test_a_build_number_and_a_tag_are_in_the_name(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "toy", "1.0", modules=MODULES, build_number="2", tag="cp311-cp311-linux_x86_64")
    assert wheel.name == "toy-1.0-2-cp311-cp311-linux_x86_64.whl"
    assert parse_wheel_filename(wheel.name)[2] == (2, "")


def test_a_wheel_made_anew_loses_its_yank(tmp_path: Path) -> None:
    make_wheel(tmp_path, "toy", "1.0", modules=MODULES, yanked="broken")
    assert (tmp_path / "toy-1.0-py3-none-any.whl.yanked").read_text() == "broken"
    make_wheel(tmp_path, "toy", "1.0", modules=MODULES)
    assert [path.suffix for path in tmp_path.iterdir()] == [".whl"]


@pytest.mark.parametrize("fault", [WheelFault.TRUNCATED, WheelFault.NOT_A_ZIP])
def test_a_damaged_file_is_no_zip(tmp_path: Path, fault: WheelFault) -> None:
    assert not zipfile.is_zipfile(make_wheel(tmp_path, "toy", "1.0", modules=MODULES, broken=[fault]))


def test_a_wheel_without_its_module_has_only_metadata(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "toy", "1.0", modules=MODULES, broken=[WheelFault.NO_MODULE])
    with zipfile.ZipFile(wheel) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"toy-1.0.dist-info"}


def test_a_source_distribution_is_named_like_one(tmp_path: Path) -> None:
    assert make_sdist(tmp_path, "toy-nightly", "1.0").name == "toy_nightly-1.0.tar.gz"


def test_a_thousand_wheels_take_no_more_than_a_few_seconds(tmp_path: Path) -> None:
    started = time.perf_counter()
    for number in range(1000):
        make_wheel(tmp_path, "toy", f"1.{number}", modules=MODULES)
    assert time.perf_counter() - started < 10
