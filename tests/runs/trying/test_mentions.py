from __future__ import annotations

from bisect_tool.runs.trying.mentions import mentions_in

REPORT = """
Inductor gives a wrong result with dynamic shapes in bf16.
Run it as `TORCHINDUCTOR_MAX_AUTOTUNE=1 TORCH_LOGS=+dynamo CUDA_VISIBLE_DEVICES=0 python repro.py`
    os.environ["TORCHINDUCTOR_FREEZING"] = "1"
PyTorch version: 2.13.0.dev20260514+cu126
Is CUDA available: True
GCC version: (Debian 12.2.0-14) 12.2.0
It worked with torch 2.12.1, numpy 2.1.3 is installed. HF_TOKEN=hf_abc
"""


def test_a_report_says_what_to_try_first() -> None:
    said = mentions_in(REPORT)
    assert said.variables == (("TORCHINDUCTOR_MAX_AUTOTUNE", "1"), ("TORCHINDUCTOR_FREEZING", "1"))
    assert said.builds == ("2.13.0.dev20260514+cu126", "2.12.1")
    assert said.speaks_of("dynamic", "yes")
    assert said.speaks_of("dtype", "bfloat16")
    assert not said.speaks_of("dtype", "float16")
    assert not said.speaks_of("repeats", "")


def test_nothing_is_mentioned_by_nothing() -> None:
    said = mentions_in("It fails.")
    assert (said.variables, said.builds, said.words) == ((), (), frozenset())
