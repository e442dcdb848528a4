"""Faults that look like the build's and are not: to blame it would hide a good build for good."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from bisect_tool.builds.build import Build
from bisect_tool.environments.environment import BuildUnusable, Trouble
from bisect_tool.errors import DiskFull, DownloadFailed, IndexUnreachable, MachineFault
from tests.environments.conftest import Bench
from tests.environments.test_health import stand_in
from tests.rig import index_faults as faults
from tests.rig.toy import ToyBuild, day
from tests.rig.wheel_maker import WheelFault, make_wheel


def needy(bench: Bench, **helper: WheelFault) -> Build:
    """A build that needs another package."""
    bench.publish("helper", ToyBuild("1.0", broken=set(helper.values())))
    bench.publish("needy", ToyBuild("1.0", requires=("helper",)))
    return bench.build("needy")


def torch(bench: Bench, start: str) -> Build:
    stand_in(bench.index.folder, "2.14.0", start=start)
    return bench.build("torch", "2.14.0")


def test_a_damaged_wheel_of_another_package(bench: Bench) -> None:
    build = needy(bench, broken=WheelFault.TRUNCATED)
    with pytest.raises(DownloadFailed, match=r"helper-1\.0"):
        bench.make(bench.key(build))


def test_a_page_that_was_wrong_once(bench: Bench) -> None:
    build = needy(bench)
    bench.index.plant("helper", faults.Fault(faults.FaultKind.NOT_AN_INDEX, times=1))
    assert bench.make(bench.key(build)).health.packages == {"needy": "1.0", "helper": "1.0"}


def test_a_page_of_a_captive_portal(bench: Bench) -> None:
    build = needy(bench)
    bench.index.plant("helper", faults.not_an_index())
    with pytest.raises(IndexUnreachable):
        bench.make(bench.key(build))


def test_a_page_that_uv_kept_from_before_the_upload(bench: Bench) -> None:
    bench.index.max_age = 3600
    bench.publish("helper", ToyBuild("1.0"))
    bench.make(bench.key(bench.build(), requires=("helper",)))
    bench.publish("helper", ToyBuild("2.0"))
    bench.publish("needy", ToyBuild("1.0", requires=("helper>=2",)))
    assert bench.make(bench.key(bench.build("needy"))).health.packages == {"needy": "1.0", "helper": "2.0"}


def test_a_version_with_a_star_is_no_pin(bench: Bench) -> None:
    bench.publish("helper", ToyBuild("1.0", uploaded=day(1)), ToyBuild("1.9", uploaded=day(200)))
    environment = bench.make(bench.key(bench.build(), requires=("helper==1.*",)), as_of=day(2))
    assert environment.health.packages["helper"] == "1.0"


@pytest.mark.parametrize(
    ("start", "error", "reason"),
    [
        ("raise OSError(28, 'No space left on device')\n", DiskFull, "no space is left"),
        ("raise MemoryError\n", MachineFault, "MemoryError"),
        ("raise RuntimeError('CUDA error: out of memory')\n", MachineFault, "out of memory"),
        ("raise RuntimeError('CUDA error: all CUDA-capable devices are busy or unavailable')\n", MachineFault, "busy"),
        ("import os\nos.kill(os.getpid(), 9)\n", MachineFault, "ended from outside by signal 9"),
    ],
)
def test_a_proof_that_the_machine_spoiled(bench: Bench, start: str, error: type[Exception], reason: str) -> None:
    key = bench.key(torch(bench, start))
    with pytest.raises(error, match=reason):
        bench.make(key)
    assert [(step.attempt, step.of) for step in bench.steps if isinstance(step, Trouble)] == [(1, 2), (2, 2)]
    assert not bench.environments().is_ready(key)


def test_what_a_build_starts_at_import_neither_delays_the_proof_nor_outlives_it(bench: Bench) -> None:
    note = bench.root / "pid"
    start = (
        "import subprocess, sys\nfrom pathlib import Path\n"
        "started = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"Path({str(note)!r}).write_text(str(started.pid))\n"
    )
    bench.make(bench.key(torch(bench, start)))  # a pipe that the child holds open would take the whole minute
    pid = int(note.read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(("revision", "is_it"), [("abc", True), ("abc123", True), ("abc123def", True), ("abd", False)])
def test_the_revision_is_the_one_that_was_meant(bench: Bench, revision: str, is_it: bool) -> None:  # noqa: FBT001
    found = torch(bench, "")
    meant = Build(found.package, found.version, found.filename, found.location, sha256=found.sha256, revision=revision)
    if is_it:
        assert bench.make(bench.key(meant)).health.revision == "abc123"
    else:
        with pytest.raises(BuildUnusable, match="git_version is abc123, not abd"):
            bench.make(bench.key(meant))


def test_a_damaged_wheel_of_the_build_itself(bench: Bench) -> None:
    """The counterpart: here the build is to blame."""
    bench.publish("broken", ToyBuild("1.0", broken={WheelFault.TRUNCATED}))
    with pytest.raises(BuildUnusable, match="its wheel is damaged"):
        bench.make(bench.key(bench.build("broken")))


def test_a_device_that_cannot_be_proven_leaves_the_other_one(bench: Bench) -> None:
    key = bench.key(bench.build())
    folder = bench.make(key).folder
    scratch: Path = folder / "scratch"
    if scratch.exists():
        scratch.rmdir()
    scratch.write_text("no folder")
    with (
        pytest.raises(MachineFault),
        bench.environments().use(key, lambda: bench.channel.installation(key.build), device="other", as_of=None),
    ):
        pass
    assert bench.make(key).cached


def test_editable_packages_of_the_base_are_seen(bench: Bench) -> None:
    from dataclasses import replace

    from bisect_tool.environments.interpreter import find_interpreter

    base = bench.root / "base"
    bench.uv.call("venv", "--python", str(bench.interpreter.path), str(base))
    (packages,) = base.glob("lib/python*/site-packages")
    (bench.root / "source").mkdir()
    (bench.root / "source" / "edited.py").write_text("answer = 42\n")
    (packages / "edited.pth").write_text(f"{bench.root / 'source'}\n")
    make_wheel(
        bench.index.folder, "torch", "2.0", modules={"torch/__init__.py": "import edited\nraise SystemExit(3)\n"}
    )
    interpreter = find_interpreter(str(base), bench.uv, keep_environment=True)
    key = replace(bench.key(bench.build("torch", "2.0"), base_system=True), interpreter=interpreter)
    with pytest.raises(BuildUnusable, match="exit status 3"):
        bench.make(key)
