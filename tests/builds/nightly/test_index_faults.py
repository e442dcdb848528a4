"""What goes wrong between here and the index, and what becomes of it."""

from __future__ import annotations

import socket
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.builds.nightly import site as site_module
from bisect_tool.errors import CacheBroken, IndexUnreachable
from tests.builds.nightly.conftest import Serve, channel, days, wanted
from tests.rig import index_faults as faults
from tests.rig.nightly_index import NightlyIndex

RANGE = "2026-07-01", "2026-10-09"
COUNT = 101


@pytest.fixture
def index(serve: Serve) -> NightlyIndex:
    return serve(date(2026, 6, 1), date(2026, 10, 9))


def found(index: NightlyIndex, pages: Path | None = None) -> int:
    return len(channel(index, pages).listing(wanted(*RANGE)).builds)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_storm_changes_nothing(index: NightlyIndex, seed: int) -> None:
    calm = channel(index).listing(wanted(*RANGE))
    index.faults.storm(seed=seed, share=0.2)
    assert channel(index).listing(wanted(*RANGE)) == calm


def test_head_is_refused(index: NightlyIndex) -> None:
    calm = channel(index).listing(wanted(*RANGE))
    index.requests.clear()
    index.faults.add("torch-*.whl", faults.without_head())
    assert channel(index).listing(wanted(*RANGE)) == calm
    counts = index.requests.counts()
    assert counts[("HEAD", "file")] <= site_module.WORKERS
    assert counts[("GET", "file")] <= COUNT
    assert index.requests.sent(next(iter(index.requests.of(method="HEAD"))).kind) <= COUNT


def test_neither_head_nor_parts(index: NightlyIndex) -> None:
    calm = channel(index).listing(wanted(*RANGE))
    index.faults.add("torch-*.whl", faults.without_head())
    index.faults.add("torch-*.whl", faults.without_ranges())
    assert channel(index).listing(wanted(*RANGE)) == calm


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_file_that_is_not_there_whatever_the_status(index: NightlyIndex, status: int) -> None:
    index.faults.add("torch-*dev20260705*", faults.status(status))
    listing = channel(index).listing(wanted(*RANGE))
    assert [(left.version, left.detail) for left in listing.left_out] == [("2.14.0.dev20260705+cpu", "")]


def test_one_file_that_cannot_be_asked_for_is_left_out_with_the_reason(index: NightlyIndex, tmp_path: Path) -> None:
    index.faults.add("torch-*dev20260705*", faults.status(503))
    listing = channel(index, tmp_path).listing(wanted(*RANGE))
    assert [(left.version, left.detail) for left in listing.left_out] == [
        ("2.14.0.dev20260705+cpu", "the index answered with an error (status 503)")
    ]
    index.faults.clear()
    assert found(index, tmp_path) == COUNT


def test_an_index_in_trouble_ends_it(index: NightlyIndex) -> None:
    index.faults.add("torch-*.whl", faults.status(503))
    with pytest.raises(IndexUnreachable) as caught:
        found(index)
    assert caught.value.what == "the index answered with an error (status 503)"
    assert "--nightly-index" in caught.value.advice


def test_resets_without_end(index: NightlyIndex) -> None:
    index.faults.add("torch-*.whl", faults.reset())
    with pytest.raises(IndexUnreachable, match="cannot be reached"):
        found(index)


@pytest.mark.parametrize(
    "fault",
    [faults.truncated(times=2), faults.reset(times=2), faults.status(503, times=2), faults.status(429, times=2)],
)
def test_a_page_that_fails_twice(index: NightlyIndex, fault: faults.Fault) -> None:
    index.faults.add("whl/nightly/cpu/torch/", fault)
    assert found(index) == COUNT


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        (faults.truncated(), "stopped in the middle|is damaged|cannot be reached"),
        (faults.status(500), "status 500"),
        (faults.status(401), "refused to answer"),
        (faults.not_an_index(), "not an index page"),
    ],
)
def test_a_page_that_is_none(index: NightlyIndex, fault: faults.Fault, what: str) -> None:
    index.faults.add("whl/nightly/cpu/torch/", fault)
    with pytest.raises(IndexUnreachable, match=what) as caught:
        found(index)
    assert caught.value.where == f"{index.address}/cpu/torch/"


def test_a_slow_index(index: NightlyIndex) -> None:
    index.faults.add("torch-*dev202607*", faults.slow(0.2))
    assert found(index) == COUNT


def test_an_index_that_never_answers(index: NightlyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_module, "_TIMEOUTS", (1.0, 0.2))
    index.faults.add("*", faults.hang())
    with pytest.raises(IndexUnreachable, match="did not answer in time"):
        found(index)


def test_no_server_at_all(index: NightlyIndex) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/whl/nightly"
        with pytest.raises(IndexUnreachable, match="cannot be reached"):
            channel(index, address=address).listing(wanted(*RANGE))


