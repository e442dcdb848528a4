"""What bubblewrap is told for every sandbox: the namespaces, the system as it is seen inside, and what is shut of the kernel.

Sources: bwrap(1), proc(5), user_namespaces(7). A process keeps its user of outside as far as the kernel is concerned: that is
why `/proc/sys` and its like are shut here and not left to bubblewrap. Their files ask for that user alone, so that with root
outside they could be written without any capability.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import lru_cache
from glob import glob
from pathlib import Path

USER = "60000"  # `trial` in the file of users inside
GIGABYTE = 2**30
APART = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try",
    "--uid", USER, "--gid", USER, "--hostname", "sandbox", "--new-session", "--clearenv", "--cap-drop", "ALL",
)  # fmt: skip
CLOSED = ("--remount-ro", "/dev", "--remount-ro", "/")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# No accounts, no keys, no names of servers: what loaders, compilers, time zones and certificates are found by.
_ETC = (
    "alternatives", "ca-certificates", "debian_version", "fonts", "glvnd", "java-17-openjdk", "ld.so.cache", "ld.so.conf",
    "ld.so.conf.d", "locale.alias", "localtime", "mime.types", "nvidia", "OpenCL", "os-release", "pki/tls/certs",
    "pki/ca-trust", "protocols", "python3", "services", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone", "vulkan",
)  # fmt: skip
_OWN_ETC = Path(__file__).with_name("etc")
_READ_ONLY = ("sys", "bus", "fs", "irq", "mtrr", "tty", "driver", "pressure")
_HIDDEN = (
    "kcore", "keys", "key-users", "kmsg", "kallsyms", "latency_stats", "sched_debug", "slabinfo", "sysrq-trigger",
    "timer_list", "timer_stats", "vmallocinfo", "kpagecgroup", "kpagecount", "kpageflags", "pagetypeinfo",
)  # fmt: skip
_HIDDEN_FOLDERS = ("acpi", "asound", "scsi")
_PROCESSORS = ("devices/system",)
_CARDS = ("devices", "bus", "class", "module")  # what CUDA and NCCL look at to see how cards are connected
_CARD_DEVICES = ("/dev/nvidia*", "/dev/kfd", "/dev/dri")
SHARED, TEMPORARY = "/dev/shm", "/tmp"  # noqa: S108  both inside, and empty at first
IN_MEMORY = (SHARED, TEMPORARY)


def is_there(path: str) -> bool:
    """Whether a path is part of what everybody sees."""
    return any(path == own or path.startswith(f"{own}/") for own in _SYSTEM)


def system(device: str, memory: int) -> list[str]:
    """The system inside, with the devices of `device`; each file system in memory takes at most `memory` bytes, 0: as usual."""
    return [
        *_programs(),
        *_kernel(),
        *(word for name in (_PROCESSORS if device == "cpu" else _CARDS) for word in _shown(f"/sys/{name}")),
        "--dev", "/dev",
        *(word for path in (() if device == "cpu" else _cards()) for word in ("--dev-bind-try", path, path)),
        *(word for place in IN_MEMORY for word in ("--size", str(_room(place, memory)), "--perms", "1777", "--tmpfs", place)),
    ]  # fmt: skip


@lru_cache(maxsize=1)
def _programs() -> tuple[str, ...]:
    """The folders of the system; links among them stay links."""
    words: list[str] = []
    for place in _SYSTEM:
        if Path(place).is_symlink():
            words += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).is_dir():
            words += ["--ro-bind", place, place]
    for name in _ETC:
        words += _shown(f"/etc/{name}")
    for path in sorted(_OWN_ETC.iterdir()):
        words += ["--ro-bind", str(path), f"/etc/{path.name}"]
    return tuple(words)


def _shown(path: str) -> list[str]:
    return ["--ro-bind-try", path, path] if os.path.exists(path) else []  # noqa: PTH110  likewise for names only


@lru_cache(maxsize=1)
def _kernel() -> tuple[str, ...]:
    words = ["--proc", "/proc"]
    for name in _READ_ONLY:
        words += _shown(f"/proc/{name}")
    for name in _HIDDEN:
        if Path("/proc", name).exists():
            words += ["--ro-bind", os.devnull, f"/proc/{name}"]
    for name in _HIDDEN_FOLDERS:
        if Path("/proc", name).is_dir():
            words += ["--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
    return tuple(words)


def _cards() -> Iterator[str]:
    for pattern in _CARD_DEVICES:
        yield from sorted(glob(pattern))  # noqa: PTH207  a pattern with its folder


def _room(place: str, memory: int) -> int:
    """As much as outside, where repros were written; the limit of memory counts what lies there too."""
    try:
        outside = shutil.disk_usage(place).total if place == SHARED else GIGABYTE
    except OSError:
        outside = GIGABYTE
    return max(min(outside, memory or outside), 2**20)
