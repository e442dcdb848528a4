from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_tool.trials.failure import (
    CannotJudge,
    Failed,
    FoundFailure,
    MachineAtFault,
    Passed,
    Signature,
    SignatureKind,
)
from bisect_tool.trials.judge import LONGEST_SEARCHED, LONGEST_TEXT, advice_for, judge
from bisect_tool.trials.observation import Check, Observation, Raised
from bisect_tool.trials.signature import signature_of_chain

GOOD, BAD = Observation(0), Observation(1)
ZERO = Raised("AssertionError", "gradient is all zero")
TRACEBACK = """\
Traceback (most recent call last):
  File "repro.py", line 3, in check
    raise AssertionError("gradient is all zero")
AssertionError: gradient is all zero
"""
STACK = """\
Fatal Python error: Segmentation fault

Current thread 0x01 (most recent call first):
  File "repro.py", line 7 in read
"""


@dataclass(frozen=True)
class Name:
    name: str
    match: str


def failures(observation: Observation, *named: Name) -> tuple[FoundFailure, ...]:
    verdict = judge(observation, named)
    assert isinstance(verdict, Failed), verdict
    return verdict.failures


def titles(observation: Observation, *named: Name) -> list[str]:
    return [failure.signature.title for failure in failures(observation, *named)]


def fault(observation: Observation) -> MachineAtFault:
    verdict = judge(observation, [])
    assert isinstance(verdict, MachineAtFault), verdict
    return verdict


def test_exit_status_0_without_failed_checks_passes() -> None:
    assert judge(GOOD, []) == Passed()
    assert judge(replace(GOOD, checks=(Check("grad", ok=True), Check("ms", value=3.0)), chain=(ZERO,)), []) == Passed()


def test_each_failed_check_is_a_failure() -> None:
    checks = (Check("grad", ok=False, message="all zero"), Check("loss", ok=True), Check("sum", ok=False))
    assert titles(replace(GOOD, checks=checks)) == ["check grad failed: all zero", "check sum failed"]
    assert titles(replace(BAD, checks=checks, output="2 checks failed")) == titles(replace(GOOD, checks=checks))


def test_failed_checks_and_an_exception_are_both_reported() -> None:
    observation = replace(BAD, checks=(Check("grad", ok=False),), chain=(ZERO,))
    assert titles(observation) == ["check grad failed", "AssertionError: gradient is all zero"]


def test_the_same_failure_twice_is_one() -> None:
    checks = (Check("grad", ok=False, message="sum is 1"), Check("grad", ok=False, message="sum is 2"))
    assert titles(replace(GOOD, checks=checks)) == ["check grad failed: sum is 1"]


def test_the_exception_of_the_hook_comes_before_that_in_the_output() -> None:
    assert titles(replace(BAD, output=TRACEBACK)) == ["AssertionError: gradient is all zero"]
    assert titles(replace(BAD, output=TRACEBACK, chain=(Raised("KeyError", "'a'"),))) == ["KeyError: 'a'"]


def test_an_exit_status_without_exception_is_a_failure_of_its_own() -> None:
    (failure,) = failures(replace(BAD, output="one\nwrong weights after 6 steps\n"))
    assert failure.signature.kind is SignatureKind.EXIT
    assert failure.id == failure.signature.identity
    assert failure.text == "one\nwrong weights after 6 steps"


def test_a_line_of_the_checks_file_that_cannot_be_read_comes_first() -> None:
    observation = replace(BAD, malformed="line 3: not JSON", timed_out=True)
    assert judge(observation, []) == CannotJudge("the checks file has a line that cannot be read: line 3: not JSON")


def test_a_timeout_is_a_failure_though_the_signal_was_ours() -> None:
    assert titles(Observation(None, signal=9, timed_out=True, timeout=300)) == ["timeout: no end after 300 s"]


def test_125_cannot_judge_for_the_reason_in_the_last_line() -> None:
    assert judge(Observation(125, output="hm\nno associative_scan\n"), []) == CannotJudge("no associative_scan")
    assert isinstance(judge(Observation(125), []), CannotJudge)


def test_126_and_127_blame_the_command() -> None:
    missing = fault(Observation(127, output="sh: 1: nosuch: not found\n"))
    assert (missing.reason, missing.command) == ("the command was not found: sh: 1: nosuch: not found", True)
    assert fault(Observation(126)).reason == "the command cannot be executed"


