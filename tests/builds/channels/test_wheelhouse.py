from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bisect_tool.builds.build import Listing, Wanted
from bisect_tool.builds.channel import Access, Channel, open_channel
from bisect_tool.errors import PackageNotFound, SettingError


def put(folder: Path, version: str, content: bytes = b"wheel", tag: str = "py3-none-any", package: str = "toy") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{package}-{version}-{tag}.whl"
    path.write_bytes(content)
    return path


def opened(folder: Path, pages: Path | None = None) -> Channel:
    return open_channel("wheelhouse", Access(wheelhouse=folder, pages=pages))


def versions(listing: Listing) -> list[str]:
    return [build.version for build in listing.builds]


def test_a_folder_of_wheels(tmp_path: Path, wanted: Wanted) -> None:
    put(tmp_path, "1.10", b"newer")
    old = put(tmp_path, "1.9")
    put(tmp_path, "1.11", tag="cp39-cp39-win_amd64")
    put(tmp_path, "3.0", package="other")
    (tmp_path / "notes.txt").write_text("not a wheel")
    (tmp_path / "toy-2.0-py3-none-any.whl").mkdir()
    listing = opened(tmp_path).listing(wanted)
    assert versions(listing) == ["1.9", "1.10"]
    assert listing.builds[0].sha256 == hashlib.sha256(b"wheel").hexdigest()
    assert (listing.builds[0].location, listing.builds[0].size, listing.builds[0].date) == (str(old), 5, None)
    assert listing.source == str(tmp_path)
    assert not listing.has_upload_times
    assert [left.version for left in listing.left_out] == ["1.11"]


def test_dates_come_from_the_versions(tmp_path: Path, wanted: Wanted) -> None:
    put(tmp_path, "2.0.dev20260302")
    put(tmp_path, "3.0.dev20260301")
    listing = opened(tmp_path).listing(wanted)
    assert versions(listing) == ["3.0.dev20260301", "2.0.dev20260302"]
    assert listing.dated
    assert listing.builds[0].date == datetime(2026, 3, 1, tzinfo=UTC)


def test_links_count(tmp_path: Path, wanted: Wanted) -> None:
    real = put(tmp_path / "elsewhere", "1.0")
    house = tmp_path / "house"
    house.mkdir()
    (house / real.name).symlink_to(real)
    (house / "toy-2.0-py3-none-any.whl").symlink_to("nowhere")
    assert versions(opened(house).listing(wanted)) == ["1.0"]


def test_hashes_are_remembered(tmp_path: Path, wanted: Wanted) -> None:
    house, pages = tmp_path / "house", tmp_path / "pages"
    path = put(house, "1.0")
    opened(house, pages).listing(wanted)
    memory = pages / "wheel-hashes.json"
    remembered = dict.fromkeys(json.loads(memory.read_text()), "00" * 32)
    memory.write_text(json.dumps(remembered))  # a mark that shows whether the memory was used
    assert opened(house, pages).listing(wanted).builds[0].sha256 == "00" * 32
    os.utime(path, ns=(1, 1))
    assert opened(house, pages).listing(wanted).builds[0].sha256 == hashlib.sha256(b"wheel").hexdigest()


def test_a_file_replaced_under_its_name_is_another_build(tmp_path: Path, wanted: Wanted) -> None:
    house, pages = tmp_path / "house", tmp_path / "pages"
    put(house, "1.0", b"first")
    first = opened(house, pages).listing(wanted).builds[0]
    put(house, "1.0", b"second")
    assert opened(house, pages).listing(wanted).builds[0].identity != first.identity


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\udcff"])
def test_a_damaged_memory_is_made_anew(tmp_path: Path, wanted: Wanted, text: str) -> None:
    put(tmp_path / "house", "1.0")
    (tmp_path / "wheel-hashes.json").write_bytes(text.encode(errors="surrogateescape"))
    found = opened(tmp_path / "house", tmp_path).listing(wanted).builds[0]
    assert found.sha256 == hashlib.sha256(b"wheel").hexdigest()
    assert list(json.loads((tmp_path / "wheel-hashes.json").read_text()).values()) == [found.sha256]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["house", "wheel-hashes.json"]


def test_a_missing_folder(tmp_path: Path, wanted: Wanted) -> None:
    with pytest.raises(PackageNotFound, match=r"cannot be read: No such file or directory\n.*missing\n.*--wheelhouse"):
        opened(tmp_path / "missing").listing(wanted)


def test_no_wheels_of_the_package(tmp_path: Path, wanted: Wanted) -> None:
    put(tmp_path, "1.0", package="other")
    with pytest.raises(PackageNotFound, match="no wheels of 'toy' in the folder"):
        opened(tmp_path).listing(wanted)


def test_no_wheel_that_fits(tmp_path: Path, wanted: Wanted) -> None:
    put(tmp_path, "1.0", tag="cp39-cp39-win_amd64")
    with pytest.raises(PackageNotFound, match=r"the only version of toy cannot be used(.|\n)*wheels for win_amd64"):
        opened(tmp_path).listing(wanted)


def test_no_folder_named() -> None:
    with pytest.raises(SettingError, match="--wheelhouse DIR"):
        open_channel("wheelhouse", Access())


def test_installation_is_the_file_and_nothing_from_outside(tmp_path: Path, wanted: Wanted) -> None:
    house = tmp_path / "my wheels"
    put(house, "1.0+cpu")
    channel = opened(house)
    found = channel.installation(channel.listing(wanted).builds[0])
    digest = hashlib.sha256(b"wheel").hexdigest()
    assert (
        found.requirements[0] == f"toy @ file://{tmp_path}/my%20wheels/toy-1.0%2Bcpu-py3-none-any.whl#sha256={digest}"
    )
    assert found.options == ("--no-index", "--find-links", str(house))
    assert found.offline


def test_a_relative_folder_is_made_absolute(tmp_path: Path, wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "house", "1.0")
    monkeypatch.chdir(tmp_path)
    listing = opened(Path("house")).listing(replace(wanted, package="Toy"))
    assert listing.builds[0].location == str(tmp_path / "house" / "toy-1.0-py3-none-any.whl")
