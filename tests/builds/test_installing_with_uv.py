"""What uv does with the requirements that the channels give: it fetches the very file and checks its hash."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from uv import find_uv_bin

from bisect_tool.builds.build import Installation, Wanted
from bisect_tool.builds.channel import Access, open_channel
from bisect_tool.builds.channels.release import ReleaseChannel
from bisect_tool.builds.fitting import target_for
from bisect_tool.builds.index_address import IndexAddress
from tests.builds.conftest import Answer, Site
from tests.rig.wheel_maker import make_wheel


def install(found: Installation, folder: Path) -> subprocess.CompletedProcess[str]:
    cache = ("--cache-dir", str(folder / "cache"), "--no-config")
    target = ("--python", sys.executable, "--target", str(folder / "target"))
    command = (find_uv_bin(), "pip", "install", *cache, *target, *found.options)
    offline = ("--offline",) if found.offline else ()
    return subprocess.run([*command, *offline, *found.requirements], capture_output=True, text=True, check=False)


def test_a_wheel_of_a_wheelhouse(tmp_path: Path, wanted: Wanted) -> None:
    house = tmp_path / "my wheels"
    make_wheel(house, "toy", "1.0+cpu", modules={"toy.py": ""})
    channel = open_channel("wheelhouse", Access(wheelhouse=house))
    build = channel.listing(wanted).builds[0]
    done = install(channel.installation(build), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "target" / "toy-1.0+cpu.dist-info").is_dir()


def test_a_wheelhouse_file_that_changed_after_listing_is_refused(tmp_path: Path, wanted: Wanted) -> None:
    path = make_wheel(tmp_path / "house", "toy", "1.0", modules={"toy.py": ""})
    channel = open_channel("wheelhouse", Access(wheelhouse=tmp_path / "house"))
    build = channel.listing(wanted).builds[0]
    make_wheel(path.parent, "toy", "1.0", modules={"toy.py": "changed = True\n"})
    done = install(channel.installation(build), tmp_path)
    assert done.returncode != 0
    assert "Hash mismatch" in done.stderr


def test_a_wheel_of_an_index_with_a_password(site: Site, tmp_path: Path, wanted: Wanted) -> None:
    path = make_wheel(tmp_path / "files", "toy", "1.0", modules={"toy.py": ""})
    site.serve_json("toy", [{"filename": path.name, "url": path.name, "hashes": {}}], password="me:secret")
    site.answers[f"/simple/toy/{path.name}"] = Answer(path.read_bytes(), "application/zip", password="me:secret")
    channel = ReleaseChannel(IndexAddress(site.url.replace("//", "//me:secret@"), "--index"))
    build = channel.listing(wanted).builds[0]
    assert "secret" not in build.location
    done = install(channel.installation(build), tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.network
def test_uv_checks_the_hash_of_a_real_release(tmp_path: Path) -> None:
    channel = open_channel("release", Access())
    build = channel.listing(Wanted("iniconfig", target_for("3.11.7"))).builds[-1]
    wrong = install(channel.installation(replace(build, sha256="0" * 64)), tmp_path)
    assert wrong.returncode != 0
    assert "Hash mismatch" in wrong.stderr
    right = install(channel.installation(build), tmp_path)
    assert right.returncode == 0, right.stderr
    assert (tmp_path / "target" / "iniconfig").is_dir()
