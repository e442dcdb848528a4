from __future__ import annotations

import socket
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from bisect_tool import __version__
from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing, Wanted
from bisect_tool.builds.channel import Access, Channel, open_channel
from bisect_tool.builds.channels.release import ReleaseChannel
from bisect_tool.builds.index_address import IndexAddress
from bisect_tool.errors import CacheNotWritable, IndexUnreachable, PackageNotFound
from tests.builds.conftest import JSON, Answer, Site

HASH = "ab" * 32
FRESH = {"Cache-Control": "max-age=600"}


def entry(version: str, tag: str = "py3-none-any", **rest: Any) -> dict[str, Any]:
    filename = f"toy-{version}-{tag}.whl"
    return {"filename": filename, "url": f"../../files/{filename}", "hashes": {"sha256": HASH}, **rest}


def channel(site: Site, pages: Path | None = None) -> ReleaseChannel:
    return ReleaseChannel(IndexAddress(site.url, "--index"), pages, backoff=0)


def versions(listing: Listing) -> list[str]:
    return [build.version for build in listing.builds]


def test_a_json_page(site: Site, wanted: Wanted) -> None:
    files = [
        entry("1.1", size=1234, **{"upload-time": "2026-02-01T10:00:00.5Z", "requires-python": ">=3.8"}),
        entry("1.0", **{"upload-time": "2026-01-01T00:00:00Z"}),
        entry("1.2", **{"upload-time": "2026-03-01T00:00:00Z", "yanked": "broken pin"}),
        entry("1.3", **{"upload-time": "2026-03-01T00:00:00Z", "requires-python": ">=3.12"}),
    ]
    site.serve_json("toy", files)
    listing = channel(site).listing(wanted)
    assert versions(listing) == ["1.0", "1.1"]
    assert listing.builds[1] == Build(
        package="toy",
        version="1.1",
        filename="toy-1.1-py3-none-any.whl",
        location=site.url.replace("/simple/", "/files/toy-1.1-py3-none-any.whl"),
        date=datetime(2026, 2, 1, 10, 0, 0, 500_000, tzinfo=UTC),
        sha256=HASH,
        size=1234,
    )
    assert listing.has_upload_times
    assert [(left.version, left.because, left.detail) for left in listing.left_out] == [
        ("1.2", LeftOutBecause.YANKED, "broken pin"),
        ("1.3", LeftOutBecause.PYTHON, "needs Python >=3.12"),
    ]


def test_an_html_page(site: Site, wanted: Wanted) -> None:
    site.serve_html(
        "toy",
        f'<a href="/files/toy-1.0%2Bcpu-py3-none-any.whl#sha256={HASH}">toy-1.0+cpu-py3-none-any.whl</a>'
        '<a href="/files/toy-1.1-py3-none-any.whl" data-yanked="">toy-1.1-py3-none-any.whl</a>'
        '<a href="/files/toy-1.2-py3-none-any.whl" data-requires-python="&gt;=3.12">toy-1.2-py3-none-any.whl</a>'
        '<a href="/files/toy-0.9.tar.gz">toy-0.9.tar.gz</a>',
    )
    listing = channel(site).listing(wanted)
    root = site.url.removesuffix("/simple/")
    assert [(b.version, b.location, b.sha256, b.date, b.variant) for b in listing.builds] == [
        ("1.0+cpu", f"{root}/files/toy-1.0%2Bcpu-py3-none-any.whl", HASH, None, "cpu")
    ]
    assert not listing.has_upload_times
    assert listing.left_out == (
        LeftOut("0.9", None, LeftOutBecause.NO_WHEEL, "only source archives"),
        LeftOut("1.1", None, LeftOutBecause.YANKED),
        LeftOut("1.2", None, LeftOutBecause.PYTHON, "needs Python >=3.12"),
    )


def test_versions_are_spelled_as_the_index_lists_them(site: Site, wanted: Wanted) -> None:
    site.serve_json("toy", [entry("2022.09.24"), entry("1.0.0")], versions=["1.0.0", "2022.9.24"])
    assert versions(channel(site).listing(wanted)) == ["1.0.0", "2022.9.24"]


def test_it_says_who_asks(site: Site, wanted: Wanted) -> None:
    site.serve_json("toy", [entry("1.0")])
    channel(site).listing(wanted)
    assert site.asked[0][1]["user-agent"] == f"bisect-tool/{__version__}"


