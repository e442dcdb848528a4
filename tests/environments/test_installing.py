"""Whose fault it is when an installation fails, and what it resolves to when it does not; with real uv."""

from __future__ import annotations

import subprocess

import pytest

from bisect_tool.builds.channel import Access, open_channel
from bisect_tool.environments.environment import BuildUnusable, EnvironmentKey, Trouble
from bisect_tool.environments.interpreter import find_interpreter
from bisect_tool.errors import (
    BisectError,
    CacheNotWritable,
    DiskFull,
    DownloadFailed,
    MachineFault,
    RequirementsUnmet,
    UvMissing,
)
from tests.environments.conftest import Bench
from tests.rig import index_faults as faults
from tests.rig.fake_uv import FakeUv, replaying
from tests.rig.toy import ToyBuild, day
from tests.rig.uv_message import read_message
from tests.rig.wheel_maker import WheelFault, make_wheel


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (WheelFault.NO_MODULE, "its wheel holds nothing but its own description"),
        (WheelFault.OTHER_VERSION_INSIDE, r"does not match.* \(0.0.0 != 2.0\)"),
        (WheelFault.BROKEN_METADATA, "Metadata field Name not found"),
        (WheelFault.TRUNCATED, "its wheel is damaged"),
        (WheelFault.NOT_A_ZIP, "its wheel is damaged"),
    ],
)
def test_a_wheel_that_was_published_broken(bench: Bench, broken: WheelFault, reason: str) -> None:
    bench.publish("toy", ToyBuild("2.0", broken={broken}))
    with pytest.raises(BuildUnusable, match=reason):
        bench.make(bench.key(bench.build(version="2.0")))
    assert list(bench.cache.environments.iterdir()) == []


def test_a_build_that_needs_what_nobody_has(bench: Bench) -> None:
    bench.publish("needy", ToyBuild("1.0", requires=("no-such-package",)))
    with pytest.raises(BuildUnusable, match="its requirements cannot be met: Because no-such-package was not found"):
        bench.make(bench.key(bench.build("needy")))


@pytest.mark.parametrize("version", ["1.0", "1.0+cu130"])
@pytest.mark.parametrize("code", [403, 404, 410])
def test_a_wheel_that_is_listed_and_not_there(bench: Bench, version: str, code: int) -> None:
    bench.publish("torch-like", ToyBuild(version))
    build = bench.build("torch-like", version)
    bench.index.plant("*.whl", faults.status(code))
    with pytest.raises(BuildUnusable, match="the index lists its wheel but does not have it") as raised:
        bench.make(bench.key(build))
    assert not raised.value.is_of_host


def test_a_missing_wheel_of_another_package_is_no_fault_of_the_build(bench: Bench) -> None:
    bench.publish("helper", ToyBuild("1.0"))
    build = bench.build()
    bench.index.plant("helper-*", faults.status(404))
    with pytest.raises(DownloadFailed, match="helper"):
        bench.make(bench.key(build, requires=("helper",)))


BROKEN_DOWNLOADS = {
    "status 500": faults.status(500),
    "status 503": faults.status(503),
    "status 429": faults.status(429),
    "truncated": faults.truncated(),
    "reset": faults.reset(),
    "too short": faults.wrong_length(),
    "captive portal": faults.replaced(b"<html>log in</html>"),
}


@pytest.mark.parametrize("fault", BROKEN_DOWNLOADS.values(), ids=BROKEN_DOWNLOADS)
def test_a_download_that_stays_broken_is_no_fault_of_the_build(bench: Bench, fault: faults.Fault) -> None:
    build = bench.build()
    bench.index.plant("*.whl", fault)
    with pytest.raises(DownloadFailed, match="could not be fetched in 3 attempts"):
        bench.make(bench.key(build))
    assert bench.pauses == [1.0, 5.0]
    assert list(bench.cache.environments.iterdir()) == []


