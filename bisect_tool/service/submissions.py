"""What is handed in, read as a spec: refused with every mistake at once, and named by its content.

A spec of a stranger may not make the server or a worker read its own files, install from anywhere, or ask hosts that it names:
see `_not_here`. What its code may do is the business of the sandbox (docs/security.md).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from packaging.requirements import InvalidRequirement, Requirement

from bisect_tool.builds.channel import names
from bisect_tool.errors import SpecError
from bisect_tool.service.question import MOST_CODE_BYTES, MOST_FILE_BYTES, MOST_FILES, MOST_SPEC_BYTES, Submission
from bisect_tool.spec.meaning import PYTHON
from bisect_tool.spec.mistake import Mistake, described
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import load_all
from bisect_tool.spec.repro import read_repro
from bisect_tool.spec.strangers import built_here

SPEC = "spec.yaml"
MOST_PATH = 300  # characters
MOST_NAME_BYTES = 255  # of each part of it: what file systems take
MOST_CASES = 100
LABELS = {"name", "title", "issue"}  # of a spec: they say how it is called, not what is asked
_SOURCE = re.compile(r"^(https://github\.com/)?[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+/?\Z")
_ODD = re.compile(r"[\x00-\x1f\x7f\\:]")
_ADVICE = "correct what is listed, then submit it again"


@dataclass(frozen=True, slots=True)
class ReadSubmission:
    """A submission without mistakes. `files` are those that the repro needs, `repro` is the digest of their content."""

    spec: Spec
    text: str
    files: tuple[tuple[str, bytes], ...]
    repro: str

    @property
    def digest(self) -> str:
        """Sixty-four hexadecimal digits over what is asked, however it is written and called."""
        values = self.spec.model_dump(mode="json", by_alias=True, exclude=LABELS)
        return hashlib.sha256(json.dumps([values, self.repro], sort_keys=True).encode()).hexdigest()

    @property
    def id(self) -> str:
        """The id of the question."""
        return f"q{self.digest[:20]}"


def read_submission(submission: Submission) -> ReadSubmission:
    """Read what was handed in. Raises `SpecError`."""
    if odd := [*_odd_files(submission)]:
        raise SpecError("\n".join(odd), advice=_ADVICE)
    with TemporaryDirectory(prefix="bisect-question-") as folder:
        return _read_in(Path(folder).resolve(), submission)


def lay_out(folder: Path, spec: str, files: Mapping[str, bytes] | tuple[tuple[str, bytes], ...]) -> Path:
    """Write a spec and its files into an empty folder; gives the path of the spec. The paths were checked before."""
    for name, content in dict(files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / SPEC).write_text(spec, encoding="utf-8", newline="")
    return folder / SPEC


def _read_in(folder: Path, submission: Submission) -> ReadSubmission:
    try:
        path = lay_out(folder, submission.spec, submission.files)
        read = load_all([path], channels=names(), further=_not_here)[0]
        repro = read_repro(read)
    except SpecError as error:
        raise SpecError(_without(folder, error.what), where=_place(folder, error.where), advice=_ADVICE) from error
    except OSError as error:  # a name that this file system does not take
        raise SpecError(f"a file cannot be kept: {error.strerror}", advice=_ADVICE) from error
    return ReadSubmission(read.spec, submission.spec, repro.files, repro.digest)


def _without(folder: Path, text: str) -> str:
    return text.replace(f"{folder}/", "").replace(str(folder), "the submission")


def _place(folder: Path, where: str | None) -> str | None:
    return None if where is None else _without(folder, where)


def _odd_files(submission: Submission) -> Iterator[str]:
    """What is wrong with the files as such, whatever the spec says."""
    try:
        if len(submission.spec.encode()) > MOST_SPEC_BYTES:
            yield f"the spec is larger than {MOST_SPEC_BYTES // 1_000_000} MB"
    except UnicodeEncodeError:
        yield "the spec is not text: it holds half a character"
    if len(submission.files) > MOST_FILES:
        yield f"{len(submission.files)} files: at most {MOST_FILES} are taken"
    size = sum(len(content) for _, content in submission.files)
    if size > MOST_FILE_BYTES:
        yield f"the files have {size / 1e6:.1f} MB together: at most {MOST_FILE_BYTES // 1_000_000} MB are taken"
    paths = [name for name, _ in submission.files]
    for name, content in submission.files[: MOST_FILES + 1]:
        if why := _odd_path(name, paths):
            yield f"the file {described(name)}: {why}"
        elif name.endswith(".py") and len(content) > MOST_CODE_BYTES:
            yield f"the file {described(name)}: more than {MOST_CODE_BYTES // 1_000_000} MB of Python"


def _odd_path(name: str, paths: list[str]) -> str | None:
    path = PurePosixPath(name)
    if not name or len(name) > MOST_PATH:
        return f"a path of 1 to {MOST_PATH} characters is expected"
    if _ODD.search(name) or not name.isprintable():
        return "a path of printable characters without `\\` and `:` is expected"
    if path.is_absolute() or ".." in path.parts or path.as_posix() != name:
        return "a plain path inside the folder of the spec is expected, such as `data/shapes.json`"
    if paths.count(name) > 1:
        return "it is there more than once"
    if path.parts[:1] in {(), (SPEC,)}:
        return "this is the name of the spec itself, or of its folder"
    if any(len(part.encode()) > MOST_NAME_BYTES for part in path.parts):
        return f"names of at most {MOST_NAME_BYTES} bytes are expected"
    if any(other.startswith(f"{name}/") for other in paths):
        return "it is a folder as well"
    return None


def _not_here(spec: Spec) -> Iterator[Mistake]:
    """What a spec may say on the machine of its author, but not to a server."""
    if "wheelhouse" in spec.channel:
        yield Mistake('"wheelhouse"', "a channel that is no folder of the server", ("channel",))
    if spec.base != "isolated":
        yield Mistake(described(spec.base), "`isolated`: the packages of the worker are not for questions", ("base",))
    if spec.python is not None and not PYTHON.match(spec.python):
        yield Mistake(described(spec.python), "a version such as `3.12`, no path of the server", ("python",))
    if spec.source is not None and not _SOURCE.match(spec.source):
        yield Mistake(described(spec.source), "`owner/name` of a repository on GitHub", ("source",))
    yield from built_here(spec)
    if len(spec.cases) > MOST_CASES:
        yield Mistake(f"{len(spec.cases)} cases", f"at most {MOST_CASES}", ("cases",))
    for key, texts in (("requires", spec.requires), ("hold", spec.hold)):
        for number, text in enumerate(texts):
            if _has_address(text):
                expected = "a name and versions: the index decides where a package comes from"
                yield Mistake(described(text), expected, (key, number))


def _has_address(text: str) -> bool:
    try:
        return Requirement(text).url is not None
    except InvalidRequirement:
        return False  # a mistake that is told anyway
