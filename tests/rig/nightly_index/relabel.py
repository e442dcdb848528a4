"""Real torch releases under the names of nightlies, without a byte of copying.

``relabelled(RealWheel(path), Label("2.16.0.dev20261009+cu130", revision))`` is an archive in which names, METADATA,
RECORD and version.py are those of the nightly, while everything else is read from the release when it is asked for. It
can be served, in any part, or written to a file::

    python -m tests.rig.nightly_index.relabel torch-2.14.1-cp311-….whl --version 2.16.0.dev20261009+cu130 --into wheels

Label a release from the default index, which is a build for CUDA, with a CUDA variant: its version.py says so.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.rig.nightly_index.archive import Archive, ArchivePlan, Copied, Member, deflated
from tests.rig.nightly_index.real_wheel import RealWheel
from tests.rig.wheel_maker import wheel_filename

_DATA_DESCRIPTOR = 0x8
_START = "torch/__init__.py"
_DEATH = b'raise ImportError("libtorch_cuda.so: undefined symbol: _ZN3rig4deadEv")\n'


@dataclass(frozen=True, slots=True)
class Label:
    """What a release is made to be.

    `requires` are the Requires-Dist lines, None for those of the release. `edits` are files inside the wheel with their
    new content, None to leave one out: a planted commit of Python files. `note` is a comment in version.py that makes the
    wheel differ from its twins, `is_dead` lets its import fail, `claims` is what METADATA says instead of the version.
    """

    version: str
    revision: str
    requires: tuple[str, ...] | None = None
    edits: Mapping[str, bytes | None] = field(default_factory=dict)
    note: str = ""
    is_dead: bool = False
    claims: str | None = None


def filename_of(wheel: RealWheel, label: Label, platform: str | None = None) -> str:
    """The name of the nightly's file; `platform` replaces the platform tag."""
    tag = wheel.tag if platform is None else "-".join([*wheel.tag.split("-")[:2], platform])
    return wheel_filename("torch", label.version, tag)


def metadata_of(wheel: RealWheel, label: Label) -> str:
    """METADATA of the nightly."""
    head, blank, body = wheel.description[0].partition("\n\n")
    lines = head.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("Version: "))
    lines[at] = f"Version: {label.claims or label.version}"
    if label.requires is not None:
        lines = [line for line in lines if not line.startswith(("Requires-Dist: ", "Provides-Extra: "))]
        lines += [f"Requires-Dist: {requirement}" for requirement in label.requires]
    return "\n".join(lines) + (blank + body if blank else "\n")


def version_file_of(wheel: RealWheel, label: Label) -> str:
    """torch/version.py of the nightly. Raises `ValueError` when the release has none that can be rewritten."""
    text = wheel.description[2]
    for field_name, value in (("__version__", label.version), ("git_version", label.revision)):
        text, count = re.subn(rf"(?m)^{field_name}( *:[^=]*)? = .*$", f"{field_name} = {value!r}", text)
        if count != 1:
            raise ValueError(f"{wheel.path.name}: torch/version.py does not say {field_name} once but {count} times")
    return text + (f"# {label.note}\n" if label.note else "")


def relabelled(wheel: RealWheel, label: Label) -> Archive:
    """The whole nightly, planned: nothing big is read."""
    new_info = f"torch-{label.version}.dist-info"
    contents: dict[str, bytes | None] = {
        "torch/version.py": version_file_of(wheel, label).encode(),
        **({_START: _DEATH + wheel.read(_START)} if label.is_dead else {}),
        **label.edits,
        f"{new_info}/METADATA": metadata_of(wheel, label).encode(),
    }
    contents[f"{new_info}/RECORD"] = _record(wheel, new_info, contents).encode()
    plan = ArchivePlan()
    for piece in _pieces(wheel, new_info, frozenset(contents)):
        _add(plan, wheel, piece, contents)
    for name in sorted(set(contents) - _names(wheel, new_info)):
        if (content := contents[name]) is not None:
            plan.add(*deflated(name, content))
    return plan.finish()


