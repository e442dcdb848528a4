from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator
from datetime import date

import pytest
import requests

from tests.rig import index_faults as faults
from tests.rig.index_state import RequestKind
from tests.rig.nightly_index import Change, NightlyIndex, NightlyPlan
from tests.rig.nightly_index.conftest import Client
from tests.rig.wheel_maker import WheelFault

DAY = date(2026, 10, 8)
TODAY = date(2026, 10, 9)


@pytest.fixture
def index() -> Iterator[NightlyIndex]:
    plan = NightlyPlan(first=date(2026, 10, 1), last=TODAY, pythons=("cp311",), dead=[date(2026, 10, 2)])
    with NightlyIndex(plan) as index:
        yield index


def test_a_wheel_says_what_it_is_before_it_is_sent(client: Client, index: NightlyIndex) -> None:
    said = client.head(index.url(index.torch(DAY)))
    sent = client.get(index.url(index.torch(DAY)))
    assert said.headers["Content-Length"] == str(len(sent.content))
    assert said.headers["Accept-Ranges"] == "bytes"
    assert said.headers["Last-Modified"].startswith("Thu, 08 Oct 2026 ")
    assert {said.headers["ETag"], client.head(index.url(index.torch(DAY), r2=True)).headers["ETag"]} == {
        sent.headers["ETag"]
    }


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ("bytes=0-1", 206, slice(0, 2)),
        ("bytes=-22", 206, slice(-22, None)),
        ("bytes=100-", 206, slice(100, None)),
        ("bytes=0-1,4-5", 200, slice(None)),
        ("bytes=99999999-", 416, slice(0, 0)),
    ],
)
def test_ranges(client: Client, index: NightlyIndex, asked: str, status: int, part: slice) -> None:
    whole = client.get(index.url(index.torch(DAY))).content
    answer = client.get(index.url(index.torch(DAY)), Range=asked)
    assert (answer.status_code, answer.content) == (status, whole[part])


def test_conditional_requests(client: Client, index: NightlyIndex) -> None:
    address = index.url(index.torch(DAY))
    known = client.head(address).headers
    assert client.get(address, If_None_Match=known["ETag"]).status_code == 304
    assert client.get(address, If_Modified_Since=known["Last-Modified"]).status_code == 304
    assert client.get(address, If_Match='"other"').status_code == 412
    assert client.get(address, Range="bytes=0-1", If_Range=known["ETag"]).status_code == 206
    assert client.get(address, Range="bytes=0-1", If_Range='"other"').status_code == 200


