"""Writes an uncaught exception as JSON, from inside the process of a trial.

This file is copied into the environment of a build and loaded there by a ``.pth`` file, so that the repro itself runs as a
plain ``python repro.py``. It must work on every Python that a build may need and import nothing heavy: no type
annotations newer than 3.8, only the standard library. Text tracebacks are parsed as well (`bisect_tool.trials.traceback_text`);
this is the exact source, because messages may themselves contain tracebacks.

The file is ``$BISECT_EXCEPTIONS/<pid>.json``::

    {"chain": [{"type": "torch._inductor.exc.InductorError", "message": "…", "relation": "raised",
                "frames": [["…/compile_fx.py", "_compile_fx_inner"], …]}, …]}

The chain runs from the exception that ended the process to its deepest origin; ``relation`` says how each was reached
(``raised`` for the first, then ``cause`` for ``raise … from …``, ``context`` for one raised while handling another,
``member`` for the first member of an exception group). Frames run from the outermost to the innermost.
"""

import os
import sys

LIMIT = 64 * 1024


def _qualified(kind):
    module = getattr(kind, "__module__", "builtins")
    return kind.__qualname__ if module in ("builtins", "__main__") else module + "." + kind.__qualname__


def _message(error):
    try:
        return str(error)[:LIMIT]
    except Exception as broken:  # a __str__ may raise anything, and the type is worth keeping without it
        return "<message could not be made: %s>" % type(broken).__name__


def _frames(trace):
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append([code.co_filename, code.co_name])
        trace = trace.tb_next
    # A deep recursion is told by both its ends.
    return frames if len(frames) <= 500 else frames[:250] + frames[-250:]


def _next(error):
    members = getattr(error, "exceptions", None)
    if isinstance(members, (tuple, list)) and members and isinstance(members[0], BaseException):
        return members[0], "member"
    if error.__cause__ is not None:
        return error.__cause__, "cause"
    if error.__context__ is not None and not error.__suppress_context__:
        return error.__context__, "context"
    return None, ""


def describe(error):
    """The chain of `error`, outermost first, as plain values for JSON."""
    chain, seen, relation = [], set(), "raised"
    while error is not None and id(error) not in seen and len(chain) < 20:
        seen.add(id(error))
        chain.append(
            {
                "type": _qualified(type(error)),
                "message": _message(error),
                "relation": relation,
                "frames": _frames(error.__traceback__),
            }
        )
        error, relation = _next(error)
    return chain


def install(folder):
    previous = sys.excepthook

    def write(kind, error, trace):
        try:
            import json

            path = os.path.join(folder, "%d.json" % os.getpid())
            with open(path + ".part", "w", encoding="utf-8") as file:
                json.dump({"chain": describe(error)}, file)
            os.replace(path + ".part", path)
        except Exception as broken:  # the report of a failure must not replace the failure
            sys.stderr.write("bisect: could not record the exception: %r\n" % (broken,))
        previous(kind, error, trace)

    sys.excepthook = write


if os.environ.get("BISECT_EXCEPTIONS"):
    install(os.environ["BISECT_EXCEPTIONS"])
