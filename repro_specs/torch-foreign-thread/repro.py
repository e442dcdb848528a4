"""Builds a C program that starts Python and makes a tensor there. Without a compiler or the headers of Python: 125."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path


def build() -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    headers = Path(sysconfig.get_path("include"))
    library, folder = sysconfig.get_config_var("LDVERSION"), sysconfig.get_config_var("LIBDIR")
    if compiler is None or not (headers / "Python.h").exists():
        print("no C compiler or no headers of Python", file=sys.stderr)
        sys.exit(125)
    program, source = Path("embed").absolute(), Path(__file__).with_name("embed.c")
    words = [compiler, str(source), f"-I{headers}", f"-L{folder}", f"-Wl,-rpath,{folder}", f"-lpython{library}"]
    built = subprocess.run([*words, "-lpthread", "-o", str(program)], capture_output=True, text=True, check=False)
    if built.returncode:
        print(built.stderr, file=sys.stderr)
        sys.exit(125)
    return program


def main(who: str) -> None:
    packages = next(place for place in sys.path if place.endswith("site-packages"))
    ended = subprocess.run([build(), who, packages], env={**os.environ, "PYTHONHOME": sys.base_prefix}, check=False)
    if ended.returncode < 0:
        os.kill(os.getpid(), -ended.returncode)  # so that the signal is the failure
    sys.exit(ended.returncode)


if __name__ == "__main__":
    main(sys.argv[1])