@pytest.mark.parametrize("path", ["cpu/torch-2.16.0.dev20261007%2Bcpu-cp39-cp39-linux_x86_64.whl", "cu131/", "x/y/z/"])
def test_what_is_absent_is_forbidden(client: Client, index: NightlyIndex, path: str) -> None:
    answer = client.get(f"{index.address}/{path}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (403, "application/xml")
    assert "<Code>AccessDenied</Code>" in answer.text


def test_a_plus_in_an_address_is_a_blank(client: Client, index: NightlyIndex) -> None:
    address = index.url(index.torch(DAY))
    assert "%2B" in address
    assert client.head(address.replace("%2B", "+")).status_code == 403


def test_a_metadata_file_is_the_wheels_own(client: Client, index: NightlyIndex) -> None:
    address = index.url(index.torch(DAY))
    with zipfile.ZipFile(io.BytesIO(client.get(address).content)) as wheel:
        inside = wheel.read("torch-2.16.0.dev20261008+cpu.dist-info/METADATA")
    assert client.get(f"{address}.metadata").content == inside


def test_wheels_before_2025_have_no_metadata_file(client: Client) -> None:
    with NightlyIndex(NightlyPlan(first=date(2025, 1, 2), last=date(2025, 1, 3))) as index:
        found = [client.get(f"{index.url(index.torch(day))}.metadata").status_code for day in index.plan.days()]
    assert found == [403, 200]


def test_old_files_may_be_on_the_first_host_alone(client: Client) -> None:
    plan = NightlyPlan(first=date(2026, 2, 27), last=date(2026, 3, 2))
    with NightlyIndex(plan, r2_since=date(2026, 3, 1)) as index:
        first = [client.head(index.url(index.torch(day))).status_code for day in plan.days()]
        second = [client.head(index.url(index.torch(day), r2=True)).status_code for day in plan.days()]
    assert (first, second) == ([200, 200, 200, 200], [404, 404, 200, 200])


def test_the_same_plan_gives_the_same_bytes(client: Client, index: NightlyIndex) -> None:
    with NightlyIndex(index.plan) as again:
        etags = {client.head(one.url(one.torch(DAY))).headers["ETag"] for one in (index, again)}
    assert len(etags) == 1


def test_a_wheel_is_made_when_it_is_asked_for(client: Client, index: NightlyIndex) -> None:
    client.get(f"{index.address}/cpu/torch/")
    assert index.contents.tiny == {}
    client.head(index.url(index.torch(DAY)))
    assert len(index.contents.tiny) == 1


def test_a_replaced_wheel_has_other_bytes_under_its_name(client: Client, index: NightlyIndex) -> None:
    address = index.url(index.torch(DAY))
    old = client.get(address)
    index.replace("torch-*20261008+cpu-*", changes=(Change("main", date(2026, 10, 1), "exit 3"),))
    new = client.get(address)
    assert old.headers["ETag"] != new.headers["ETag"]
    assert new.headers["Last-Modified"] == "Fri, 09 Oct 2026 23:30:00 GMT"
    assert b"exit 3" in new.content
    assert b"exit 3" not in old.content
    assert client.get(address, Range="bytes=10-", If_Range=old.headers["ETag"]).status_code == 200


def test_a_wheel_can_be_replaced_by_a_dead_one(client: Client, index: NightlyIndex) -> None:
    index.replace("torch-*20261008*", broken=[WheelFault.RAISES_AT_IMPORT])
    assert b"raise ImportError" in client.get(index.url(index.torch(DAY))).content
    assert b"raise ImportError" in client.get(index.url(index.torch(date(2026, 10, 2)))).content
    assert b"raise ImportError" not in client.get(index.url(index.torch(TODAY))).content


def test_a_withdrawn_wheel_is_gone_everywhere(client: Client, index: NightlyIndex) -> None:
    index.withdraw("torch-*20261008*")
    assert client.get(index.url(index.torch(DAY))).status_code == 403
    assert DAY not in client.dates(index, "cpu/torch/")


def test_the_first_host_may_want_a_password(client: Client) -> None:
    with NightlyIndex(NightlyPlan(first=DAY, last=DAY), password="me:secret") as index:
        assert client.get(f"{index.address}/cpu/torch/").status_code == 401
        assert client.get(f"{index.address}/cpu/torch/".replace("//", "//me:secret@", 1)).status_code == 200
        assert client.get(index.url(index.torch(DAY), r2=True)).status_code == 200


def test_faults_strike_what_they_are_planted_on(client: Client, index: NightlyIndex) -> None:
    address = index.url(index.torch(DAY))
    index.faults.add("torch-*20261008*", faults.status(429, times=1, retry_after=7), method="HEAD")
    assert client.get(address).status_code == 200
    limited = client.head(address)
    assert (limited.status_code, limited.headers["Retry-After"]) == (429, "7")
    assert client.head(address).status_code == 200
    index.faults.add("*.whl", faults.without_head())
    assert client.head(address).status_code == 405
    index.faults.clear()
    index.faults.add("*.whl", faults.without_ranges())
    assert client.get(address, Range="bytes=0-1").status_code == 200


@pytest.mark.parametrize("fault", [faults.reset(times=1), faults.truncated(times=1)], ids=["reset", "truncated"])
def test_broken_connections(client: Client, index: NightlyIndex, fault: faults.Fault) -> None:
    index.faults.add("*.whl", fault)
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        client.get(index.url(index.torch(DAY)))
    assert client.get(index.url(index.torch(DAY))).status_code == 200


def test_a_body_that_ends_early_and_yet_properly(client: Client, index: NightlyIndex) -> None:
    whole = client.get(index.url(index.torch(DAY))).content
    index.faults.add("*.whl", faults.wrong_length())
    assert client.get(index.url(index.torch(DAY))).content == whole[:-10]


def test_a_storm_passes_over_every_path(client: Client, index: NightlyIndex) -> None:
    index.faults.storm(seed=1, share=1.0, kinds=[faults.status(503)], limit=2)
    statuses = [client.head(index.url(index.torch(DAY))).status_code for _ in range(4)]
    assert statuses == [503, 503, 200, 200]


def test_the_log_counts_by_method_and_kind(client: Client, index: NightlyIndex) -> None:
    client.get(f"{index.address}/cpu/torch/")
    client.head(index.url(index.torch(DAY)))
    client.get(f"{index.url(index.torch(DAY), r2=True)}.metadata")
    counts = {("GET", "page"): 1, ("HEAD", "file"): 1, ("GET", "metadata"): 1}
    assert index.requests.counts() == counts
    assert index.requests.count(RequestKind.FILE, method="HEAD") == 1
    assert index.requests.sent(RequestKind.FILE) == 0
    assert [request.host for request in index.requests.requests] == ["first", "first", "r2"]


def test_a_stand_in_can_have_the_size_of_a_real_wheel(client: Client) -> None:
    plan = NightlyPlan(first=DAY, last=DAY, pythons=("cp311",), ballast=50_000_000)
    with NightlyIndex(plan) as index:
        address = index.url(index.torch(DAY))
        size = int(client.head(address).headers["Content-Length"])
        end = client.get(address, Range="bytes=-20000").content
        with client.get(address) as whole, zipfile.ZipFile(io.BytesIO(whole.content)) as wheel:
            assert wheel.testzip() is None
            assert wheel.getinfo("torch/lib/libtorch_cpu.so").file_size == 50_000_000
            record = wheel.read("torch-2.16.0.dev20261008+cpu.dist-info/RECORD").decode()
    assert 50_000_000 < size < 50_020_000
    assert whole.content.endswith(end)
    digest = base64.urlsafe_b64encode(hashlib.sha256(bytes(50_000_000)).digest()).rstrip(b"=").decode()
    assert f"torch/lib/libtorch_cpu.so,sha256={digest},50000000\n" in record
