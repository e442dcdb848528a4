"""Situations in which this machine is at fault: disk, rights, interpreters, limits. Many of them need root."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.rig.provoking.stage import BIG_MODULE, Ran, Stage, situation
from tests.rig.uv_message import Blame

NOBODY_ID = 65534
OBEYING_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")  # root that may not pass over file modes
AS_NOBODY = ("setpriv", f"--reuid={NOBODY_ID}", f"--regid={NOBODY_ID}", "--clear-groups")


@situation(Blame.DISK, "no space left where the cache is")
def no_space_in_cache(stage: Stage) -> Ran:
    stage.toy(modules=BIG_MODULE)
    with stage.small_disk("small", "size=4m") as disk:
        return stage.install("toy==1.0", cache=disk / "cache")


@situation(Blame.DISK, "no space left where the environment is")
def no_space_in_environment(stage: Stage) -> Ran:
    stage.toy(modules=BIG_MODULE)
    with stage.small_disk("small", "size=4m") as disk:
        environment = disk / "environment"
        stage.uv("venv", "--python", sys.executable, str(environment))
        return stage.install("toy==1.0", environment=environment)


@situation(Blame.DISK, "no space left for a new environment")
def no_space_for_venv(stage: Stage) -> Ran:
    with stage.small_disk("small", "size=4k") as disk:
        return stage.uv("venv", "--python", sys.executable, str(disk / "environment"))


@situation(Blame.DISK, "no inode left where the cache is")
def no_inodes(stage: Stage) -> Ran:
    stage.toy()
    with stage.small_disk("small", "size=4m,nr_inodes=12") as disk:
        return stage.install("toy==1.0", cache=disk / "cache")


@situation(Blame.DISK, "a limit on the size of files ends uv by SIGXFSZ")
def file_size_limit(stage: Stage) -> Ran:
    stage.toy(modules=BIG_MODULE)
    return stage.install("toy==1.0", prefix=("prlimit", "--fsize=1000000"))


@situation(Blame.CACHE, "the cache lies on a file system that is read-only")
def cache_read_only(stage: Stage) -> Ran:
    stage.toy()
    with stage.small_disk("small", "size=4m,ro") as disk:
        return stage.install("toy==1.0", cache=disk / "cache")


@situation(Blame.CACHE, "the cache may not be written")
def cache_not_permitted(stage: Stage) -> Ran:
    stage.toy()
    cache = stage.root / "closed"
    cache.mkdir(mode=0o555)
    return stage.install("toy==1.0", cache=cache, prefix=OBEYING_RIGHTS)


@situation(Blame.CACHE, "a file lies where the cache should be")
def cache_is_a_file(stage: Stage) -> Ran:
    stage.toy()
    (stage.root / "file").write_text("")
    return stage.install("toy==1.0", cache=stage.root / "file")


@situation(Blame.CACHE, "a new environment would lie on a file system that is read-only")
def venv_read_only(stage: Stage) -> Ran:
    with stage.small_disk("small", "size=4m,ro") as disk:
        return stage.uv("venv", "--python", sys.executable, str(disk / "environment"))


@situation(Blame.CACHE, "the file system of the environment has become read-only")
def environment_read_only(stage: Stage) -> Ran:
    stage.toy()
    with stage.small_disk("small", "size=4m") as disk:
        stage.uv("venv", "--python", sys.executable, str(disk / "environment"))
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        return stage.install("toy==1.0", environment=disk / "environment")


@situation(Blame.CACHE, "the environment may not be written")
def environment_not_permitted(stage: Stage) -> Ran:
    stage.toy()
    for folder in stage.environment.glob("lib/*/site-packages"):
        folder.chmod(0o555)
    return stage.install("toy==1.0", prefix=OBEYING_RIGHTS)


@situation(Blame.NOBODY, "cache and environment lie on different file systems")
def no_hard_links(stage: Stage) -> Ran:
    stage.toy()
    with stage.small_disk("small", "size=8m") as disk:
        return stage.install("toy==1.0", cache=disk / "cache")


@situation(Blame.PYTHON, "no interpreter of this version here, and downloads are off")
def no_such_python(stage: Stage) -> Ran:
    return stage.venv(python="3.99")


@situation(Blame.PYTHON, "a version that uv could fetch, and downloads are off")
def python_download_off(stage: Stage) -> Ran:
    return stage.venv("--managed-python", python="3.12")


@situation(Blame.PYTHON, "a version that uv could fetch, and the mirror refuses the connection")
def python_download_refused(stage: Stage) -> Ran:
    stage.extra |= {"UV_PYTHON_DOWNLOADS": "automatic", "UV_PYTHON_INSTALL_MIRROR": "http://127.0.0.1:9"}
    stage.extra["UV_HTTP_RETRIES"] = "0"
    return stage.venv("--managed-python", python="3.12")


@situation(Blame.PYTHON, "the path of the interpreter does not exist")
def python_path_missing(stage: Stage) -> Ran:
    return stage.venv(python=str(stage.root / "bin" / "python3"))


@situation(Blame.PYTHON, "the interpreter does not start")
def python_broken(stage: Stage) -> Ran:
    return stage.venv(python=str(_program(stage, "echo 'libpython3.11.so.1.0: cannot open' >&2; exit 127")))


@situation(Blame.PYTHON, "the interpreter prints something else than uv asks for")
def python_prints_nonsense(stage: Stage) -> Ran:
    return stage.venv(python=str(_program(stage, "echo hello")))


def _program(stage: Stage, body: str) -> Path:
    path = stage.root / "python3"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@situation(Blame.PYTHON, "the environment was deleted")
def environment_missing(stage: Stage) -> Ran:
    stage.toy()
    return stage.install("toy==1.0", environment=stage.root / "gone")


@situation(Blame.PYTHON, "the interpreter behind the environment was deleted")
def environment_dangling(stage: Stage) -> Ran:
    stage.toy()
    for name in ("python", "python3", f"python3.{sys.version_info.minor}"):
        link = stage.environment / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(stage.root / "gone" / "python3")
    return stage.install("toy==1.0")


@situation(Blame.CACHE, "a folder that is no environment lies where the environment should be")
def environment_is_a_folder(stage: Stage) -> Ran:
    folder = stage.root / "folder"
    folder.mkdir()
    (folder / "precious.txt").write_text("mine")
    return stage.uv("venv", "--python", sys.executable, str(folder))


@situation(Blame.NOBODY, "the environment exists already")
def environment_exists(stage: Stage) -> Ran:
    return stage.venv()


@situation(Blame.MACHINE, "too little memory while a wheel is unpacked")
def no_memory(stage: Stage) -> Ran:
    stage.toy(modules=BIG_MODULE)
    return stage.install("toy==1.0", prefix=("prlimit", "--as=100000000"))


@situation(Blame.MACHINE, "too little memory to start")
def no_memory_to_start(stage: Stage) -> Ran:
    stage.toy(modules=BIG_MODULE)
    return stage.install("toy==1.0", prefix=("prlimit", "--as=60000000"))


@situation(Blame.MACHINE, "too few open files are allowed")
def too_many_open_files(stage: Stage) -> Ran:
    stage.toy()
    return stage.install("toy==1.0", prefix=("prlimit", "--nofile=9"))


@situation(Blame.MACHINE, "no more threads are allowed")
def no_more_threads(stage: Stage) -> Ran:
    stage.toy()
    cache = stage.root / "open"
    cache.mkdir(mode=0o777)
    cache.chmod(0o777)
    return stage.install("toy==1.0", cache=cache, prefix=(*AS_NOBODY, "prlimit", "--nproc=1"))


@situation(Blame.MACHINE, "somebody kills uv")
def killed(stage: Stage) -> Ran:
    stage.toy()
    script = f'kill -{signal.SIGKILL.value} $$; exec "$@"'
    return stage.install("toy==1.0", prefix=("sh", "-c", script, "sh"))


@situation(Blame.UV, "uv is older than an option")
def unknown_option(stage: Stage) -> Ran:
    return stage.install("toy==1.0", options=["--option-of-a-later-uv"])


@situation(Blame.UV, "uv.toml asks for a later uv")
def uv_too_old(stage: Stage) -> Ran:
    settings = stage.root / "uv.toml"
    settings.write_text('required-version = ">=99"\n')
    return stage.install("toy==1.0", options=["--config-file", str(settings)])
