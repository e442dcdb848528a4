"""What CUDA and the compilers of kernels say of a failure, brought to the same words however and whenever it was noticed. Pure.

An error inside a kernel is noticed by whatever call comes next: one of torch, one of Triton, one of the driver. Each has words
of its own around those of CUDA, and which call it is depends on timing. What the kernel itself said stands in the output.
"""

from __future__ import annotations

import re

# Errors that end a kernel, and after which every call of the process fails: they are noticed late, in another call.
_LATE = (
    r"an illegal memory access was encountered|device-side assert triggered|misaligned address|unspecified launch failure"
    r"|an illegal instruction was encountered|operation not supported on global/shared address space|invalid program counter"
    r"|hardware stack error|the launch timed out and was terminated"
)
_NOTICED = re.compile(
    r"(?:CUDA(?: driver| runtime)? error|Triton Error \[CUDA\]|cuda runtime error \(\d+\) ?|HIP error|Triton Error \[HIP\])"
    rf"(?: \(\d+\))?: (?:Code: \d+, Message: )?({_LATE})",
    re.IGNORECASE,
)
# `…/IndexKernel.cu:111: operator(): block: [0,0,0], thread: [3,0,0] Assertion `… && "index out of bounds"` failed.`
_ASSERTION = re.compile(
    r"block: \[\d+, ?\d+, ?\d+\], thread: \[\d+, ?\d+, ?\d+\] Assertion [`']?(.{1,500}?)[`']? failed\.?$",
    re.MULTILINE,
)
_QUOTED = re.compile(r"\"([^\"]+)\"")
_PASSES = re.compile(r"PassManager::run failed")
# What MLIR prints of the operation that a pass could not do, before Python hears that some pass failed.
_MLIR = re.compile(
    r"^(?:\S.{0,300}?:\d+:\d+|loc\(.{0,300}\)): error: (?!Failures have been)(.{1,500})$|^error: (.{1,500})$",
    re.MULTILINE,
)
LONGEST_SEARCHED = 256 * 1024


def is_late(message: str) -> bool:
    """Whether `message` is of an error inside a kernel, so that the call that raised it need not have caused it."""
    return _NOTICED.search(message) is not None


def in_the_words_of_cuda(message: str) -> str:
    """`message` with the words of CUDA alone where an error inside a kernel was noticed, whoever noticed it."""
    found = _NOTICED.match(message)
    return f"CUDA error: {found[1]}" if found else message


def said_before(message: str, output: str) -> str:
    """What a kernel or its compiler has printed of the failure of which `message` says only that there was one; or nothing."""
    searched = output[-LONGEST_SEARCHED:]
    if "device-side assert" in message:
        asserted = _ASSERTION.search(searched)
        if asserted is None:
            return ""
        quoted = _QUOTED.search(asserted[1])
        return quoted[1] if quoted else asserted[1]
    if _PASSES.match(message) and (found := _MLIR.search(searched)):
        return str(found[1] or found[2])
    return ""
