"""The wheel of a build between the index and uv: real uv, tiny wheels."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest

from bisect_tool.builds.build import Build, Installation
from bisect_tool.environments import room
from bisect_tool.environments.environment import BuildUnusable
from bisect_tool.environments.kept_wheels import damaged_wheels, kept_wheels
from bisect_tool.environments.uv import Download
from bisect_tool.environments.wheels import Wheels
from bisect_tool.errors import DownloadFailed
from tests.builds.nightly.conftest import channel, wanted
from tests.environments.conftest import Bench
from tests.environments.test_environment import MAKER
from tests.rig import index_faults as faults
from tests.rig.index import RequestKind
from tests.rig.nightly_index import NightlyIndex, NightlyPlan
from tests.rig.toy import ToyBuild
from tests.rig.wheel_maker import make_wheel

LARGE = "#" + "x" * 3_000_000 + "\n"


def gets(bench: Bench) -> int:
    return bench.index.log.count(RequestKind.FILE, method="GET")


def test_one_request_brings_a_wheel_and_nothing_is_kept(bench: Bench) -> None:
    bench.make(bench.key(bench.build()))
    assert gets(bench) == bench.index.log.count(RequestKind.FILE) == 1
    assert kept_wheels(bench.cache) == []


def test_the_address_that_uv_remembers_is_on_this_machine(bench: Bench) -> None:
    environment = bench.make(bench.key(bench.build()))
    (record,) = environment.folder.glob("venv/lib/python*/site-packages/toy-1.0.dist-info/direct_url.json")
    assert '"url":"http://127.' in record.read_text()
    assert record.read_text().count("toy-1.0-py3-none-any.whl") == 1


def test_another_environment_of_the_build_fetches_nothing(bench: Bench) -> None:
    bench.publish("numpy", ToyBuild("1.0"))
    build = bench.build()
    bench.make(bench.key(build))
    bench.make(bench.key(build, requires=("numpy",)))
    assert bench.index.log.count(RequestKind.FILE, "toy-*", method="GET") == 1


def test_a_large_wheel_is_told_of_as_it_arrives(bench: Bench) -> None:
    make_wheel(bench.index.folder, "large", "1.0", modules={"large.py": LARGE})
    build = bench.build("large")
    bench.make(bench.key(build))
    told = [step for step in bench.steps if isinstance(step, Download)]
    assert {step.name for step in told} == {"large"}
    assert [step.here for step in told] == sorted(step.here for step in told)
    assert told[-1] == Download("large", build.size, done=True, here=build.size or 0)


def test_a_dropped_connection_is_no_trouble(bench: Bench) -> None:
    bench.index.plant("*.whl", faults.truncated(times=2))
    bench.make(bench.key(bench.build()))
    assert bench.pauses == []


def test_a_wheel_that_uv_did_not_get_to_unpack_stays_for_the_next_run(bench: Bench) -> None:
    build = bench.build()
    wheels = Wheels(bench.cache, bench.environ)
    with wheels.offered(build, bench.channel.installation(build), bench.uv, lambda _step: None) as offer:
        assert offer.server is not None
        b"".join(offer.server.fetch.read(0, offer.server.fetch.size()))
    assert [(one.label.version, one.here == one.size) for one in kept_wheels(bench.cache)] == [("1.0", True)]
    assert damaged_wheels(bench.cache) == []
    bench.index.log.clear()
    bench.make(bench.key(build))
    assert gets(bench) == 0
    assert kept_wheels(bench.cache) == []


def test_a_wheel_that_arrives_damaged_is_fetched_again(bench: Bench) -> None:
    build = bench.build()
    content = bytearray((bench.index.folder / build.filename).read_bytes())
    content[len(content) // 2] ^= 1
    bench.index.plant("*.whl", faults.replaced(bytes(content), times=1))
    assert bench.make(bench.key(build)).health.version == "1.0"
    assert len(bench.pauses) == 1


def test_without_a_hash_the_checksums_of_the_archive_are_looked_at(bench: Bench) -> None:
    make_wheel(bench.index.folder, "large", "1.0", modules={"large.py": LARGE})
    build = replace(bench.build("large"), sha256=None, fingerprint="etag:1")
    content = bytearray((bench.index.folder / build.filename).read_bytes())
    content[len(content) // 2] ^= 1
    bench.index.plant("large*.whl", faults.replaced(bytes(content), times=1))
    plain = Installation((f"large @ {build.location}",), ("--default-index", bench.index.url))
    with bench.use(bench.key(build), install=lambda: plain) as environment:
        assert environment.health.version == "1.0"
    assert len(bench.pauses) == 1


def test_a_file_of_another_size_is_not_installed(bench: Bench) -> None:
    build = replace(bench.build(), size=17)
    with pytest.raises(DownloadFailed, match="the index says 17"):
        bench.make(bench.key(build))


def test_a_file_that_is_gone_is_the_fault_of_the_build(bench: Bench) -> None:
    build = bench.build()
    (bench.index.folder / build.filename).unlink()
    with pytest.raises(BuildUnusable, match="does not have it"):
        bench.make(bench.key(build))


def test_two_runs_at_the_same_time_fetch_a_wheel_once(bench: Bench) -> None:
    words = [str(bench.cache.root), bench.index.url]
    other = MAKER.replace("EnvironmentKey(build, interpreter)", 'EnvironmentKey(build, interpreter, ("toy==1.0",))')
    processes = [
        subprocess.Popen([sys.executable, "-c", text, *words], stdout=subprocess.PIPE, text=True, env=bench.environ)
        for text in (MAKER, other)
    ]
    assert [process.communicate()[0].strip() for process in processes] == ["made", "made"]
    assert gets(bench) == 1


@pytest.mark.parametrize("variable", ["UV_KEYRING_PROVIDER", "UV_INSECURE_HOST"])
def test_uv_fetches_where_we_could_not_do_the_same(bench: Bench, variable: str) -> None:
    build = bench.build()
    installation = bench.channel.installation(build)
    wheels = Wheels(bench.cache, {variable: "subprocess"})
    with wheels.offered(build, installation, bench.uv, lambda _step: None) as offer:
        assert not offer.is_ours
        assert offer.installation == installation


def test_uv_fetches_what_could_not_be_told_from_a_replaced_file(bench: Bench) -> None:
    build: Build = replace(bench.build(), sha256=None)
    wheels = Wheels(bench.cache, bench.environ)
    with wheels.offered(build, bench.channel.installation(build), bench.uv, lambda _step: None) as offer:
        assert not offer.is_ours


def test_a_begun_wheel_makes_room_before_environments_do(bench: Bench) -> None:
    make_wheel(bench.index.folder, "large", "1.0", modules={"large.py": LARGE})
    large = bench.build("large")
    bench.make(bench.key(bench.build()))
    with Wheels(bench.cache, bench.environ).offered(
        large, bench.channel.installation(large), bench.uv, lambda _step: None
    ) as offer:
        assert offer.server is not None
        b"".join(offer.server.fetch.read(0, offer.server.fetch.size()))
        held = room.size_of(bench.cache.root)
        assert room.make_room(bench.cache, bench.uv, held) == []
        assert len(kept_wheels(bench.cache)) == 1
    assert room.make_room(bench.cache, bench.uv, held - 1_000_000) == []
    assert kept_wheels(bench.cache) == []


PLAN = NightlyPlan(first=date(2026, 6, 1), last=date(2026, 6, 3), variants=("cpu",), pythons=("cp311",))


@pytest.fixture
def closed() -> Iterator[NightlyIndex]:
    with NightlyIndex(PLAN, password="me:secret") as index:
        yield index


def test_the_password_of_the_index_goes_to_its_host_alone(bench: Bench, closed: NightlyIndex) -> None:
    own = channel(closed, bench.cache.pages, address=closed.address.replace("//", "//me:secret@"))
    build = own.listing(wanted("2026-06-02", "2026-06-02", variant="cpu")).builds[0]
    with bench.use(bench.key(build), install=lambda: own.installation(build)) as environment:
        assert environment.health.version == build.version
    (got,) = closed.requests.of(RequestKind.FILE, build.filename, method="GET")[-1:]
    assert ("authorization" in got.header) is (got.host == "first")


def test_no_more_is_fetched_than_the_files_that_are_needed(bench: Bench) -> None:
    """One build after the other, with what they share: at most 5 % more than the size of the distinct files."""
    make_wheel(bench.index.folder, "shared", "1.0", modules={"shared.py": LARGE})
    for version in ("1.0", "1.1", "1.2"):
        text = f"version = {version!r}\n{LARGE}"
        make_wheel(bench.index.folder, "large", version, modules={"large.py": text}, requires=["shared"])
    builds = {version: bench.build("large", version) for version in ("1.0", "1.1", "1.2")}
    for version in ("1.0", "1.2", "1.1", "1.2"):
        bench.make(bench.key(builds[version]))
    distinct = sum(path.stat().st_size for path in bench.index.folder.glob("[ls]*.whl"))
    assert distinct > 12_000_000
    assert distinct <= bench.index.log.written.total() <= 1.05 * distinct
