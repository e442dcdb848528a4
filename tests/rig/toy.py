"""Toy packages: a history of builds, each of which behaves as planted.

    toy_package(folder, "toy", [
        ToyBuild("1.0", {"grad": "pass"}, uploaded=day(1)),
        ToyBuild("1.1", {"grad": "RuntimeError: gradient is zero"}, uploaded=day(2)),
    ])

In the installed build ``toy.run("grad")`` acts, as does ``python -m toy grad``. A behaviour is a text, a `Behaviour`,
or several in turn. Texts: ``pass``, ``TYPE: MESSAGE`` (an exception), ``SIGSEGV`` (any signal), ``exit 125``, ``hang``,
``leak`` (leaves a process behind that holds the output open), ``sleep SECONDS``, ``memory MEGABYTES``, ``print TEXT``,
``check ok NAME``, ``check failed NAME: MESSAGE``, ``value NAME NUMBER``, ``value NAME NUMBER NOISE`` (the standard deviation
of the number's logarithm).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.rig.wheel_maker import WheelFault, make_wheel

RUNTIME = Path(__file__).with_name("toy_runtime.py").read_text(encoding="utf-8")
FIRST_DAY = datetime(2026, 1, 1, 4, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """`do` is one of the texts above.

    An exception is raised in a function named `within`, from `cause` (also ``TYPE: MESSAGE``) when there is one. It
    happens with the probability `rate`, drawn anew in every process, and only when the environment variable named first
    in `when` has the value named second.
    """

    do: str
    within: str = "compute"
    cause: str | None = None
    rate: float = 1.0
    when: tuple[str, str] | None = None


Planted = str | Behaviour | Sequence[str | Behaviour]


@dataclass(frozen=True, slots=True)
class ToyBuild:
    """One build; cases that `behaviour` does not name pass.

    `revision` is in ``toy.version.git_version``, as in torch. `imported_version` is the version that ``__version__``
    claims instead of the true one.
    """

    version: str
    behaviour: Mapping[str, Planted] = field(default_factory=dict)
    uploaded: datetime | None = None
    yanked: str | None = None
    revision: str | None = None
    requires: tuple[str, ...] = ()
    requires_python: str | None = None
    broken: Collection[WheelFault] = ()
    build_number: str | None = None
    tag: str = "py3-none-any"
    imported_version: str | None = None


def day(number: int) -> datetime:
    """The moment of upload on the `number`-th day of a history, counted from 1."""
    return FIRST_DAY + timedelta(days=number - 1)


def toy_package(
    folder: Path, package: str, history: Sequence[ToyBuild], *, module: str | None = None
) -> tuple[Path, ...]:
    """Make the wheels of a history. `module` is what is imported; left out, the package's name up to the first dash."""
    imported = module or package.partition("-")[0]
    return tuple(_toy_wheel(folder, package, build, imported) for build in history)


def _toy_wheel(folder: Path, package: str, build: ToyBuild, module: str) -> Path:
    return make_wheel(
        folder,
        package,
        build.version,
        modules=toy_modules(build, module),
        requires=build.requires,
        requires_python=build.requires_python,
        tag=build.tag,
        build_number=build.build_number,
        broken=build.broken,
        uploaded=build.uploaded,
        yanked=build.yanked,
    )


def toy_modules(build: ToyBuild, module: str) -> dict[str, str]:
    """The files of one build."""
    version = build.imported_version or build.version
    planted = json.dumps({case: [asdict(step) for step in _steps(told)] for case, told in build.behaviour.items()})
    start = [
        "import json",
        f"from {module} import version",
        f"from {module}.runtime import act",
        f"__version__ = {version!r}",
        f"BEHAVIOUR = json.loads({planted!r})",
        "def run(case):",
        "    act(BEHAVIOUR.get(case, []))",
    ]
    return {
        f"{module}/__init__.py": "\n".join(start) + "\n",
        f"{module}/__main__.py": f"import sys\nimport {module}\nfor case in sys.argv[1:]:\n    {module}.run(case)\n",
        f"{module}/runtime.py": RUNTIME,
        f"{module}/version.py": f"__version__ = {version!r}\ngit_version = {build.revision!r}\ncuda = None\n",
    }


def _steps(told: Planted) -> tuple[Behaviour, ...]:
    if isinstance(told, str):
        return (Behaviour(told),)
    if isinstance(told, Behaviour):
        return (told,)
    return tuple(step if isinstance(step, Behaviour) else Behaviour(step) for step in told)


def toy_script(folder: Path, *, module: str = "toy", name: str = "repro.py") -> Path:
    """A repro that acts the cases named by its arguments (none: ``main``) and says how it went."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["import sys", f"import {module}", 'for case in sys.argv[1:] or ["main"]:', f"    {module}.run(case)"]
    path.write_text("\n".join([*lines, f'print("fine with", {module}.__version__)']) + "\n", encoding="utf-8")
    return path
