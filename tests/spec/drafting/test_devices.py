from __future__ import annotations

import ast

import pytest

from bisect_tool.spec.drafting.devices import place
from bisect_tool.spec.drafting.edits import applied


def placed(text: str, failure: str = "") -> tuple[tuple[str, ...], str]:
    """(devices, the text with its edits)."""
    found = place(text, ast.parse(text), failure, 1)
    return found.devices.value, applied(text, found.edits)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ('x = torch.ones(1, device="cuda")', "x = torch.ones(1, device=DEVICE)"),
        ("x = torch.ones(1).cuda().abs()", "x = torch.ones(1).to(DEVICE).abs()"),
        ("model.cuda()", "model.to(DEVICE)"),
        ("x = (torch.ones(3) + 1).cuda()", "x = (torch.ones(3) + 1).to(DEVICE)"),
        ("x = (y\n  ).cuda().abs()", "x = (y\n  ).to(DEVICE).abs()"),
        ("x = y.to('cuda:0')", "x = y.to(DEVICE)"),
        ('d = torch.device("cuda")', "d = torch.device(DEVICE)"),
        ('device = "cuda"', "device = DEVICE"),
        ('def f(device="cuda"): pass', "def f(device=DEVICE): pass"),
        (
            'x = y.to("cuda"); torch.cuda.synchronize()',
            'x = y.to(DEVICE); DEVICE == "cuda" and torch.cuda.synchronize()',
        ),
        ("x = y.to('cuda:3'); z = y.to('cuda:3')", "x = y.to(DEVICE); z = y.to(DEVICE)"),
        (
            'x = y.to("cuda:3"); torch.cuda.synchronize(3)',
            'x = y.to(DEVICE); DEVICE == "cuda" and torch.cuda.synchronize(0)',
        ),
        ('DEVICE = "cpu"; x = y.to("cuda")', 'DEVICE = "cpu"; x = y.to(BISECT_DEVICE)'),
        ("def f(DEVICE): y.cuda()", "def f(DEVICE): y.to(BISECT_DEVICE)"),
        ("from a import DEVICE; y.cuda()", "from a import DEVICE; y.to(BISECT_DEVICE)"),
        ("class DEVICE: pass\nBISECT_DEVICE(y.cuda())", "class DEVICE: pass\nBISECT_DEVICE(y.to(BISECT_DEVICE_2))"),
        ('größe = "ä"; x = y.to("cuda")  # ö', 'größe = "ä"; x = y.to(DEVICE)  # ö'),
    ],
)
def test_the_name_of_the_device_becomes_the_one_that_the_tool_chooses(text: str, changed: str) -> None:
    assert placed(text) == (("cuda", "cpu"), changed)


@pytest.mark.parametrize(
    "text",
    [
        'x = y.to("cuda"); s = torch.cuda.Stream()',
        'x = y.to("cuda:0"); z = y.to("cuda:1")',
        'from liger_kernel.ops import rms\nx = y.to("cuda")',
        'import triton\nx = y.to("cuda")',
        'f = torch.compile(g, mode="reduce-overhead"); x = y.to("cuda")',
        'for d in ["cpu", "cuda"]: f(d)',
        "x = y.cuda(1)",
        'x = y.to("cuda"); z = torch.cuda.memory_allocated()',
        'x = y.to("cuda"); where({"a": "cuda"})',
    ],
)
def test_code_that_needs_a_gpu_stays_as_it_is(text: str) -> None:
    assert placed(text) == (("cuda",), text)


@pytest.mark.parametrize(
    "failure", ["NYI TritonSplitDimKernel", "CUDA error: an illegal memory access", "File triton_split_scan.py"]
)
def test_a_failure_of_gpus_needs_one(failure: str) -> None:
    text = 'x = torch.ones(1, device="cuda")'
    assert placed(text, failure) == (("cuda",), text)


def test_a_script_that_looks_for_a_gpu_itself() -> None:
    text = 'd = "cuda" if torch.cuda.is_available() else "cpu"'
    assert placed(text) == (("cuda", "cpu"), text)


def test_code_for_the_cpu() -> None:
    assert placed("x = torch.ones(1)") == (("cpu",), "x = torch.ones(1)")


def test_a_question_for_the_device_is_left_alone() -> None:
    text = 'x = y.to("cuda")\nif x.device.type == "cuda": print(1)'
    assert placed(text)[1] == 'x = y.to(DEVICE)\nif x.device.type == "cuda": print(1)'
