"""What a spec may not ask for where it is a stranger's: a question to a service, or any run with the sandbox on.

Its code runs in a sandbox. These keys would have code of its choice run outside, or files of this machine read: requirements
that are addresses or paths, an interpreter named by its path, the packages of this machine, a repository anywhere, commits that
their own build files would build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bisect_tool.spec.meaning import PYTHON
from bisect_tool.spec.mistake import Mistake, SpecProblems, described, spec_error
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import read_repro

LAID_OVER = frozenset({"torch"})  # of the channel `commit`: packages whose commits are not built here
GITHUB = re.compile(r"^(https://github\.com/)?[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+/?\Z")
_WHY = "where specs of others are answered"


def refuse_strange(specs: Sequence[ReadSpec]) -> None:
    """Raises `SpecError` with everything that these specs may not ask for."""
    problems = [
        SpecProblems(read.path, tuple(found))
        for read in specs
        if (found := [*mistakes_of_stranger(read.spec), *_links(read)])
    ]
    if problems:
        raise spec_error(problems)


def mistakes_of_stranger(spec: Spec) -> Iterator[Mistake]:
    """What `spec` may not ask for, each with its place."""
    for key, texts in (("requires", spec.requires), ("hold", spec.hold)):
        for number, text in enumerate(texts):
            if not _is_of_index(text):
                yield Mistake(described(text), f"a name with versions, no address and no path, {_WHY}", (key, number))
    if spec.python is not None and not PYTHON.match(spec.python):
        yield Mistake(described(spec.python), f"a version such as `3.12`, no path, {_WHY}", ("python",))
    if spec.base != "isolated":
        yield Mistake(described(spec.base), f"`isolated` {_WHY}", ("base",))
    if spec.source is not None and not GITHUB.match(spec.source):
        yield Mistake(described(spec.source), f"`owner/name` of a repository on GitHub {_WHY}", ("source",))
    yield from built_here(spec)


def built_here(spec: Spec) -> Iterator[Mistake]:
    """That commits would be built from their source, which runs their build files."""
    if "commit" in spec.channel and canonicalize_name(spec.package) not in LAID_OVER:
        yield Mistake(
            '"commit"', f"a channel of wheels: commits of {spec.package} are built by their own code", ("channel",)
        )


def _is_of_index(text: str) -> bool:
    try:
        return Requirement(text).url is None
    except InvalidRequirement:
        return False


def _links(read: ReadSpec) -> Iterator[Mistake]:
    """Files of the repro that lie elsewhere by a link."""
    home = read.folder.resolve()
    for name, _ in read_repro(read).files:
        if home not in (read.folder / name).resolve().parents:
            yield Mistake(described(name), "a file inside the folder of the spec, no link out of it")