def test_a_download_that_breaks_twice_works_the_third_time(bench: Bench) -> None:
    build = bench.build()
    bench.index.plant("*.whl", faults.reset(times=2))
    assert bench.make(bench.key(build)).health.version == "1.0"
    troubles = [step for step in bench.steps if isinstance(step, Trouble)]
    assert [(step.attempt, step.of) for step in troubles] == [(1, 3), (2, 3)]
    assert len(bench.pauses) == 2


def test_a_hash_that_is_not_that_of_the_file_is_no_fault_of_the_build(bench: Bench) -> None:
    bench.index.plant("*.whl", faults.wrong_hash())
    with pytest.raises(DownloadFailed, match="Hash mismatch"):
        bench.make(bench.key(bench.build()))


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("no-space-in-cache", DiskFull),
        ("environment-not-permitted", CacheNotWritable),
        ("no-memory", MachineFault),
        ("killed", MachineFault),
        ("unknown-option", UvMissing),
        ("requirement-malformed", RequirementsUnmet),
        ("environment-exists", MachineFault),
        ("page-503", DownloadFailed),
        ("offline", DownloadFailed),
    ],
)
def test_faults_of_the_machine_stop_the_run(bench: Bench, name: str, error: type[BisectError]) -> None:
    key = bench.key(bench.build())
    use_fake(bench, name)
    with pytest.raises(error) as raised:
        bench.make(key)
    assert raised.value.where == "toy 1.0"


def test_a_signal_that_ended_uv_is_told(bench: Bench) -> None:
    key = bench.key(bench.build())
    use_fake(bench, "killed")
    with pytest.raises(MachineFault, match="uv was ended by the signal SIGKILL"):
        bench.make(key)


def test_a_fault_of_the_disk_is_not_tried_again(bench: Bench) -> None:
    key = bench.key(bench.build())
    fake = use_fake(bench, "no-space-in-cache")
    with pytest.raises(DiskFull):
        bench.make(key)
    assert (fake.struck(), bench.pauses) == (1, [])


def test_what_the_spec_requires_and_nobody_has(bench: Bench) -> None:
    with pytest.raises(RequirementsUnmet, match="no-such-package was not found") as raised:
        bench.make(bench.key(bench.build(), requires=("no-such-package",)))
    assert raised.value.where == "no-such-package"


def test_what_the_spec_requires_and_only_this_build_cannot_have(bench: Bench) -> None:
    bench.publish("helper", ToyBuild("1.0"), ToyBuild("2.0"))
    bench.publish("picky", ToyBuild("1.0", requires=("helper<2",)))
    key = bench.key(bench.build("picky"), requires=("helper==2.0",))
    with pytest.raises(BuildUnusable, match="depend on helper<2"):
        bench.make(key)


def test_requirements_are_those_of_the_date_of_the_build(bench: Bench) -> None:
    bench.publish("helper", *(ToyBuild(f"{n}.0", uploaded=day(10 * n)) for n in (1, 2, 3)))
    key = bench.key(bench.build(), requires=("helper",))
    assert bench.packages(bench.make(key, as_of=day(21)))["helper"] == "2.0"
    newest = bench.key(bench.build(version="1.1"), requires=("helper",))
    assert bench.packages(bench.make(newest))["helper"] == "3.0"


def test_a_pinned_requirement_may_be_newer_than_the_build(bench: Bench) -> None:
    bench.publish("helper", *(ToyBuild(f"{n}.0", uploaded=day(10 * n)) for n in (1, 2, 3)))
    key = bench.key(bench.build(), requires=("helper==3.0",))
    assert bench.packages(bench.make(key, as_of=day(11)))["helper"] == "3.0"


def test_what_a_build_needs_may_come_some_days_later(bench: Bench) -> None:
    bench.publish("helper", ToyBuild("1.0", uploaded=day(10)), ToyBuild("2.0", uploaded=day(30)))
    bench.publish("needy", ToyBuild("1.0", requires=("helper",)))
    assert bench.packages(bench.make(bench.key(bench.build("needy")), as_of=day(5)))["helper"] == "1.0"


