from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import psutil
import pytest

from bisect_tool.environments import locks
from bisect_tool.environments.environment import (
    MARK,
    BuildUnusable,
    Checking,
    Environment,
    EnvironmentKey,
    Making,
    Waiting,
    remove,
)
from bisect_tool.errors import MachineFault
from tests.environments.conftest import Bench
from tests.rig.index import RequestKind
from tests.rig.index_faults import hang
from tests.rig.toy import ToyBuild
from tests.rig.wheel_maker import make_wheel

# Makes the environment of toy 1.0 as another process would: arguments are the cache, the index and the home.
MAKER = """
import sys
from pathlib import Path
from bisect_tool.builds.build import Wanted
from bisect_tool.builds.channel import Access, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import EnvironmentKey, Environments
from bisect_tool.environments.interpreter import find_interpreter
from bisect_tool.environments.uv import find_uv
import os
cache = open_cache(Path(sys.argv[1]))
uv = find_uv(cache.uv, os.environ)
interpreter = find_interpreter(None, uv)
channel = open_channel("release", Access(index=sys.argv[2]))
build = channel.listing(Wanted("toy", target_for(interpreter.version))).builds[0]
key = EnvironmentKey(build, interpreter)
with Environments(cache, uv, os.environ).use(
    key, lambda: channel.installation(build), device="cpu", as_of=None
) as environment:
    print("cached" if environment.cached else "made", flush=True)
"""


def run(environment: Environment, *words: str) -> str:
    return subprocess.run(
        [environment.programs / "python", *words], capture_output=True, text=True, check=True, env={}
    ).stdout.strip()


def test_made_and_proven(bench: Bench) -> None:
    key = bench.key(bench.build())
    assert not bench.environments().is_ready(key)
    environment = bench.make(key)
    assert bench.environments().is_ready(key)
    assert not environment.cached
    assert environment.folder == bench.cache.environments / key.folder_name
    assert (environment.health.version, environment.health.packages) == ("1.0", {"toy": "1.0"})
    assert environment.health.python == bench.interpreter.version
    assert bench.steps == [Making(), Checking()]
    assert run(environment, "-c", "import toy; print(toy.__version__)") == "1.0"


def test_the_second_time_nothing_is_asked_for(bench: Bench) -> None:
    key = bench.key(bench.build())
    first = bench.make(key)
    bench.index.log.clear()
    bench.steps.clear()
    second = bench.make(key)
    assert second.cached
    assert (second.folder, second.health, second.seconds) == (first.folder, first.health, 0.0)
    assert bench.index.log.count() == 0
    assert bench.steps == []


def test_a_new_environment_takes_the_wheel_from_the_cache_of_uv(bench: Bench) -> None:
    key = bench.key(bench.build())
    remove(bench.make(key).folder)
    bench.index.log.clear()
    assert not bench.make(key).cached
    assert bench.index.log.count(RequestKind.FILE) == 0


def test_its_files_are_hard_links_into_the_cache_of_uv(bench: Bench) -> None:
    environment = bench.make(bench.key(bench.build()))
    (runtime,) = environment.folder.glob("venv/lib/python*/site-packages/toy/runtime.py")
    (cached,) = bench.cache.uv.rglob("toy/runtime.py")
    assert runtime.samefile(cached)


def test_a_failure_leaves_nothing_behind(bench: Bench) -> None:
    bench.publish("needy", ToyBuild("1.0", requires=("no-such-package",)))
    key = bench.key(bench.build("needy"))
    with pytest.raises(BuildUnusable):
        bench.make(key)
    assert list(bench.cache.environments.iterdir()) == []


def test_an_exception_of_the_user_goes_through(bench: Bench) -> None:
    key = bench.key(bench.build())
    with pytest.raises(KeyError), bench.use(key):
        raise KeyError("from a trial")
    assert bench.environments().is_ready(key)


def test_other_content_under_the_same_name_is_another_environment(bench: Bench) -> None:
    first = bench.make(bench.key(bench.build()))
    make_wheel(bench.index.folder, "toy", "1.0", modules={"toy/__init__.py": "__version__ = '1.0'\nnew = True\n"})
    second = bench.make(bench.key(bench.build()))
    assert not second.cached
    assert second.folder != first.folder
    assert run(second, "-c", "import toy; print(toy.new)") == "True"
    assert run(first, "-c", "import toy; print(hasattr(toy, 'new'))") == "False"


