"""Mistakes that only the meaning of a spec shows: files that are not there, names that are used twice."""

from __future__ import annotations

import re
import shlex
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import log
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bisect_tool.spec.mistake import Location, Mistake, described, likely_word, listed
from bisect_tool.spec.model import Role, Spec

SMALLEST_CHANGE = 0.001  # of the logarithm of a ratio
COARSE_TO_FINE = ("release", "nightly", "commit")
# Set for each trial, or able to bring in another Python or another installation than the build under test.
OURS = re.compile(
    r"^(TORCHINDUCTOR_CACHE_DIR|TRITON_CACHE_DIR|TRITON_HOME|TMPDIR|XDG_CACHE_HOME|CUDA_CACHE_PATH|TORCH_EXTENSIONS_DIR|"
    r"HOME|PATH|PYTHONHOME|PYTHONPATH|VIRTUAL_ENV|PYTHONFAULTHANDLER|PYTHONUNBUFFERED|PYTHONNOUSERSITE|BISECT_\w+)\Z"
)
VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*\Z")
VARIANT = re.compile(r"^(auto|cpu|xpu|cu\d{2,3}|rocm\d+\.\d+(\.\d+)?)\Z")
SOURCE = re.compile(r"^((https?|ssh)://[^\s/]+/|git@[^\s:/]+[:/])?[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+/?\Z")
PYTHON = re.compile(r"^\d+\.\d+(\.\d+)?t?\Z")
PATTERN = re.compile(r"^[A-Za-z0-9*][A-Za-z0-9*._-]*\Z")
SHELL = re.compile(r"[|&;<>`]|\$\(")
QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)


def mistakes(
    content: Mapping[str, object], spec: Spec | None, folder: Path, channels: Collection[str]
) -> list[Mistake]:
    """Every mistake of the meaning. What can be seen without a complete `spec` is seen in `content`."""
    found = [*_files(content, folder)]
    if spec is not None:
        found += [
            *_channels(spec, channels),
            *_names(spec),
            *_variables(spec),
            *_requirements("requires", spec.requires, spec),
            *_requirements("hold", spec.hold, spec),
            *_base(spec),
            *_python(spec, folder),
            *_command(spec),
            *_metrics(spec),
        ]
    return found


def _files(content: Mapping[str, object], folder: Path) -> Iterator[Mistake]:
    script = content.get("script")
    if isinstance(script, str):
        wrong = [*_file(script, ("script",), folder)]
        yield from wrong
        if not wrong and script.endswith(".py") and content.get("python") is None:
            yield from _syntax(folder / script)
    files = content.get("files")
    for number, name in enumerate(files if isinstance(files, (list, tuple)) else ()):
        if isinstance(name, str):
            yield from _file(name, ("files", number), folder)


def _file(name: str, at: Location, folder: Path) -> Iterator[Mistake]:
    path = folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        yield Mistake(described(name), "a path inside the folder of the spec", at)
    elif not exists(path):
        near = [other.name for other in folder.iterdir() if other.is_file()] if folder.is_dir() else []
        yield Mistake(
            f"{described(name)}, which does not exist", f"a file in {folder}", at, likely=likely_word(name, near)
        )
    elif not path.is_file():
        yield Mistake(f"{described(name)}, which is no file", "a file", at)
    elif path.stat().st_size == 0 and at == ("script",):
        yield Mistake(f"{described(name)}, which is empty", "a script", at)


def exists(path: Path) -> bool:
    """Whether something is at `path`, as far as this user can see."""
    try:
        return path.exists()
    except OSError:
        return False  # a name that is too long, or a folder that may not be searched


def _syntax(path: Path) -> Iterator[Mistake]:
    if not (exists(path) and path.is_file()):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the script's own warnings are for its author's runs
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        yield Mistake(f"a syntax error in line {error.lineno}: {error.msg}", "a Python script", ("script",))
    except (ValueError, RecursionError, MemoryError) as error:
        yield Mistake(f"a script that cannot be compiled: {error}", "a Python script", ("script",))


def _channels(spec: Spec, channels: Collection[str]) -> Iterator[Mistake]:
    for name in spec.channel:
        if name not in channels:
            yield Mistake(described(name), listed(channels), ("channel",), likely=likely_word(name, channels))
    if len(spec.channel) > 1 and not _is_coarse_to_fine(spec.channel):
        order = ", ".join(name for name in COARSE_TO_FINE if name in channels)
        yield Mistake(
            f"the channels {', '.join(spec.channel)}", f"one, or several from coarse to fine: [{order}]", ("channel",)
        )
    if not VARIANT.match(spec.variant):
        yield Mistake(described(spec.variant), "`auto`, `cpu`, `xpu`, or one like `cu130` or `rocm7.2`", ("variant",))


def _is_coarse_to_fine(names: Sequence[str]) -> bool:
    ranks = [COARSE_TO_FINE.index(name) for name in names if name in COARSE_TO_FINE]
    return len(ranks) == len(names) and ranks == sorted(set(ranks))


