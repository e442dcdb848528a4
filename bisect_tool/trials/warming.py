"""Whether a trial can be forked from a process that has imported the heavy modules, and which those are. Pure.

Only what the script would import first of all may be imported for it: `os.environ["TORCH_LOGS"] = …` above `import torch` would
come too late. So the imports are read from its text, from the top down to the first statement that could matter to them.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from bisect_tool.environments.isolation import CACHES

# What differs from trial to trial, so that a server may have been started with other values. All else must be the same.
OWN_VARIABLES = frozenset({*CACHES, "BISECT_CHECKS", "BISECT_EXCEPTIONS", "BISECT_TRIAL"})

# What was imported ahead is kept out of Python's garbage collection, and these can tell.
_COLLECTS = re.compile(rb"\b(?:gc|tracemalloc|objgraph|get_referrers)\b")


@dataclass(frozen=True, slots=True)
class Warmth:
    """A trial that can be forked: `script` is a file of the repro; `modules` are imported for it, in this order.

    `local` are the names by which its own files can be imported: a server that has imported such a module does not fit.
    """

    script: str
    modules: tuple[str, ...]
    local: frozenset[str]


class TooCold(Exception):
    """The trial must start fresh; the text is the reason."""


def warmth_of(files: Sequence[tuple[str, bytes]], words: Sequence[str]) -> Warmth:
    """How a trial of these files and this command can be forked. Raises `TooCold`.

    `files` are (relative name, content); `words` is the command as in `bisect_tool.trials.trial.TrialOrder`.
    """
    content = dict(files)
    script = words[1].removeprefix("./") if len(words) > 1 else ""
    if not words or words[0] != "python" or not script.endswith(".py") or script not in content:
        raise TooCold("the command is not `python` and a script of the repro")
    if any(_COLLECTS.search(text) for name, text in content.items() if name.endswith(".py")):
        raise TooCold("the repro looks at Python's garbage collection")
    local = _local_names(content, script)
    modules = tuple(dict.fromkeys(_first_imports(content[script], local)))
    if not modules:
        raise TooCold("the script begins with no import of an installed package")
    return Warmth(script, modules, local)


def shared_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables that all trials of a server have in common."""
    return {name: value for name, value in variables.items() if name not in OWN_VARIABLES}


def _local_names(content: Mapping[str, bytes], script: str) -> frozenset[str]:
    """What could be imported from the folder of the script."""
    folder = PurePosixPath(script).parent
    inside = (PurePosixPath(name) for name in content)
    tops = (path.relative_to(folder).parts[0] for path in inside if path.is_relative_to(folder))
    return frozenset(top.split(".", 1)[0] for top in tops)


def _first_imports(source: bytes, local: frozenset[str]) -> Iterator[str]:
    """The installed modules that the first statements import, as far as nothing comes before that could matter to them."""
    for statement in _parsed(source).body:
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            names = [statement.module or ""] if statement.level == 0 else [""]
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # the documentation of the script
        else:
            return
        for name in names:
            top = name.split(".", 1)[0]
            if not top or top in local:
                return  # code of the repro runs here
            if top not in sys.stdlib_module_names:
                yield name


def _parsed(source: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TooCold("the script cannot be read as Python here") from error
