from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from bisect_tool.environments.answers import FetchFault
from bisect_tool.environments.fetching import Fetch, Source
from bisect_tool.environments.growth import Growth
from bisect_tool.environments.partial_file import Label, open_partial
from bisect_tool.environments.pieces import Claim
from tests.rig import index_faults as faults
from tests.rig.index import Index, RequestKind, serve
from tests.rig.index_faults import Fault

NAME = "toy-1.0-py3-none-any.whl"
SIZE = 1_000_000
CONTENT = random.Random(1).randbytes(SIZE)
OTHER = random.Random(2).randbytes(SIZE)
PIECE = 64_000


@dataclass(slots=True)
class Desk:
    """An index with one file, and the folder into which it is fetched."""

    index: Index
    folder: Path

    def fetch(self, *, retries: int = 3, streams: int = 1, size: int | None = None) -> Fetch:
        """A new download, which finds what an earlier one left."""
        file = open_partial(self.folder / "kept.part", Label("toy", "1.0", NAME))
        file.pieces.piece = PIECE
        address = self.index.file_url(NAME)
        source = Source(address, address, requests.Session, size, retries=retries, backoff=0.0)
        return Fetch(source, file, growth=Growth(streams, streams))

    def whole(self, fetch: Fetch) -> bytes:
        try:
            return b"".join(fetch.read(0, fetch.size()))
        finally:
            fetch.close()

    @property
    def ranges(self) -> list[str | None]:
        return [request.header.get("range") for request in self.index.log.of(RequestKind.FILE)]

    @property
    def sent(self) -> int:
        return self.index.log.written[NAME]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / NAME).write_bytes(CONTENT)
    with serve(folder) as index:
        yield Desk(index, tmp_path / "kept")


def test_one_request_brings_all_of_it(desk: Desk) -> None:
    assert desk.whole(desk.fetch()) == CONTENT
    assert desk.ranges == ["bytes=0-"]
    assert desk.sent == SIZE


def test_what_is_here_is_not_asked_for_again(desk: Desk) -> None:
    desk.whole(desk.fetch())
    desk.index.log.clear()
    assert desk.whole(desk.fetch()) == CONTENT
    assert desk.index.log.count() == 0


def test_a_dropped_connection_is_taken_up_where_it_stopped(desk: Desk) -> None:
    desk.index.plant(NAME, faults.truncated(times=2))
    assert desk.whole(desk.fetch()) == CONTENT
    assert desk.ranges == ["bytes=0-", "bytes=500000-", "bytes=750000-"]
    assert desk.sent == SIZE
    assert desk.index.log.requests[1].header["if-range"] == desk.index.log.requests[2].header["if-range"]


def test_the_next_run_goes_on_where_this_one_gave_up(desk: Desk) -> None:
    desk.index.plant(NAME, faults.truncated(times=1))
    desk.index.plant(NAME, faults.status(503, after=1))
    with pytest.raises(FetchFault, match="status 503"):
        desk.whole(desk.fetch(retries=1))
    desk.index.heal()
    assert desk.whole(desk.fetch()) == CONTENT
    assert desk.sent == SIZE + 2 * len(b"503 planted by the rig\n")


KILLED = """
import sys, requests
from pathlib import Path
from bisect_tool.environments.fetching import Fetch, Source
from bisect_tool.environments.partial_file import Label, open_partial
from bisect_tool.environments.pieces import Claim
file = open_partial(Path(sys.argv[2]), Label("toy", "1.0", "toy.whl"))
fetch = Fetch(Source(sys.argv[1], sys.argv[1], requests.Session, timeouts=(5, 60)), file)
size = fetch.size()
for block in fetch.read(0, size // 2):
    pass
print("half", flush=True)
b"".join(fetch.read(0, size))
"""