def test_a_stale_page_hides_nothing(index: NightlyIndex) -> None:
    index.today = date(2026, 9, 1)
    index.faults.add("torch", faults.stale())
    index.today = date(2026, 10, 9)
    listing = channel(index).listing(wanted(*RANGE))
    assert len(listing.builds) == COUNT
    assert sum(build.hidden for build in listing.builds) == 3 + 38  # before its 60 dates, and after it was made


def test_the_variant_left_the_pages_and_its_files_are_still_there(serve: Serve) -> None:
    index = serve(date(2025, 5, 1), date(2026, 10, 9), "cu118", "cpu")
    assert days(channel(index).listing(wanted("2025-06-01", "2025-06-08", variant="cu118")))[0] == "2025-06-01"


@pytest.mark.parametrize("user", ["", "me:secret"])
def test_an_index_with_a_password(serve: Serve, user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = serve(date(2026, 8, 1), date(2026, 10, 9), password="me:secret")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "none" if user else netrc))
    address = index.address.replace("//", f"//{user}@") if user else index.address
    opened = channel(index, address=address)
    listing = opened.listing(wanted("2026-08-01", "2026-10-09"))
    assert len(listing.builds) == 70
    assert "secret" not in repr(listing)
    assert "secret" not in opened.source_address()
    needed = opened.installation(listing.builds[0]).requirements[0]
    assert ("secret" in needed) == bool(user)


def test_a_wrong_password(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    index = serve(date(2026, 8, 1), date(2026, 10, 9), password="me:secret")
    with pytest.raises(IndexUnreachable, match=r"refused to answer \(status 401\)"):
        channel(index, address=index.address.replace("//", "//me:wrong@")).listing(wanted("2026-08-01", None))


def test_a_damaged_memory_is_removed(index: NightlyIndex, tmp_path: Path) -> None:
    assert found(index, tmp_path) == COUNT
    (tmp_path / "nightly-files.sqlite").write_bytes(b"nonsense" * 1000)
    with pytest.raises(CacheBroken, match="it has been removed"):
        found(index, tmp_path)
    assert found(index, tmp_path) == COUNT


def replaced_at(index: NightlyIndex, **rest: Any) -> None:
    index.replace("torch-2.14.0.dev20260705+cpu-*", changes=(), **rest)


def test_a_replaced_file_is_noticed(index: NightlyIndex, tmp_path: Path) -> None:
    opened = channel(index, tmp_path)
    build = opened.listing(wanted("2026-07-05", "2026-07-05")).builds[0]
    assert opened.current(build) == build
    replaced_at(index)
    now = opened.current(build)
    assert now.identity != build.identity
    assert now.size == index.body(index.torch(date(2026, 7, 5))).size
    assert channel(index, tmp_path).listing(wanted("2026-07-05", "2026-07-05")).builds == (now,)


def test_a_replaced_listed_file_is_noticed(index: NightlyIndex) -> None:
    opened = channel(index)
    build = opened.listing(wanted("2026-10-05", "2026-10-05")).builds[0]
    assert opened.current(build).identity == build.identity
    index.replace("torch-*.dev20261005+cpu-*", changes=())
    assert opened.current(build).identity != build.identity


def test_a_file_that_is_gone_stays_what_it_was(index: NightlyIndex) -> None:
    opened = channel(index)
    build = opened.listing(wanted("2026-07-05", "2026-07-05")).builds[0]
    index.withdraw("torch-*dev20260705*")
    assert opened.current(build) == build


def test_asking_for_the_current_file_fails_with_a_reason(index: NightlyIndex) -> None:
    opened = channel(index)
    build = opened.listing(wanted("2026-07-05", "2026-07-05")).builds[0]
    index.faults.add("torch-*", faults.status(500))
    with pytest.raises(IndexUnreachable, match="status 500"):
        opened.current(build)


def test_a_listed_file_that_is_not_there(serve: Serve) -> None:
    index = serve(date(2026, 2, 1), date(2026, 3, 1))  # before pages had times
    index.faults.add("torch-*dev20260210*", faults.status(403))
    index.faults.add("torch-*dev20260211*", faults.status(500))
    listing = channel(index).listing(wanted("2026-02-01", "2026-03-01"))
    assert [(left.version, left.detail) for left in listing.left_out] == [
        ("2.11.0.dev20260210+cpu", "the page lists it, but it is not there"),
        ("2.11.0.dev20260211+cpu", "the index answered with an error (status 500)"),
    ]
    assert len(listing.builds) == 27


def test_progress_is_told(serve: Serve) -> None:
    index = serve(date(2026, 1, 1), date(2026, 10, 9))
    lines: list[str] = []
    channel(index, tell=lines.append).listing(wanted("2026-01-01", "2026-10-09"))
    hidden = 282 - 60
    rest = hidden - (hidden + 7) // 8
    assert lines == [f"looking for nightlies of torch in cpu: {done} of {rest} asked for" for done in (64, 128, 192)]
