"""Becomes a process inside a root folder, as a container's first one. Started by `unshare` in namespaces of its own.

    python enter.py '{"root": …, "words": […], …}'

Runs on the machine's own Python with nothing but the standard library. As in a container there is a `/proc` of its own, few
devices, and in a network without an outside a loopback that works.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def main() -> None:
    """Mount, change the root, give up what is not needed, and become the program."""
    order: dict[str, Any] = json.loads(sys.argv[1])
    root = Path(order["root"])
    _mount("--bind", root, root)
    _mount("-t", "proc", "proc", root / "proc")
    _mount("-t", "tmpfs", "tmpfs", root / "dev")
    _devices(root / "dev")
    for inside, outside in order["volumes"].items():
        _mount("--bind", outside, root / inside.lstrip("/"))
    if order["read_only"]:
        _mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", root / "tmp")
        _mount("-o", "remount,bind,ro", root)
    if order["offline"]:
        _loopback()
    os.chroot(root)
    os.chdir(order["folder"])
    uid, gid = (int(one) for one in order["user"].split(":"))
    if uid:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    os.umask(0o022)
    os.execvpe(order["words"][0], order["words"], order["environ"])


def _mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def _devices(folder: Path) -> None:
    for name in DEVICES:
        (folder / name).touch()
        _mount("--bind", Path("/dev") / name, folder / name)
    (folder / "shm").mkdir()
    _mount("-t", "tmpfs", "-o", "mode=1777,size=64m", "tmpfs", folder / "shm")  # what engines give by themselves
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        (folder / name).symlink_to(f"/proc/self/fd/{number}")
    (folder / "fd").symlink_to("/proc/self/fd")


def _loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        flags = struct.unpack("16sh", fcntl.ioctl(asking, SIOCGIFFLAGS, struct.pack("16sh", b"lo", 0)))[1]
        fcntl.ioctl(asking, SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | IFF_UP))


if __name__ == "__main__":
    main()