def test_a_wheelhouse_needs_no_network(bench: Bench) -> None:
    house = bench.root / "house"
    for name, requires in (("toy", ["helper"]), ("helper", [])):
        make_wheel(house, name, "1.0", modules={f"{name}.py": ""}, requires=requires)
    channel = open_channel("wheelhouse", Access(wheelhouse=house))
    key = bench.key(bench.build(channel=channel))
    bench.index.log.clear()
    with bench.use(key, install=lambda: channel.installation(key.build)) as environment:
        assert environment.health.packages == {"toy": "1.0", "helper": "1.0"}
    assert bench.index.log.count() == 0
    (house / "helper-1.0-py3-none-any.whl").unlink()
    other = bench.key(key.build, requires=("helper",))
    with pytest.raises(RequirementsUnmet), bench.use(other, install=lambda: channel.installation(key.build)):
        pass


def test_on_top_of_a_virtual_environment(bench: Bench) -> None:
    base = bench.root / "base"
    bench.uv.call("venv", "--python", str(bench.interpreter.path), str(base))
    for name, version in (("helper", "1.5"), ("toy", "0.1")):
        path = make_wheel(bench.root / "base-wheels", name, version, modules={f"{name}.py": "base = True\n"})
        bench.uv.call("pip", "install", "--python", str(base), "--no-index", str(path))
    bench.publish("toy", ToyBuild("2.0", requires=("helper<2",)), ToyBuild("2.1", requires=("helper>=2",)))
    interpreter = find_interpreter(str(base), bench.uv, keep_environment=True)
    assert interpreter.in_environment
    key = EnvironmentKey(bench.build(version="2.0"), interpreter, base_system=True)
    environment = bench.make(key)
    assert dict(environment.health.packages) | {"toy": "2.0", "helper": "1.5"} == environment.health.packages
    said = subprocess.run(
        [environment.programs / "python", "-c", "import helper, toy; print(helper.base, toy.__version__)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "True 2.0\n"
    with pytest.raises(BuildUnusable, match=r"needs helper>=2, and the base interpreter has 1.5"):
        bench.make(EnvironmentKey(bench.build(version="2.1"), interpreter, base_system=True))


def test_settings_of_the_user_have_no_influence(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    shadow = bench.root / "shadow"
    shadow.mkdir()
    (shadow / "toy.py").write_text("raise RuntimeError('from PYTHONPATH')\n")
    (bench.root / "uv.toml").write_text('index-url = "http://127.0.0.1:9/simple"\n')
    bench.environ |= {
        "UV_INDEX_URL": "http://127.0.0.1:9/simple", "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_NO_INDEX": "1",
        "UV_EXCLUDE_NEWER": "2001-01-01", "UV_CACHE_DIR": str(bench.root / "elsewhere"), "UV_PYTHON": "3.99",
        "UV_CONFIG_FILE": str(bench.root / "uv.toml"), "UV_SYSTEM_PYTHON": "1", "UV_TARGET": str(shadow),
        "UV_CONSTRAINT": str(bench.root / "none.txt"), "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PYTHONPATH": str(shadow),
        "PYTHONHOME": str(shadow), "VIRTUAL_ENV": str(shadow), "CONDA_PREFIX": str(shadow),
    }  # fmt: skip
    (bench.root / ".config" / "uv").mkdir(parents=True)
    (bench.root / ".config" / "uv" / "uv.toml").write_text("no-index = true\n")
    monkeypatch.chdir(bench.root)
    assert bench.make(bench.key(bench.build())).health.packages == {"toy": "1.0"}
    assert not (bench.root / "elsewhere").exists()


def use_fake(bench: Bench, message: str) -> FakeUv:
    """From here on, every `uv pip` says what real uv said in a known situation."""
    fake = replaying(bench.root / "fake", read_message(message), when=("pip",))
    bench.program = fake.path
    return fake
