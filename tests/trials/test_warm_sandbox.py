"""Forked trials in the sandbox: they tell what fresh ones outside tell, and cannot reach each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bisect_tool.trials.warm import WarmServers
from tests.rig.sandboxes import needs_sandbox
from tests.rig.warm_environment import make_environment
from tests.trials.test_warm import KINDS, MODULES, Bench

pytestmark = needs_sandbox
SOME = ("cause", "assertion", "exit_125", "segfault", "abort", "thread", "checks", "beside", "multiprocessing",
        "subprocess", "variables", "files", "session", "warns")  # fmt: skip
RUN = "import heavy\nimport os, sys\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("build") / "venv", MODULES)


@pytest.fixture
def inside(programs: Path, tmp_path: Path) -> Iterator[Bench]:
    (tmp_path / "trials").mkdir()
    with WarmServers(programs) as servers:
        yield Bench(programs, tmp_path / "trials", servers, [], {**os.environ, "BISECT_SANDBOX": "on"})


def test_a_fork_inside_tells_what_a_fresh_start_outside_tells(inside: Bench) -> None:
    outside = replace(inside, environ={**os.environ, "BISECT_SANDBOX": "off"})
    for kind in SOME:
        source = f"{RUN}{KINDS[kind]}\n"
        seen = [inside._settled(one.run(source, warm=warm)) for one, warm in ((outside, False), (inside, True))]
        fresh, forked = (
            replace(one, left_running=0) for one in seen
        )  # Python's resource tracker may take a moment longer
        assert forked == fresh, kind
    assert inside.reasons == []


def test_its_own_folder_is_all_that_a_fork_sees_of_trials(inside: Bench) -> None:
    here = str(inside.folder)
    source = f"{RUN}print(os.listdir({here!r}), sorted(os.listdir('/'.join(__file__.split('/')[:-2]))))\n"
    one, two = (inside.run(source, warm=True) for _ in range(2))
    assert (one.warm, two.warm, inside.reasons) == (True, True, [])
    assert (one.output, two.output) == tuple(f"['{name}'] ['command.sh', 'repro', 'run']\n" for name in ("00", "01"))


def test_a_fork_cannot_change_what_the_next_is_forked_from(inside: Bench) -> None:
    source = (
        f"{RUN}import ctypes\nlibc = ctypes.CDLL(None)\n"
        "for pid in (1, heavy.IMPORTED_BY, os.getppid()):\n"
        "    try:\n        open(f'/proc/{pid}/mem', 'r+b')\n        print('opened', pid)\n"
        "    except OSError as error:\n        print(type(error).__name__, libc.ptrace(16, pid, 0, 0))\n"
    )
    assert inside.run(source, warm=True).output == "PermissionError -1\n" * 3


def test_a_fork_that_replaces_its_folder_by_a_link_leads_nowhere(inside: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere"
    (secret / "run" / "exceptions").mkdir(parents=True)
    (secret / "checks.jsonl").write_text('{"check": "geheim", "ok": false}\n')
    source = (
        f"{RUN}own = os.path.dirname(os.environ['BISECT_CHECKS'])\nos.rename(own, own + '-gone')\n"
        f"os.symlink({str(secret)!r}, own)\nos._exit(0)\n"
    )
    seen = inside.run(source, warm=True)
    assert (seen.warm, seen.checks, seen.exit_status) == (True, (), 0)
    assert sorted(path.name for path in secret.iterdir()) == ["checks.jsonl", "run"]
    kept = [path.name for path in inside.folder.iterdir() if path.is_symlink()]
    assert kept == []
    assert inside.run(f"{RUN}print('next')\n", warm=True).output == "next\n"


def test_nothing_is_left_when_the_servers_are_closed(inside: Bench) -> None:
    inside.run(f"{RUN}print(heavy.IMPORTED_BY)\n", warm=True)
    (server,) = (one for servers in inside.servers._servers.values() for one in servers)
    assert server.stay is not None
    inside.servers.__exit__(None, None, None)
    assert not psutil.pid_exists(server.process.pid)
    assert not server.places.exists()
    assert not server.stay.exists()
