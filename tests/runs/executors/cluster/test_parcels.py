from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from bisect_tool.builds.build import FileChange, Installation, Layer
from bisect_tool.environments.environment import BuildUnusable
from bisect_tool.errors import BisectError, DiskFull, DownloadFailed, MachineFault, SettingError
from bisect_tool.runs.executors import NoRoom, SlotLost
from bisect_tool.runs.executors.cluster.parcels import (
    LARGEST,
    Failed,
    failed,
    local_places,
    own_tool,
    packed,
    travelling,
    unpack,
)
from bisect_tool.stopping import Cancelled


@pytest.mark.parametrize("error", [BuildUnusable("no wheel"), SlotLost("Xid 79"), Cancelled(), NoRoom()])
def test_what_a_job_may_end_with_is_the_same_on_the_driver(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(failed(error, "gpu-7"))).error()
    assert (type(again), str(again)) == (type(error), str(error))


def test_a_node_that_cannot_use_a_build_says_nothing_about_other_hosts() -> None:
    for said in (BuildUnusable("no GPU code", is_of_host=True), BuildUnusable("no wheel")):
        again = pickle.loads(pickle.dumps(failed(said, "gpu-7"))).error()
        assert isinstance(again, BuildUnusable)
        assert again.is_of_host == said.is_of_host


@pytest.mark.parametrize("kind", [DiskFull, DownloadFailed, MachineFault])
def test_an_error_of_ours_says_on_which_node_it_was(kind: type[BisectError]) -> None:
    error = failed(kind("no space", where="/cache", advice="make room"), "gpu-7").error()
    assert isinstance(error, kind)
    assert (error.what, error.where, error.advice) == ("no space", "/cache on gpu-7", "make room")


def test_what_nobody_foresaw_is_a_fault_of_the_machine() -> None:
    error = failed(ZeroDivisionError("by zero"), "gpu-7").error()
    assert isinstance(error, MachineFault)
    assert (error.what, error.where) == ("ZeroDivisionError: by zero", "the node gpu-7")


def test_a_class_that_is_no_error_of_ours_is_not_called() -> None:
    assert isinstance(Failed("annotations", "x").error(), MachineFault)


def test_a_layer_travels_with_the_contents_of_its_files() -> None:
    change = FileChange("torch/x.py", b"x = 1\n", "abc")
    layer = Layer(("torch",), lambda: Installation(("torch==1",), ("--no-index",)), lambda: (change,))
    sent = pickle.loads(pickle.dumps(travelling(Installation((), layer=layer)))).layer
    assert (sent.folders, sent.under().requirements, sent.changes()) == (("torch",), ("torch==1",), (change,))


def test_a_build_from_source_does_not_travel() -> None:
    with pytest.raises(SettingError, match="builds from source"):
        travelling(Installation((), check_out=lambda _folder: None))


def test_what_an_installation_reads_of_a_folder_of_wheels() -> None:
    requirement = "toy @ file:///my%20wheels/toy-1.0-py3-none-any.whl#sha256=00"
    installation = Installation((requirement,), ("--no-index", "--find-links", "/my wheels"), offline=True)
    assert list(local_places(installation)) == [Path("/my wheels/toy-1.0-py3-none-any.whl"), Path("/my wheels")]
    from_index = Installation(("toy @ https://x.example/toy.whl",), ("--find-links", "https://x.example/links"))
    assert list(local_places(from_index)) == []


def test_what_a_trial_left_is_the_same_on_the_other_side(tmp_path: Path) -> None:
    left = tmp_path / "left"
    (left / "repro").mkdir(parents=True)
    (left / "repro" / "repro.py").touch()
    (left / "log.txt").write_bytes(b"\xff\x00")
    (left / "elsewhere").symlink_to("/etc/passwd")
    with (left / "huge").open("wb") as file:
        file.truncate(LARGEST + 1)
    unpack(packed(left, without=("repro",)), tmp_path / "here")
    assert {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()} == {"log.txt": b"\xff\x00"}


def test_the_digest_of_the_tool_is_that_of_its_modules() -> None:
    assert own_tool() == own_tool()
    assert len(own_tool().digest) == 16
