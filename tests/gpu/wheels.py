"""Fetches what a GPU machine without a network needs, on a machine that has one: `python -m tests.gpu.wheels DIR`.

Groups, each of which can be left out: `torch` (torch, its triton, the libraries of CUDA that the machine lacks), `liger`
(dated builds of liger-kernel-nightly), `tool` (what bisect itself and its tests need, as locked). Only when it is asked for:
`older` (the releases of the part of that name with all that they require, 6.5 GB, into a folder of its own). pip's own settings
for links are ignored, because they may offer CPU builds of torch.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = ("manylinux2014_x86_64", *(f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 24, 18, 17, 12, 5)))
TRITON = {"2.12.1": "3.7.1", "2.13.0": "3.7.1", "2.14.1": "3.8.0", "2.15.0": "3.9.0"}  # what each torch pins
NCCL = "nvidia-nccl-cu13==2.30.7"  # serves 2.12.1 to 2.15.0; that of 2.11.0 lacks symbols
NVSHMEM = "nvidia-nvshmem-cu13==3.7.2"  # 2.15.0 asks for it
OLDER = ("2.8.0", "2.9.0", "2.9.1")  # torch-bmm-out-dtype lies between them
LIGER = "liger-kernel-nightly"
_SHOWN_VERSIONS = re.compile(r"Available versions: (.+)")


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--python", default="3.12.3", show_default=True, help="The whole version of Python on the GPU machine.")
@click.option("--only", default="torch,liger,tool", show_default=True, help="Groups, with commas.")
@click.option("--torch", "versions", multiple=True, default=tuple(TRITON), show_default=True, help="Releases of torch.")
@click.option("--liger", "count", default=100, show_default=True, help="How many dates of Liger, spread evenly.")
@click.option("--since", default="20260310", show_default=True, help="The first of them.")
@click.option("--until", default="20260905", show_default=True, help="The last of them.")
def main(folder: Path, python: str, only: str, versions: tuple[str, ...], count: int, since: str, until: str) -> None:
    """Fetch wheels into FOLDER; what is there already is not fetched again."""
    folder.mkdir(parents=True, exist_ok=True)
    groups = {name.strip() for name in only.split(",")}
    if "torch" in groups:
        fetch(folder, python, torch_requirements(versions))
    if "liger" in groups:
        found = [version for version in dated(LIGER, python) if since <= _date(version)[:8] <= until]
        fetch(folder, python, (f"{LIGER}=={version}" for version in spread(found, count)))
    if "older" in groups:
        for version in OLDER:
            fetch_whole(folder / "older", python, f"torch=={version}")
    if "tool" in groups:
        fetch_locked(folder, python)
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.whl"))}
    for name, size in sizes.items():
        if size > 10_000_000:
            click.echo(f"{size / 1e6:>8.1f} MB  {name}")
    click.echo(f"{sum(sizes.values()):,} bytes in {len(sizes)} wheels")


def torch_requirements(versions: Iterable[str]) -> list[str]:
    """Torch, triton and the libraries, each once. Raises `click.UsageError` for a torch whose triton is not known here."""
    chosen = list(versions)
    if unknown := [version for version in chosen if version not in TRITON]:
        raise click.UsageError(f"the triton of torch {unknown[0]} is not known: add it to TRITON")
    tritons = dict.fromkeys(f"triton=={TRITON[version]}" for version in chosen)
    needs_nvshmem = [NVSHMEM] if "2.15.0" in chosen else []
    return [*(f"torch=={version}" for version in chosen), *tritons, NCCL, *needs_nvshmem]


def spread(versions: Sequence[str], count: int) -> list[str]:
    """At most `count` of the versions, evenly spread, with both ends."""
    if len(versions) <= count or count < 2:
        return list(versions[-count:])
    return [versions[round(number * (len(versions) - 1) / (count - 1))] for number in range(count)]


def dated(package: str, python: str) -> list[str]:
    """The versions of a package, oldest first, as pip lists them."""
    done = _pip("index", "versions", package, "--pre", "--python-version", python, "--only-binary=:all:")
    found = _SHOWN_VERSIONS.search(done.stdout)
    if found is None:
        raise click.ClickException(f"no versions of {package}: {done.stderr.strip()[-300:]}")
    return sorted((version.strip() for version in found[1].split(",")), key=_date)


def _date(version: str) -> str:
    found = re.search(r"dev(\d+)", version)
    return found[1] if found else ""


def fetch(folder: Path, python: str, requirements: Iterable[str]) -> None:
    """Every requirement alone, without what it needs."""
    for requirement in requirements:
        name, _, version = requirement.partition("==")
        if any(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl")):
            continue
        done = _pip("download", "--no-deps", *_words(folder, python), requirement)
        if done.returncode:
            raise click.ClickException(f"{requirement}: {done.stderr.strip()[-400:]}")
        click.echo(f"fetched {requirement}", err=True)


def fetch_whole(folder: Path, python: str, requirement: str) -> None:
    """A requirement with all that it requires. Raises `click.ClickException` with what pip says."""
    done = _pip("download", *_words(folder, python), requirement)
    if done.returncode:
        raise click.ClickException(f"{requirement}: {done.stderr.strip()[-400:]}")
    click.echo(f"fetched {requirement} and what it requires", err=True)


def fetch_locked(folder: Path, python: str) -> None:
    """What the lock files name for the tool, and pytest."""
    with tempfile.NamedTemporaryFile("w", suffix=".lock") as lock:
        lock.write(locked_for(python, (ROOT / "requirements.lock").read_text()))
        lock.flush()
        done = _pip("download", "--no-deps", "--require-hashes", *_words(folder, python), "-r", lock.name)
    if done.returncode:
        raise click.ClickException(done.stderr.strip()[-600:])
    pins = (ROOT / "requirements-dev.lock").read_text()
    wanted = ("pytest", "iniconfig", "pluggy", "packaging", "pygments", "hypothesis", "sortedcontainers")
    fetch(folder, python, [found[0] for name in wanted if (found := re.search(rf"(?m)^{name}==[^ ;\\\n]+", pins))])


def locked_for(python: str, lock: str) -> str:
    """The entries of a lock file that count for a version of Python: pip itself goes by the one that it runs on."""
    entries = re.findall(r"^[A-Za-z0-9][^\n]*(?:\n[ \t]+[^\n]*)*", lock, re.MULTILINE)
    environment = {"python_full_version": python, "python_version": python.rpartition(".")[0]}
    kept = []
    for entry in entries:
        first, _, hashes = entry.partition(" \\\n")
        said = Requirement(first)
        if said.marker is None or said.marker.evaluate(environment):
            kept.append(f"{said.name}{said.specifier} \\\n{hashes}")
    return "\n".join(kept) + "\n"


def _words(folder: Path, python: str) -> list[str]:
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    return ["--only-binary=:all:", "--python-version", python, "--implementation", "cp", *platforms, "-d", str(folder)]


def _pip(*words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    python = os.environ.get("BISECT_PIP_PYTHON", sys.executable)
    return subprocess.run([python, "-m", "pip", *words], env=environ, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main()
