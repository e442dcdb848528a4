"""Whose fault it is that an installation failed: the build's only where that is certain."""

from __future__ import annotations

import hashlib
import re
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from bisect_tool.builds.build import Build, Wanted
from bisect_tool.builds.channel import Access, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.environments.order import NotInstallable, Order
from bisect_tool.environments.uv import Uv, uv_missing
from bisect_tool.environments.uv_errors import Blame, UvFailure
from bisect_tool.environments.wheels import Offer
from bisect_tool.errors import (
    BisectError,
    CacheNotWritable,
    DiskFull,
    DownloadFailed,
    IndexUnreachable,
    MachineFault,
    PackageNotFound,
    PythonMissing,
    RequirementsUnmet,
)

ATTEMPTS = 3  # at a download


def blamed(order: Order, offer: Offer, failure: UvFailure) -> Exception:
    """The exception for a failure that stays: the build's fault only where that is certain."""
    if failure.blame in (Blame.MALFORMED, Blame.UNFIT):
        return NotInstallable(failure.reason)
    if failure.blame is Blame.UNSATISFIABLE:
        return _requirements(order, offer.uv, failure)
    if failure.blame is Blame.NETWORK and _is_gone(order.build, failure):
        return NotInstallable("the index lists its wheel but does not have it")
    if failure.blame is Blame.DAMAGED and _is_damaged_at_the_source(order.build, offer, failure):
        return NotInstallable(f"its wheel is damaged: {failure.reason}")
    return fault(order, failure)


def _is_gone(build: Build, failure: UvFailure) -> bool:
    """Whether the index says so of this very file; an address spells the `+` of a version as `%2B`."""
    lines = unquote(failure.text).splitlines()
    return any(build.filename in line and re.search(r"\((403|404|410) ", line) for line in lines)


def _requirements(order: Order, uv: Uv, failure: UvFailure) -> Exception:
    """No solution: because of what the build needs, of what the spec asks for, or of a page that is none?"""
    if unreachable := _unreachable(order, failure):
        return unreachable
    if order.beside:
        alone = uv.call(
            "pip", "compile", "--quiet", "--python-version", order.interpreter.version, "--only-binary", ":all:",
            *order.installation.options, "-", stdin="\n".join(order.beside),
        )  # fmt: skip
        if isinstance(alone, UvFailure) and alone.blame is Blame.UNSATISFIABLE:
            return RequirementsUnmet(
                f"what the spec requires cannot be had: {alone.reason}",
                where=", ".join(order.beside),
                advice="correct `requires:` or `hold:` in the spec",
            )
    if order.installation.offline:
        return RequirementsUnmet(
            f"the wheelhouse does not hold everything that {order.build.filename} needs: {failure.reason}",
            where=order.build.location,
            advice="add the missing wheels to the folder, use `base: system` if the interpreter has them, or name an index "
            "with --index",
        )
    return NotInstallable(f"its requirements cannot be met: {failure.reason}")


def _unreachable(order: Order, failure: UvFailure) -> IndexUnreachable | None:
    """uv takes any page, also that of a login, for the page of a package without versions: look at it again."""
    options = dict(zip(order.installation.options, order.installation.options[1:], strict=False))
    if order.installation.offline:
        return None
    for name in set(re.findall(r"there are no versions of ([A-Za-z0-9][\w.-]*)", failure.reason)):
        try:
            channel = open_channel("release", Access(index=options.get("--default-index")))
            channel.listing(Wanted(name, target_for(order.interpreter.version)))
        except IndexUnreachable as error:
            return error
        except PackageNotFound:
            continue
    return None


def _is_damaged_at_the_source(build: Build, offer: Offer, failure: UvFailure) -> bool:
    """Whether the file of the build, not that of something it needs, was published damaged.

    Known where it arrives just as it lies there: with the hash that the index gives, else with the length that the server
    gave when the build was listed.
    """
    if offer.is_ours:
        return offer.is_published_damaged and build.filename in unquote(failure.text)
    if build.filename not in unquote(failure.text) or (build.sha256 is None and build.size is None):
        return False
    if "://" not in build.location:
        return build.sha256 is not None and _hash_of_file(Path(build.location)) == build.sha256
    import requests

    try:
        with requests.get(build.location, stream=True, timeout=(10, 120)) as answer, tempfile.TemporaryFile() as file:
            answer.raise_for_status()
            digest = hashlib.sha256()
            for block in answer.iter_content(1 << 20):
                digest.update(block)
                file.write(block)
            if build.sha256 is not None:
                return digest.hexdigest() == build.sha256
            return file.tell() == build.size and not _is_sound_archive(file)
    except (requests.RequestException, OSError):
        return False


def _is_sound_archive(file: IO[bytes]) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return False


def _hash_of_file(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def fault(order: Order, failure: UvFailure) -> BisectError:
    """The error that stops the run: the machine, the network or the cache is to blame."""
    where = f"{order.build.package} {order.build.version}"
    again = "then run the same command again: it goes on from where it stopped"
    match failure.blame:
        case Blame.DISK:
            return DiskFull(
                f"no space is left on the disk: {failure.reason}",
                where=where,
                advice="make room with `bisect cache prune`, or name a folder on a larger disk with --cache",
            )
        case Blame.PERMISSION:
            return CacheNotWritable(failure.reason, where=where, advice="name a folder of your own with --cache")
        case Blame.PYTHON:
            return PythonMissing(failure.reason, where=where, advice="name another Python with `python:` or --python")
        case Blame.REQUIREMENT:
            return RequirementsUnmet(failure.reason, where=where, advice="correct `requires:` in the spec")
        case Blame.UV:
            return uv_missing(where, failure.reason)
        case Blame.NETWORK | Blame.DAMAGED:
            return DownloadFailed(
                f"a wheel could not be fetched in {ATTEMPTS} attempts: {failure.reason}",
                where=where,
                advice=f"look at the network or the index, {again}",
            )
        case _:
            return MachineFault(
                f"uv failed in a way that says nothing about the build: {failure.reason}", where=where, advice=again
            )