@pytest.mark.parametrize("observation", [Observation(None, signal=9), Observation(137)])
def test_a_sigkill_from_outside_blames_the_memory_of_the_machine(observation: Observation) -> None:
    reason = "killed from outside, most likely by the kernel for want of memory"
    assert fault(observation).reason == reason
    known = replace(observation, peak_memory=3 * 2**30, memory_total=4 * 2**30)
    assert fault(known).reason == f"{reason}; peak memory 3.0 GiB of 4.0 GiB"


@pytest.mark.parametrize(("number", "name"), [(1, "SIGHUP"), (2, "SIGINT"), (15, "SIGTERM")])
def test_other_signals_from_outside_blame_the_machine(number: int, name: str) -> None:
    assert fault(Observation(None, signal=number)).reason == f"ended from outside by {name}"


@pytest.mark.parametrize("observation", [Observation(None, signal=11), Observation(139)])
def test_a_crash_is_a_failure_also_under_a_shell(observation: Observation) -> None:
    assert titles(replace(observation, output=STACK)) == ["SIGSEGV in repro.py:read"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("[Errno 28] No space left on device: '/x'", "no space is left on a disk"),
        ("[Errno 24] Too many open files", "the limit of open files is reached"),
        ("no CUDA-capable device is detected", "the GPU is not available"),
        ("CUDA driver initialization failed, you might not have a CUDA gpu.", "the CUDA driver does not start"),
        ("CUDA error: uncorrectable ECC error encountered", "the GPU is lost, broken or taken by another program"),
        ("DataLoader worker (pid 12) is killed by signal: Killed. ", "a child of the repro was killed"),
    ],
)
def test_words_that_show_a_fault_of_the_machine(message: str, reason: str) -> None:
    by_hook = fault(replace(BAD, chain=(Raised("RuntimeError", message),)))
    assert by_hook.reason.startswith(reason)
    assert not by_hook.command
    assert fault(replace(BAD, output=f"stopping: {message}\n")).reason.startswith(reason)


def test_a_disk_that_was_full_while_something_else_was_handled_blames_the_machine() -> None:
    chain = (Raised("InductorError", "cache lost"), Raised("OSError", "[Errno 28] No space left on device", "context"))
    assert fault(replace(BAD, chain=chain)).reason.startswith("no space is left on a disk")


def test_words_of_the_machine_far_above_the_exception_do_not_count() -> None:
    output = "warning: Too many open files, retrying\n" + TRACEBACK
    assert titles(replace(BAD, output=output)) == ["AssertionError: gradient is all zero"]


@pytest.mark.parametrize(
    "raised",
    [
        Raised("torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate 20.00 MiB."),
        Raised("MemoryError", ""),
        Raised(
            "RuntimeError", "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory"
        ),
        Raised("RuntimeError", "CUDA driver version is insufficient for CUDA runtime version"),
    ],
)
def test_memory_and_old_drivers_cannot_be_judged_unless_the_spec_names_them(raised: Raised) -> None:
    observation = replace(BAD, chain=(raised,))
    assert isinstance(judge(observation, [Name("zero", "all zero")]), CannotJudge)
    (failure,) = failures(observation, Name("wanted", "MemoryError|memory|driver"))
    assert failure.id == "=wanted"


def test_a_kernel_that_needs_too_much_shared_memory_is_a_failure_of_the_build() -> None:
    message = "No valid triton configs. OutOfMemoryError: out of resource: triton_red_fused_0 Required: 1310720"
    assert titles(replace(BAD, chain=(Raised("RuntimeError", message),)))[0].startswith("RuntimeError: No valid triton")


def test_a_name_is_found_in_title_message_and_text_and_the_first_counts() -> None:
    observation = replace(BAD, chain=(Raised("ValueError", "first\nsecond line\n  third"),), output="x\n" + TRACEBACK)
    for pattern in ("ValueError: first", "^second", "third$"):
        assert failures(observation, Name("none", "nowhere"), Name("it", pattern), Name("late", "."))[0].id == "=it"


def test_names_are_searched_in_a_limited_part_of_the_text() -> None:
    observation = replace(BAD, chain=(Raised("ValueError", "a" * LONGEST_SEARCHED + "late"),))
    assert failures(observation, Name("late", "late"), Name("early", "aaa"))[0].id == "=early"


def test_a_named_failure_keeps_its_signature() -> None:
    (failure,) = failures(replace(BAD, chain=(ZERO,)), Name("zero-grad", "gradient is all zero"))
    assert (failure.id, failure.name) == ("=zero-grad", "zero-grad")
    assert failure.signature == signature_of_chain([ZERO])


