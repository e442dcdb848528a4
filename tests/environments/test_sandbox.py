"""When there is a sandbox, what is said when there is none, and what of a build is shown in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bisect_tool.environments.marks import write_mark
from bisect_tool.environments.sandbox import View, find_sandbox, sandbox_in, settled_wish
from bisect_tool.environments.sandbox_compilers import installations
from bisect_tool.environments.sandbox_faults import SandboxBroken, explained
from bisect_tool.environments.shown import needed_by
from bisect_tool.errors import MachineFault, SettingError
from tests.rig.sandboxes import needs_sandbox

NAMESPACE = "bwrap: No permissions to create new namespace, likely because the kernel does not allow it"


@pytest.mark.parametrize(
    ("said", "switches", "advice"),
    [
        ("bwrap: Unknown option --disable-userns", {}, "install bubblewrap 0.8 or newer"),
        (NAMESPACE, {"user/max_user_namespaces": "0"}, "sysctl -w user.max_user_namespaces=15000"),
        (NAMESPACE, {"kernel/unprivileged_userns_clone": "0"}, "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "bwrap: setting up uid map: Permission denied",
            {"kernel/apparmor_restrict_unprivileged_userns": "1"},
            "AppArmor",
        ),
        (NAMESPACE, {"user/max_user_namespaces": "15000"}, "--security-opt seccomp=unconfined"),
        (
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
            {},
            "--security-opt systempaths=unconfined",
        ),
        ("bwrap: something else", {}, "by hand"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, said: str, switches: dict[str, str], advice: str) -> None:
    for name, value in switches.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{value}\n")
    broken = explained("/usr/bin/bwrap", said, tmp_path)
    assert said in broken.what
    assert advice in broken.advice
    assert broken.advice.count(";") <= said.count(";") + 1


def test_without_bubblewrap(tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path)}
    with pytest.raises(SandboxBroken, match="is not installed"):
        find_sandbox(nowhere)
    assert settled_wish("auto", nowhere, "default") == "off"
    with pytest.raises(SettingError, match=r"the sandbox is on \(--sandbox\) and does not work here: bubblewrap"):
        settled_wish("on", nowhere, "--sandbox")
    assert sandbox_in({**nowhere, "BISECT_SANDBOX": "auto"}) is None
    assert sandbox_in(nowhere) is None
    with pytest.raises(MachineFault):
        sandbox_in({**nowhere, "BISECT_SANDBOX": "on"})


def test_off_looks_for_nothing(tmp_path: Path) -> None:
    assert settled_wish("off", {"PATH": str(tmp_path)}, "default") == "off"


@needs_sandbox
def test_what_the_tool_names_is_shown_and_nothing_that_is_everything(tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "CUDA_HOME": str(tmp_path),
        "ROCM_HOME": "/",
        "BISECT_SANDBOX_SHOWS": "/srv/gcc:",
    }
    sandbox = find_sandbox(environ)
    assert sandbox.shows == (tmp_path, Path("/srv/gcc"))
    words = sandbox.words(View())
    assert words[words.index("/srv/gcc") - 1] == "--ro-bind-try"


def test_compilers_that_trials_are_given_are_shown_where_they_are_installed(tmp_path: Path) -> None:
    home, real = tmp_path / "home" / "ci", tmp_path / "store" / "gcc-14"
    (real / "bin").mkdir(parents=True)
    (real / "bin" / "gcc").touch()
    home.mkdir(parents=True)
    (tmp_path / "gcc").symlink_to(real)
    environ = {"HOME": str(home), "CC": f"{tmp_path}/gcc/bin/gcc -m64", "CXX": "g++"}
    assert installations(environ) == (tmp_path / "gcc", real)
    for too_much in (
        f"{home}/bin/gcc",
        f"{home}/gcc",
        f"{tmp_path}/home/bin/gcc",
        "/bin/gcc",
        "/opt/bin/gcc",
        "/home/gcc",
    ):
        assert installations({**environ, "CC": too_much}) == (), too_much
    assert installations({**environ, "CC": f"{home}/gcc-14/bin/gcc"}) == (home / "gcc-14",)


@needs_sandbox
def test_a_compiler_of_its_own_folder_works_inside(tmp_path: Path) -> None:
    """As on a machine whose compiler lies in /opt: found inside under the path that CC names."""
    compiler = tmp_path / "opt" / "gcc" / "bin" / "gcc"
    compiler.parent.mkdir(parents=True)
    compiler.write_text("#!/bin/sh\necho made by $0\n")
    compiler.chmod(0o755)
    sandbox = find_sandbox({"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "CC": str(compiler)})
    assert sandbox.shows_file(str(compiler))
    assert not sandbox.shows_file(str(tmp_path / "opt" / "other"))
    done = subprocess.run([*sandbox.words(View()), str(compiler)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"made by {compiler}\n", "")


def test_what_an_environment_needs(tmp_path: Path) -> None:
    """Every name on the way to the interpreter, and the environments that it links to; no other one."""
    python = tmp_path / "pythons" / "cpython-3.11.7" / "bin" / "python3.11"
    python.parent.mkdir(parents=True)
    python.touch()
    (tmp_path / "pythons" / "cpython-3.11").symlink_to("cpython-3.11.7")
    own, base = (tmp_path / "environments" / name / "venv" for name in ("own", "base"))
    for venv in (own, base, tmp_path / "environments" / "other" / "venv"):
        (venv / "bin").mkdir(parents=True)
        (venv / "bin" / "python").symlink_to(tmp_path / "pythons" / "cpython-3.11" / "bin" / "python3.11")
        (venv / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (own / "pyvenv.cfg").write_text(f"home = {tmp_path}/pythons/cpython-3.11/bin\n")
    site = own / "lib" / "python3.11" / "site-packages"
    (site / "torch-1.dist-info").symlink_to(base / "lib" / "python3.11" / "site-packages" / "torch-1.dist-info")
    (site / "_bisect_base.pth").write_text(f"import site; site.addsitedir('{tmp_path}/system')\n")
    write_mark(own.parent, {"key": {"base": "system"}})
    shown = needed_by(own / "bin")
    pythons = {tmp_path / "pythons" / name for name in ("cpython-3.11", "cpython-3.11.7")}
    assert set(shown) == {own, base, tmp_path / "system", *pythons}
