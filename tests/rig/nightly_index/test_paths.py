from __future__ import annotations

import pytest

from tests.rig.index_state import RequestKind
from tests.rig.nightly_index.paths import Asked, asked_for


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("whl/nightly/", Asked(RequestKind.ROOT, "")),
        ("whl/nightly/rocm6.4", Asked(RequestKind.ROOT, "", "rocm6.4")),
        ("whl/nightly/cpu/index.html", Asked(RequestKind.ROOT, "", "cpu")),
        ("whl/nightly/cpu/torch", Asked(RequestKind.PAGE, "torch", "cpu")),
        ("whl/nightly/cu130/torch/index.html", Asked(RequestKind.PAGE, "torch", "cu130")),
        ("whl/nightly/pytorch-triton/", Asked(RequestKind.PAGE, "pytorch-triton")),
        ("whl/nightly/cpu/a+b.whl", Asked(RequestKind.FILE, "a+b.whl", key="whl/nightly/cpu/a+b.whl")),
        ("whl/nightly/a.whl.metadata", Asked(RequestKind.METADATA, "a.whl.metadata", key="whl/nightly/a.whl")),
        ("whl/nightly/cpu/torch.zip", Asked(RequestKind.OTHER, "whl/nightly/cpu/torch.zip")),
        ("whl/nightlycpu/", Asked(RequestKind.OTHER, "whl/nightlycpu/")),
        ("whl/cpu/torch/", Asked(RequestKind.OTHER, "whl/cpu/torch/")),
    ],
)
def test_what_a_path_means(path: str, asked: Asked) -> None:
    assert asked_for(path) == asked
