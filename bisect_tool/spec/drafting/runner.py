"""`repro.py` of a draft: runs `report.py`, the code of the report, as the cases of the spec need it."""

from __future__ import annotations

REPORT = "report.py"
SCRIPT = "repro.py"

RUNNER = '''"""Runs report.py, the code of a bug report, as one case of spec.yaml. Made by `bisect init`; change it as you like.

  --backend eager          torch.compile does nothing
  --backend NAME           torch.compile uses this backend where the report leaves the choice to torch, or names Inductor
  --replace OLD NEW        report.py with one text in the place of another; OLD must be there once
"""

import argparse
import runpy
import sys
from pathlib import Path

import torch


def switch(backend):
    """Let torch.compile use another backend; calls from torch itself, and those that name one, stay as they are."""
    original = torch.compile

    def compile(model=None, **options):
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.split(".")[0] == "torch" and caller != "torch.nn.modules.module":
            return original(model, **options)
        if model is None:
            return lambda function: compile(function, **options)
        if backend == "eager":
            return model
        if options.get("backend", "inductor") != "inductor":
            return original(model, **options)
        kept = {name: value for name, value in options.items() if name not in {"backend", "mode", "options"}}
        return original(model, backend=backend, **kept)

    torch.compile = compile


def main():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--backend")
    parser.add_argument("--replace", nargs=2, action="append", default=[], metavar=("OLD", "NEW"))
    options, rest = parser.parse_known_args()
    script = Path(__file__).with_name("report.py")
    text = script.read_text(encoding="utf-8")
    for old, new in options.replace:
        if text.count(old) != 1:
            sys.exit(f"repro.py: {old!r} is {text.count(old)} times in report.py, it must be there once")
        text = text.replace(old, new)
    if options.replace:
        script = Path("report_replaced.py").resolve()
        script.write_text(text, encoding="utf-8")
    if options.backend:
        switch(options.backend)
    sys.argv = [str(script), *rest]
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
'''
