"""Whether trials can run in a sandbox here, and why not."""

from __future__ import annotations

import os
from collections.abc import Iterator

from bisect_tool.environments.sandbox import ON, SHOWS, Sandbox, find_sandbox
from bisect_tool.environments.sandbox_faults import SandboxBroken
from bisect_tool.reports.checkup import Finding, Level
from bisect_tool.runs.doctor.place import Place

ORDER = 95
_DOCS = "docs/security.md"


def check(place: Place) -> Iterator[Finding]:
    """One line for what works, one for each thing that is weaker than it could be."""
    wish = place.settings.sandbox
    needed: Level = "problem" if wish == ON else "ok"
    shows = {SHOWS: place.settings.sandbox_shows or ""}
    try:
        sandbox = find_sandbox({**place.environ, **shows})
    except SandboxBroken as broken:
        says = f"trials run without a sandbox (setting {wish}): {broken.what}"
        fix = f"{broken.advice}; needed for code of others only ({_DOCS})"
        yield Finding(about="sandbox", level=needed, says=says, fix=fix, facts={"works": False, "setting": wish})
        return
    printed = place.call([sandbox.program, "--version"]) or ""
    says = f"{printed.strip() or 'bubblewrap'} works; the setting is {wish}"
    yield Finding(
        about="sandbox", level="ok", says=says, facts={"works": True, "setting": wish, "path": sandbox.program}
    )
    if wish == ON:
        yield from _weaker(sandbox.options)
    yield from _unseen(place, sandbox)


def _unseen(place: Place, sandbox: Sandbox) -> Iterator[Finding]:
    """Compilers that trials find outside and not inside, where what is compiled would fail on every build."""
    for variable, usual in (("CXX", "g++"), ("CC", "gcc")):
        path = place.which((place.environ.get(variable) or usual).split(" ")[0])
        if path and not sandbox.shows_file(path):
            says = f"the compiler {path} is not seen in the sandbox: what compiles fails there on every build"
            fix = f"`--sandbox-shows` with the folder that it is installed in, or name it by its path in {variable}"
            yield Finding(about="sandbox", level="warning", says=says, fix=fix)


def _weaker(options: tuple[str, ...]) -> Iterator[Finding]:
    if not options:
        says = "processes in the sandbox may make further user namespaces, which shows them more of the kernel"
        fix = "in a container, let /proc/sys be written: `--security-opt systempaths=unconfined`"
        yield Finding(about="sandbox", level="warning", says=says, fix=fix)
    if os.geteuid() == 0:
        says = "the tool runs as root: for the kernel, what runs in the sandbox is root without capabilities"
        fix = f"run workers as a user of their own, who owns nothing but the cache ({_DOCS})"
        yield Finding(about="sandbox", level="warning", says=says, fix=fix)
