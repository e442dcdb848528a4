from __future__ import annotations

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
    ],
)
def test_the_build_of_the_reporter(text: str, failing: str) -> None:
    assert found(text)[0] == failing


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
        ("", "release", None, None),
    ],
)
def test_where_to_look(text: str, channel: str, first: str | None, last: str | None) -> None:
    span = span_of(read_builds(list(enumerate(text.split("\n"), start=1)), "torch"), None)
    assert (span.channel.value, span.first.value, span.last.value) == (channel, first, last)