def test_a_fresh_page_costs_no_request(site: Site, wanted: Wanted, tmp_path: Path) -> None:
    site.serve_json("toy", [entry("1.0")], headers=FRESH)
    first = channel(site, tmp_path / "pages").listing(wanted)
    assert channel(site, tmp_path / "pages").listing(wanted) == first
    assert len(site.asked) == 1


def test_a_page_that_may_not_be_kept_is_asked_for_again(site: Site, wanted: Wanted, tmp_path: Path) -> None:
    site.serve_json("toy", [entry("1.0")], headers={"Cache-Control": "no-store"})
    channel(site, tmp_path).listing(wanted)
    site.serve_json("toy", [entry("1.0"), entry("1.1")])
    assert versions(channel(site, tmp_path).listing(wanted)) == ["1.0", "1.1"]


def test_a_fresh_page_serves_while_the_index_is_down(site: Site, wanted: Wanted, tmp_path: Path) -> None:
    site.serve_json("toy", [entry("1.0")], headers=FRESH)
    channel(site, tmp_path).listing(wanted)
    site.answers["/simple/toy/"] = Answer(b"", status=503)
    assert versions(channel(site, tmp_path).listing(wanted)) == ["1.0"]


def test_a_stale_page_is_no_answer_while_the_index_is_down(site: Site, wanted: Wanted, tmp_path: Path) -> None:
    site.serve_json("toy", [entry("1.0")], headers={"Cache-Control": "max-age=0", "ETag": '"1"'})
    channel(site, tmp_path).listing(wanted)
    site.answers["/simple/toy/"] = Answer(b"", status=503)
    with pytest.raises(IndexUnreachable, match="status 503"):
        channel(site, tmp_path).listing(wanted)


def test_a_damaged_page_in_the_cache_is_asked_for_again(site: Site, wanted: Wanted, tmp_path: Path) -> None:
    site.serve_json("toy", [entry("1.0")], headers=FRESH)
    channel(site, tmp_path).listing(wanted)
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert len(kept) == 1
    kept[0].write_bytes(kept[0].read_bytes()[:20])
    assert versions(channel(site, tmp_path).listing(wanted)) == ["1.0"]
    assert len(site.asked) == 2


def test_a_cache_that_cannot_be_written_is_told(site: Site, wanted: Wanted, tmp_path: Path) -> None:
    site.serve_json("toy", [entry("1.0")], headers=FRESH)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheNotWritable, match="give another one with --cache"):
        channel(site, tmp_path / "file").listing(wanted)


def test_an_unknown_package(site: Site, wanted: Wanted) -> None:
    with pytest.raises(PackageNotFound, match=r"the index has no package 'toi'\n.*where: .*\n.*Look at the spelling"):
        channel(site).listing(replace(wanted, package="toi"))


def test_nothing_that_fits_says_what_there_is(site: Site, wanted: Wanted) -> None:
    files = [entry("1.0", "cp39-cp39-linux_x86_64"), entry("1.1", "cp312-cp312-win_amd64"), entry("1.2", yanked="bad")]
    site.serve_json("toy", files)
    with pytest.raises(PackageNotFound) as caught:
        channel(site).listing(wanted)
    text = str(caught.value)
    assert "none of the 3 versions of toy can be used with Python 3.11.7 on " in text
    assert "1 yanked, the newest is 1.2 (bad)" in text
    assert "1 for other Python versions, the newest is 1.0 (wheels for cp39)" in text
    assert "1 without a wheel for this Python and platform, the newest is 1.1 (wheels for win_amd64)" in text
    assert "--yanked" in text


def test_only_pre_releases_names_the_flag(site: Site, wanted: Wanted) -> None:
    site.serve_json("toy", [entry("1.0rc1")])
    with pytest.raises(PackageNotFound, match=r"the only version of toy cannot be used(.|\n)*--pre\."):
        channel(site).listing(wanted)
    assert versions(channel(site).listing(replace(wanted, pre=True))) == ["1.0rc1"]


