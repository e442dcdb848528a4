"""Rules for everything that is committed, which no linter knows."""

from __future__ import annotations

import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pypi_simple import PYPI_SIMPLE_ENDPOINT

ROOT = Path(__file__).resolve().parents[1]


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name]


def naming(words: tuple[str, ...], files: list[Path]) -> list[str]:
    """The files in which one of the words stands."""
    return [
        path.name
        for path in files
        if any(word.encode() in (path.read_bytes() if path.is_file() else b"") for word in words)
    ]


def test_no_file_names_the_host_of_a_package_registry() -> None:
    """Reports of real runs carry the address of the index: replace it before they are kept under `docs/results`."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: nothing says which files are committed")
    host = urlsplit(PYPI_SIMPLE_ENDPOINT).hostname
    assert host
    files = tracked()
    assert ROOT / "README.md" in files
    assert naming((host,), files) == []


def test_reports_of_real_runs_name_no_place_of_the_machine() -> None:
    files = sorted((ROOT / "docs" / "results").rglob("*.*"))
    assert files
    assert naming(('"/', "/root/", "/home/", "/tmp/", "/opt/"), files) == []
