from __future__ import annotations

import re
from datetime import date

import pytest

from tests.rig import index_faults as faults
from tests.rig.nightly_index import Hrefs, NightlyIndex, NightlyPlan
from tests.rig.nightly_index.conftest import Client

TODAY = date(2026, 10, 9)
AT_CU130 = "torch-2.16.0.dev20261009+cu130-cp311-cp311-manylinux_2_28_x86_64.whl"


def plan(first: date, last: date = TODAY, **wishes: object) -> NightlyPlan:
    return NightlyPlan(first=first, last=last, pythons=("cp311",), **wishes)  # type: ignore[arg-type]


def test_the_very_text_of_a_page(client: Client) -> None:
    with NightlyIndex(plan(TODAY)) as index:
        answer = client.get(f"{index.address}/cpu/torch/")
        metadata = "sha256=0d02b9a1af8ed3d1dc5e12a65ec4fac2f8a3ec4b8a7a4e1f0b1c67e10ccd6d3c"
        text = re.sub("sha256=[0-9a-f]{64}", metadata, answer.text).replace(index.r2_host, "https://r2")
    name = "torch-2.16.0.dev20261009{}cpu-cp311-cp311-manylinux_2_28_x86_64.whl"
    uploaded = re.findall(r'data-upload-time="(2026-10-09T\d\d:\d\d:00Z)"', text)
    assert text == (
        "<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for torch</h1>\n"
        f'    <a href="https://r2/whl/nightly/cpu/{name.format("%2B")}" data-dist-info-metadata="{metadata}" '
        f'data-core-metadata="{metadata}" data-upload-time="{uploaded[0]}">{name.format("+")}</a><br/>\n'
        "  </body>\n</html>\n<!--TIMESTAMP 1791586800-->"
    )
    assert answer.headers["Cache-Control"] == "no-cache,no-store,must-revalidate"
    assert answer.headers["Content-Type"] == "text/html"


@pytest.mark.parametrize(
    ("today", "absolute", "metadata", "times"),
    [
        (date(2025, 1, 2), False, False, False),
        (date(2025, 1, 3), False, True, False),
        (date(2026, 3, 8), False, True, False),
        (date(2026, 3, 9), True, True, False),
        (date(2026, 4, 23), True, True, True),
    ],
)
def test_a_page_is_of_its_time(client: Client, today: date, *, absolute: bool, metadata: bool, times: bool) -> None:
    with NightlyIndex(plan(today, today)) as index:
        text = client.get(f"{index.address}/cpu/torch/").text
        assert ('href="/whl/nightly/cpu/torch-' in text) is not absolute
        assert (f'href="{index.r2_host}/whl/nightly/cpu/torch-' in text) is absolute
    assert ("data-core-metadata" in text) is metadata
    assert ("data-upload-time" in text) is times


def test_triton_moved_to_the_second_host_a_day_later(client: Client) -> None:
    with NightlyIndex(plan(date(2026, 3, 1), variants=("cu130",)), today=date(2026, 3, 9)) as index:
        assert all(link.startswith("/whl/nightly/triton-") for link in client.links(index, "cu130/triton/").values())
        index.today = date(2026, 3, 10)
        assert all(link.startswith(index.r2_host) for link in client.links(index, "cu130/triton/").values())


def test_links_are_relative_during_an_outage(client: Client) -> None:
    with NightlyIndex(plan(TODAY)) as index:
        index.hrefs = Hrefs.RELATIVE
        assert all(link.startswith("/whl/") for link in client.links(index, "cpu/torch/").values())


def test_wheels_at_the_root_are_in_every_variant(client: Client) -> None:
    with NightlyIndex(plan(date(2026, 9, 1), variants=("cpu", "cu130", "cu132"))) as index:
        pages = [client.links(index, f"{folder}triton/") for folder in ("", "cpu/", "cu130/", "cu132/")]
        assert pages[0] == pages[1] == pages[2] == pages[3]
        name = "triton-3.9.0+gitaad2a60d-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
        assert pages[0][name] == f"{index.r2_host}/whl/nightly/{name.replace('+', '%2B')}"
        assert list(client.links(index, "cu130/torch/"))[-1] == AT_CU130
        assert {name.split("+")[1].split("-")[0] for name in client.links(index, "torch/")} == {"cpu", "cu130", "cu132"}


def test_sixty_versions_are_listed_and_the_rest_is_there(client: Client) -> None:
    first = date(2026, 3, 1)
    with NightlyIndex(plan(first)) as index:
        assert client.dates(index, "cpu/torch/")[0] == date(2026, 8, 11)
        assert len(client.links(index, "cpu/torch/")) == 60
        assert client.head(index.url(index.torch(first))).status_code == 200
        assert client.get(index.url(index.torch(first))).content[:2] == b"PK"


