"""Acts planted behaviour; it is put into every toy wheel as ``toy/runtime.py`` and imports nothing of ours."""

from __future__ import annotations

import builtins
import json
import math
import os
import random
import resource
import signal
import subprocess
import sys
import time
from typing import Any

LONG = 600.0  # seconds that "for ever" lasts, so that nothing stays behind on a machine for good


def act(steps: list[dict[str, Any]]) -> None:
    """Do the steps of a case, one after the other."""
    for step in steps:
        if _is_due(step):
            _act_one(step)


def _is_due(step: dict[str, Any]) -> bool:
    if step["when"] and os.environ.get(step["when"][0]) != step["when"][1]:
        return False
    return bool(step["rate"] >= 1.0 or random.Random(os.urandom(16)).random() < step["rate"])


def _act_one(step: dict[str, Any]) -> None:
    word, _, rest = step["do"].partition(" ")
    if word in ACTIONS:
        ACTIONS[word](rest)
    elif word.startswith("SIG"):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.Signals[word])
    else:
        _raise(step)


def _raise(step: dict[str, Any]) -> None:
    """Raise from a function of the name that the step asks for, wrapped around its cause if it has one."""
    space: dict[str, Any] = {"error": _error(step["do"]), "cause": step["cause"] and _error(step["cause"])}
    lines = ["raise error"] if not step["cause"] else ["try:", "    raise cause", "except Exception as inner:"]
    lines += ["    raise error from inner"] if step["cause"] else []
    body = "\n    ".join([f"def {step['within']}():", *lines])
    exec(compile(body, __file__, "exec"), space)
    space[step["within"]]()


def _error(text: str) -> BaseException:
    name, _, message = text.partition(":")
    known = getattr(builtins, name, None) or type(name.split(".")[-1], (RuntimeError,), {"__module__": _module(name)})
    error: BaseException = known(message.strip()) if message else known()
    return error


def _module(name: str) -> str:
    return name.rpartition(".")[0] or __name__.split(".")[0]


def _check(words: str) -> None:
    result, _, rest = words.partition(" ")
    name, _, message = rest.partition(": ")
    _report({"check": name, "ok": result == "ok", "message": message})


def _value(words: str) -> None:
    name, number, *noise = words.split()
    factor = math.exp(random.Random(os.urandom(16)).gauss(0, float(noise[0]))) if noise else 1.0
    _report({"check": name, "value": float(number) * factor})


def _report(line: dict[str, Any]) -> None:
    with open(os.environ["BISECT_CHECKS"], "a", encoding="utf-8") as checks:  # noqa: PTH123
        checks.write(json.dumps(line) + "\n")


def _leak(_words: str) -> None:
    """Leave a process behind that holds standard output open."""
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"])


def _memory(megabytes: str) -> None:
    ballast = bytearray(int(megabytes) * 1_000_000)
    ballast[:: resource.getpagesize()] = b"x" * len(ballast[:: resource.getpagesize()])


ACTIONS: dict[str, Any] = {
    "pass": lambda _words: None,
    "hang": lambda _words: time.sleep(LONG),
    "sleep": lambda words: time.sleep(float(words)),
    "print": lambda words: print(words, flush=True),
    "exit": lambda words: sys.exit(int(words)),
    "check": _check,
    "value": _value,
    "leak": _leak,
    "memory": _memory,
}
