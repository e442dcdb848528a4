"""Makes `torch.compile` use another backend than the repro asks for, from inside the process of a trial.

This file is laid into a folder as ``sitecustomize.py``, and that folder comes first on ``PYTHONPATH``, so that the repro runs
as it is. It must work on every Python that a build may need and import nothing heavy: no type annotations newer than 3.8,
only the standard library, and never torch itself: `torch.compile` is replaced when the repro has imported torch.

``$BISECT_COMPILE`` says what to do, as JSON; every key may be left out::

    {"backend": "aot_eager", "dynamic": true, "cudagraphs": false, "disable": true}

Calls that name a backend other than Inductor are left alone. ``$BISECT_COMPILE_SEEN`` is a file with one line for each call:
``switched``, or ``left`` and the backend. Without a line nothing was switched, and the trial says nothing about the rung.
"""

import importlib.util
import json
import os
import sys

INDUCTOR = "inductor"
WITH_GRAPHS = {"reduce-overhead": None, "max-autotune": "max-autotune-no-cudagraphs"}
KEY = "triton.cudagraphs"


def _seen(line):
    path = os.environ.get("BISECT_COMPILE_SEEN")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def switched(asked, wanted):
    """The keyword arguments of `torch.compile` as `wanted` has them, None for a call that is left alone."""
    backend = asked.get("backend", INDUCTOR)
    if backend != INDUCTOR:
        return None
    given = dict(asked)
    if "disable" in wanted:
        given["disable"] = wanted["disable"]
    if "dynamic" in wanted:
        given["dynamic"] = wanted["dynamic"]
    if "cudagraphs" in wanted:
        _switch_graphs(given, wanted["cudagraphs"])
    if wanted.get("backend", INDUCTOR) != INDUCTOR:
        given["backend"] = wanted["backend"]
        # These are Inductor's own; other backends reject them.
        given.pop("mode", None)
        given.pop("options", None)
    return given


def _switch_graphs(given, on):
    options, mode = given.get("options"), given.get("mode")
    if options is not None:
        given["options"] = dict(options, **{KEY: on})
    elif on and mode in (None, "default"):
        given["mode"] = "reduce-overhead"
    elif on and mode == "max-autotune-no-cudagraphs":
        given["mode"] = "max-autotune"
    elif not on and mode in WITH_GRAPHS:
        given["mode"] = WITH_GRAPHS[mode]


def patch(torch, wanted):
    """Put another `torch.compile` in the place of the one that `torch` has."""
    original = torch.compile

    def compile(model=None, **asked):
        if model is None:
            # As a decorator with arguments; the function comes later.
            return lambda function: compile(function, **asked)
        given = switched(asked, wanted)
        if given is None:
            _seen("left %s" % (asked.get("backend"),))
            return original(model, **asked)
        _seen("switched")
        return original(model, **given)

    compile.__doc__ = original.__doc__
    compile.__wrapped__ = original
    torch.compile = compile


class _Finder:
    """Waits for the import of torch."""

    def __init__(self, wanted):
        self.wanted = wanted

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is None or spec.loader is None:
            return spec
        loader, execute = spec.loader, spec.loader.exec_module

        def exec_module(module):
            execute(module)
            patch(module, self.wanted)

        loader.exec_module = exec_module
        return spec


def _other_sitecustomize():
    """Run the one that this file hides, as Linux distributions have one."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [place for place in sys.path if os.path.abspath(place or ".") != here]
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", places)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("BISECT_COMPILE") and __name__ == "sitecustomize":
    sys.meta_path.insert(0, _Finder(json.loads(os.environ["BISECT_COMPILE"])))
    _other_sitecustomize()