def _names(spec: Spec) -> Iterator[Mistake]:
    for key, names in (("cases", [c.name for c in spec.cases]), ("failures", [f.name for f in spec.failures])):
        counts = Counter(names)
        for number, name in enumerate(names):
            if counts[name] > 1 and names.index(name) != number:
                yield Mistake(f'the name "{name}" a second time', "different names", (key, number, "name"))
    if all(case.role is Role.CONTROL for case in spec.cases):
        yield Mistake("only controls", "at least one case with the role `test`", ("cases",))
    if spec.source is not None and not SOURCE.match(spec.source):
        yield Mistake(described(spec.source), "`owner/name`, or the address of a repository on GitHub", ("source",))
    if spec.issue is not None and not re.match(r"^https?://\S+\Z", spec.issue):
        yield Mistake(described(spec.issue), "an address that begins with https://", ("issue",))


def _metrics(spec: Spec) -> Iterator[Mistake]:
    cases = {case.name: case for case in spec.cases}
    taken: set[tuple[str, str]] = set()
    references: dict[str, str] = {}
    for number, metric in enumerate(spec.metrics):
        at: Location = ("metrics", number)
        if abs(log(metric.ratio)) < SMALLEST_CHANGE:
            yield Mistake(
                described(f"{metric.ratio:g}"), "a ratio above or below 1, such as 1.1 or 0.9", (*at, "ratio")
            )
        if metric.trials.most < metric.trials.least:
            expected = f"at least the {metric.trials.least} of `least`"
            yield Mistake(described(str(metric.trials.most)), expected, (*at, "trials", "most"))
        if metric.case is not None and metric.case not in cases:
            likely = likely_word(metric.case, cases)
            yield Mistake(described(metric.case), listed(cases), (*at, "case"), likely=likely)
        elif metric.case is not None and cases[metric.case].role is Role.CONTROL:
            yield Mistake(f'"{metric.case}", a control', "a case with the role `test`", (*at, "case"))
        if len(spec.channel) > 1 and metric.reference not in {"from", "to"}:
            yield Mistake(
                described(metric.reference), "`from` or `to`: each channel has builds of its own", (*at, "reference")
            )
        asked = {(case.name, metric.name) for case in spec.tests if metric.case in {None, case.name}}
        if asked & taken:
            yield Mistake(f'the name "{metric.name}" a second time for one case', "one metric of a name", (*at, "name"))
        taken |= asked
        others = {references.setdefault(case, metric.reference) for case, _ in asked} - {metric.reference}
        if others:
            expected = f'one reference for a case, as "{min(others)}" above'
            yield Mistake(described(metric.reference), expected, (*at, "reference"))


def _variables(spec: Spec) -> Iterator[Mistake]:
    places: list[tuple[Location, Mapping[str, str]]] = [(("env",), spec.env)]
    places += [(("cases", number, "env"), case.env) for number, case in enumerate(spec.cases)]
    for at, variables in places:
        for name in variables:
            if OURS.match(name):
                yield Mistake(f"{name}", "other variables: this one is set for each trial", (*at, name))
            elif not VARIABLE.match(name):
                yield Mistake(described(name), "the name of an environment variable", (*at, name))


def _base(spec: Spec) -> Iterator[Mistake]:
    if spec.as_is and spec.base != "system":
        yield Mistake("`as_is` without a base", "`base: system` beside it: its packages are meant", ("as_is",))
    if spec.hold and spec.base == "system":
        yield Mistake(
            "`hold` with `base: system`", "one of the two: the packages of the base stay as they are", ("hold",)
        )
    for number, text in enumerate(spec.as_is):
        if not PATTERN.match(text):
            yield Mistake(described(text), "the name of a package; `*` stands for anything", ("as_is", number))


def _requirements(key: str, texts: Sequence[str], spec: Spec) -> Iterator[Mistake]:
    for number, text in enumerate(texts):
        at = (key, number)
        try:
            name = Requirement(text).name
        except InvalidRequirement:
            yield Mistake(described(text), "a requirement, for instance `numpy` or `numpy==2.1.0`", at)
            continue
        if canonicalize_name(name) == canonicalize_name(spec.package):
            yield Mistake(described(text), "other packages: the builds of this one are what is searched", at)


def _python(spec: Spec, folder: Path) -> Iterator[Mistake]:
    if spec.python is not None and not PYTHON.match(spec.python) and not exists(folder / spec.python):
        yield Mistake(described(spec.python), "a version such as `3.12` or the path of an interpreter", ("python",))


def _command(spec: Spec) -> Iterator[Mistake]:
    if spec.command is None:
        return
    if not any(word.strip() for word in spec.command[:1]):
        yield Mistake("no program", "a command line or a list of words", ("command",))
    if len(spec.command) != 1:
        return
    try:
        shlex.split(spec.command[0])
    except ValueError:
        yield Mistake("quotes that do not close", "a closing quote, or a list of words", ("command",))
    if SHELL.search(QUOTED.sub("", spec.command[0])):
        yield Mistake("a command line that needs a shell", f'`command: [bash, -c, "{spec.command[0]}"]`', ("command",))