def test_a_killed_process_loses_little(desk: Desk) -> None:
    large = random.Random(3).randbytes(20_000_000)
    (desk.index.folder / NAME).write_bytes(large)
    desk.index.plant(NAME, faults.truncated(times=1))
    desk.index.plant(NAME, Fault(faults.FaultKind.HANG, after=1, seconds=3600))
    desk.folder.mkdir()
    command = [sys.executable, "-c", KILLED, desk.index.file_url(NAME), str(desk.folder / "kept.part")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        process.kill()
    desk.index.heal()
    desk.index.log.clear()
    assert desk.whole(desk.fetch()) == large
    assert desk.sent <= len(large) // 2 + (4 << 20)


def test_a_replaced_file_is_never_put_together_from_two(desk: Desk) -> None:
    desk.index.plant(NAME, faults.truncated(times=1))
    desk.index.plant(NAME, Fault(faults.FaultKind.REPLACED, after=1, content=OTHER))
    with pytest.raises(FetchFault, match="was replaced while it was fetched"):
        desk.whole(desk.fetch())
    assert desk.whole(desk.fetch()) == OTHER


def test_what_was_begun_of_an_older_file_is_dropped(desk: Desk) -> None:
    desk.index.plant(NAME, faults.truncated())
    with pytest.raises(FetchFault):
        desk.whole(desk.fetch(retries=0))
    desk.index.heal()
    (desk.index.folder / NAME).write_bytes(OTHER[:700_000])
    assert desk.whole(desk.fetch()) == OTHER[:700_000]


def test_without_ranges_it_begins_again(desk: Desk) -> None:
    desk.index.plant(NAME, faults.without_ranges())
    desk.index.plant(NAME, faults.truncated(times=1))
    fetch = desk.fetch(streams=4)
    assert desk.whole(fetch) == CONTENT
    assert fetch.is_ranged is False
    assert desk.sent == SIZE // 2 + SIZE


@pytest.mark.parametrize("code", [429, 503])
def test_a_server_that_wants_peace_gets_it(desk: Desk, code: int) -> None:
    desk.index.plant(NAME, faults.status(code, times=2, after=1, retry_after=0))
    fetch = desk.fetch(streams=4)
    assert desk.whole(fetch) == CONTENT
    assert fetch.growth.streams < 4
    assert fetch.growth.limit < 4


def test_several_streams_share_a_file(desk: Desk) -> None:
    assert desk.whole(desk.fetch(streams=4)) == CONTENT
    assert desk.index.log.count(RequestKind.FILE) > 4
    assert sum(request.status == 206 for request in desk.index.log.requests) == desk.index.log.count()


def test_several_streams_survive_dropped_connections(desk: Desk) -> None:
    desk.index.plant(NAME, faults.truncated(times=5))
    desk.index.plant(NAME, faults.reset(times=3))
    assert desk.whole(desk.fetch(streams=4)) == CONTENT


def test_the_end_can_be_read_first(desk: Desk) -> None:
    fetch = desk.fetch()
    size = fetch.size()
    assert b"".join(fetch.read(size - 100, size)) == CONTENT[-100:]
    assert desk.whole(fetch) == CONTENT


@pytest.mark.parametrize("code", [401, 403, 404, 410])
def test_a_refusal_is_final(desk: Desk, code: int) -> None:
    desk.index.plant(NAME, faults.status(code))
    with pytest.raises(FetchFault) as caught:
        desk.whole(desk.fetch())
    assert caught.value.status == code
    assert desk.index.log.count() == 1


def test_another_size_than_the_index_gave_is_not_taken(desk: Desk) -> None:
    with pytest.raises(FetchFault, match=r"has 1000000 bytes, the index says 999999"):
        desk.whole(desk.fetch(size=999_999))


def test_stopping_does_not_wait_for_a_server_that_hangs(desk: Desk) -> None:
    desk.index.plant(NAME, faults.hang())
    fetch = desk.fetch()
    fetch.start()
    started = time.monotonic()
    fetch.close()
    assert time.monotonic() - started < 10
    with pytest.raises(FetchFault, match="stopped"):
        fetch.size()


def test_an_answer_that_comes_after_the_end_touches_nothing(desk: Desk) -> None:
    fetch = desk.fetch()
    fetch.close()
    kept = desk.folder / "kept.part"
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(b"of the next attempt")
    with requests.get(desk.index.file_url(NAME), timeout=9) as answer, pytest.raises(Exception, match="was stopped"):
        fetch._look_at(answer, Claim(0, SIZE))
    assert kept.read_bytes() == b"of the next attempt"
