from __future__ import annotations

from pathlib import Path

from bisect_tool.environments.environment import Environment
from bisect_tool.environments.verify import Finding, verify
from tests.environments.conftest import Bench
from tests.rig.toy import ToyBuild
from tests.rig.wheel_maker import WheelFault


def installed(environment: Environment, name: str) -> Path:
    (found,) = environment.folder.glob(f"venv/lib/python*/site-packages/{name}")
    return found


def test_nothing_to_find(bench: Bench) -> None:
    assert verify(bench.cache) == []
    environment = bench.make(bench.key(bench.build()))
    installed(environment, "toy/runtime.py").with_suffix(".pyc").write_bytes(b"not named in RECORD")
    assert verify(bench.cache) == []


def test_a_file_that_was_changed_in_place_is_found(bench: Bench) -> None:
    environment = bench.make(bench.key(bench.build()))
    with installed(environment, "toy/runtime.py").open("a") as file:
        file.write("# a repro was here\n")
    finding = Finding(environment.folder, "toy", "1.0", "toy/runtime.py", "was changed")
    assert verify(bench.cache) == [finding]
    assert str(finding) == (
        f"toy 1.0: toy/runtime.py was changed\n  where: {environment.folder}\n"
        "  next:  `bisect cache verify --remove` removes this environment, so that it is made again"
    )


def test_a_change_shows_in_every_environment_that_shares_the_file(bench: Bench) -> None:
    bench.publish("helper", ToyBuild("1.0"))
    build = bench.build()
    environments = [bench.make(bench.key(build)), bench.make(bench.key(build, requires=("helper",)))]
    with installed(environments[0], "toy/version.py").open("a") as file:
        file.write("\n")
    assert {finding.folder for finding in verify(bench.cache)} == {one.folder for one in environments}


def test_missing_files_are_found(bench: Bench) -> None:
    environment = bench.make(bench.key(bench.build()))
    installed(environment, "toy/__main__.py").unlink()
    assert [(found.file, found.problem) for found in verify(bench.cache)] == [("toy/__main__.py", "is missing")]
    installed(environment, "toy-1.0.dist-info/RECORD").unlink()
    assert [(found.file, found.problem) for found in verify(bench.cache)] == [("toy/RECORD", "is missing")]


def test_a_folder_in_the_place_of_a_file_is_found(bench: Bench) -> None:
    environment = bench.make(bench.key(bench.build()))
    file = installed(environment, "toy/__main__.py")
    file.unlink()
    file.mkdir()
    assert [(found.file, found.problem) for found in verify(bench.cache)] == [
        ("toy/__main__.py", "cannot be read: Is a directory")
    ]


def test_other_packages_are_not_looked_at(bench: Bench) -> None:
    bench.publish("helper", ToyBuild("1.0"))
    environment = bench.make(bench.key(bench.build(), requires=("helper",)))
    installed(environment, "helper/runtime.py").unlink()
    assert verify(bench.cache) == []


def test_a_record_that_was_wrong_from_the_start_is_told(bench: Bench) -> None:
    bench.publish("careless-package", ToyBuild("2.0", broken={WheelFault.WRONG_RECORD}))
    bench.make(bench.key(bench.build("careless-package", "2.0")))
    assert {found.problem for found in verify(bench.cache)} == {"was changed"}
