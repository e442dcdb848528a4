"""Forked trials beside fresh ones: whatever a repro does, both must tell the same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest

from bisect_tool.trials.failure import CannotJudge, Failed, Verdict
from bisect_tool.trials.judge import judge
from bisect_tool.trials.observation import Check, Observation
from bisect_tool.trials.trial import Forking, TrialOrder, run_trial
from bisect_tool.trials.warm import WarmServers
from tests.rig.scripts import script, survivors
from tests.rig.warm_environment import make_environment

MODULES = {
    "prints": "import os, sys\nprint('to Python')\nos.write(2, b'to C')\n",
    "starts_a_thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
    "keeps_home": "import os\nHOME = os.environ.get('HOME')\nopen(HOME + '/made', 'w').close()\n",
    "reads_checks": "import os\nCHECKS = os.environ.get('BISECT_CHECKS')\n",
    "copies_all": "import os\nALL, MORE = dict(os.environ), os.environ.copy()\n",
    "hooks": "import sys\nsys.excepthook = lambda *what: None\n",
    "package/__init__": "import os\nIMPORTED_BY = os.getpid()\n",
    "package/reads": "import os\nCHECKS = os.environ.get('BISECT_CHECKS')\n",
    "raises": "raise OSError('no')\n",
    "exits": "import os\nos._exit(3)\n",
    "opens": "import os\nNUMBER = os.dup(0)\n",
}
KINDS = {
    "passes": "print('fine')",
    "raises": "def f(n):\n    if n: f(n - 1)\n    raise ValueError(f'at {n}')\nf(5)",
    "cause": "try: {}['x']\nexcept KeyError as e: raise RuntimeError('wrapped') from e",
    "context": "try: {}['x']\nexcept KeyError: [][1]",
    "group": "raise ExceptionGroup('two', [ValueError('a'), TypeError('b')])",
    "assertion": "assert 1 == 2, 'one is not two'",
    "exit_text": "sys.exit('wrong gradient: 0.123')",
    "exit_125": "print('no such op'); sys.exit(125)",
    "exit_none": "sys.exit()",
    "os_exit": "print('half', end=''); os._exit(7)",
    "interrupt": "raise KeyboardInterrupt",
    "recursion": "def f(): return f()\nf()",
    "own_hook": "sys.excepthook = lambda kind, error, trace: print('own', kind.__name__, trace.tb_lineno)\n1 / 0",
    "broken_hook": "sys.excepthook = lambda *what: undefined\n1 / 0",
    "at_exit": "import atexit\natexit.register(lambda: 1 / 0)",
    "thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "unraisable": "class A:\n    def __del__(self): 1 / 0\nA()",
    "warns": "import warnings\nwarnings.warn('careful', stacklevel=2)\nwarnings.warn('careful')",
    "segfault": "import ctypes\ndef crash(): ctypes.string_at(0)\ncrash()",
    "abort": "os.write(2, b'terminate called\\n  what():  bad thing\\n'); os.abort()",
    "kills_itself": "import signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "terminates": "import signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "broken_pipe": "r, w = os.pipe(); os.close(r); os.write(w, b'x')",
    "who": "print(__name__, __file__, __package__, __spec__, __doc__, sorted(globals()), sys.modules['__main__'].__file__)",
    "arguments": "print(sys.argv, sys.orig_argv, sys.path[:2], sys.flags, sys.executable, sys.stdin.read())",
    "place": "print(os.getcwd(), os.listdir(), os.environ['TMPDIR'], __import__('tempfile').gettempdir())",
    "variables": "print(sorted((k, v) for k, v in os.environ.items() if k != 'BISECT_TRIAL'))",
    "c_variables": "import ctypes\nf = ctypes.CDLL(None).getenv; f.restype = ctypes.c_char_p\nprint(f(b'BISECT_CHECKS'))",
    "files": "print(sorted(os.listdir('/proc/self/fd'), key=int), os.readlink('/proc/self/fd/0'))",
    "signals": "import signal\nprint([(n.name, str(signal.getsignal(n))) for n in signal.Signals])",
    "limits": "import resource\nprint([resource.getrlimit(n) for n in range(10)])",
    "session": "print(os.getsid(0) == os.getpid() == os.getpgid(0), os.isatty(1), len(os.listdir('/proc/self/task')))",
    "streams": "print(sys.stdout.encoding, sys.stdout.errors, sys.stdout.write_through, sys.stdin.fileno())",
    "pickles": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A, A.__module__)",
    "source": "import inspect\ndef f(): return 'x'\nprint(inspect.getsource(f))",
    "checks": (
        "import json\nwith open(os.environ['BISECT_CHECKS'], 'a') as file:\n"
        "    print(json.dumps({'check': 'g', 'ok': False, 'message': 'zero'}), file=file)"
    ),
    "beside": "import beside\nbeside.fails()",
    "multiprocessing": (
        "import multiprocessing as m\ndef f(x): return x + 1\nif __name__ == '__main__':\n"
        "    for way in ('spawn', 'fork'):\n        with m.get_context(way).Pool(1) as p: print(way, p.map(f, [1, 2]))"
    ),
    "subprocess": "import subprocess\nprint(subprocess.run([sys.executable, '-c', 'import sys; sys.exit(4)']).returncode)",
    "forks": "pid = os.fork()\nif pid == 0: raise ValueError('in the child')\nprint(os.waitpid(pid, 0)[1])",
}  # fmt: skip
SCRIPTS = (
    "writes_binary",
    "closes_output",
    "deletes_its_folders",
    "changes_its_script",
    "prints_and_segfaults",
    "fills_disk",
)


@dataclass(frozen=True)
class Bench:
    """A build, and a folder for the trials of one test."""

    programs: Path
    folder: Path
    servers: WarmServers
    reasons: list[str]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def run(
        self, source: str, *arguments: str, warm: bool, timeout: float = 30, independent: bool = False, **variables: str
    ) -> Observation:
        files = (("repro.py", source.encode()), ("beside.py", b"def fails():\n    raise LookupError('beside')\n"))
        order = TrialOrder(files, ("python", "repro.py", *arguments), variables, timeout, "cpu")
        ahead = Forking(self.servers, independent=independent, tell=self.reasons.append) if warm else None
        number = len(list(self.folder.iterdir()))
        return run_trial(
            order, programs=self.programs, folder=self.folder / f"{number:02}", environ=self.environ, ahead=ahead
        ).observation

    def both(self, source: str, *arguments: str, timeout: float = 30) -> tuple[Observation, Observation]:
        """What a fresh and a forked trial show, without what differs from trial to trial."""
        fresh, forked = (self.run(source, *arguments, warm=warm, timeout=timeout) for warm in (False, True))
        assert (fresh.warm, forked.warm, self.reasons) == (False, True, [])
        return self._settled(fresh), self._settled(forked)

    def _settled(self, seen: Observation) -> Observation:
        own = (
            r"/\d\d/|/bisect-trial-[\w-]+/now/tmp|/bisect-trial-\w{6}-\w{8}|ballast-\w{8}|0x[0-9a-f]{8,}|repeated \d{3}"
        )
        here = re.compile(re.escape(str(self.folder)) + own)
        seen = replace(seen, output=re.sub(r"/tmp/bisect-trial-[\w-]+/now/(?!tmp)", "run/", seen.output))
        chain = tuple(
            replace(one, frames=tuple((here.sub("", file), name) for file, name in one.frames)) for one in seen.chain
        )
        return replace(
            seen, chain=chain, output=here.sub("", seen.output), duration=0, peak_memory=0, warm=False, output_bytes=0
        )


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("build") / "venv", MODULES)


@pytest.fixture(scope="module")
def servers(programs: Path) -> Iterator[WarmServers]:
    with WarmServers(programs) as servers:
        yield servers


@pytest.fixture
def bench(programs: Path, servers: WarmServers, tmp_path: Path) -> Bench:
    (tmp_path / "trials").mkdir()
    return Bench(programs, tmp_path / "trials", servers, [])


@pytest.fixture
def alone(programs: Path, tmp_path: Path) -> Iterator[Bench]:
    """With servers of its own."""
    (tmp_path / "trials").mkdir()
    with WarmServers(programs) as servers:
        yield Bench(programs, tmp_path / "trials", servers, [])


def verdict_of(seen: Observation) -> Verdict:
    return judge(seen, [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_fork_tells_what_a_fresh_start_tells(bench: Bench, kind: str) -> None:
    fresh, forked = bench.both(f"import heavy\nimport os, sys\n{KINDS[kind]}\n", "a b", "")
    if kind == "multiprocessing":  # Python's resource tracker may take a moment longer than the script, either way
        fresh, forked = replace(fresh, left_running=0), replace(forked, left_running=0)
    assert forked == fresh
    assert verdict_of(forked) == verdict_of(fresh)


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_badly_behaved_scripts_do(bench: Bench, name: str) -> None:
    source = script(name).read_text().replace("import annotations\n", "import annotations\nimport heavy\n", 1)
    fresh, forked = bench.both(source, *(["3000000"] if name == "fills_disk" else []))
    assert forked == fresh


@pytest.mark.parametrize(
    ("name", "left", "timed_out"),
    [("daemonises", 1, False), ("double_forks_and_never_ends", 1, True), ("changes_process_group", 1, True),
     ("forks_many", 50, True), ("ignores_sigterm", 0, True), ("stops_itself", 0, True)],
)  # fmt: skip
def test_nothing_of_a_fork_is_left(bench: Bench, tmp_path: Path, name: str, left: int, timed_out: bool) -> None:  # noqa: FBT001
    pids = tmp_path / "pids"
    pids.touch()
    source = script(name).read_text().replace("import annotations\n", "import annotations\nimport heavy\n", 1)
    seen = bench.run(source, str(pids), warm=True, timeout=1.0)
    assert (seen.warm, seen.left_running, seen.timed_out) == (True, left, timed_out)
    assert survivors(pids) == []


def test_a_timeout_shows_where_it_was_and_nothing_of_ours(bench: Bench) -> None:
    fresh, forked = bench.both("import heavy, time\ndef stuck():\n    time.sleep(600)\nstuck()\n", timeout=1.0)
    assert forked == fresh
    assert 'repro.py", line 3 in stuck' in forked.output
    assert "warm_server" not in forked.output


def test_the_child_is_another_process_than_the_importer(bench: Bench) -> None:
    one, two = (
        bench.run("import heavy, os\nprint(heavy.IMPORTED_BY, os.getpid())\n", warm=True).output for _ in range(2)
    )
    assert one.split()[0] == two.split()[0]
    assert len({*one.split(), *two.split()}) == 3


def test_what_one_trial_does_to_a_module_the_next_does_not_see(bench: Bench) -> None:
    source = "import heavy\nprint(hasattr(heavy, 'spoiled'))\nheavy.spoiled = True\n"
    assert [bench.run(source, warm=True).output for _ in range(2)] == ["False\n", "False\n"]


def test_independent_repeats_come_from_different_processes(alone: Bench) -> None:
    source = "import heavy\nprint(heavy.IMPORTED_BY, hash('a'))\n"
    repeats = [alone.run(source, warm=True, independent=True).output for _ in range(3)]
    other = alone.run(source, "other", warm=True, independent=True).output
    assert len(set(repeats)) == 3
    assert other == repeats[0]


def test_other_variables_mean_another_process(alone: Bench) -> None:
    source = "import heavy, os\nprint(heavy.IMPORTED_BY, os.environ['OMP_NUM_THREADS'])\n"
    one, two = (alone.run(source, warm=True, OMP_NUM_THREADS=number).output.split() for number in "12")
    assert (one[1], two[1]) == ("1", "2")
    assert one[0] != two[0]


def test_what_imports_print_is_printed_by_every_trial(alone: Bench) -> None:
    fresh, forked = alone.both("import prints\nprint('and the script')\n")
    assert forked.output == fresh.output == "to Python\nto Cand the script\n"


def test_files_that_imports_open_have_the_numbers_that_they_always_have(alone: Bench) -> None:
    fresh, forked = alone.both("import opens, os\nprint(opens.NUMBER, len(os.listdir('/proc/self/fd')))\n")
    assert forked.output == fresh.output


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("starts_a_thread", "starts_a_thread: 2 threads run after the imports"),
        ("reads_checks", "reads_checks: it looks at BISECT_CHECKS while it is imported"),
        ("hooks", "hooks: sys.excepthook is replaced by the imports"),
        ("raises", "raises: its import raises OSError"),
        ("exits", "exits: the process ended during the imports"),
        ("not_there", "not_there: its import raises ModuleNotFoundError"),
    ],
)
def test_modules_that_cannot_be_imported_ahead(alone: Bench, module: str, reason: str) -> None:
    seen = alone.run(f"import {module}\n", warm=True)
    assert (seen.warm, alone.reasons) == (False, [reason])


def test_modules_before_one_that_does_not_fit_are_still_imported_ahead(alone: Bench) -> None:
    seen = alone.run("import heavy\nimport reads_checks\nprint(reads_checks.CHECKS)\n", warm=True)
    assert seen.warm
    assert Path(seen.output.strip()).is_relative_to(alone.folder)


def test_of_a_module_that_does_not_fit_its_package_is_still_imported_ahead(alone: Bench) -> None:
    source = (
        "import package.reads\nimport os, package\nprint(package.IMPORTED_BY != os.getpid(), package.reads.CHECKS)\n"
    )
    seen = alone.run(source, warm=True)
    assert seen.warm
    ahead, checks = seen.output.split()
    assert (ahead, Path(checks).is_relative_to(alone.folder)) == ("True", True)
    assert alone.servers.refused == {"package.reads": "it looks at BISECT_CHECKS while it is imported"}


def test_a_path_that_a_module_keeps_is_the_one_of_every_trial_and_as_the_import_left_it(alone: Bench) -> None:
    source = (
        "import keeps_home\nimport os\nhome = os.environ['HOME']\n"
        "print(keeps_home.HOME == home, os.listdir(home))\nopen(home + '/spoiled', 'w').close()\n"
    )
    assert [alone.run(source, warm=way).output for way in (False, True, True)] == ["True ['made']\n"] * 3


def test_a_copy_of_all_variables_is_no_look_at_one(alone: Bench) -> None:
    assert alone.run("import copies_all\n", warm=True).warm


def test_a_file_beside_the_script_may_hide_what_is_imported_ahead(alone: Bench) -> None:
    files = (("repro.py", b"import heavy\nimport random\nprint(random.MINE)\n"), ("json.py", b"MINE = 1\n"))
    order = TrialOrder(files, ("python", "repro.py"), {}, 30, "cpu")
    ahead = Forking(alone.servers, tell=alone.reasons.append)
    run_trial(order, programs=alone.programs, folder=alone.folder / "x", environ=os.environ, ahead=ahead)
    assert alone.reasons == ["a file of the repro hides a module that is imported ahead: json"]


def test_a_server_that_was_killed_is_no_verdict(alone: Bench) -> None:
    source = "import heavy, os\nprint(heavy.IMPORTED_BY == os.getppid(), heavy.IMPORTED_BY)\n"
    importer = int(alone.run(source, warm=True).output.split()[1])
    psutil.Process(importer).kill()
    seen = alone.run(source, warm=True)
    assert (seen.exit_status, seen.warm) == (0, False)
    assert len(alone.reasons) == 1
    assert alone.run(source, warm=True).warm


def test_a_watcher_that_was_killed_is_no_verdict(alone: Bench) -> None:
    source = (
        "import heavy, os, signal, sys\nif heavy.IMPORTED_BY != os.getpid():\n"
        "    os.kill(os.getppid(), signal.SIGKILL)\nprint('fresh')\n"
    )
    seen = alone.run(source, warm=True)
    assert (seen.exit_status, seen.output, seen.warm) == (0, "fresh\n", False)
    # It may be killed before it has said that the trial runs.
    outside = "the process that watched over the trial was ended from outside"
    unsaid = "the process with the modules did not fork: the program that watches over a trial did not start"
    assert alone.reasons in ([outside], [unsaid])


def test_nothing_is_left_when_the_servers_are_closed(alone: Bench) -> None:
    importer = int(alone.run("import heavy\nprint(heavy.IMPORTED_BY)\n", warm=True).output)
    (places,) = [one.places for servers in alone.servers._servers.values() for one in servers]
    assert places.exists()
    alone.servers.__exit__(None, None, None)
    assert not psutil.pid_exists(importer)
    assert not places.exists()


def test_checks_and_named_ends(bench: Bench) -> None:
    seen = bench.run(f"import heavy\nimport os, sys\n{KINDS['checks']}\n", warm=True)
    assert seen.checks == (Check("g", False, "zero"),)  # noqa: FBT003
    assert isinstance(verdict_of(seen), Failed)
    assert verdict_of(bench.run(f"import heavy, sys\n{KINDS['exit_125']}\n", warm=True)) == CannotJudge("no such op")


def test_a_server_that_is_closed_again_closes_nothing_of_others(alone: Bench) -> None:
    """Its lock has a number that another thread may have by then."""
    alone.run("import heavy\nprint(heavy.IMPORTED_BY)\n", warm=True)
    (server,) = [one for servers in alone.servers._servers.values() for one in servers]
    server.close()
    with Path("/etc/hostname").open() as first, Path("/etc/hostname").open() as second:
        server.close()
        assert first.read() == second.read()
