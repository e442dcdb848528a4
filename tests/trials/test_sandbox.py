"""What a repro may try in the sandbox, and what comes of it. `docs/security.md` names these tests beside its promises."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from bisect_tool.environments.installing import purelib_of
from bisect_tool.errors import MachineFault
from bisect_tool.trials.failure import CannotJudge, MachineAtFault, Passed
from bisect_tool.trials.judge import judge
from bisect_tool.trials.trial import FinishedTrial, TrialOrder, run_trial
from tests.rig.sandboxes import needs_sandbox
from tests.rig.warm_environment import make_environment

pytestmark = needs_sandbox
TRY = """
import ctypes, errno, json, os, signal, socket, sys
def attempt(name, do):
    try:
        print(name, "DID", repr(do())[:200])
    except (OSError, ctypes.ArgumentError) as error:
        print(name, type(error).__name__)
"""


@dataclass(frozen=True)
class Cell:
    """A cache with an environment, other trials and a database, and a folder for what others must not see."""

    root: Path
    programs: Path

    def run(
        self,
        code: str,
        *,
        timeout: float = 30,
        sandbox: str = "on",
        bounds: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> FinishedTrial:
        files = (("repro.py", (TRY + code).encode()),)
        order = TrialOrder(files, ("python", "repro.py"), variables or {}, timeout, "cpu")
        folder = self.root / "cache" / "trials" / f"own-{len(list((self.root / 'cache' / 'trials').iterdir()))}"
        own = {f"BISECT_TRIAL_{name.upper()}": value for name, value in (bounds or {}).items()}
        environ = {**os.environ, **own, "GITHUB_TOKEN": "geheim", "BISECT_SANDBOX": sandbox}
        return run_trial(order, programs=self.programs, folder=folder, environ=environ)

    def said(self, code: str, **bounds: str) -> list[str]:
        return self.run(code, bounds=bounds).observation.output.splitlines()


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache") / "environments"
    make_environment(folder / "other" / "venv")
    return make_environment(folder / "own" / "venv")


@pytest.fixture
def cell(programs: Path, tmp_path: Path) -> Cell:
    for name in ("cache/trials/other/log.txt", "cache/results.sqlite", "home/.ssh/id"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("geheim")
    return Cell(tmp_path, programs)


def test_it_sees_its_build_and_its_own_folder_and_nothing_else(cell: Cell) -> None:
    hidden = [
        *(cell.root / name for name in ("cache/trials/other/log.txt", "cache/results.sqlite", "home/.ssh/id")),
        cell.programs.parent.parent.parent / "other" / "venv" / "pyvenv.cfg",
        Path("/etc/shadow"),
        Path("/etc/ssh"),
        Path("/run"),
        Path("/var"),
        Path.home() / ".bashrc",
        Path(__file__),
    ]
    code = f"for path in {[str(one) for one in hidden]!r}:\n    attempt(path, lambda: os.stat(path))\n"
    code += f"print(os.listdir({str(cell.root / 'cache' / 'trials')!r}))\n"
    *told, listed = cell.said(code)
    assert told == [f"{one} FileNotFoundError" for one in hidden]
    assert listed == "['own-1']"


def test_it_is_another_user_with_no_rights_in_namespaces_of_its_own(cell: Cell) -> None:
    code = (
        "print(os.getuid(), os.getgid(), socket.gethostname())\n"
        "print(sorted(l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapBnd', 'NoNewPrivs'))))\n"
        "print(' '.join(os.readlink('/proc/self/ns/' + n) for n in ('user', 'pid', 'ipc', 'uts', 'net', 'mnt', 'cgroup')))\n"
        "attempt('tty', lambda: os.open('/dev/tty', os.O_RDWR))\n"
    )
    user, rights, spaces, terminal = cell.said(code)
    assert user == "60000 60000 sandbox"
    assert rights == "['0000000000000000', '0000000000000000', '1']"
    outside = {
        str(Path("/proc/self/ns", name).readlink()) for name in ("user", "pid", "ipc", "uts", "net", "mnt", "cgroup")
    }
    assert not outside & set(spaces.split())
    assert terminal == "tty OSError"


def test_it_finds_no_variable_of_the_tool(cell: Cell) -> None:
    code = (
        "print(os.environ.get('GITHUB_TOKEN'), sorted(n for n in os.environ if n.startswith('BISECT_')))\n"
        "print(sorted(name for name in os.listdir('/proc') if name.isdigit()))\n"
        "for one in ('environ', 'mem', 'fd/0', 'maps'):\n    attempt(one, lambda: open('/proc/1/' + one, 'rb').read(1))\n"
    )
    own, processes, *told = cell.said(code)
    assert own == "None ['BISECT_CHECKS', 'BISECT_DEVICE', 'BISECT_EXCEPTIONS', 'BISECT_TRIAL']"
    assert processes == "['1', '2']"
    assert told == [f"{one} PermissionError" for one in ("environ", "mem", "fd/0", "maps")]


def test_it_writes_nowhere_but_into_its_own_folder(cell: Cell) -> None:
    module = purelib_of(cell.programs.parent) / "heavy.py"
    twin = cell.root / "in uv's cache.py"
    os.link(module, twin)
    places = [str(module), f"{module}.new", "/usr/new", "/etc/new", "/new", "/dev/new", "/proc/sys/kernel/core_pattern",
              "/proc/acpi/new", "/proc/sysrq-trigger", "/sys/devices/system/cpu/online", "/home/new"]  # fmt: skip
    code = f"for path in {places!r}:\n    attempt(path, lambda: open(path, 'a').write('x'))\n"
    code += f"attempt('link', lambda: os.link({str(module)!r}, 'stolen'))\n"
    code += f"attempt('mode', lambda: os.chmod({str(module)!r}, 0o777))\nopen('own', 'w')\n"
    before, pattern = twin.read_bytes(), Path("/proc/sys/kernel/core_pattern").read_text()
    done = cell.run(code)
    told = done.observation.output.splitlines()
    assert len(told) == len(places) + 2
    assert not [line for line in told if " DID " in line]
    assert (twin.read_bytes(), Path("/proc/sys/kernel/core_pattern").read_text()) == (before, pattern)
    assert done.observation.exit_status == 0


def test_it_reaches_no_network_and_no_socket_of_outside(cell: Cell) -> None:
    abstract = f"\0bisect-test-{os.getpid()}"
    named = str(cell.root / "s")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as one,
        socket.socket(socket.AF_UNIX) as two,
    ):
        one.bind(abstract)
        one.listen()
        two.bind(named)
        two.listen()
        code = (
            f"attempt('tcp', lambda: socket.create_connection({server.getsockname()!r}, 5))\n"
            "attempt('far', lambda: socket.create_connection(('192.0.2.1', 80), 5))\n"
            "attempt('name', lambda: socket.getaddrinfo('example.org', 80))\n"
            f"attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect({abstract!r}))\n"
            f"attempt('named', lambda: socket.socket(socket.AF_UNIX).connect({named!r}))\n"
            "print([name for _, name in socket.if_nameindex()])\n"
            "server = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(server.getsockname()).close()\n"
        )
        done = cell.run(code)
    assert done.observation.output.splitlines() == [
        "tcp ConnectionRefusedError", "far OSError", "name gaierror", "abstract ConnectionRefusedError",
        "named FileNotFoundError", "['lo']",
    ]  # fmt: skip
    assert done.observation.exit_status == 0


def test_it_reaches_no_process_of_outside_and_cannot_end_its_supervisor(cell: Cell) -> None:
    code = (
        f"attempt('other', lambda: os.kill({os.getpid()}, 0))\n"
        "for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):\n    os.kill(1, number)\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print('ptrace', libc.ptrace(16, 1, 0, 0), ctypes.get_errno() == errno.EPERM)\n"
        "print('namespace', libc.unshare(0x10000000), libc.unshare(0x00020000))\n"
        "print('mount', libc.mount(b'none', b'/tmp', b'tmpfs', 0, None), ctypes.get_errno() == errno.EPERM)\n"
    )
    seen = cell.run(code).observation
    assert seen.output.splitlines() == [
        "other ProcessLookupError",
        "ptrace -1 True",
        "namespace -1 -1",
        "mount -1 True",
    ]
    assert (seen.exit_status, seen.signal) == (0, None)


def test_a_fork_bomb_ends_at_its_limit_and_nothing_is_left(cell: Cell) -> None:
    code = "import threading\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n"
    before = set(psutil.pids())
    seen = cell.run(code, bounds={"processes": "40"}).observation
    assert "40 are allowed" in seen.over
    assert isinstance(judge(seen, ()), CannotJudge)
    assert not [pid for pid in set(psutil.pids()) - before if _is_of(pid, cell)]


def _is_of(pid: int, cell: Cell) -> bool:
    try:
        return any(word.startswith(str(cell.root)) for word in psutil.Process(pid).cmdline())
    except psutil.Error:
        return False


FILLS = "blocks = open({place!r}, 'wb')\nfor _ in range(80):\n    blocks.write(bytes(10**6))\nblocks.flush()\n{then}"
WAITS = "import time\ntime.sleep(60)\n"


@pytest.mark.parametrize(
    ("code", "bound", "told"),
    [
        (FILLS.format(place="full", then=WAITS), {"disk": "20MB"}, "into its own folder, 0.0 GB are allowed"),
        (FILLS.format(place="/dev/shm/full", then=WAITS), {"memory": "60MB"}, "it filled /dev/shm, which takes 0.1 GB"),
        (FILLS.format(place="full", then=""), {"file_size": "5MB"}, "it wrote a file of 0.0 GB, no larger one is allowed"),
        ("while True:\n    pass\n", {"cpu": "1"}, "of processor time, 1 s are allowed"),
    ],
)  # fmt: skip
def test_it_takes_no_more_than_its_limits(cell: Cell, code: str, bound: dict[str, str], told: str) -> None:
    seen = cell.run(code, bounds=bound).observation
    assert told in seen.over
    assert isinstance(judge(seen, ()), CannotJudge)


def test_memory_file_systems_are_bounded_by_the_limit_of_memory(cell: Cell) -> None:
    code = "for place in ('/dev/shm', '/tmp'):\n    found = os.statvfs(place)\n"
    code += "    print(found.f_blocks * found.f_frsize <= 51 * 10**6)\n"
    assert cell.said(code, memory="50MB") == ["True", "True"]


def test_no_daemon_outlives_it(cell: Cell) -> None:
    code = (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        signal.pause()\n    os._exit(0)\n"
        "os.wait()\n"
    )
    before = set(psutil.pids())
    seen = cell.run(code).observation
    assert (seen.exit_status, seen.left_running) == (0, 1)
    assert not [pid for pid in set(psutil.pids()) - before if _is_of(pid, cell)]


def test_a_timeout_shows_where_it_was(cell: Cell) -> None:
    seen = cell.run("def stuck():\n    signal.pause()\nstuck()\n", timeout=1.0).observation
    assert (seen.timed_out, seen.signal) == (True, 6)
    assert "in stuck" in seen.output


LINKS = """
own = os.path.dirname(os.environ["BISECT_CHECKS"])
secret = {secret!r}
hook = f"{{os.environ['BISECT_EXCEPTIONS']}}/{{os.getpid()}}.json"
for path in (os.environ["BISECT_CHECKS"], hook, own + "/log.txt", own + "/observation.json", own + "/command.sh"):
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(secret, path)
os.rename(own + "/repro", own + "/gone")
os.symlink(os.path.dirname(secret), own + "/repro")
os.symlink(os.path.dirname(secret), own + "/more")
os._exit(0)
"""


@pytest.mark.parametrize("sandbox", ["on", "off"])
def test_links_that_it_leaves_lead_the_tool_nowhere(cell: Cell, sandbox: str) -> None:
    secret = cell.root / "home" / "secret.json"
    chain = json.dumps({"chain": [{"type": "Geheim", "message": "", "relation": "raised", "frames": []}]})
    secret.write_text(chain)
    secret.parent.chmod(0o755)
    done = cell.run(LINKS.format(secret=str(secret)), sandbox=sandbox)
    assert (done.observation.chain, done.observation.checks, done.observation.malformed) == ((), (), None)
    assert isinstance(judge(done.observation, ()), Passed)
    assert secret.read_text() == chain
    assert sorted(path.name for path in secret.parent.iterdir()) == [".ssh", "secret.json"]
    assert secret.parent.stat().st_mode & 0o777 == 0o755
    kept = {path.name: path.is_symlink() for path in done.folder.iterdir()}
    assert kept == {"command.sh": False, "log.txt": False, "observation.json": False, "repro": False}
    assert [path.name for path in (done.folder / "repro").iterdir()] == ["repro.py"]


@pytest.mark.parametrize(
    ("code", "malformed"),
    [
        ("os.mkfifo(path)", None),
        ("os.mkdir(path)", None),
        ("os.symlink('/dev/zero', path)", None),
        ("os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 10**9)", "it is longer than 8 MB"),
        ("open(path, 'w').write('{\"check\": 1}\\n' * 20000)", "it has more than 10000 lines"),
        ("open(path, 'wb').write(b'\\x1b]0;owned\\x07' + bytes(9))", "line 1 is not JSON"),
    ],
)
def test_a_checks_file_that_is_none(cell: Cell, code: str, malformed: str | None) -> None:
    seen = cell.run(f"path = os.environ['BISECT_CHECKS']\n{code}\n").observation
    assert seen.exit_status == 0
    assert (seen.malformed or "").startswith(malformed or "")
    assert (seen.malformed is None) == (malformed is None)
    assert "\x1b" not in (seen.malformed or "")


def test_huge_files_that_it_leaves_do_not_stay(cell: Cell) -> None:
    code = "own = os.path.dirname(os.environ['BISECT_CHECKS'])\n"
    code += "os.truncate(os.open(own + '/huge', os.O_CREAT | os.O_RDWR), 10**9)\n"
    code += "open(own + '/small', 'w').write('x')\n"
    kept = {path.name for path in cell.run(code).folder.iterdir()}
    assert kept == {"command.sh", "log.txt", "observation.json", "repro", "small"}


def test_variables_of_a_spec_reach_the_trial_alone(cell: Cell) -> None:
    """The loader complains once for each program that it starts with such a variable: here that is the repro alone."""
    given = {
        "LD_PRELOAD": "/not-there.so",
        "PYTHONSTARTUP": "x",
        "UV_INDEX_URL": "x",
        "BISECT_SANDBOX": "off",
        "CASE": "own",
    }
    done = cell.run("print(os.environ['CASE'], os.getuid())\n", variables=given)
    *complaints, said = done.observation.output.splitlines()
    assert said == "own 60000"
    assert [line.count("/not-there.so") for line in complaints] == [1]


def test_a_sandbox_that_does_not_start_is_no_verdict(
    cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    with pytest.raises(MachineFault) as fault:
        cell.run("print('ran')\n")
    assert "No permissions to create new namespace" in fault.value.what


def test_it_starts_in_a_fraction_of_a_second(cell: Cell) -> None:
    """The bound is generous: only that nothing waits, and that the trial itself is measured without its sandbox."""
    begun = time.monotonic()
    seen = cell.run("pass\n").observation
    assert seen.duration < time.monotonic() - begun
    assert not isinstance(judge(seen, ()), MachineAtFault)
