from __future__ import annotations

from datetime import date

import pytest

from bisect_tool.spec.drafting.said import read_builds
from bisect_tool.spec.drafting.span import span_of


def found(text: str, package: str = "torch") -> tuple[str, str, str]:
    said = read_builds(list(enumerate(text.split("\n"), start=1)), package)
    return (
        said.failing.text if said.failing else "",
        " ".join(one.text for one in said.good),
        " ".join(one.text for one in said.bad),
    )


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("Works in 2.8, fails in 2.9.", "2.8", "2.9"),
        ("It works in 2.8.0 but fails in 2.9.0 and 2.9.1", "2.8.0", "2.9.0 2.9.1"),
        ("Regression since 2.9", "", "2.9"),
        ("Since upgrading from torch 2.5 to 2.6 it crashes", "2.5", "2.6"),
        ("A regression between 2.10.0 and 2.11.0", "2.10.0", "2.11.0"),
        ("regressed 2.7.1 → 2.8.0", "2.7.1", "2.8.0"),
        ("I get the error with PyTorch 2.9.1; PyTorch 2.8.0 is fine.", "2.8.0", "2.9.1"),
        ("broken in v2.9.0 (v2.8.0 is OK)", "2.8.0", "2.9.0"),
        ("It does not fail on 2.7", "2.7", ""),
        ("It doesn't work on 2.7", "", "2.7"),
        ("2.9.0 no longer works", "", "2.9.0"),
        ("Fixed in 2.9.1", "2.9.1", ""),
        ("| 2.8.0 | ✅ |\n| 2.9.0 | ❌ |", "2.8.0", "2.9.0"),
        ("the nightly of 2026-04-07 works, nightly 20260408 fails", "2026-04-07", "20260408"),
        ("good: dev20260407\nbad: dev20260408", "dev20260407", "dev20260408"),
        ("Fails with CUDA 12.6, Python 3.11, Triton 3.7.0 and gcc 13.2", "", ""),
        ("With CUDA 12.6 it fails", "", ""),
        ("Fails after 2.5 s and with 1.5 GB", "", ""),
        ("numpy 1.26 works, numpy 2.0 fails", "", ""),
        ("Tested: 2.9.0 (bad), 2.8.1 (good).", "2.8.1", "2.9.0"),
        ("I tried torch 2.8 and below, it works. On 2.10 it fails.", "2.8", "2.10"),
        ("Runs well in torch 2.7.1 (and older):", "2.7.1", ""),
        ("In v2.3.x and earlier NaN was allowed", "2.3", ""),
        ("It works in 2.2.2 but not in 2.2.3 and 2.2.4", "2.2.2", "2.2.3 2.2.4"),
        ("fails on 2.5 and not on torch 2.4", "2.4", "2.5"),
        ("2.2.0 and 2.3.0 give an error on the latter version", "2.2.0", "2.3.0"),
        ("I upgraded to torch 2.6.0 from 2.5.1 and it is slower", "2.5.1", "2.6.0"),
        ("A slowdown between torch 2.1.0-cu118 and torch 2.2.0-cu121", "2.1.0-cu118", "2.2.0-cu121"),
        ("torch 2.4 is 3x slower than torch 2.3", "2.3", "2.4"),
        ("Regression in torch 2.6.0 compared to 2.5.1", "2.5.1", "2.6.0"),
        ("Compiles without any graph breaks in torch 2.5", "2.5", ""),
        ("torch 1.2rc fails", "", "1.2rc"),
    ],
)
def test_what_works_and_what_fails(text: str, good: str, bad: str) -> None:
    assert found(text)[1:] == (good, bad)


@pytest.mark.parametrize(
    ("text", "failing"),
    [
        ("PyTorch version: 2.13.0.dev20260425+cu126", "2.13.0.dev20260425+cu126"),
        ("- PyTorch 2.13.0.dev20260425+cu126", "2.13.0.dev20260425+cu126"),
        ("• PyTorch: 2.9.1", "2.9.1"),
        ("[pip3] torch==2.9.0", "2.9.0"),
        ("[conda] torch 2.9.0 pypi_0 pypi", ""),
        ("torch 2.10.0, Python 3.11, Debian", "2.10.0"),
        (" - PyTorch Version (e.g., 1.0): 2.12.0", "2.12.0"),
        ("torchvision==0.24.0", ""),
        ("torch 2.9.0 is fine", ""),
        ("CUDA used to build PyTorch: 12.6", ""),
        ("### Versions\n\n2.10.1", "2.10.1"),
        ("### Python version\n\n3.11", ""),
        ("### CUDA versions\n\n12.6", ""),
    ],
)
def test_the_build_of_the_reporter(text: str, failing: str) -> None:
    assert found(text)[0] == failing


