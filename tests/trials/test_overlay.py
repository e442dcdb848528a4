from __future__ import annotations

import pytest

from bisect_tool.trials.failure import FoundFailure, Signature, SignatureKind
from bisect_tool.trials.overlay import misfit


def failure(text: str) -> FoundFailure:
    return FoundFailure("id", Signature(SignatureKind.EXCEPTION), f"Traceback …\n{text}\n")


# The first four as printed by real releases whose Python was laid over binaries of another one.
@pytest.mark.parametrize(
    "text",
    [
        "ImportError: cannot import name 'HealthCheckHook' from 'torch._C._distributed_c10d' (/x/torch/_C.so)",
        "ModuleNotFoundError: No module named 'torch._custom_class_base'",
        "ImportError: cannot import name '_ControlCollectives' from 'torch._C._distributed_c10d' (unknown location)",
        "AttributeError: module 'torch._C' has no attribute '_has_gds'",
        "AttributeError: '_OpNamespace' 'aten' object has no attribute 'new_op'",
    ],
)
def test_names_that_the_binaries_lack(text: str) -> None:
    assert misfit([failure(text)], frozenset()) == text


@pytest.mark.parametrize(
    "text",
    [
        "ModuleNotFoundError: No module named 'torchvision'",
        "RuntimeError: gradient is all zero",
        "AttributeError: 'NoneType' object has no attribute 'shape'",
    ],
)
def test_other_failures_are_failures(text: str) -> None:
    assert misfit([failure(text)], frozenset()) is None


def test_what_a_whole_build_shows_is_real() -> None:
    text = "AttributeError: module 'torch._C' has no attribute '_has_gds'"
    assert misfit([failure(text)], frozenset({"id"})) is None