def test_a_package_without_files(site: Site, wanted: Wanted) -> None:
    site.serve_json("toy", [])
    with pytest.raises(PackageNotFound, match="toy has no files"):
        channel(site).listing(wanted)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(b"", status=500), r"status 500(.|\n)*Start again later"),
        (Answer(b"", status=429), r"status 429(.|\n)*Start again later"),
        (Answer(b"", status=401), r"status 401(.|\n)*user name and password"),
        (Answer(b"", status=403), r"status 403(.|\n)*spelling of `package`"),
        (Answer(b"", status=410), r"status 410(.|\n)*address of the index"),
        (Answer(b"<html><a href='/login'>Log in</a></html>"), "not an index page"),
        (Answer(b"<html></html>"), "not an index page"),
        (Answer(b"{", JSON), "not an index page"),
        (Answer(b"[1]", JSON), "not an index page"),
        (Answer(b'{"meta": {"api-version": "9.0"}, "name": "toy", "files": []}', JSON), "not an index page"),
        (Answer(b"\x89PNG", "image/png"), "not an index page"),
        (Answer(b"<html>", announced=5000), "stopped in the middle"),
        (Answer(b"no zip", headers={"Content-Encoding": "gzip"}), "damaged"),
    ],
)
def test_wrong_answers(site: Site, wanted: Wanted, answer: Answer, message: str) -> None:
    site.answers["/simple/toy/"] = answer
    with pytest.raises(IndexUnreachable, match=message):
        channel(site).listing(wanted)


def test_a_server_error_is_tried_three_times(site: Site, wanted: Wanted) -> None:
    site.answers["/simple/toy/"] = Answer(b"", status=503)
    with pytest.raises(IndexUnreachable):
        channel(site).listing(wanted)
    assert len(site.asked) == 3


def test_half_a_page_is_not_kept(site: Site, wanted: Wanted, tmp_path: Path) -> None:
    half = b"<a href='toy-1.0-py3-none-any.whl'>toy-1.0-py3-none-any.whl</a>"
    site.answers["/simple/toy/"] = Answer(half, announced=5000, headers=FRESH)
    for _ in range(2):
        with pytest.raises(IndexUnreachable, match="stopped in the middle"):
            channel(site, tmp_path).listing(wanted)


def test_nobody_answers(wanted: Wanted) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        address = IndexAddress(f"http://127.0.0.1:{taken.getsockname()[1]}/simple/", "--index")
        with pytest.raises(IndexUnreachable, match=r"cannot be reached(.|\n)*wheelhouse"):
            ReleaseChannel(address, backoff=0).listing(wanted)


def test_a_password_is_used_and_never_shown(site: Site, wanted: Wanted) -> None:
    site.serve_json("toy", [entry("1.0")], password="me:secret")
    address = site.url.replace("http://", "http://me:secret@")
    opened = ReleaseChannel(IndexAddress(address, "--index"), backoff=0)
    listing = opened.listing(wanted)
    assert versions(listing) == ["1.0"]
    assert "secret" not in f"{opened!r} {opened.source_address()} {listing!r}"
    wrong = ReleaseChannel(IndexAddress(address.replace("secret", "secrets"), "--index"), backoff=0)
    with pytest.raises(IndexUnreachable) as caught:
        wrong.listing(wanted)
    assert "secret" not in str(caught.value)


def test_installation_is_the_very_file(site: Site, wanted: Wanted) -> None:
    site.serve_json("toy", [entry("1.0")])
    build = channel(site).listing(wanted).builds[0]
    found = channel(site).installation(build)
    assert found.requirements[0] == f"toy @ {build.location}#sha256={HASH}"
    assert found.options == ("--default-index", site.url)
    assert not found.offline
    assert "#" not in channel(site).installation(replace(build, sha256=None)).requirements[0]


def test_the_usual_index_needs_no_option(site: Site, wanted: Wanted) -> None:
    site.serve_json("toy", [entry("1.0")])
    build = channel(site).listing(wanted).builds[0]
    assert ReleaseChannel(IndexAddress(PYPI_SIMPLE_ENDPOINT, "default")).installation(build).options == ()


def test_it_opens_by_its_name(site: Site, wanted: Wanted) -> None:
    site.serve_json("toy", [entry("1.0")])
    opened: Channel = open_channel("release", Access(index=site.url))
    assert opened.source_address() == site.url
    assert versions(opened.listing(wanted)) == ["1.0"]