@pytest.mark.parametrize(
    ("text", "package", "failing"),
    [
        ("### Python and NumPy Versions:\n\n2.0.1\n3.9.18 (main, Sep  7 2023, 00:00:00)", "numpy", "2.0.1"),
        (
            "### SciPy/NumPy/Python version\n```shell\n1.7.1 1.20.1 sys.version_info(major=3, minor=8)\n```",
            "scipy",
            "1.7.1",
        ),
        ("Environment Report:\nLiger Kernel version: 0.5.2", "liger-kernel", "0.5.2"),
    ],
)
def test_versions_that_a_form_asks_for(text: str, package: str, failing: str) -> None:
    assert found(text, package)[0] == failing


def test_a_build_of_the_reporter_that_is_said_to_work_is_not_the_one_that_fails() -> None:
    text = "Since upgrading from 2.5 to 2.6 it is slow.\ntorch==2.5.1"
    span = span_of(read_builds(list(enumerate(text.split("\n"), start=1)), "torch"), None)
    assert (span.first.value, span.last.value) == ("2.5", "2.6")


def test_versions_of_another_package() -> None:
    assert found("click 8.1.8 works, click 8.2.0 fails with Python 3.12", "click")[1:] == ("8.1.8", "8.2.0")


@pytest.mark.parametrize(
    ("text", "channel", "first", "last"),
    [
        ("works in 2.8.0, fails in 2.9.0", "release", "2.8", "2.9"),
        ("works in 2.8.1, fails in 2.9.0 and 2.9.1", "release", "2.8.1", "2.9.1"),
        ("works in 2.5, 2.6 and 2.7.0, fails in 2.8.0", "release", "2.7", "2.8"),
        ("works in 1.12.1, fails in 1.13.0, fixed in 1.13.2", "release", "1.12.1", "1.13"),
        ("fails in 2.5.0 and 2.5.1, works again in 2.6.0", "release", "2.5", "2.6"),
        ("torch: 2.13.0.dev20260520+cu126", "release", "2.11", "2.15"),
        ("torch: 2.1.0", "release", "1.0", "2.1"),
        ("torch: 2.1.0\n2.3 works", "release", "2.1", "2.3"),
        ("torch: 2.9.0a0+git1234", "release", "2.7", "2.11"),
        ("nightly 20260407 works, nightly 20260408 fails", "nightly", "2026-04-07", "2026-04-08"),
        ("torch: 2.16.0.dev20261110\nonly on nightly", "nightly", "2026-09-11", "2026-11-10"),
        ("nightly 20261110 fails", "release", "2025-11-10", None),
        ("Output with torch 2.12.1:\nOutput with torch 2.13.1:\nno longer the same", "release", "2.12.1", "2.13.1"),
        ("Output with torch 2.12.1:\nOutput with torch 2.13.1:", "release", "2.11", "2.13.1"),
        ("torch: 1.0.5", "release", None, "1.0.5"),
        ("", "release", None, None),
    ],
)
def test_where_to_look(text: str, channel: str, first: str | None, last: str | None) -> None:
    span = span_of(read_builds(list(enumerate(text.split("\n"), start=1)), "torch"), None)
    assert (span.channel.value, span.first.value, span.last.value) == (channel, first, last)


@pytest.mark.parametrize(
    ("version", "first"), [("2.0.0", "2024-06-19"), ("1.0.5", "2024-06-19"), ("2.9.0", "2.7"), ("1.2.0", "1.0")]
)
def test_before_the_first_releases_of_a_major_version_the_day_of_the_report_tells_more(
    version: str, first: str
) -> None:
    span = span_of(read_builds([(1, f"torch {version} fails")], "torch"), date(2025, 6, 19))
    assert span.first.value == first


@pytest.mark.parametrize(
    ("title", "last"),
    [("Too many recompiles after 4.51", "4.51"), ("4.50 is way slower", "4.50"), ("Fails for p > 0.5", None)],
)
def test_a_title_names_builds(title: str, last: str | None) -> None:
    span = span_of(read_builds([(0, title), (1, "It recompiles.")], "transformers"), None)
    assert span.last.value == last
