"""Runs a script of PyTorch under settings that it does not make itself, and leaves the script as it is.

    python bisect_configured.py --dtype float64 --dynamic yes script.py ARGUMENTS…
    python bisect_configured.py --warm script.py ARGUMENTS…
    python bisect_configured.py --dtype bfloat16 -m module ARGUMENTS…

--dtype NAME     what `torch.set_default_dtype` is given
--dynamic WHICH  yes: `torch.compile` takes every size for dynamic; no: for static, also after a recompilation. As `dynamic=`
                 of `torch.compile` does for a call that does not name it.
--warm           the script runs once before, with the same caches, in a process of its own; what that shows does not count

Settings are made right after the script has imported the module that they belong to, so that whatever it does before that
(environment variables, say) comes first, as without this file. Exit status 125 when a setting cannot be made, or when the script
fails before it was made; else that of the script. `bisect try --discover` writes this file beside a spec that needs it.
Standard library only, any Python from 3.8.
"""

import importlib.util
import os
import subprocess
import sys

CANNOT = 125
WITH_VALUE = ("--dtype", "--dynamic")


def set_dtype(torch, name):
    kind = getattr(torch, name, None)
    if not isinstance(kind, torch.dtype):
        cannot("this torch has no dtype %s" % name)
    torch.set_default_dtype(kind)


def set_dynamic(config, word):
    wanted = {
        "yes": {"assume_static_by_default": False},
        "no": {"automatic_dynamic_shapes": False, "assume_static_by_default": True},
    }
    for name, value in wanted[word].items():
        if not hasattr(config, name):
            cannot("this torch has no torch._dynamo.config.%s" % name)
        setattr(config, name, value)


def cannot(reason):
    sys.stderr.flush()
    print("cannot judge: %s" % reason, file=sys.stderr, flush=True)
    sys.exit(CANNOT)


class Settings:
    """What is to be done after which import; `find_spec` is how Python asks for a module."""

    def __init__(self, chosen):
        self.waiting = {}
        if "--dtype" in chosen:
            self.waiting["torch"] = (set_dtype, chosen["--dtype"])
        if "--dynamic" in chosen:
            self.waiting["torch._dynamo.config"] = (set_dynamic, chosen["--dynamic"])

    def find_spec(self, name, path=None, target=None):
        if name not in self.waiting:
            return None
        make, value = self.waiting.pop(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_set(module):
            load(module)
            make(sys.modules.get(name, module), value)

        spec.loader.exec_module = load_and_set
        return spec


def run(words):
    """Run a script or `-m module` as Python does, in place of this one."""
    import runpy

    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    import types

    sys.argv = words
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    main = types.ModuleType("__main__")
    main.__file__ = words[0]
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    with open(words[0], "rb") as file:
        code = compile(file.read(), words[0], "exec")
    exec(code, main.__dict__)


def main():
    words, chosen = sys.argv[1:], {}
    while words and words[0] in WITH_VALUE:
        chosen[words[0]] = words[1]
        words = words[2:]
    if words and words[0] == "--warm":
        words = words[1:]
        own = [part for option in chosen.items() for part in option]
        environ = {
            name: value for name, value in os.environ.items() if name not in ("BISECT_CHECKS", "BISECT_EXCEPTIONS")
        }
        nowhere = subprocess.DEVNULL
        subprocess.call(
            [sys.executable, __file__] + own + words, env=environ, stdin=nowhere, stdout=nowhere, stderr=nowhere
        )
    if not words:
        sys.exit(__doc__)
    settings = Settings(chosen)
    sys.meta_path.insert(0, settings)
    try:
        run(words)
    except BaseException as error:
        # A failure says nothing about a setting that was not made; whoever passes without it passes.
        if settings.waiting and not (isinstance(error, SystemExit) and error.code in (None, 0)):
            import traceback

            traceback.print_exc()
            cannot("the script never imported %s, so that nothing was set" % " and ".join(settings.waiting))
        raise


if __name__ == "__main__":
    main()
