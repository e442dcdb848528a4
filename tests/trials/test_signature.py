from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_tool.trials.failure import Signature, SignatureKind
from bisect_tool.trials.observation import Raised
from bisect_tool.trials.signature import (
    LONGEST_TITLE,
    last_line,
    signature_of_chain,
    signature_of_check,
    signature_of_exit,
    signature_of_signal,
    signature_of_timeout,
)

PACKAGES = "/env/lib/python3.11/site-packages"
REPRO = ("/home/me/repro.py", "<module>")
CUMSUM = (f"{PACKAGES}/torch/_inductor/fx_passes/post_grad.py", "repl")


def of(kind: str, message: str = "", *frames: tuple[str, str]) -> Signature:
    return signature_of_chain([Raised(kind, message, "raised", frames)])


def key(signature: Signature) -> tuple[str, str, str | None]:
    return signature.types[-1], signature.message, signature.where


def test_a_wrapped_error_is_known_by_its_cause() -> None:
    words = "Unable to generate code for associative_scan op, because there are lifted arguments"
    message = f"LoweringException: RuntimeError: {words}\n  target: associative_scan"
    signature = of("torch._inductor.exc.InductorError", message, REPRO)
    assert signature.types == ("InductorError", "LoweringException", "RuntimeError")
    assert signature.message == words
    assert signature.where is None
    assert signature.title == (
        "InductorError: LoweringException: RuntimeError: Unable to generate code for associative_scan op, because there are "
        "lifted arguments"
    )


def test_other_wrappers_of_other_releases_do_not_matter() -> None:
    new = of("torch._inductor.exc.InductorError", "LoweringException: RuntimeError: no code for 3\n  target: x")
    old = of(
        "torch._dynamo.exc.BackendCompilerFailed",
        "backend='inductor' raised:\nLoweringException: RuntimeError: no code for 4",
    )
    assert new.identity == old.identity
    assert new.identity != of("RuntimeError", "no lowering").identity


def test_explicit_causes_are_followed_to_the_deepest() -> None:
    chain = [
        Raised("SystemError", "ended"),
        Raised("StepError", "step 12", "cause"),
        Raised("KeyError", "'gain'", "cause"),
    ]
    signature = signature_of_chain(chain)
    assert key(signature) == ("KeyError", "'gain'", None)
    assert signature.title == "SystemError: StepError: KeyError: 'gain'"


def test_what_was_being_handled_is_not_the_cause() -> None:
    chain = [
        Raised("IndexError", "no row"),
        Raised("RuntimeError", "first", "context"),
        Raised("KeyError", "'a'", "cause"),
    ]
    assert key(signature_of_chain(chain)) == ("IndexError", "no row", None)


def test_the_first_member_of_a_group_decides() -> None:
    chain = [Raised("ExceptionGroup", "several (2 sub-exceptions)"), Raised("ValueError", "member 1", "member")]
    assert key(signature_of_chain(chain)) == ("ValueError", "member #", None)


def test_a_cause_that_only_says_that_a_program_failed_is_not_followed() -> None:
    chain = [
        Raised("CppCompileError", "C++ compile error\nx.cpp:1:2: error: no g"),
        Raised("subprocess.CalledProcessError", "Command 'g++' returned 1", "cause"),
    ]
    assert key(signature_of_chain(chain)) == ("CppCompileError", "C++ compile error: no g", None)


@pytest.mark.parametrize(
    "message",
    [
        "Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n{}",
        "\n\n-- Process 0 terminated with the following error:\nTraceback (most recent call last):\n{}",
        "An exception occurred in a subprocess:\n\nName=cpp_fused_0\nTraceback (most recent call last):\n{}",
        '\n"""\nTraceback (most recent call last):\n{}"""',
        "The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript (most recent call last):\n{}",
        "failed\nTraceback of TorchScript, serialized code (most recent call last):\n{}\n"
        "Traceback of TorchScript, original code (most recent call last):\n{}",
    ],
)
def test_a_traceback_in_the_message_is_the_failure(message: str) -> None:
    inner = '  File "w.py", line 4, in work\n    x\nValueError: row 3 is damaged\n'
    signature = of("RuntimeError", message.replace("{}", inner), REPRO)
    assert key(signature) == ("ValueError", "row # is damaged", None)
    assert signature.title == "RuntimeError: ValueError: row 3 is damaged"


