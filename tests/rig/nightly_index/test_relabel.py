from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import random
import subprocess
import zipfile
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pytest

from tests.rig.index import serve
from tests.rig.nightly_index import NightlyIndex, NightlyPlan, Real
from tests.rig.nightly_index.archive import Archive
from tests.rig.nightly_index.conftest import Client
from tests.rig.nightly_index.real_wheel import RealWheel
from tests.rig.nightly_index.relabel import Label, main, metadata_of, relabelled
from tests.rig.nightly_index.standin import torch_modules
from tests.rig.provoking.stage import Stage
from tests.rig.wheel_maker import WheelFault, make_wheel

NAME = "torch-2.14.1-cp311-cp311-manylinux_2_28_x86_64.whl"
NEW = "torch-2.16.0.dev20261009+cu130"
LABEL = Label("2.16.0.dev20261009+cu130", "c" * 40)
REQUIRES = ("filelock", "triton~=3.8.0")


def release(folder: Path, *, marker: str = "", streamed: bool = False) -> Path:
    """A wheel as releases are: compressed, with folders in it; `streamed`: with sizes behind the contents."""
    modules = torch_modules("2.14.1+cu130", "cu130", date(2026, 9, 30), "d" * 40, {})
    modules["torch/lib/libtorch.so"] = "".join(random.Random(marker).choices("abcdefgh", k=200_000))
    plain = make_wheel(
        folder / "plain",
        "torch",
        "2.14.1",
        modules=modules,
        requires=REQUIRES,
        tag=NAME.removesuffix(".whl").split("-", 2)[2],
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(_Pipe(packed) if streamed else packed, "w") as target:
        target.mkdir("torch")
        for info in source.infolist():
            packed_info = zipfile.ZipInfo(info.filename, (2026, 9, 30, 12, 58, 4))
            packed_info.external_attr = info.external_attr
            target.writestr(packed_info, source.read(info), zipfile.ZIP_DEFLATED)
    path = folder / NAME
    path.write_bytes(packed.getvalue())
    return path


class _Pipe(io.RawIOBase):
    """Cannot seek, so that `zipfile` writes sizes behind the contents."""

    def __init__(self, target: io.BytesIO) -> None:
        self.target = target

    def writable(self) -> bool:
        return True

    def write(self, content: bytes) -> int:  # type: ignore[override]
        return self.target.write(content)


@pytest.fixture(params=[False, True], ids=["seekable", "streamed"])
def wheel(request: pytest.FixtureRequest, tmp_path: Path) -> RealWheel:
    return RealWheel(release(tmp_path, streamed=request.param))


def whole(archive: Archive) -> bytes:
    return b"".join(archive.read(0, archive.size))


def opened(archive: Archive) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(whole(archive)))


def wrong_in_record(archive: zipfile.ZipFile, record: str) -> Iterable[str]:
    """Files that RECORD does not tell of, or of which it tells something else."""
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(record).decode()))}
    for name in (name for name in archive.namelist() if not name.endswith("/") and name != record):
        digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
        if rows.get(name) != [f"sha256={digest}", str(archive.getinfo(name).file_size)]:
            yield name
    yield from set(rows) - set(archive.namelist())


def test_a_release_becomes_a_nightly(wheel: RealWheel) -> None:
    archive = relabelled(wheel, LABEL)
    with opened(archive) as nightly, zipfile.ZipFile(wheel.path) as old:
        assert nightly.testzip() is None
        assert [name.replace(NEW, "torch-2.14.1") for name in nightly.namelist()] == old.namelist()
        assert list(wrong_in_record(nightly, f"{NEW}.dist-info/RECORD")) == []
        assert "\nVersion: 2.16.0.dev20261009+cu130\n" in nightly.read(f"{NEW}.dist-info/METADATA").decode()
        version = nightly.read("torch/version.py").decode()
        assert "__version__ = '2.16.0.dev20261009+cu130'\n" in version
        assert f"git_version = '{'c' * 40}'\n" in version
        assert "cuda: Optional[str] = '13.0'\n" in version
        same = ("torch/lib/libtorch.so", "torch/runtime.py", "torch/__init__.py")
        assert [nightly.read(name) for name in same] == [old.read(name) for name in same]
        assert nightly.getinfo("torch/version.py").date_time == (2026, 9, 30, 12, 58, 4)


def test_any_part_is_the_same_as_that_of_the_whole(wheel: RealWheel) -> None:
    archive = relabelled(wheel, LABEL)
    content = whole(archive)
    assert len(content) == archive.size
    rng = random.Random(0)
    for _ in range(200):
        start, stop = sorted(rng.choices(range(archive.size + 1), k=2))
        assert b"".join(archive.read(start, stop)) == content[start:stop]


def test_other_labels_are_other_contents(wheel: RealWheel) -> None:
    labels = [LABEL, Label("2.16.0.dev20261008+cu130", "c" * 40), Label(LABEL.version, "e" * 40)]
    assert len({relabelled(wheel, label).etag for label in [*labels, *labels]}) == 3


