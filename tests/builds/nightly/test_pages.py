"""Pages in the forms that the index and its mirrors may have."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bisect_tool.builds.nightly.pages import ListedFile, read_page
from bisect_tool.builds.nightly.site import open_site
from bisect_tool.errors import IndexUnreachable
from tests.builds.conftest import JSON, Answer, Site

WHEEL = "torch-2.16.0.dev20261007+cu130-cp311-cp311-manylinux_2_28_x86_64.whl"
ENCODED = WHEEL.replace("+", "%2B")


def read(site: Site, body: str, content_type: str = "text/html") -> tuple[ListedFile, ...]:
    site.answers["/whl/nightly/cu130/torch/"] = Answer(body.encode(), content_type)
    found = read_page(open_site(site.url.replace("/simple/", "/whl/nightly"), backoff=0), "torch", "cu130")
    assert found is not None
    return found


def anchor(href: str, attributes: str = "", text: str = WHEEL) -> str:
    return f'<a href="{href}"{attributes}>{text}</a><br/>'


def test_a_link_to_another_host(site: Site) -> None:
    address = f"https://download-r2.pytorch.org/whl/nightly/cu130/{ENCODED}"
    (file,) = read(site, anchor(address, ' data-core-metadata="sha256=ab" data-upload-time="2026-10-07T11:12:13Z"'))
    assert (file.filename, file.location, file.variant) == (WHEEL, address, "cu130")
    assert file.uploaded == datetime(2026, 10, 7, 11, 12, 13, tzinfo=UTC)
    assert file.day == datetime(2026, 10, 7, tzinfo=UTC)
    assert file.has_metadata


def test_a_relative_link_a_hash_and_no_times(site: Site) -> None:
    (file,) = read(site, anchor(f"/whl/nightly/cu130/{ENCODED}#sha256=ab"))
    assert file.location == site.url.replace("/simple/", f"/whl/nightly/cu130/{ENCODED}")
    assert (file.uploaded, file.has_metadata, file.variant) == (None, False, "cu130")


def test_the_folder_of_the_link_says_which_variant_it_is(site: Site) -> None:
    other, root = anchor(f"/whl/nightly/rocm7.2/{ENCODED}"), anchor(f"/whl/nightly/{ENCODED}")
    assert [file.variant for file in read(site, other + root)] == ["rocm7.2", None]


def test_other_packages_and_other_files_are_passed_over(site: Site) -> None:
    others = anchor("/whl/nightly/sympy-1.13.1-py3-none-any.whl") + anchor("/whl/nightly/torch-2.tar.gz") + anchor("/")
    assert len(read(site, others + anchor(f"/whl/nightly/cu130/{ENCODED}"))) == 1


@pytest.mark.parametrize("time", ["", "yesterday", "2026-99-99"])
def test_times_that_are_none(site: Site, time: str) -> None:
    assert read(site, anchor(f"/x/cu130/{ENCODED}", f' data-upload-time="{time}"'))[0].uploaded is None


def test_json_as_a_mirror_may_give_it(site: Site) -> None:
    file = f'{{"filename": "{WHEEL}", "url": "../{ENCODED}", "hashes": {{}}, "upload-time": "2026-10-07T11:12:13Z"}}'
    found = read(site, f'{{"meta": {{"api-version": "1.1"}}, "name": "torch", "files": [{file}]}}', JSON)
    assert [(one.filename, one.variant) for one in found] == [(WHEEL, "cu130")]
    assert found[0].uploaded == datetime(2026, 10, 7, 11, 12, 13, tzinfo=UTC)


def test_an_empty_page_that_says_what_it_is(site: Site) -> None:
    assert read(site, '<html><head><meta name="pypi:repository-version" content="1.0"></head></html>') == ()


@pytest.mark.parametrize(
    ("body", "content_type"),
    [("<html>log in</html>", "text/html"), ("{}", JSON), ("no json", JSON), ('{"files": 3}', "application/json")],
)
def test_what_is_no_page(site: Site, body: str, content_type: str) -> None:
    with pytest.raises(IndexUnreachable, match="not an index page"):
        read(site, body, content_type)


def test_no_page(site: Site) -> None:
    assert read_page(open_site(site.url.rstrip("/"), backoff=0), "torch", "cu130") is None