def test_a_variant_that_ended_leaves_the_pages_by_and_by(client: Client) -> None:
    with NightlyIndex(plan(date(2026, 8, 1), variants=("cpu", "cu126"))) as index:
        assert client.dates(index, "cu126/torch/")[-1] == date(2026, 10, 5)
        assert len(client.dates(index, "cu126/torch/")) == 56
        index.today = date(2026, 9, 20)
        assert len(client.dates(index, "cu126/torch/")) == 51


def test_both_versions_of_a_bump_day_count(client: Client) -> None:
    with NightlyIndex(plan(date(2026, 8, 1), doubled=[date(2026, 10, 6)])) as index:
        names = client.links(index, "cpu/torch/")
        assert [name.split("+")[0] for name in names if "20261006" in name] == [
            "torch-2.15.0.dev20261006",
            "torch-2.16.0.dev20261006",
        ]
        assert (len(names), client.dates(index, "cpu/torch/")[0]) == (60, date(2026, 8, 12))


def test_pins_of_triton_stay_listed(client: Client) -> None:
    with NightlyIndex(plan(date(2025, 12, 20), variants=("cu130",))) as index:
        pins = {name.split("-")[1] for name in client.links(index, "cu130/triton/")}
    assert len({pin.partition("+")[0] for pin in pins}) < len(pins)
    assert min(pins).startswith("3.6.0+git")


def test_wheels_of_other_systems_are_on_the_same_page(client: Client) -> None:
    machines = ("x86_64", "aarch64", "windows", "macos")
    with NightlyIndex(plan(date(2026, 8, 1), variants=("cpu", "cu130", "cu134"), machines=machines)) as index:
        names = [name for name in client.links(index, "cpu/torch/") if "20261009" in name]
        assert names == [
            "torch-2.16.0.dev20261009+cpu-cp311-cp311-manylinux_2_28_aarch64.whl",
            "torch-2.16.0.dev20261009+cpu-cp311-cp311-manylinux_2_28_x86_64.whl",
            "torch-2.16.0.dev20261009+cpu-cp311-cp311-win_amd64.whl",
            "torch-2.16.0.dev20261009-cp311-none-macosx_11_0_arm64.whl",
        ]
        assert len(client.links(index, "cpu/torch/")) == 4 * 60  # with or without a local part, it is one version
        assert not any("win_amd64" in name for name in client.links(index, "cu134/torch/"))


def test_files_of_tomorrow_are_not_there_yet(client: Client) -> None:
    with NightlyIndex(plan(date(2026, 10, 1)), today=date(2026, 10, 5)) as index:
        assert client.dates(index, "cpu/torch/")[-1] == date(2026, 10, 5)
        assert client.head(index.url(index.torch(date(2026, 10, 6)))).status_code == 403
        index.today = date(2026, 10, 6)
        assert client.head(index.url(index.torch(date(2026, 10, 6)))).status_code == 200


def test_a_page_is_made_once_an_hour(client: Client) -> None:
    with NightlyIndex(plan(date(2026, 10, 8))) as index:
        wheel = index.torch(date(2026, 10, 9))
        index.now = wheel.uploaded
        assert client.head(index.url(wheel)).status_code == 200
        assert wheel.filename not in client.links(index, "cpu/torch/")


def test_lists_of_packages(client: Client) -> None:
    with NightlyIndex(plan(TODAY, variants=("cpu", "rocm7.14"), vision=True)) as index:
        names = client.links(index, "rocm7.14/")
        assert names["torch"] == "torch/"
        assert names["torchvision"] == "torchvision/"
        assert names["triton-rocm"] == "triton-rocm/"
        assert "numpy" in names
        assert client.get(f"{index.address}/cu130/").status_code == 403


def test_pages_of_dependencies_link_to_the_default_index(client: Client) -> None:
    with NightlyIndex(plan(TODAY)) as index:
        link = client.links(index, "cpu/numpy/")["numpy-2.3.3-py3-none-any.whl"]
        assert link.startswith(index.default.file_url(""))
        assert client.get(link).content[:2] == b"PK"


def test_a_stale_page_shows_the_past(client: Client) -> None:
    with NightlyIndex(plan(date(2026, 10, 1)), today=date(2026, 10, 7)) as index:
        index.faults.add("whl/nightly/cpu/torch/", faults.stale())
        index.today = TODAY
        assert client.dates(index, "cpu/torch/")[-1] == date(2026, 10, 7)
        assert client.dates(index, "torch/")[-1] == TODAY