def test_the_cause_in_a_quoted_chain_decides() -> None:
    first = "Traceback (most recent call last):\n  File \"w.py\", line 4, in work\nKeyError: 'row'\n"
    link = "\nThe above exception was the direct cause of the following exception:\n\n"
    second = 'Traceback (most recent call last):\n  File "w.py", line 4, in work\nValueError: bad\n'
    assert key(of("ValueError", "Caught\nOriginal " + first + link + second)) == ("KeyError", "'row'", None)


def test_poor_words_need_the_place_outside_the_standard_library() -> None:
    frames = (
        REPRO,
        CUMSUM,
        ("/usr/lib/python3.11/functools.py", "wrapper"),
        ("<frozen importlib._bootstrap>", "_load"),
    )
    signature = of("InductorError", "IndexError: tuple index out of range", *frames)
    assert key(signature) == (
        "IndexError",
        "tuple index out of range",
        "torch/_inductor/fx_passes/post_grad.py:repl",
    )
    assert signature.title == "InductorError: IndexError: tuple index out of range"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("AssertionError", ""),
        ("IndexError", "list index out of range"),
        ("IndexError", "pop from empty list"),
        ("AttributeError", "'NoneType' object has no attribute 'meta'"),
        ("TypeError", "'NoneType' object is not iterable"),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'str'"),
        ("ZeroDivisionError", "division by zero"),
        ("ValueError", "not enough values to unpack (expected 2, got 1)"),
        ("KeyError", "buf12"),
        ("KeyError", "'s77'"),
        ("KeyError", "3"),
        ("RuntimeError", "12"),
        ("AssertionError", "Tensor-likes are not close!\n\nMismatched elements: 1 / 3"),
    ],
)
def test_these_words_are_poor(kind: str, message: str) -> None:
    here, there = (REPRO, CUMSUM), (REPRO, (f"{PACKAGES}/torch/_inductor/graph.py", "run"))
    assert of(kind, message, *here).identity != of(kind, message, *there).identity


@pytest.mark.parametrize(
    ("kind", "message"),
    [("KeyError", "'gain'"), ("RuntimeError", "no code"), ("IndexError", "index 7 is out of bounds")],
)
def test_these_words_tell_enough(kind: str, message: str) -> None:
    assert of(kind, message, CUMSUM).where is None


def test_a_wrapper_that_kept_only_pythons_words_does_not_matter() -> None:
    one = of("TorchRuntimeError", "maximum recursion depth exceeded\n\nfrom user code:\n", *[REPRO] * 3)
    other = of(
        "InternalTorchDynamoError", "RecursionError: maximum recursion depth exceeded in comparison", *[REPRO] * 3
    )
    assert one.identity == other.identity
    assert one.types == ("TorchRuntimeError", "RecursionError")


def test_a_type_that_was_renamed_is_the_same() -> None:
    new, old = (
        of("torch.AcceleratorError", "CUDA error: an illegal access"),
        of("RuntimeError", "CUDA error: an illegal access"),
    )
    assert new.identity == old.identity
    assert new.title == "AcceleratorError: CUDA error: an illegal access"


def test_a_recursion_is_known_by_where_it_begins() -> None:
    frames = [REPRO, *[("a.py", "even"), ("a.py", "odd")] * 5, ("a.py", "even"), (f"{PACKAGES}/torch/x.py", "last")]
    assert of("RecursionError", "maximum recursion depth exceeded", *frames).where == "a.py:even"


@pytest.mark.parametrize(
    ("frame", "where"),
    [
        (("<eval_with_key>.12", "forward"), "<generated>:forward"),
        (("/tmp/torchinductor_me/qd/x.py", "call"), "<generated>:call"),
        (("/home/me/repro.py", "torch_dynamo_resume_in_step_at_12"), "repro.py:resume_in_step"),
        ((f"{PACKAGES}/torch/testing/_comparison.py", "assert_close"), "repro.py:<module>"),
    ],
)
def test_the_place_names_no_folder_line_or_made_up_file(frame: tuple[str, str], where: str) -> None:
    assert of("AssertionError", "", REPRO, frame).where == where


