from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_tool.trials.observation import Raised
from bisect_tool.trials.traceback_text import LONGEST_CHAIN, MOST_FRAMES, parse, parse_fatal
from tests.trials.test_pytest_text import PYTEST

PLAIN = """\
Traceback (most recent call last):
  File "/repro/repro.py", line 7, in <module>
    main()
  File "/repro/repro.py", line 4, in main
    raise ValueError("bad")
    ^^^^^^^^^^^^^^^^^^^^^^^
ValueError: bad
"""
BAD = Raised("ValueError", "bad", "raised", (("/repro/repro.py", "<module>"), ("/repro/repro.py", "main")))
CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def one(kind: str, message: str = "", function: str = "f") -> str:
    line = f"{kind}: {message}" if message else kind
    return f'Traceback (most recent call last):\n  File "a.py", line 1, in {function}\n    x\n{line}\n'


def told(output: str) -> list[tuple[str, str, str]]:
    return [(raised.type, raised.message, raised.relation) for raised in parse(output)]


def test_a_traceback_gives_type_message_and_frames() -> None:
    assert parse("hello\n" + PLAIN) == (BAD,)


def test_output_without_a_traceback_gives_nothing() -> None:
    assert parse("all is well\nValueError: only words\n") == ()
    assert parse("") == ()


def test_colours_and_windows_line_ends_do_not_matter() -> None:
    assert parse(PLAIN.replace("ValueError: bad", "\x1b[1;35mValueError\x1b[0m: \x1b[35mbad\x1b[0m")) == (BAD,)
    assert parse(PLAIN.replace("\n", "\r\n")) == (BAD,)


def test_an_explicit_cause_and_a_context_are_told_apart() -> None:
    text = one("KeyError", "'a'") + CAUSE + one("RuntimeError", "no model") + CONTEXT + one("IndexError", "7")
    assert told(text) == [
        ("IndexError", "7", "raised"),
        ("RuntimeError", "no model", "context"),
        ("KeyError", "'a'", "cause"),
    ]


def test_the_last_of_two_unconnected_tracebacks_counts() -> None:
    assert told(one("KeyError", "'first'") + "handled\n" + one("OSError", "second")) == [
        ("OSError", "second", "raised")
    ]


def test_an_exception_without_message_has_none_whatever_follows() -> None:
    assert told(one("AssertionError") + "bye from atexit\n") == [("AssertionError", "", "raised")]


def test_a_message_keeps_its_lines() -> None:
    assert told(one("ValueError", "one\n  two\n\nthree")) == [("ValueError", "one\n  two\n\nthree", "raised")]


@pytest.mark.parametrize(
    "noise",
    [
        "Exception ignored in: <function X.__del__ at 0x7f>\n" + one("ValueError", "in del"),
        "/env/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: leaked 1 semaphore\n  warnings.warn(\n",
        "W1130 04:22:24.187000 10485 torch/x.py:183] No CUDA runtime is found\n",
        "[W1130 04:22:24.187 ProcessGroup.cpp:1] Warning: not destroyed\n",
        "Error in atexit._run_exitfuncs:\n" + one("ValueError", "at exit"),
        "Exception in thread Thread-1 (work):\n" + one("OSError", "of a thread"),
        "Process SpawnProcess-1:\n" + one("OSError", "of a child"),
        "--- Logging error ---\n" + one("TypeError", "not all arguments converted"),
    ],
)
def test_what_comes_after_the_traceback_is_not_part_of_it(noise: str) -> None:
    assert told(one("RuntimeError", "the one") + noise) == [("RuntimeError", "the one", "raised")]


def test_a_thread_counts_only_without_an_exception_of_the_main_thread() -> None:
    text = "Exception in thread Thread-1 (work):\n" + one("KeyError", "'a'") + CAUSE + one("OSError", "of a thread")
    assert told(text) == [("OSError", "of a thread", "raised"), ("KeyError", "'a'", "cause")]
    assert told(one("RuntimeError", "main") + text) == [("RuntimeError", "main", "raised")]


def test_what_python_ignored_never_counts() -> None:
    assert parse("Exception ignored in: <function X.__del__ at 0x7f>\n" + one("ValueError", "in del")) == ()


def test_the_traceback_of_a_data_loader_worker_stays_in_the_message() -> None:
    inner = one("KeyError", "'a'") + CAUSE + one("ValueError", "bad row")
    message = "Caught ValueError in DataLoader worker process 0.\nOriginal " + inner.rstrip()
    assert told(one("ValueError", message)) == [("ValueError", message, "raised")]


