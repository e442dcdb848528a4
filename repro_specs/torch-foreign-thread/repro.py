"""Builds a C program that starts Python and makes a tensor there. Without a compiler or the headers of Python: 125."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

CODE = """
import sys
sys.path[:0] = {path!r}
import torch
total = torch.tensor([[1, 2], [3, 4]]).sum().item()
print("torch", torch.__version__, "the sum is", total)
assert total == 10
"""


def build() -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    headers = Path(sysconfig.get_path("include"))
    library = sysconfig.get_config_var("LDVERSION")
    folder = sysconfig.get_config_var("LIBDIR")
    if compiler is None or not (headers / "Python.h").exists():
        print("no C compiler or no headers of Python", file=sys.stderr)
        sys.exit(125)
    program = Path("embed").absolute()
    source = Path(__file__).with_name("embed.c")
    words = [compiler, str(source), f"-I{headers}", f"-L{folder}", f"-Wl,-rpath,{folder}", f"-lpython{library}"]
    built = subprocess.run([*words, "-lpthread", "-o", str(program)], capture_output=True, text=True, check=False)
    if built.returncode:
        print(built.stderr, file=sys.stderr)
        sys.exit(125)
    return program


if __name__ == "__main__":
    code = CODE.format(path=[place for place in sys.path if "site-packages" in place])
    ended = subprocess.run([build(), sys.argv[1], code], env={**os.environ, "PYTHONHOME": sys.base_prefix}, check=False)
    if ended.returncode < 0:
        os.kill(os.getpid(), -ended.returncode)  # so that the signal is the failure
    sys.exit(ended.returncode)
