from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_tool.errors import CacheNotWritable
from bisect_tool.trials.observation import Check, Raised
from bisect_tool.trials.trial import FinishedTrial, TrialOrder, run_trial
from tests.rig.scripts import script


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `python`, as that of an environment."""
    folder = tmp_path_factory.mktemp("environment") / "bin"
    folder.mkdir()
    (folder / "python").symlink_to(Path(sys.executable).resolve())
    return folder


def run(
    folder: Path,
    programs: Path,
    repro: str | bytes,
    *arguments: str,
    files: tuple[tuple[str, bytes], ...] = (),
    words: tuple[str, ...] = ("python", "repro.py"),
    timeout: float = 30,
    **variables: str,
) -> FinishedTrial:
    content = repro.encode() if isinstance(repro, str) else repro
    order = TrialOrder((("repro.py", content), *files), (*words, *arguments), variables, timeout, "cpu")
    return run_trial(
        order, programs=programs, folder=folder / "trial", environ={**os.environ, "GITHUB_TOKEN": "geheim"}
    )


def test_what_is_kept(tmp_path: Path, programs: Path) -> None:
    done = run(tmp_path, programs, "import sys\nprint('hello', sys.argv[1:])\nsys.exit(3)\n", "--backend", "eager")
    assert done.folder == tmp_path / "trial"
    assert sorted(path.name for path in done.folder.iterdir()) == ["command.sh", "log.txt", "observation.json", "repro"]
    assert done.command == f"{programs}/python {tmp_path}/trial/repro/repro.py --backend eager"
    assert (done.folder / "log.txt").read_text() == "hello ['--backend', 'eager']\n"
    kept = json.loads((done.folder / "observation.json").read_text())
    assert (kept["exit_status"], kept["signal"], kept["timed_out"], kept["output_bytes"]) == (3, None, False, 29)
    seen = done.observation
    assert (seen.exit_status, seen.output, seen.checks, seen.chain) == (3, "hello ['--backend', 'eager']\n", (), ())
    assert (seen.timeout, seen.left_running, seen.malformed) == (30, 0, None)
    assert seen.peak_memory is not None
    assert seen.memory_total is not None
    assert 1_000_000 < seen.peak_memory < seen.memory_total


def test_an_argument_called_python_is_an_argument(tmp_path: Path, programs: Path) -> None:
    done = run(tmp_path, programs, "import sys\nprint(sys.argv[1:])\n", "python", "repro.py")
    assert done.observation.output == f"['python', '{tmp_path}/trial/repro/repro.py']\n"


def test_checks_are_read(tmp_path: Path, programs: Path) -> None:
    code = (
        "import json, os\nwith open(os.environ['BISECT_CHECKS'], 'a') as file:\n"
        "    print(json.dumps({'check': 'grad', 'ok': False, 'message': 'zero'}), file=file)\n"
    )
    assert run(tmp_path, programs, code).observation.checks == (Check("grad", False, "zero"),)  # noqa: FBT003


@pytest.mark.parametrize(
    ("name", "count", "malformed"),
    [("malformed_checks", 1, "line 2 is not JSON: grad: failed"), ("many_checks", 0, "it is longer than 8 MB")],
)
def test_checks_that_are_none(tmp_path: Path, programs: Path, name: str, count: int, malformed: str) -> None:
    seen = run(tmp_path, programs, script(name).read_bytes()).observation
    assert (len(seen.checks), seen.malformed) == (count, malformed)


def test_the_exception_that_the_hook_wrote(tmp_path: Path, programs: Path) -> None:
    chain = [
        {"type": "torch.Outer", "message": "\ud800", "relation": "raised", "frames": [["a.py", "f"]]},
        {"type": "KeyError", "message": "'x'", "relation": "cause", "frames": []},
    ]
    code = (
        "import json, os\nwith open(f\"{os.environ['BISECT_EXCEPTIONS']}/{os.getpid()}.json\", 'w') as file:\n"
        f"    json.dump({{'chain': {chain!r}}}, file)\nos._exit(1)\n"
    )
    assert run(tmp_path, programs, code).observation.chain == (
        Raised("torch.Outer", "\\ud800", "raised", (("a.py", "f"),)),
        Raised("KeyError", "'x'", "cause"),
    )


@pytest.mark.parametrize("left", ["", "{", "[]", '{"chain": 7}', '{"chain": [{}]}', '{"chain": [null]}'])
def test_an_exception_that_cannot_be_read_is_none(tmp_path: Path, programs: Path, left: str) -> None:
    code = f"import os\nopen(f\"{{os.environ['BISECT_EXCEPTIONS']}}/{{os.getpid()}}.json\", 'w').write({left!r})\n"
    assert run(tmp_path, programs, code).observation.chain == ()


def test_files_lie_beside_the_repro_and_are_new_for_each_trial(tmp_path: Path, programs: Path) -> None:
    code = (
        "from pathlib import Path\nhere = Path(__file__).parent\n"
        "print((here / 'sub/input.txt').read_text())\n(here / 'sub/input.txt').write_text('spoiled')\n"
        "Path(__file__).write_text('raise RuntimeError')\n"
    )
    done = run(tmp_path, programs, code, files=(("sub/input.txt", b"as given"),))
    assert done.observation.output == "as given\n"
    assert (done.folder / "repro" / "sub" / "input.txt").read_text() == "as given"
    assert (done.folder / "repro" / "repro.py").read_text() == code


def test_a_word_that_names_a_file_means_that_file(tmp_path: Path, programs: Path) -> None:
    files = (("run.sh", b"#!/bin/sh\necho ran $0 $@\n"),)
    done = run(tmp_path, programs, "", files=files, words=("./run.sh", "run.sh", "other.sh"))
    place = tmp_path / "trial" / "repro" / "run.sh"
    assert done.observation.output == f"ran {place} {place} other.sh\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [(("no-such-program",), 127, "no-such-program: No such file or directory\n"),
     (("./data.txt",), 126, "data.txt: Permission denied\n")],
)  # fmt: skip
def test_a_command_that_cannot_be_started(
    tmp_path: Path, programs: Path, words: tuple[str, ...], status: int, said: str
) -> None:
    seen = run(tmp_path, programs, "", words=words, files=(("data.txt", b"x"),)).observation
    assert seen.exit_status == status
    assert seen.output.endswith(said)


def test_no_secret_and_nothing_of_the_user_is_seen(tmp_path: Path, programs: Path) -> None:
    code = "import json, os\nprint(json.dumps(dict(os.environ)))\n"
    done = run(tmp_path, programs, code, CASE="inductor", HOME="set by the spec")
    seen = json.loads(done.observation.output)
    assert "geheim" not in str(seen)
    assert (seen["CASE"], seen["HOME"], seen["BISECT_DEVICE"]) == ("inductor", "set by the spec", "cpu")
    assert "geheim" not in (done.folder / "command.sh").read_text()


def test_the_spec_cannot_take_the_checks_file_away(tmp_path: Path, programs: Path) -> None:
    code = "import os\nprint(os.environ['BISECT_CHECKS'])\n"
    done = run(tmp_path, programs, code, BISECT_CHECKS="elsewhere")
    assert done.observation.output == f"{tmp_path}/trial/checks.jsonl\n"


def test_the_working_directory_is_empty_and_gone_afterwards(tmp_path: Path, programs: Path) -> None:
    code = (
        "import os, tempfile\nprint(os.listdir())\nprint(os.getcwd())\nprint(tempfile.mkstemp()[1])\nopen('x', 'w')\n"
    )
    listed, work, left = run(tmp_path, programs, code).observation.output.splitlines()
    assert listed == "[]"
    assert not Path(work).exists()
    assert not Path(left).exists()


def test_a_folder_that_the_repro_closed_is_removed_too(tmp_path: Path, programs: Path) -> None:
    code = "import os\nos.makedirs('deep/er')\nopen('deep/er/file', 'w')\nos.chmod('deep', 0)\n"
    done = run(tmp_path, programs, code)
    assert not (done.folder / "run").exists()


def test_a_repro_that_deletes_everything(tmp_path: Path, programs: Path) -> None:
    code = "import os, shutil, pathlib\nshutil.rmtree(pathlib.Path(__file__).parents[1])\nprint('deleted')\n"
    done = run(tmp_path, programs, code)
    assert done.observation.output == "deleted\n"
    assert (done.folder / "log.txt").read_text() == "deleted\n"
    assert (done.folder / "repro" / "repro.py").read_text() == code


def test_a_repro_that_puts_folders_where_files_belong(tmp_path: Path, programs: Path) -> None:
    code = (
        "import os\nos.mkdir(os.environ['BISECT_CHECKS'])\n"
        "os.mkdir(f\"{os.environ['BISECT_EXCEPTIONS']}/{os.getpid()}.json\")\n"
    )
    seen = run(tmp_path, programs, code).observation
    assert (seen.exit_status, seen.checks, seen.chain) == (0, (), ())


def test_the_command_repeats_the_trial(tmp_path: Path, programs: Path) -> None:
    code = (
        "import os, sys, tempfile\nprint(sys.argv[1:], os.environ['CASE'], os.getcwd(), sys.stdin.read() == '')\n"
        "tempfile.mkstemp()\nprint(sorted(key for key in os.environ if key != 'BISECT_TRIAL'))\nsys.exit(3)\n"
    )
    done = run(tmp_path, programs, code, "two words", "it's", "", CASE="a 'b' $c")
    again = subprocess.run(
        ["sh", done.folder / "command.sh"], capture_output=True, text=True, cwd="/", env={"OTHER": "1"}, check=False
    )
    assert (again.returncode, again.stdout, again.stderr) == (3, done.observation.output, "")


def test_temporary_files_have_short_names_for_sockets(tmp_path: Path, programs: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    code = "import os, socket\nsocket.socket(socket.AF_UNIX).bind(os.environ['TMPDIR'] + '/' + 's' * 30)\n"
    code += "print(os.environ['TMPDIR'])\n"
    seen = run(deep, programs, code).observation
    assert seen.exit_status == 0, seen.output
    assert not Path(seen.output.strip()).exists()


def test_a_timeout(tmp_path: Path, programs: Path) -> None:
    seen = run(tmp_path, programs, "import time\ntime.sleep(60)\n", timeout=1).observation
    assert (seen.timed_out, seen.timeout, seen.exit_status) == (True, 1, None)
    assert 'repro.py", line 2 in <module>' in seen.output


def test_a_folder_that_cannot_be_written(tmp_path: Path, programs: Path) -> None:
    (tmp_path / "trial").write_text("a file")
    with pytest.raises(CacheNotWritable, match="cannot be written"):
        run(tmp_path, programs, "")


def test_two_trials_share_nothing(tmp_path: Path, programs: Path) -> None:
    code = (
        "import os\npath = os.environ['TRITON_CACHE_DIR'] + '/kernel'\nprint(os.path.exists(path))\nopen(path, 'w')\n"
    )
    for number in range(2):
        assert run(tmp_path / str(number), programs, code).observation.output == "False\n"
    shutil.rmtree(tmp_path / "0")
