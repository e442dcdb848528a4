"""The content of a repro: its files and its command, and the digests that results are stored under."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shlex
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.errors import SpecError
from bisect_tool.spec.model import Case, Spec
from bisect_tool.spec.reading import ReadSpec

MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Repro:
    """`files` are (name relative to the spec, content), sorted; `words` is the command without the arguments of a case.

    The word `python` at the start stands for the interpreter of the build, a word that equals a file name for that file.
    """

    files: tuple[tuple[str, bytes], ...]
    words: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Sixty-four hexadecimal digits over names, contents and command."""
        hashed = hashlib.sha256(json.dumps(self.words).encode())
        for name, content in self.files:
            hashed.update(f"\0{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
        return hashed.hexdigest()


def read_repro(read: ReadSpec) -> Repro:
    """The repro of a spec: its script or command, the files that it names, and the modules beside it that it imports.

    Raises `SpecError` for a file that cannot be read, too much of them, or one that hides the package under test.
    """
    spec = read.spec
    words = ("python", spec.script) if spec.script is not None else _command_words(spec)
    named = (spec.script,) if spec.script is not None else (word for word in words if _is_file(read.folder, word))
    names = {*(Path(name).as_posix() for name in spec.files), *(name.removeprefix("./") for name in named)}
    for name in sorted(names):
        if name.endswith(".py"):
            names |= _imported(read.folder, name)
    _refuse_shadows(read, names)
    _refuse_too_large(read.folder, names)
    return Repro(tuple((name, _content(read.folder / name)) for name in sorted(names)), words)


def case_command(case: Case, repro: Repro) -> tuple[str, ...]:
    """The words of one case."""
    return (*repro.words, *case.args)


def case_digest(case: Case, spec: Spec) -> str:
    """What the result of a case depends on besides the repro: arguments, variables, time limit, whether caches are shared."""
    parts: dict[str, object] = {
        "args": case.args,
        "env": {**spec.env, **case.env},
        "timeout": float(spec.timeout_of(case)),
    }
    if spec.share_caches:
        parts["share_caches"] = True
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _refuse_shadows(read: ReadSpec, names: Iterable[str]) -> None:
    """A module beside the script comes before what is installed: every build would run that one, and behave alike."""
    spelled = re.sub(r"[-.]+", "_", read.spec.package)
    for name in names:
        module = Path(name).parent if Path(name).name == "__init__.py" else Path(name).with_suffix("")
        in_package = (read.folder / module.parent / "__init__.py").is_file()
        if name.endswith(".py") and module.name in {spelled, spelled.lower()} and not in_package:
            raise SpecError(
                f"`{name}` beside the script would be imported instead of the package {read.spec.package}",
                where=str(read.folder / name),
                advice="rename it, or move the script into a folder of its own",
            )


def _refuse_too_large(folder: Path, names: Iterable[str]) -> None:
    """Looks at sizes alone, so that a huge file is never read."""
    if sum(_size(folder / name) for name in names) > MOST_BYTES:
        raise SpecError(
            f"the files of the repro are larger than {MOST_BYTES // 1024**2} MB together",
            where=str(folder),
            advice="make the data inside the script, or name fewer `files:`",
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # reading it tells what is wrong


def _command_words(spec: Spec) -> tuple[str, ...]:
    command = spec.command or ()
    return tuple(shlex.split(command[0])) if len(command) == 1 else tuple(command)


def _is_file(folder: Path, word: str) -> bool:
    """Whether a word names a file in the folder of the spec."""
    path = Path(word)
    return not path.is_absolute() and ".." not in path.parts and bool(word.strip("./")) and _is_there(folder / path)


def _is_there(path: Path) -> bool:
    """Whether a file is there; a word that is too long for a name is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SpecError(
            f"a file of the repro cannot be read: {error.strerror}", where=str(path), advice="make it readable"
        ) from error


def _imported(folder: Path, name: str) -> set[str]:
    """The modules beside the script that it imports, and those that they import, as names of files."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        here = waiting.pop()
        for module, level in _imports(folder / here):
            for file in _files_of(folder, _bases(Path(here).parent, level), module):
                if file not in found and file != name:
                    found.add(file)
                    waiting.append(file)
    return {file for file in found if file.endswith(".py")}


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    """The modules that a file names, each with the number of dots before it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # the parser's stack, not the machine's
        return  # a script that cannot be parsed here may still run on the Python of the spec
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = f"{node.module}." if node.module else ""
            yield from ((f"{base}{alias.name}", node.level) for alias in node.names)


def _bases(near: Path, level: int) -> set[Path]:
    """Where an import of a file in `near` begins: the folder of the script or its own, or what the dots say."""
    if level == 0:
        return {Path(), near}
    return {(near, *near.parents)[level - 1]} if level <= len(near.parts) + 1 else set()


def _files_of(folder: Path, bases: set[Path], module: str) -> Iterator[str]:
    """The files that importing `module` would load, when it is looked for in `bases`."""
    parts = module.split(".")
    for base in bases:
        for depth in range(1, len(parts) + 1):
            stem = base.joinpath(*parts[:depth])
            for candidate in (stem.with_suffix(".py"), stem / "__init__.py"):
                if _is_there(folder / candidate):
                    yield candidate.as_posix()
