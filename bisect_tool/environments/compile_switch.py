"""Makes `torch.compile` use another backend than the repro asks for, and writes down which passes were applied.

This runs inside the process of a trial: the file is laid into a folder as ``sitecustomize.py``, and that folder comes first on ``PYTHONPATH``, so that the repro runs
as it is. It must work on every Python that a build may need and import nothing heavy: no type annotations newer than 3.8,
only the standard library, and never torch itself: `torch.compile` is replaced when the repro has imported torch.

``$BISECT_COMPILE`` says what to do, as JSON; every key may be left out::

    {"backend": "aot_eager", "dynamic": true, "cudagraphs": false, "disable": true}

Calls that name a backend other than Inductor are left alone. ``$BISECT_COMPILE_SEEN`` is a file with one line for each call:
``switched``, or ``left`` and the backend. Without a line nothing was switched, and the trial says nothing about the rung.

``$BISECT_APPLICATIONS`` is a file for the applications that PyTorch's compiler bisector counts, see `record`.
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


def record(path):
    """What to do with torch's modules so that the file `path` gets a line for each application that its bisector counts.

    ``subsystem<TAB>name`` for each time that the bisector is asked whether to leave out one of those that it looks at, ``-``
    for any other, and ``*<TAB>name`` for each pattern that is applied.
    """

    def write(*words):
        with open(path, "a", encoding="utf-8") as file:
            file.write("\t".join(" ".join(str(word).split()) for word in words) + "\n")

    def with_bisector(module):
        kind = module.CompilerBisector
        original = kind.disable_subsystem

        def disable_subsystem(backend, subsystem, debug_info=None):
            if kind.get_backend() == backend and kind.get_subsystem() == subsystem:
                write(subsystem, debug_info() if debug_info is not None else "")
            else:
                write("-", "")
            return original(backend, subsystem, debug_info)

        kind.disable_subsystem = staticmethod(disable_subsystem)

    def with_patterns(module):
        for name in ("GraphPatternEntry", "LoweringPatternEntry", "ReplacementPatternEntry"):
            kind = getattr(module, name, None)
            if kind is not None and "apply" in vars(kind):
                kind.apply = recorded(kind.apply)

    def recorded(apply):
        def call(entry, *given, **named):
            handler = getattr(entry, "handler", None)
            told = getattr(handler, "__name__", None) or getattr(entry, "pattern_name", None)
            if told:
                write("*", told)
            return apply(entry, *given, **named)

        return call

    return {
        "torch._inductor.compiler_bisector": with_bisector,
        "torch._inductor.pattern_matcher": with_patterns,
    }


class _Finder:
    """Waits for the import of modules; `after` are functions that take one when it was imported, by its name."""

    def __init__(self, after):
        self.after = after

    def find_spec(self, name, path=None, target=None):
        if name not in self.after:
            return None
        act = self.after.pop(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader, execute = spec.loader, spec.loader.exec_module

        def exec_module(module):
            execute(module)
            act(module)

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


def _wishes():
    after = {}
    if os.environ.get("BISECT_COMPILE"):
        wanted = json.loads(os.environ["BISECT_COMPILE"])
        after["torch"] = lambda torch: patch(torch, wanted)
    if os.environ.get("BISECT_APPLICATIONS"):
        after.update(record(os.environ["BISECT_APPLICATIONS"]))
    return after


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, _Finder(_wishes()))
    _other_sitecustomize()