def test_the_text_is_what_was_printed_of_the_exception() -> None:
    (failure,) = failures(replace(BAD, output="noise\n" * 9999 + TRACEBACK, chain=(ZERO,)))
    assert failure.text == TRACEBACK.rstrip()
    unseen = Raised("ValueError", "x" * 9999, "raised", (("a.py", "f"),))
    assert failures(replace(BAD, chain=(unseen,)))[0].text.startswith('  File "a.py", in f\nValueError: xxx')


def test_the_text_has_the_line_that_tells_wherever_it_stands() -> None:
    """Of a compiler's complaint, which comes after its command and the list of included files."""
    command = "g++ main.cpp " + "-I/include/of/something " * 400
    says = "main.cpp:55:204: error: no matching function for call to 'VecMask<long int, 2>::VecMask(bool&)'"
    message = (
        f"C++ compile error\n\nCommand:\n{command}\n\nOutput:\n{says}\n   55 | auto tmp = x;\n" + "note: here\n" * 999
    )
    output = f'Traceback (most recent call last):\n  File "a.py", line 1, in f\nCppCompileError: {message}'
    (failure,) = failures(replace(BAD, output=output, chain=(Raised("CppCompileError", message),)))
    assert failure.signature.title.endswith("no matching function for call to 'VecMask<long int, 2>::VecMask(bool&)'")
    assert failure.text.endswith("…\n" + says)
    assert failure.text.startswith('Traceback (most recent call last):\n  File "a.py"')
    assert len(failure.text) <= LONGEST_TEXT


def test_the_text_is_never_long() -> None:
    for output in ("x" * 10**6, "y\n" * 10**6, TRACEBACK + "z" * 10**6):
        assert len(failures(replace(BAD, output=output))[0].text) <= LONGEST_TEXT


def found(title: str, text: str = "") -> FoundFailure:
    return FoundFailure("x", Signature(SignatureKind.EXCEPTION, title=title), text)


LACKS = (
    "the environment lacks {0}, which the build does not ask for: add `requires: [{0}]` to the spec, unless that is the "
    "failure you look for"
)


@pytest.mark.parametrize(
    ("title", "advice"),
    [
        ("ModuleNotFoundError: No module named 'numpy'", LACKS.format("numpy")),
        ("ModuleNotFoundError: No module named 'yaml'", LACKS.format("PyYAML")),
        ("ModuleNotFoundError: No module named 'torch._new'", None),
        ("RuntimeError: Numpy is not available", LACKS.format("numpy")),
        ("RuntimeError: no code", None),
    ],
)
def test_advice_for_what_the_spec_can_cure(title: str, advice: str | None) -> None:
    assert advice_for(found(title)) == advice


TEXTS = st.one_of(st.text(), st.sampled_from([TRACEBACK, "out of memory", "No space left on device", "\x00", "E   x"]))
OBSERVATIONS = st.builds(
    Observation,
    st.one_of(st.none(), st.integers(0, 255)),
    st.one_of(st.none(), st.integers(1, 64)),
    output=TEXTS,
    chain=st.lists(st.builds(Raised, TEXTS, TEXTS, st.sampled_from(["cause", "context", "member"])), max_size=3).map(
        tuple
    ),
    checks=st.lists(st.builds(Check, TEXTS, st.sampled_from([None, True, False]), TEXTS), max_size=3).map(tuple),
    peak_memory=st.one_of(st.none(), st.integers(0)),
)


@given(OBSERVATIONS)
def test_every_observation_is_judged(observation: Observation) -> None:
    verdict = judge(observation, [Name("zero", "all zero")])
    assert not isinstance(verdict, Passed) or observation.exit_status == 0
    if isinstance(verdict, Failed):
        assert verdict.failures
        assert len({failure.id for failure in verdict.failures}) == len(verdict.failures)


def test_out_of_gpu_memory_beside_others_is_the_machines_fault_also_for_a_named_failure() -> None:
    chain = (Raised("torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB."),)
    alone = Observation(1, chain=chain, gpu_others=2**20, gpu_total=2**37)
    crowded = replace(alone, gpu_others=2**36)
    named = [Name("oom", "out of memory")]
    assert isinstance(judge(alone, []), CannotJudge)
    assert isinstance(judge(alone, named), Failed)
    verdict = judge(crowded, named)
    assert isinstance(verdict, MachineAtFault)
    assert "other processes held 64.0 of 128.0 GiB" in verdict.reason
    other = replace(crowded, chain=(Raised("RuntimeError", "gradient is zero"),))
    assert isinstance(judge(other, []), Failed)
