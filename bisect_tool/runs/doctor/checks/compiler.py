"""What Inductor and Triton compile with."""

from __future__ import annotations

from collections.abc import Iterator

from bisect_tool.reports.checkup import Finding
from bisect_tool.runs.doctor.place import Place

ORDER = 70
_FIX = "install one (Debian: `apt-get install g++`), or name it in CXX"


def check(place: Place) -> Iterator[Finding]:
    """A C++ compiler, for Inductor on the CPU; a C compiler, for Triton; ptxas, which comes along."""
    for name, variable, programs, purpose in (
        ("C++", "CXX", ("g++", "clang++"), "Inductor cannot compile for the CPU"),
        ("C", "CC", ("gcc", "clang", "cc"), "Triton cannot compile its launcher"),
    ):
        yield _compiler(place, name, variable, programs, purpose)
    if place.machine.device == "cuda":
        says = "ptxas comes with every triton wheel, and the CUDA libraries with torch: no toolkit is needed"
        yield Finding(about="compiler", level="ok", says=says)
    if place.environ.get("TRITON_PTXAS_PATH"):
        says = "TRITON_PTXAS_PATH is set, and trials do not see it"
        yield Finding(
            about="compiler", level="warning", says=says, fix="set it under `env:` in the spec if it is meant"
        )


def _compiler(place: Place, name: str, variable: str, programs: tuple[str, ...], purpose: str) -> Finding:
    named = place.environ.get(variable)
    for program in (named,) if named else programs:
        path = place.which(program)
        printed = place.call([path, "--version"]) if path else None
        if path and printed:
            version = printed.splitlines()[0].strip()
            return Finding(about="compiler", level="ok", says=f"{name}: {version} at {path}", facts={"path": path})
    says = f"no {name} compiler ({named or ', '.join(programs)}): {purpose}"
    return Finding(about="compiler", level="warning", says=says, fix=_FIX)