def test_a_title_without_words_says_where() -> None:
    assert of("AssertionError", "", ("/x/repro.py", "check")).title == "AssertionError in repro.py:check"


def test_a_signal_is_known_by_its_name_and_place() -> None:
    frames = [REPRO, ("/home/me/repro.py", "read"), ("/usr/lib/python3.11/ctypes/__init__.py", "string_at")]
    signature = signature_of_signal(11, frames)
    assert (signature.kind, signature.message, signature.where) == (SignatureKind.SIGNAL, "SIGSEGV", "repro.py:read")
    assert signature.title == "SIGSEGV in repro.py:read"
    assert signature_of_signal(11, []).title == "SIGSEGV"
    assert signature_of_signal(99, []).title == "signal 99"


def test_what_cpp_says_before_it_aborts_counts() -> None:
    output = (
        "terminate called after throwing an instance of 'c10::Error'\n  what():  invalid device 3\nException raised\n"
    )
    assert signature_of_signal(6, [], output).message == "SIGABRT invalid device #"
    assert signature_of_signal(6, [], "free(): invalid pointer\n").message == "SIGABRT free(): invalid pointer"


def test_all_timeouts_are_the_same() -> None:
    assert signature_of_timeout(300).identity == signature_of_timeout(20).identity
    assert signature_of_timeout(2.5).title == "timeout: no end after 2.5 s"


def test_a_check_is_known_by_its_name_and_its_settled_message() -> None:
    one, other = signature_of_check("grad", "sum is 0, not 56"), signature_of_check("grad", "sum is 1, not 56")
    assert one.identity == other.identity
    assert one.title == "check grad failed: sum is 0, not 56"
    assert one.identity != signature_of_check("loss", "sum is 0, not 56").identity


def test_an_exit_is_known_by_its_status_and_its_last_line() -> None:
    one = signature_of_exit(1, "torch 2.8\ngradient is all zero: sums to 0, expected 56\n\n")
    assert one.title == "exit status 1: gradient is all zero: sums to 0, expected 56"
    assert one.identity == signature_of_exit(1, "gradient is all zero: sums to 1, expected 2").identity
    assert one.identity != signature_of_exit(2, "gradient is all zero: sums to 1, expected 2").identity
    assert signature_of_exit(3, "").title == "exit status 3"


def test_warnings_are_not_the_last_line() -> None:
    assert last_line("wrong\n/a/b.py:12: UserWarning: leaked\n  warnings.warn(\n") == "wrong"
    assert last_line("10%\r100% done\n") == "100% done"


@given(
    st.lists(
        st.builds(Raised, st.text(), st.text(), st.sampled_from(["cause", "context", "member"])), min_size=1, max_size=4
    )
)
def test_any_chain_has_a_signature_with_a_short_title_on_one_line(chain: list[Raised]) -> None:
    signature = signature_of_chain(chain)
    assert len(signature.title) <= LONGEST_TITLE
    assert len(signature.title.splitlines()) <= 1
    assert len(signature.identity) == 12


HOSTILE = [
    *(
        "\n",
        " ",
        "Traceback",
        "Traceback (most recent call last):\n",
        "Assertion ",
        "what(): ",
        " (",
        "`",
        "a.",
        "error: ",
    ),
    *("): got f(", "Dynamo failed to run FX node : got f(x)", "KeyError: ", "x: ", "_", "'a', ", "at 1:2:\n^\n"),
    *("Caught:\nOriginal Traceback (most recent call last):\n", '  File "a.py", line 1, in f\n', "Name=\n"),
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("start", ["", "C++ compile error\n", "at 1:2:\n", "Dynamo failed to run FX node ", "x\n"])
def test_hostile_messages_take_no_time(start: str, piece: str) -> None:
    message = start + piece * (64_000 // len(piece))
    started = time.perf_counter()
    of("InductorError", message, REPRO)
    signature_of_signal(6, [], message * 10)
    signature_of_exit(1, message * 10)
    assert time.perf_counter() - started < 1
