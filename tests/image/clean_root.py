"""The root of the base image, made from Debian's packages: there is no other way without an engine and a registry of images."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

SOURCES = (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list"))
# What the official slim images leave out as well.
SLIM = (
    "/usr/share/doc",
    "/usr/share/man",
    "/usr/share/info",
    "/usr/share/locale",
    "/usr/share/lintian",
    "/usr/share/linda",
)


class NoBase(Exception):
    """The base cannot be made on this machine."""


def make_root(image: str, root: Path) -> None:
    """Fill `root` with the release that `image` names (`debian:bookworm-…-slim@…`), from this machine's own mirror.

    The packages that debootstrap calls minbase, which the official image is made of, and the newest version of each instead of
    that of the image's day. Raises `NoBase`.
    """
    found = re.match(r"debian:([a-z]+)(?:-[0-9]{8})?(-slim)?(?:@|$)", image)
    if found is None:
        raise NoBase(f"not an image of a Debian release: {image}")
    sources = next((path for path in SOURCES if path.exists()), None)
    if sources is None:
        raise NoBase("this machine's apt has no sources of Debian")
    slim = [f"--dpkgopt=path-exclude={folder}/*" for folder in SLIM] if found[2] else []
    words = ["mmdebstrap", "--variant=minbase", "--format=directory", *slim, found[1], str(root), str(sources)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoBase(done.stderr[-2000:])
