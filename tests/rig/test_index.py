from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.rig import index_faults as faults
from tests.rig.index import Index, RequestKind, serve
from tests.rig.index_faults import Fault
from tests.rig.index_pages import JSON_TYPE, prefers_json
from tests.rig.wheel_maker import make_wheel

NAME = "toy-1.0-py3-none-any.whl"
PAGE = "/simple/toy/"
FILE = f"/files/{NAME}"
AS_JSON = {"Accept": JSON_TYPE}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    uploaded = datetime(2026, 3, 1, 4, 5, 6, tzinfo=UTC)
    options = {"requires_python": ">=3.8", "yanked": "wrong <gradients>"}
    make_wheel(tmp_path, "toy", "1.0", modules={"toy.py": "x = 1\n"}, uploaded=uploaded, **options)  # type: ignore[arg-type]
    with serve(tmp_path) as running:
        yield running


def ask(index: Index, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> tuple[int, Any, bytes]:
    """Status, headers, body."""
    connection = http.client.HTTPConnection("127.0.0.1", index.port, timeout=5)
    try:
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def only_file(index: Index) -> dict[str, Any]:
    (entry,) = json.loads(ask(index, PAGE, AS_JSON)[2])["files"]
    return dict(entry)


def test_a_json_page_says_everything_about_a_file(index: Index) -> None:
    content = (index.folder / NAME).read_bytes()
    entry = only_file(index)
    metadata = entry.pop("core-metadata")
    assert entry == {
        "filename": NAME,
        "url": f"../../files/{NAME}",
        "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
        "size": len(content),
        "yanked": "wrong <gradients>",
        "requires-python": ">=3.8",
        "upload-time": "2026-03-01T04:05:06.000000Z",
    }
    served = ask(index, f"{FILE}.metadata")[2]
    assert metadata == {"sha256": hashlib.sha256(served).hexdigest()}


def test_an_html_page_escapes_its_attributes(index: Index) -> None:
    status, headers, body = ask(index, PAGE)
    assert (status, headers["Content-Type"]) == (200, "text/html")
    assert b'data-requires-python="&gt;=3.8"' in body
    assert b'data-yanked="wrong &lt;gradients&gt;"' in body


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        (JSON_TYPE, True),
        (f"{JSON_TYPE}, text/html;q=0.1", True),
        (f"{JSON_TYPE};q=0.1, text/html", False),
        ("application/vnd.pypi.simple.latest+json", True),
    ],
)
def test_the_accept_header_decides_between_html_and_json(accept: str, wanted: bool) -> None:  # noqa: FBT001
    assert prefers_json(accept) is wanted


def test_the_root_lists_projects(index: Index) -> None:
    assert json.loads(ask(index, "/simple/", AS_JSON)[2])["projects"] == [{"name": "toy"}]


@pytest.mark.parametrize("path", ["/simple/toy", "/simple/Toy/"])
def test_other_spellings_are_redirected(index: Index, path: str) -> None:
    status, headers, _ = ask(index, path)
    assert (status, headers["Location"]) == (301, PAGE)


@pytest.mark.parametrize("path", ["/simple/other/", "/files/other.whl", "/files/../secret", f"/files/{NAME}.yanked"])
def test_what_is_not_there_is_404(index: Index, path: str) -> None:
    assert ask(index, path)[0] == 404


@pytest.mark.parametrize(
    ("asked", "start", "end"), [("bytes=0-3", 0, 4), ("bytes=10-", 10, None), ("bytes=-22", -22, None)]
)
def test_a_range_gets_its_part(index: Index, asked: str, start: int, end: int | None) -> None:
    status, headers, body = ask(index, FILE, {"Range": asked})
    whole = (index.folder / NAME).read_bytes()
    assert (status, body) == (206, whole[start:end])
    assert headers["Content-Range"].endswith(f"/{len(whole)}")


def test_a_range_beyond_the_end_is_416(index: Index) -> None:
    assert ask(index, FILE, {"Range": "bytes=99999-"})[0] == 416


def test_an_unchanged_page_is_304_and_a_changed_one_is_not(index: Index) -> None:
    etag = ask(index, PAGE, AS_JSON)[1]["ETag"]
    assert ask(index, PAGE, AS_JSON | {"If-None-Match": etag})[0] == 304
    make_wheel(index.folder, "toy", "2.0", modules={})
    assert ask(index, PAGE, AS_JSON | {"If-None-Match": etag})[0] == 200


def test_a_file_is_304_by_its_date(index: Index) -> None:
    changed = ask(index, FILE)[1]["Last-Modified"]
    assert changed == "Sun, 01 Mar 2026 04:05:06 GMT"
    assert ask(index, FILE, {"If-Modified-Since": changed})[0] == 304
    assert ask(index, FILE, {"If-Modified-Since": "Sat, 28 Feb 2026 04:05:06 GMT"})[0] == 200


