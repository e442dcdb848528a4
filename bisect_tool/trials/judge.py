"""From what a trial left to what it means.

The rules, in the order in which they are tried; the first that applies decides:

 0. it was ended for taking more than it may          → cannot judge
 1. a line of the checks file cannot be read           → cannot judge
 2. the tool ended the trial after its timeout         → failed: timeout
 3. exit status 125                                    → cannot judge, for the reason in the last line
 4. exit status 126 or 127                             → machine: the command cannot be started
 5. SIGKILL, SIGTERM, SIGINT, SIGHUP that we did not send → machine: killed from outside
 6. exit status 0: failed checks, if any               → failed; else passed
 7. words that show a fault of this machine, or that the GPU's memory did not suffice while others held a part of it
                                                       → machine (`bisect_tool.trials.machine_faults`)
 8. out of memory, or a driver too old for the build   → cannot judge, unless a named failure of the spec matches
 9. any other signal                                   → failed: failed checks, and the signal
10. else                                               → failed: failed checks, and the exception; else the exit status

A shell reports the signal of its child as 128 + number; that is read as the signal. Words are those of the exception, or of
the last lines of the output where there is none. The exception is the one that the hook wrote, else the one in the output.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bisect_tool.trials.failure import (
    CannotJudge,
    Failed,
    FoundFailure,
    MachineAtFault,
    Passed,
    Signature,
    SignatureKind,
    Verdict,
)
from bisect_tool.trials.machine_faults import cannot_judge, machine_at_fault, neighbours_at_fault
from bisect_tool.trials.observation import Observation, Raised
from bisect_tool.trials.signature import (
    last_line,
    signature_of_chain,
    signature_of_check,
    signature_of_exit,
    signature_of_signal,
    signature_of_timeout,
)
from bisect_tool.trials.traceback_text import parse, parse_fatal
from bisect_tool.trials.visible import made_visible
from bisect_tool.trials.volatile import without_escapes

# Of the rules by which a failure gets its identity. It goes up when any of them gives another one than before, here or in what
# they rest on (`tests/trials/test_rules.py`): verdicts of different rules may call one failure by two names.
RULES = 1
LONGEST_TEXT = 4 * 1024
LONGEST_LINE = 400
LONGEST_SEARCHED = 64 * 1024
_LAST_LINES = 8
_SHOWN_FRAMES = 8

CANNOT_JUDGE = 125
NOT_EXECUTABLE, NOT_FOUND = 126, 127
_SHELL = 128
_FROM_SHELL = frozenset(
    {signal.SIGHUP, signal.SIGINT, signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE}
    | {signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM}
)
_FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


class Named(Protocol):
    """A failure that the spec gives a name: `match` is a regular expression that compiles."""

    @property
    def name(self) -> str:
        """How the report calls it."""

    @property
    def match(self) -> str:
        """Searched in the title, the message and the printed text of a failure."""


@dataclass(frozen=True, slots=True)
class _Symptom:
    """A failure before it gets its identity; `words` is what the rules look at, not shortened."""

    signature: Signature
    text: str
    words: str = ""


def judge(observation: Observation, named: Sequence[Named]) -> Verdict:
    """What `observation` means; `named` are the failures that the spec names, the first match counts.

    What is shown of it has nothing in it that acts on a terminal.
    """
    return made_visible(_judge(observation, named))


def _judge(observation: Observation, named: Sequence[Named]) -> Verdict:
    if observation.over:
        return CannotJudge(f"the trial was ended before it took the machine down: {observation.over}")
    if observation.malformed is not None:
        return CannotJudge(f"the checks file has a line that cannot be read: {observation.malformed}")
    if observation.timed_out:
        signature = signature_of_timeout(observation.timeout, parse_fatal(observation.output))
        return _failed([_Symptom(signature, _tail(observation.output))], named)
    if ended := _ended_early(observation):
        return ended
    checks = [_of_check(check.name, check.message) for check in observation.checks if check.ok is False]
    if observation.exit_status == 0:
        return _failed(checks, named) if checks else Passed()
    return _judge_failure(observation, checks, named)


def _ended_early(observation: Observation) -> CannotJudge | MachineAtFault | None:
    """Rules 3 to 5: the ends that say nothing about the build."""
    said = last_line(observation.output)
    if observation.exit_status == CANNOT_JUDGE:
        return CannotJudge(said or "the script ended with status 125 and gave no reason")
    if observation.exit_status in {NOT_EXECUTABLE, NOT_FOUND}:
        what = "was not found" if observation.exit_status == NOT_FOUND else "cannot be executed"
        reason = f"the command {what}" + (f": {said}" if said else "")
        return MachineAtFault(reason, "correct `command` in the spec, or install the program", command=True)
    number = _signal_of(observation)
    if number == signal.SIGKILL:
        memory = _memory(observation)
        reason = f"killed from outside, most likely by the kernel for want of memory{memory}"
        return MachineAtFault(reason, "free memory, run fewer trials at a time, or use a larger machine")
    if number in _FROM_OUTSIDE:
        name = signal.Signals(number).name
        return MachineAtFault(f"ended from outside by {name}", "find out who stops processes here, and start again")
    return None


def _judge_failure(observation: Observation, checks: list[_Symptom], named: Sequence[Named]) -> Verdict:
    """Rules 7 to 10."""
    end = _end_of(observation)
    if fault := machine_at_fault(end.words):
        return fault
    if fault := neighbours_at_fault(end.words, observation.gpu_others, observation.gpu_total):
        return fault
    is_explained = bool(checks) and end.signature.kind is SignatureKind.EXIT
    verdict = _failed(checks if is_explained else [*checks, end], named)
    unjudged = cannot_judge(end.words)
    if unjudged and not any(failure.name for failure in verdict.failures):
        return unjudged
    return verdict


def _end_of(observation: Observation) -> _Symptom:
    """The failure that the end of the process shows: a signal, an exception, or a mere exit status."""
    output = observation.output
    number = _signal_of(observation)
    if number is not None:
        signature = signature_of_signal(number, parse_fatal(output), output)
        return _Symptom(signature, _tail(output), signature.title)
    if chain := observation.chain or parse(output):
        words = "\n".join(f"{raised.type}: {raised.message}" for raised in chain)
        signature = signature_of_chain(chain, output)
        return _Symptom(signature, _printed(chain, output, signature.title), words)
    return _Symptom(signature_of_exit(observation.exit_status or 0, output), _tail(output), _last_lines(output))


def _of_check(name: str, message: str) -> _Symptom:
    return _Symptom(signature_of_check(name, message), f"check {name}: {message}"[:LONGEST_TEXT], message)


def _failed(symptoms: Iterable[_Symptom], named: Sequence[Named]) -> Failed:
    """One failure for each identity, in the order in which they were seen."""
    found: dict[str, FoundFailure] = {}
    for symptom in symptoms:
        name = _name_of(symptom, named)
        identity = f"={name}" if name else symptom.signature.identity
        found.setdefault(identity, FoundFailure(identity, symptom.signature, symptom.text, name))
    return Failed(tuple(found.values()))


def _name_of(symptom: _Symptom, named: Sequence[Named]) -> str | None:
    parts = (symptom.signature.title, symptom.signature.message, symptom.text, symptom.words)
    searched = without_escapes("\n".join(parts))[:LONGEST_SEARCHED]
    return next((one.name for one in named if re.search(one.match, searched, re.MULTILINE)), None)


def _signal_of(observation: Observation) -> int | None:
    """The number of the signal that ended the process, or the child of a shell."""
    status = observation.exit_status or 0
    if observation.signal is None and status - _SHELL in _FROM_SHELL:
        return status - _SHELL
    return observation.signal


def _memory(observation: Observation) -> str:
    if observation.peak_memory is None:
        return ""
    total = f" of {_gigabytes(observation.memory_total)}" if observation.memory_total else ""
    return f"; peak memory {_gigabytes(observation.peak_memory)}{total}"


def _gigabytes(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"


def _last_lines(output: str) -> str:
    lines = [line for line in _tail(output).split("\n") if line.strip()]
    return "\n".join(lines[-_LAST_LINES:])


def _tail(output: str) -> str:
    text = without_escapes(output[-2 * LONGEST_TEXT :]).rstrip()
    return text if len(text) <= LONGEST_TEXT else "…" + text[1 - LONGEST_TEXT :]


def _printed(chain: Sequence[Raised], output: str, title: str) -> str:
    """The last frames and the message of the exception, as printed where that can be found, else put together again.

    Where the message is too long, the line that gave the failure its `title` is shown, too: compilers print a command first.
    """
    raised = chain[0]
    text = without_escapes(output)
    line = f"{raised.type}: {raised.message}".split("\n", 1)[0].rstrip(": ")
    at = text.rfind("\n" + line)
    if at < 0:
        frames = [f'  File "{file}", in {function}' for file, function in raised.frames[-_SHOWN_FRAMES:]]
        return "\n".join([*frames, f"{raised.type}: {raised.message}"])[:LONGEST_TEXT]
    start = max(0, at - LONGEST_TEXT // 2)
    if start:
        start = text.find("\n", start) + 1
    start = max(start, text.rfind("Traceback (most recent call last):", 0, at))
    shown = text[start : start + LONGEST_TEXT].rstrip()
    telling = text.find(title.rsplit(": ", 1)[-1].rstrip("…"), start)
    if telling < start + len(shown):
        return shown
    begins = max(text.rfind("\n", 0, telling) + 1, telling - LONGEST_LINE // 2)
    line = text[begins : begins + LONGEST_LINE].split("\n", 1)[0]
    return f"{shown[: LONGEST_TEXT - len(line) - 3].rstrip()}\n…\n{line}"


def _lacks(package: str) -> str:
    return (
        f"the environment lacks {package}, which the build does not ask for: add `requires: [{package}]` to the spec, unless "
        "that is the failure you look for"
    )


_ADVICE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Numpy is not available"), _lacks("numpy")),
    (
        re.compile(r"No working C\+\+ compiler found|Failed to find C compiler"),
        "install a C++ compiler (g++) on this machine",
    ),
    (re.compile(r"Python\.h: No such file"), "install the headers of this Python (python3-dev)"),
    (re.compile(r"Cannot find a working triton installation"), _lacks("triton")),
)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^'.]+)'")
_DISTRIBUTIONS = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "distutils": "setuptools",
    "pkg_resources": "setuptools",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}


def advice_for(failure: FoundFailure) -> str | None:
    """What to do about a failure that the spec or the machine causes, whatever the build; None for any other."""
    words = f"{failure.signature.title}\n{failure.text}"
    if found := _NO_MODULE.search(failure.signature.title):
        return _lacks(_DISTRIBUTIONS.get(found[1], found[1]))
    return next((advice for pattern, advice in _ADVICE if pattern.search(words)), None)
