"""Runs PyTorch's own compiler bisector, from the Python of a build; each of its questions is answered by whoever started it.

It must work on every Python that a build may need: no type annotations newer than 3.8, only the standard library and torch.

What is said and read are lines of JSON, on the standard output and input that the process was started with; what torch prints
goes to standard error. The first line is ``{"has": true}``, or false when this torch has no compiler bisector. Then, for
each trial that it wants::

    {"asks": {"backend": "inductor", "subsystem": "post_grad_passes", "state": "bisect", "low": 0, "high": 6},
     "folder": "…/bisect"}

``folder`` holds its state: a trial that finds it as ``$TORCHINDUCTOR_CACHE_DIR/bisect`` does what is asked. The answer is
``good`` or ``bad``; anything else, or the end of the input, stops it. The last line is the result, with null for "no issue"::

    {"result": {"backend": "inductor", "subsystem": "post_grad_passes", "number": 2, "what": "pass_pattern_1"}}
"""

import json
import os
import sys


class Stopped(Exception):
    pass


def _say(channel, value):
    channel.write(json.dumps(value) + "\n")
    channel.flush()


def _asked(bisector):
    backend, subsystem = bisector.get_backend(), bisector.get_subsystem()
    asked = {"backend": backend, "subsystem": subsystem, "state": None, "low": None, "high": None}
    if subsystem:
        asked["state"] = bisector.get_run_state(backend, subsystem)
        if asked["state"] == "bisect":
            asked["low"], asked["high"] = bisector.get_bisect_range(backend, subsystem)
    return asked


def main():
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        from torch._inductor.compiler_bisector import CompilerBisector
    except ImportError:
        _say(channel, {"has": False})
        return
    _say(channel, {"has": True})

    def judge():
        _say(channel, {"asks": _asked(CompilerBisector), "folder": CompilerBisector.get_dir()})
        answer = sys.stdin.readline().strip()
        if answer not in ("good", "bad"):
            raise Stopped(answer)
        return answer == "good"

    try:
        found = CompilerBisector.do_bisect(judge, cli_interface=False)
    except Stopped:
        return
    except Exception as error:  # noqa: BLE001  whatever it is, it is said, not guessed
        _say(channel, {"broken": "%s: %s" % (type(error).__name__, error)})
        return
    result = None
    if found is not None:
        result = {
            "backend": found.backend,
            "subsystem": found.subsystem,
            "number": found.bisect_number,
            "what": getattr(found, "debug_info", None),
        }
    _say(channel, {"result": result})


if __name__ == "__main__":
    main()