def test_pages_are_compressed_for_clients_that_can(index: Index) -> None:
    _, headers, body = ask(index, PAGE, {"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body) == ask(index, PAGE)[2]


def test_the_log_counts_requests_and_bytes(index: Index) -> None:
    ask(index, PAGE)
    ask(index, FILE, {"Range": "bytes=0-99"})
    ask(index, FILE, method="HEAD")
    assert index.log.count() == 3
    assert index.log.count(RequestKind.FILE, "toy-*") == 2
    assert index.log.sent(RequestKind.FILE) == 100
    assert index.log.requests[1].header["range"] == "bytes=0-99"


def test_a_status_goes_away_after_its_times(index: Index) -> None:
    index.plant("toy", faults.status(503, times=2))
    assert [ask(index, PAGE)[0] for _ in range(3)] == [503, 503, 200]
    assert ask(index, FILE)[0] == 200


def test_a_fault_can_begin_later_and_be_healed(index: Index) -> None:
    index.plant("*.whl", faults.status(500, after=1))
    assert [ask(index, FILE)[0] for _ in range(3)] == [200, 500, 500]
    index.heal()
    assert ask(index, FILE)[0] == 200


def test_a_truncated_body_ends_before_its_length(index: Index) -> None:
    index.plant(NAME, faults.truncated())
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(index, FILE)
    assert len(caught.value.partial) == (index.folder / NAME).stat().st_size // 2


def test_a_wrong_length_cuts_ten_bytes_off(index: Index) -> None:
    index.plant(NAME, faults.wrong_length())
    assert ask(index, FILE)[2] == (index.folder / NAME).read_bytes()[:-10]


def test_a_reset_is_a_reset(index: Index) -> None:
    index.plant("toy", faults.reset(times=1))
    with pytest.raises(ConnectionResetError):
        ask(index, PAGE)
    assert ask(index, PAGE)[0] == 200


@pytest.mark.parametrize("fault", [faults.slow(0.2), faults.drip(0.02)])
def test_a_slow_answer_is_late_and_complete(index: Index, fault: Fault) -> None:
    index.plant("toy", fault)
    started = time.perf_counter()
    assert ask(index, PAGE)[0] == 200
    assert 0.18 < time.perf_counter() - started < 3


def test_a_hanging_answer_does_not_keep_the_index_from_closing(tmp_path: Path) -> None:
    started = time.perf_counter()
    with serve(tmp_path) as index:
        index.plant("toy", faults.hang())
        connection = http.client.HTTPConnection("127.0.0.1", index.port, timeout=0.2)
        connection.request("GET", PAGE)
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()
    assert time.perf_counter() - started < 3


def test_replaced_content_does_not_fit_the_hash_of_the_page(index: Index) -> None:
    index.plant(NAME, faults.replaced(b"other"))
    assert ask(index, FILE)[2] == b"other"
    assert only_file(index)["hashes"]["sha256"] != hashlib.sha256(b"other").hexdigest()


def test_a_stale_page_knows_no_later_build(index: Index) -> None:
    index.plant("toy", faults.stale())
    make_wheel(index.folder, "toy", "2.0", modules={})
    assert only_file(index)["filename"] == NAME


@pytest.mark.parametrize(
    ("fault", "key", "value"),
    [
        (faults.without_upload_times(), "upload-time", None),
        (faults.without_hashes(), "hashes", {}),
        (faults.without_metadata(), "core-metadata", None),
    ],
)
def test_a_page_can_keep_silent(index: Index, fault: Fault, key: str, value: object) -> None:
    index.plant("toy", fault)
    assert only_file(index).get(key) == value


@pytest.mark.parametrize("pattern", ["toy", NAME])
def test_a_wrong_hash_is_set_for_a_page_or_for_a_file(index: Index, pattern: str) -> None:
    right = only_file(index)["hashes"]["sha256"]
    index.plant(pattern, faults.wrong_hash())
    assert only_file(index)["hashes"]["sha256"] not in {right, None}


def test_a_login_page_is_no_index(index: Index) -> None:
    index.plant("toy", faults.not_an_index())
    status, headers, body = ask(index, PAGE, AS_JSON)
    assert (status, headers["Content-Type"]) == (200, "text/html")
    assert b"sign in" in body


def test_html_and_whole_files_can_be_forced(index: Index) -> None:
    index.plant("toy", faults.html_only())
    index.plant(NAME, faults.without_ranges())
    assert ask(index, PAGE, AS_JSON)[1]["Content-Type"] == "text/html"
    assert ask(index, FILE, {"Range": "bytes=0-3"})[0] == 200


def test_by_hand_it_says_its_address(index: Index) -> None:
    command = [sys.executable, "-m", "tests.rig.index", str(index.folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        process.terminate()
    assert address.startswith("http://127.0.0.1:")
    assert address.endswith("/simple/")
