from __future__ import annotations

import time

import pytest

from bisect_tool.runs.report_words import signature_part
from bisect_tool.service.pasted import read_pasted
from bisect_tool.store.found_rows import identity_of
from bisect_tool.trials.failure import Failed, SignatureKind
from bisect_tool.trials.judge import judge
from tests.rig.answered_reports import shown_by
from tests.trials.test_real_tracebacks import SAMPLES, Sample

CRASH = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
TRACEBACK = """Traceback (most recent call last):
  File "/home/me/repro.py", line 7, in <module>
    main()
  File "/env/lib/python3.11/site-packages/torch/_inductor/lowering.py", line 99, in call
    raise RuntimeError(f"bad stride {stride} at {self}")
RuntimeError: bad stride 12 at <torch._inductor.ir.Buffer object at 0x7f0011223344>
"""


def _printed(sample: Sample) -> bool:
    """Whether the text shows what the trial showed: exceptions and signals do, exit statuses and checks do not."""
    verdict = judge(sample.observation, [])
    return isinstance(verdict, Failed) and verdict.failures[0].signature.kind is SignatureKind.EXCEPTION


@pytest.mark.parametrize(
    "sample", [one for one in SAMPLES if _printed(one)], ids=lambda one: f"{one.bug}-{one.release}"
)
def test_what_real_releases_print_is_signed_as_the_trial_was(sample: Sample) -> None:
    verdict = judge(Sample(sample.bug, sample.release, sample.observation).observation, [])
    assert isinstance(verdict, Failed)
    pasted = read_pasted(sample.observation.output)
    assert sample.verdict(by_text=True) in (*pasted.identities, *pasted.poor)


def test_the_identity_of_a_row_is_that_of_the_trial() -> None:
    shown = shown_by(TRACEBACK)
    assert identity_of(signature_part(shown).model_dump()) == shown.signature.identity == shown.id


def test_as_it_stands_in_an_issue() -> None:
    quoted = "".join(f"> {line}\n" for line in TRACEBACK.splitlines())
    fenced = f"It fails since yesterday:\n\n```\n{TRACEBACK}```\n\nThanks!"
    indented = "".join(f"    {line}\n" for line in TRACEBACK.splitlines())
    windows = TRACEBACK.replace("\n", "\r\n")
    expected = read_pasted(TRACEBACK).identities
    assert len(expected) == 1
    for text in (quoted, fenced, indented, windows):
        assert read_pasted(text).identities == expected


def test_the_last_line_alone_is_enough_where_it_says_enough() -> None:
    assert read_pasted(TRACEBACK.splitlines()[-1]).identities == read_pasted(TRACEBACK).identities


@pytest.mark.parametrize(
    "text",
    [
        CRASH + '  File "repro.py", line 3 in main\n',
        'Traceback (most recent call last):\n  File "repro.py", line 3, in main\nIndexError: list index out of range\n',
        "AssertionError",
        "Segmentation fault (core dumped)",
    ],
)
def test_what_only_a_place_in_a_script_tells_apart_is_no_identity(text: str) -> None:
    """Every script has a `main`."""
    pasted = read_pasted(text)
    assert pasted.identities == ()
    assert pasted.title


def test_a_crash_inside_the_package_has_one() -> None:
    text = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
        '  File "/env/lib/python3.11/site-packages/torch/_ops.py", line 3 in __call__\n  File "repro.py", line 3 in main\n'
    )
    assert read_pasted(text).identities == (
        identity_of({"kind": "signal", "message": "SIGSEGV", "where": "torch/_ops.py:__call__"}),
    )


def test_failures_as_reports_call_them() -> None:
    for text, kind, message in (
        ("check grad failed: gradient is all zero: 0.25", "check", "grad: gradient is all zero: #"),
        ("exit status 3: no such backend", "exit", "3: no such backend"),
    ):
        assert read_pasted(text).identities == (identity_of({"kind": kind, "message": message}),)


def test_words_of_a_text_without_a_failure() -> None:
    assert read_pasted("the gradient of torch.linalg.svd is wrong").words[:4] == (
        "gradient",
        "torch.linalg.svd",
        "linalg.svd",
        "torch",
    )


@pytest.mark.parametrize(
    "text", ["", "\0", " \n\n", "\ud800\udfff", "🔥 ñandú 漢字", "%s ' \" ; -- DROP TABLE", "> ", "```"]
)
def test_any_text_is_read(text: str) -> None:
    read_pasted(text)


def test_a_long_paste_is_looked_at_in_part() -> None:
    long = "x y z\n" * 200_000 + TRACEBACK
    started = time.process_time()
    assert read_pasted(long).identities == read_pasted(TRACEBACK).identities
    for text in (
        "a" * 1_000_000,
        "Traceback (most recent call last):\n" * 30_000,
        '  File "x", line 1, in f\n' * 40_000,
        "E: " * 300_000,
    ):
        read_pasted(text)
    assert time.process_time() - started < 20  # a bound on the kind of growth, not on the machine
