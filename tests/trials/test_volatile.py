from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_tool.trials.volatile import VOLATILE, is_made_up, settle, without_escapes, without_places

HASH = "cqdh6ystu6zz5u6rjbrkx4nxa3mbezrs2jx4czvnr6kjgwjrhkqq"

WORDS = "buf1 /tmp /a.py 0x1f :12 3.4 [1,2] - e5 _ %a_ s77 ( ) 2026-11-30 12:30:00 x # . < > ms graph_1 tensor( ' ~/ 8L :// [ ]"
PIECES = st.sampled_from(
    [*WORDS.split(" "), HASH, "\x1b[31m", "\n", " ", " at 0x2", "\u2018", "v1.2.3", "Backward0", "abcdef12", "'a', "]
)


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("mat1 and mat2 cannot be multiplied (3x4 and 5x6)", "mat1 and mat2 cannot be multiplied (# and #)"),
        ("x.grad sums to 0, expected 56.", "x.grad sums to #, expected #."),
        ("difference 4.263520e-04, at most 1e-5", "difference #, at most #"),
        ("float32 sm_90 cu126 int64 conv2d", "float32 sm_90 cu126 int64 conv2d"),
        ("<foo.Bar object at 0x7f12ab>", "<foo.Bar object>"),
        ("pointer 0xdeadbeef", "pointer #"),
        ("Tried to allocate 20.00 MiB of 1.5 GiB in 3 ms", "Tried to allocate # of # in #"),
        ("size [2, 8193] and (3,) of torch.Size([4, 4, 4])", "size [#] and (#) of torch.Size([#])"),
        ("value is nan", "value is nan"),
        ("tensor([1., 2.], dtype=float32) differs", "tensor(#) differs"),
        ("at cuda:1 in Thread-12, pid 4711", "at cuda:# in Thread-#, pid #"),
        ("0 <= tmp7 < 8L", "# <= tmp# < #"),
        ("built 2026-11-30 04:22:51.285 in 1:02:03", "built <time> in <time>"),
        ("torch 2.13.0.dev20260520+cu126 on cpu", "torch # on cpu"),
        ("revision 4b3bb1e8", "revision <hash>"),
        ("see https://example.org/docs/2.8/x.html now", "see <url> now"),
        ("and/or N/A", "and/or N/A"),
    ],
)
def test_numbers_and_addresses_go_and_words_stay(text: str, settled: str) -> None:
    assert settle(text) == settled


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ('failed at "/pytorch/c10/cuda/driver_api.cpp":15, sorry', 'failed at "driver_api.cpp", sorry'),
        ("../aten/src/ATen/Context.cpp:123:4: no", "Context.cpp: no"),
        ('File "/home/me/env/lib/x.py", line 12, in f', 'File "x.py", line #, in f'),
        (f"/tmp/torchinductor_me/qd/{HASH}.py:3", "<generated>"),
        (f"/caches/inductor/qd/{HASH}.main.cpp:15:33: bad", "<generated>: bad"),
        (f"module {HASH} failed", "module <generated> failed"),
        ("/tmp/tmpab12cd34/model.py", "<generated>"),
        ("cannot open /home/me/weights.bin", "cannot open <path>"),
    ],
)
def test_of_paths_only_the_name_of_a_source_file_stays(text: str, settled: str) -> None:
    assert settle(text) == settled


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("%add_7 has no meta", "%add_12 has no meta"),
        ("buf12 of primals_3 and arg0_1", "buf3 of primals_1 and arg12_1"),
        ("Eq(s77, u0)", "Eq(s0, u3)"),
        ("triton_poi_fused_add_0 failed", "triton_poi_fused_add_mul_3 failed"),
        ("in <eval_with_key>.12", "in <eval_with_key>.3"),
        ("torch_dynamo_resume_in_step_at_12", "torch_dynamo_resume_in_step_at_14"),
        ("output 0 of ExpBackward0", "output 0 of Exp"),
        ("\u2018f\u2019 was not declared", "'f' was not declared"),
        ("known are ['a', 'b', 'c', 'd']", "known are ['a', 'b', 'c', 'd', 'e']"),
        ("stored in /tmp/a/x.py", "stored in\n  /opt/b/x.py"),
    ],
)
def test_these_differ_only_from_run_to_run_or_release_to_release(one: str, other: str) -> None:
    assert settle(one) == settle(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gradient is all zero", "gradient is nan"),
        ("no float32 kernel", "no float64 kernel"),
        ("'FakeTensor' object", "'Tensor' object"),
        ("error in lowering.py", "error in graph.py"),
        ("linalg.inv: singular", "linalg.solve: singular"),
    ],
)
def test_these_are_different(one: str, other: str) -> None:
    assert settle(one) != settle(other)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=15).map("".join)))
def test_settling_twice_changes_nothing(text: str) -> None:
    once = settle(text)
    assert settle(once) == once


@given(st.text())
def test_the_result_is_one_line_without_doubled_spaces(text: str) -> None:
    assert settle(text).split() == settle(text).split(" ") or settle(text) == ""


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "/",
        "1",
        "a/",
        "[#, ",
        "graph",
        "a_1",
        "0x",
        "%a_1",
        "resume_in_",
        "\x1b[",
        "1.1",
        "x1",
        "_at_",
        "'a', ",
        "tmp",
    ],
)
def test_hostile_repetitions_take_no_time(piece: str) -> None:
    started = time.process_time()
    settle("torch_dynamo_resume_in_" + piece * 100_000 + "!")
    assert time.process_time() - started < 0.5


def test_every_row_says_why() -> None:
    assert all(len(row.why) > 4 for row in VOLATILE)


def test_colours_and_links_are_taken_out() -> None:
    assert without_escapes("\x1b[1;31mred\x1b[0m \x1b]8;;https://example.org\x07link\x1b]8;;\x07\r\n") == "red link\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("<eval_with_key>.1", True),
        (f"/x/{HASH}.py", True),
        ("/tmp/tmpab12cd34/a.py", True),
        ("/env/lib/python3.11/site-packages/torch/_tensor.py", False),
        ("repro.py", False),
    ],
)
def test_made_up_file_names(path: str, expected: bool) -> None:  # noqa: FBT001 - an expected value
    assert is_made_up(path) is expected


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no 'a' (/x/environments/b-1/venv/lib/python3/site-packages/b/c.py)", "no 'a' (b/c.py)"),
        ('File "/x/trials/0f/repro/repro.py", line 3', 'File "repro.py", line 3'),
        ("no engine /x/environments/b-1/venv/bin/python=1", "no engine bin/python=1"),
        ("path=/x/site-packages/b.py, /data/c.py", "path=b.py, /data/c.py"),
        ("site-packages of trials/repro", "site-packages of trials/repro"),
    ],
)  # fmt: skip
def test_of_the_places_of_this_machine_nothing_is_shown(text: str, left: str) -> None:
    assert without_places(text) == left


@given(st.lists(PIECES, max_size=30).map("".join))
def test_a_row_that_is_passed_over_would_find_nothing(text: str) -> None:
    digit = any(one.isdigit() for one in text)
    for row in VOLATILE:
        assert row.may_be_in(text, digit=digit) or row.pattern.search(text) is None
        text = row.pattern.sub(row.replacement, text)


def test_digits_of_other_scripts_are_digits() -> None:
    assert settle("expected \u0663, got \u0967\u0968") == settle("expected 3, got 12") == "expected #, got #"