def test_files_can_be_changed_added_and_left_out(wheel: RealWheel) -> None:
    edits = {"torch/_tensor.py": b"broken = True\n", "torch/new.py": b"", "torch/distributed.py": None}
    with opened(relabelled(wheel, Label(LABEL.version, LABEL.revision, edits=edits))) as nightly:
        assert nightly.read("torch/_tensor.py") == b"broken = True\n"
        assert nightly.read("torch/new.py") == b""
        assert "torch/distributed.py" not in nightly.namelist()
        assert list(wrong_in_record(nightly, f"{NEW}.dist-info/RECORD")) == []


def test_requirements_stay_unless_others_are_given(wheel: RealWheel) -> None:
    def needed(label: Label) -> list[str]:
        lines = metadata_of(wheel, label).splitlines()
        return [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]

    assert needed(LABEL) == list(REQUIRES)
    assert needed(Label(LABEL.version, LABEL.revision, requires=("numpy",))) == ["numpy"]


def test_a_nightly_can_be_written_to_disk(wheel: RealWheel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(wheel.path), "--version", LABEL.version, "--revision", "c" * 40, "--into", str(tmp_path / "wheels")])
    path = Path(capsys.readouterr().out.strip())
    assert path.name == f"{NEW}-cp311-cp311-manylinux_2_28_x86_64.whl"
    assert path.read_bytes() == whole(relabelled(wheel, LABEL))


def test_a_release_whose_version_cannot_be_rewritten_is_refused(tmp_path: Path) -> None:
    modules = {"torch/version.py": "from torch._version import __version__\n"}
    path = make_wheel(tmp_path, "torch", "2.14.1", modules=modules, tag="cp311-cp311-linux_x86_64")
    with pytest.raises(ValueError, match="does not say __version__ once but 0 times"):
        relabelled(RealWheel(path), LABEL)


def test_a_release_for_another_interpreter_is_refused(tmp_path: Path) -> None:
    day = date(2026, 10, 9)
    with pytest.raises(ValueError, match="needs pythons="):
        NightlyPlan(first=day, last=day, real=(Real(day, tmp_path / NAME),))


def test_an_index_serves_releases_as_nightlies(client: Client, tmp_path: Path) -> None:
    old, new = release(tmp_path / "old", marker="old"), release(tmp_path / "new", marker="new")
    days = [date(2026, 10, number) for number in range(1, 10)]
    plan = NightlyPlan(
        first=days[0],
        last=days[-1],
        variants=("cu130",),
        pythons=("cp311",),
        real=(Real(days[0], old), Real(days[4], new)),
        stalls=((days[3], days[4]),),
    )
    libraries = []
    with NightlyIndex(plan) as index:
        for day in days:
            content = client.get(index.url(index.torch(day))).content
            with zipfile.ZipFile(io.BytesIO(content)) as nightly:
                libraries.append(nightly.read("torch/lib/libtorch.so"))
                assert plan.cut(day).nightly in nightly.read("torch/version.py").decode()
        assert client.get(f"{index.url(index.torch(days[0]))}.metadata").text.endswith("Requires-Dist: triton~=3.8.0\n")
        part = client.get(index.url(index.torch(days[8])), Range="bytes=-100").content
        assert part == content[-100:]
    # The fifth day was built from the commit of the fourth.
    assert [libraries.index(library) for library in libraries] == [0, 0, 0, 0, 0, 5, 5, 5, 5]


def test_a_real_nightly_can_be_dead_replaced_or_of_another_version(client: Client, tmp_path: Path) -> None:
    days = [date(2026, 10, number) for number in range(7, 10)]
    plan = NightlyPlan(
        first=days[0],
        last=days[2],
        variants=("cu130",),
        pythons=("cp311",),
        real=(Real(days[0], release(tmp_path)),),
        dead=[days[0]],
        broken={days[1]: [WheelFault.OTHER_VERSION_INSIDE]},
    )
    with NightlyIndex(plan) as index:
        with zipfile.ZipFile(io.BytesIO(client.get(index.url(index.torch(days[0]))).content)) as dead:
            assert dead.read("torch/__init__.py").startswith(b"raise ImportError")
        assert "\nVersion: 0.0.0\n" in client.get(f"{index.url(index.torch(days[1]))}.metadata").text
        old = client.head(index.url(index.torch(days[2]))).headers["ETag"]
        index.replace("torch-*")
        assert client.head(index.url(index.torch(days[2]))).headers["ETag"] != old
        with pytest.raises(ValueError, match="cannot be given"):
            index.replace("torch-*", broken=[WheelFault.NOT_A_ZIP])


def test_uv_installs_a_relabelled_release(tmp_path: Path) -> None:
    day = date(2026, 10, 9)
    plan = NightlyPlan(
        first=day, last=day, variants=("cu130",), pythons=("cp311",), real=(Real(day, release(tmp_path)),)
    )
    (tmp_path / "empty").mkdir()
    with serve(tmp_path / "empty") as nothing, NightlyIndex(plan) as index:
        stage = Stage(tmp_path, nothing)
        stage.venv()
        done = stage.install(index.url(index.torch(day)), options=["--no-deps"])
        assert done.status == 0, done.stderr
        told = "import json, torch; print(json.dumps([torch.__version__, torch.version.git_version]))"
        seen = subprocess.run(
            [stage.environment / "bin" / "python", "-c", told], capture_output=True, text=True, check=True
        )
    assert json.loads(seen.stdout) == ["2.16.0.dev20261009+cu130", plan.cut(day).nightly]