@pytest.mark.parametrize(
    "before",
    [
        "\n\n-- Process 0 terminated with the following error:\n",
        "An exception occurred in a subprocess:\n\nName=cpp_0\n",
    ],
)
def test_an_announced_traceback_stays_in_the_message(before: str) -> None:
    message = before + one("ValueError", "bad row").rstrip()
    assert told(one("mp.ProcessRaisedException", message)) == [("mp.ProcessRaisedException", message, "raised")]


def test_a_remote_traceback_between_quotes_ends_with_them() -> None:
    remote = 'multiprocessing.pool.RemoteTraceback: \n"""\n' + one("KeyError", "'row'") + '"""\n'
    assert [raised[::2] for raised in told(remote + CAUSE + one("KeyError", "'row'"))] == [
        ("KeyError", "raised"),
        ("KeyError", "cause"),
    ]
    quoted = one("pool.RemoteTraceback", '\n"""\n' + one("KeyError", "'row'") + '"""')
    assert [raised[::2] for raised in told(quoted + CAUSE + one("ValueError", "bad"))] == [
        ("ValueError", "raised"),
        ("pool.RemoteTraceback", "cause"),
    ]


def test_a_cause_that_was_never_raised_has_only_a_line() -> None:
    assert told("ValueError: made up\n" + CAUSE + one("RuntimeError", "gave up")) == [
        ("RuntimeError", "gave up", "raised"),
        ("ValueError", "made up", "cause"),
    ]


def test_repeated_lines_count_as_frames() -> None:
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 9, in main\n    f()\n  File "a.py", line 2, in f\n    f()\n'
        "  [Previous line repeated 3 more times]\nRecursionError: maximum recursion depth exceeded\n"
    )
    assert parse(text)[0].frames == (("a.py", "main"), *[("a.py", "f")] * 4)


def test_of_very_many_frames_both_ends_are_kept() -> None:
    middle = "".join(f'  File "a.py", line 1, in f{n}\n' for n in range(2 * MOST_FRAMES))
    frames = parse(f"Traceback (most recent call last):\n{middle}ValueError: deep\n")[0].frames
    assert (len(frames), frames[0][1], frames[-1][1]) == (MOST_FRAMES, "f0", f"f{2 * MOST_FRAMES - 1}")


def test_a_syntax_error_with_and_without_a_header() -> None:
    place = "  File \"gen.py\", line 1\n    a = (1,\n        ^\nSyntaxError: '(' was never closed\n"
    assert told(place) == [("SyntaxError", "'(' was never closed", "raised")]
    header = 'Traceback (most recent call last):\n  File "a.py", line 2, in <module>\n    exec(code)\n'
    assert parse(header + place)[0].frames == (("a.py", "<module>"),)


def test_lines_of_other_threads_among_the_frames_are_passed_over() -> None:
    text = PLAIN.replace("    main()\n", "    main()\nstep 12 done\nW1130 04:22:24.187000 1 x.py:1] hm\n")
    assert parse(text) == (BAD,)


def test_a_header_behind_a_progress_bar_counts() -> None:
    assert parse("  0%|          | 0/4 [00:00<?, ?it/s]" + PLAIN) == (BAD,)


def test_every_line_may_carry_the_rank() -> None:
    assert parse("".join(f"[rank0]: {line}\n" for line in PLAIN.splitlines())) == (BAD,)


def test_a_traceback_without_its_end_tells_nothing() -> None:
    cut = PLAIN.rsplit("ValueError", 1)[0]
    assert parse(cut) == ()
    assert told(one("KeyError", "'whole'") + cut) == [("KeyError", "'whole'", "raised")]


def test_a_traceback_without_its_beginning_is_read_from_where_output_was_left_out() -> None:
    tail = PLAIN.split("    main()\n", 1)[1]
    assert parse("noise\n… 123456 bytes left out …\nme/file.py\n" + tail)[0].frames == (("/repro/repro.py", "main"),)
    assert parse("noise\n" + tail) == ()


def test_the_middle_of_the_frames_may_be_left_out() -> None:
    text = PLAIN.replace("    main()\n", "    ma\n… 123456 bytes left out …\nin()\n")
    assert parse(text) == (BAD,)


@pytest.mark.parametrize("kind", ["queue.Empty", "zlib.error", "Stop", "main.<locals>.Stop", "Änderung"])
def test_exceptions_need_not_be_called_errors(kind: str) -> None:
    assert told(one(kind, "text")) == [(kind, "text", "raised")]


def test_main_is_not_part_of_the_type() -> None:
    assert told(one("__main__.ConfigError", "x")) == [("ConfigError", "x", "raised")]


GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 11, in <module>
  |     g()
  | ExceptionGroup: several things (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "a.py", line 3, in f
    |     raise KeyError("a")
    | KeyError: 'a'
    |
    | The above exception was the direct cause of the following exception:
    |
    | Traceback (most recent call last):
    |   File "a.py", line 5, in f
    |     raise ValueError("member") from error
    | ValueError: member
    +---------------- 2 ----------------
    | OSError: never raised
    +------------------------------------
"""


def test_a_group_leads_to_its_first_member_and_the_cause_of_that() -> None:
    assert told(GROUP) == [
        ("ExceptionGroup", "several things (2 sub-exceptions)", "raised"),
        ("ValueError", "member", "member"),
        ("KeyError", "'a'", "cause"),
    ]


def test_a_group_within_a_group() -> None:
    text = """\
  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 11, in <module>
  | ExceptionGroup: outer (1 sub-exception)
  +-+---------------- 1 ----------------
    | Exception Group Traceback (most recent call last):
    |   File "a.py", line 5, in g
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | ValueError: never raised
      +------------------------------------
"""
    assert [raised[:2] for raised in told(text)] == [
        ("ExceptionGroup", "outer (1 sub-exception)"),
        ("ExceptionGroup", "inner (1 sub-exception)"),
        ("ValueError", "never raised"),
    ]


def test_a_group_may_be_the_cause_of_an_exception() -> None:
    assert [raised[::2] for raised in told(GROUP + CAUSE + one("RuntimeError", "gave up"))] == [
        ("RuntimeError", "raised"),
        ("ExceptionGroup", "cause"),
        ("ValueError", "member"),
        ("KeyError", "cause"),
    ]


FATAL = """\
Fatal Python error: Segmentation fault

Thread 0x00007f285b048b81 (most recent call first):
  File "/lib/python3.11/threading.py", line 324 in wait

Current thread 0x00007f285b048b80 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/repro/repro.py", line 7 in read
  File "/repro/repro.py", line 11 in <module>

Extension modules: numpy._core._multiarray_umath (total: 1)
"""


def test_the_stack_of_faulthandler_is_turned_outermost_first() -> None:
    assert parse_fatal("hello\n" + FATAL) == (
        ("/repro/repro.py", "<module>"),
        ("/repro/repro.py", "read"),
        ("/usr/lib/python3.11/ctypes/__init__.py", "string_at"),
    )


def test_no_fatal_error_and_no_python_frame_give_no_frames() -> None:
    assert parse_fatal(PLAIN) == ()
    assert (
        parse_fatal(
            "Fatal Python error: Aborted\n\nCurrent thread 0x01 (most recent call first):\n  <no Python frame>\n"
        )
        == ()
    )


def test_a_fatal_error_ends_the_message_before_it() -> None:
    assert told(one("RuntimeError", "first") + FATAL) == [("RuntimeError", "first", "raised")]


LINES = st.sampled_from(
    [
        *one("ValueError", "bad").splitlines(),
        *GROUP.splitlines(),
        *PYTEST.splitlines(),
        *FATAL.splitlines(),
        CAUSE.strip(),
        CONTEXT.strip(),
        "… 12 bytes left out …",
        '"""',
        "Name=x",
        "  [Previous line repeated 9 more times]",
        "Exception ignored in: x",
        "Original Traceback (most recent call last):",
        "AssertionError",
        "",
    ]
)


@given(st.one_of(st.text(), st.lists(LINES, max_size=40).map("\n".join)))
def test_any_text_gives_a_chain_or_nothing(text: str) -> None:
    chain = parse(text)
    assert len(chain) <= LONGEST_CHAIN
    assert [raised.relation == "raised" for raised in chain] == [at == 0 for at in range(len(chain))]
    assert isinstance(parse_fatal(text), tuple)


HOSTILE = [
    "Traceback (most recent call last):\n",
    '  File "a.py", line 1, in f\n',
    'Traceback (most recent call last):\n  File "a.py", line 1, in f\nE: ',
    one("ValueError", "x:"),
    one("ValueError", "x") + CAUSE,
    "  + Exception Group Traceback (most recent call last):\n",
    "    +-+---------------- 1 ----------------\n",
    "  | x\n",
    GROUP,
    PYTEST,
    "E   x\n",
    "a.",
    "\x1b]",
    "Name=",
    "Fatal Python error: \n",
    "… 1 bytes left out …\n",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_hostile_text_takes_less_than_a_second(piece: str) -> None:
    for start in ("", "  + Exception Group Traceback (most recent call last):\n", "=== FAILURES ===\n"):
        text = start + piece * (1_000_000 // len(piece))
        started = time.process_time()
        parse(text)
        parse_fatal(text)
        assert time.process_time() - started < 1