def test_what_an_environment_depends_on(bench: Bench) -> None:
    build, python = bench.build(), bench.interpreter
    keys = [
        EnvironmentKey(build, python),
        EnvironmentKey(bench.build(version="1.1"), python),
        EnvironmentKey(build, python, ("helper",)),
        EnvironmentKey(build, python, ("helper==1.0",)),
        EnvironmentKey(build, python, base_system=True),
    ]
    assert len({key.folder_name for key in keys}) == len(keys)
    assert EnvironmentKey(build, python, ("a", "b")).digest == EnvironmentKey(build, python, ("b", "a")).digest


def test_a_killed_making_is_repaired(bench: Bench) -> None:
    bench.index.plant("*.whl", hang())
    process = start(bench)
    wait_for(lambda: bool(list(bench.cache.environments.glob("*/venv/bin/python"))))
    time.sleep(0.3)  # until uv asks for the wheel
    (uv,) = psutil.Process(process.pid).children()
    process.kill()
    process.communicate()
    wait_for(lambda: not uv.is_running())
    assert len(list(bench.cache.environments.iterdir())) == 1
    bench.index.heal()
    environment = bench.make(bench.key(bench.build()))
    assert (environment.cached, environment.health.version) == (False, "1.0")
    assert list(bench.cache.environments.iterdir()) == [environment.folder]


@pytest.mark.parametrize(
    "left", ["", "{", '{"format": 1, "state": "making"}', '{"format": 99, "state": "ready"}', "[]"]
)
def test_a_mark_that_does_not_say_ready_is_made_again(bench: Bench, left: str) -> None:
    key = bench.key(bench.build())
    folder = bench.make(key).folder
    (folder / MARK).write_text(left)
    assert not bench.environments().is_ready(key)
    assert not bench.make(key).cached


def test_a_start_that_left_only_a_piece_of_the_mark(bench: Bench) -> None:
    key = bench.key(bench.build())
    folder = bench.cache.environments / key.folder_name
    folder.mkdir()
    (folder / f"{MARK}.part").write_text("{")
    assert bench.make(key).folder == folder


def test_a_folder_of_somebody_else_is_left_alone(bench: Bench) -> None:
    key = bench.key(bench.build())
    folder = bench.cache.environments / key.folder_name
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(MachineFault, match="without the mark of bisect"):
        bench.make(key)
    assert (folder / "thesis.txt").read_text() == "years of work"


def test_two_processes_make_one_environment_once(bench: Bench) -> None:
    processes = [start(bench) for _ in range(2)]
    said = [process.communicate()[0].strip() for process in processes]
    assert sorted(said) == ["cached", "made"]
    assert bench.index.log.count(RequestKind.FILE, method="GET") == 1


def test_who_waits_for_another_process_says_so(bench: Bench) -> None:
    key = bench.key(bench.build())
    bench.make(key)
    lock = bench.cache.locks / f"{key.folder_name}.lock"
    bench.steps.clear()
    with ThreadPoolExecutor(1) as pool:
        with locks.exclusive(lock):
            waiter = pool.submit(bench.make, key)
            wait_for(lambda: bench.steps == [Waiting()])
        assert waiter.result().cached


def test_users_do_not_wait_for_each_other(bench: Bench) -> None:
    key = bench.key(bench.build())
    bench.make(key)
    bench.steps.clear()
    with bench.use(key), bench.use(key) as environment:
        assert environment.cached
    assert bench.steps == []


def test_a_removal_does_not_follow_links(bench: Bench, tmp_path: Path) -> None:
    folder = bench.make(bench.key(bench.build())).folder
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "file").write_text("x")
    (folder / "link").symlink_to(mine)
    (folder / "venv" / "link").symlink_to(mine)
    remove(folder)
    assert not folder.exists()
    assert (mine / "file").exists()


def test_another_device_is_proven_without_installing_again(bench: Bench) -> None:
    key = bench.key(bench.build())
    folder = bench.make(key).folder
    with bench.environments().use(key, _never, device="meta", as_of=None) as environment:
        assert (environment.folder, environment.cached) == (folder, True)
    assert bench.make(key).cached


def _never() -> NoReturn:
    raise AssertionError("nothing is to be installed")


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start(bench: Bench) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", MAKER, str(bench.cache.root), bench.index.url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=bench.environ)