@dataclass(frozen=True, slots=True)
class _Run:
    """Members that stay as they are, one behind the other."""

    begin: int
    end: int
    members: tuple[tuple[int, Member], ...]


@dataclass(frozen=True, slots=True)
class _Changed:
    """A member that gets another name or content; `begin` is where its header stands in the release."""

    begin: int
    member: Member
    name: str


def _pieces(wheel: RealWheel, new_info: str, changed: frozenset[str]) -> Iterator[_Run | _Changed]:
    run: list[tuple[int, int, Member]] = []
    for begin, end, member in wheel.members:
        name = _renamed(member.name, wheel.info, new_info)
        if name == member.name and name not in changed:
            run.append((begin, end, member))
            continue
        if run:
            yield _run(run)
            run = []
        yield _Changed(begin, member, name)
    if run:
        yield _run(run)


def _run(members: Sequence[tuple[int, int, Member]]) -> _Run:
    return _Run(members[0][0], members[-1][1], tuple((begin, member) for begin, _, member in members))


def _add(plan: ArchivePlan, wheel: RealWheel, piece: _Run | _Changed, contents: Mapping[str, bytes | None]) -> None:
    match piece:
        case _Run(begin, end, members):
            plan.copy(Copied(wheel.path, begin, end - begin), members)
        case _Changed(begin, member, name) if name not in contents:
            same = (member.date_time, member.attributes)
            flags = member.flags & ~_DATA_DESCRIPTOR  # its sizes stand in the new header
            moved = Member(name, member.crc, member.compressed, member.size, member.method, flags, *same)
            plan.add(moved, wheel.stored(begin, member))
        case _Changed(_, member, name):
            content = contents[name]
            if content is not None:
                plan.add(*deflated(name, content, like=member))


def _renamed(name: str, old_info: str, new_info: str) -> str:
    return new_info + name.removeprefix(old_info) if name.startswith(f"{old_info}/") else name


def _names(wheel: RealWheel, new_info: str) -> set[str]:
    return {_renamed(member.name, wheel.info, new_info) for _, _, member in wheel.members}


def _record(wheel: RealWheel, new_info: str, contents: Mapping[str, bytes | None]) -> str:
    """RECORD of the nightly: its lines that tell of unchanged files are those of the release."""
    lines, told = [], set()
    for line in wheel.description[1].splitlines():
        name = _renamed(line.partition(",")[0], wheel.info, new_info)
        told.add(name)
        if name not in contents:
            lines.append(_renamed(line, wheel.info, new_info))
        elif (content := contents[name]) is not None:
            lines.append(_record_line(name, content))
    new = ((name, content) for name, content in contents.items() if name not in told and content is not None)
    lines += [_record_line(name, content) for name, content in new]
    own = f"{new_info}/RECORD"
    return "\n".join([*(line for line in lines if line.partition(",")[0] != own), f"{own},,"]) + "\n"


def _record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def write(wheel: RealWheel, label: Label, folder: Path) -> Path:
    """Put the nightly into a folder, for a machine that has no network."""
    folder.mkdir(parents=True, exist_ok=True)
    return relabelled(wheel, label).write(folder / filename_of(wheel, label))


def _edit(text: str) -> tuple[str, bytes]:
    name, _, file = text.partition("=")
    return name, Path(file).read_bytes()


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a relabelled wheel and print its path."""
    parser = argparse.ArgumentParser(prog="python -m tests.rig.nightly_index.relabel")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--version", required=True, metavar="2.16.0.dev20261009+cu130")
    parser.add_argument("--revision", default="0" * 40, help="git_version of the nightly")
    parser.add_argument("--edit", type=_edit, action="append", default=[], metavar="torch/x.py=FILE")
    parser.add_argument("--into", type=Path, default=Path())
    chosen = parser.parse_args(arguments)
    label = Label(chosen.version, chosen.revision, edits=dict(chosen.edit))
    print(write(RealWheel(chosen.wheel), label, chosen.into))


if __name__ == "__main__":
    main()
