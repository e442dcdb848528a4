"""Questions about toy packages, as folders that are mounted into the image."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.rig.toy import Planted, ToyBuild, day, toy_package, toy_script

FAILS = "RuntimeError: gradient is all zero"

# What Inductor and Triton do in a trial: C++ alone, and C against the header files of the interpreter of the build.
COMPILES = r"""
import pathlib, subprocess, sysconfig
import compiled
pathlib.Path("plain.cpp").write_text("#include <vector>\nextern \"C\" int two() { return std::vector<int>(2).size(); }\n")
pathlib.Path("module.c").write_text("#include <Python.h>\nint one(void) { return PY_MAJOR_VERSION; }\n")
include = sysconfig.get_path("include")
subprocess.run(["g++", "-shared", "-fPIC", "-o", "plain.so", "plain.cpp"], check=True)
subprocess.run(["gcc", "-shared", "-fPIC", "-I", include, "-o", "module.so", "module.c"], check=True)
"""


@dataclass(frozen=True, slots=True)
class Toys:
    """The folders of a place: `wheels`, `specs`, `cache`, `results`. The first change of `toy` is at 1.7 of 1.0 to 1.11."""

    place: Path

    def __post_init__(self) -> None:
        for folder in (self.wheels, self.specs):
            folder.mkdir(parents=True)
        self._publish("toy", 12, {number: {"main": FAILS} for number in range(7, 12)})
        self._publish("slow", 6, {number: {"main": "sleep 2"} for number in range(6)})
        self._publish("compiled", 2, {})
        toy_script(self.specs, name="repro_toy.py")
        toy_script(self.specs, name="repro_slow.py", module="slow")
        (self.specs / "repro_compiled.py").write_text(COMPILES)
        for name in ("toy", "slow", "compiled"):
            self._spec(name)

    @property
    def wheels(self) -> Path:
        return self.place / "wheels"

    @property
    def specs(self) -> Path:
        return self.place / "specs"

    def _publish(self, package: str, count: int, behaviour: Mapping[int, Mapping[str, Planted]]) -> None:
        history = [ToyBuild(f"1.{n}", behaviour.get(n, {}), uploaded=day(n + 1)) for n in range(count)]
        toy_package(self.wheels, package, history)

    def _spec(self, name: str) -> None:
        keys = {"name": name, "package": name, "channel": "wheelhouse", "from": "1.0", "flaky": "no", "device": "cpu"}
        (self.specs / f"{name}.yaml").write_text(json.dumps({**keys, "script": f"repro_{name}.py", "timeout": 60}))
