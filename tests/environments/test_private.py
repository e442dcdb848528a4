"""A private copy of an environment: what is copied, what is linked, and that a change of a linked file is noticed."""

from __future__ import annotations

from pathlib import Path

from bisect_tool.environments.private import LARGE, changed, copy_programs, copy_site, links


def test_what_people_edit_is_copied_and_what_is_large_is_linked(tmp_path: Path) -> None:
    base, own = tmp_path / "base", tmp_path / "own"
    for name in ("pkg/__init__.py", "pkg/lib/libpkg.so.1", "pkg/include/pkg.h", "pkg-1.0.dist-info/RECORD", "one.py"):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(name)
    (base / "pkg/large.py").write_text("#" * LARGE)
    (base / "pkg/large.bin").write_bytes(b"\0" * LARGE)
    own.mkdir()
    (own / "one.py").write_text("of the new environment")
    copy_site(base, own)
    linked = sorted(path.relative_to(own).as_posix() for path in own.rglob("*") if path.is_symlink())
    assert linked == ["pkg/large.bin"]  # a small library may be replaced by one that was built by hand
    assert (own / "pkg/__init__.py").read_text() == "pkg/__init__.py"
    assert (own / "pkg/large.py").stat().st_mtime_ns == (base / "pkg/large.py").stat().st_mtime_ns
    assert (own / "one.py").read_text() == "of the new environment"
    before = links(own)
    (own / "pkg/__init__.py").write_text("edited")
    assert changed(before) == []
    (own / "pkg/lib/libpkg.so.1").write_text("built by hand")
    assert (base / "pkg/lib/libpkg.so.1").read_text() == "pkg/lib/libpkg.so.1"
    (own / "pkg/large.bin").write_text("written through the link")
    assert changed(before) == [base / "pkg/large.bin"]
    assert (base / "pkg/__init__.py").read_text() == "pkg/__init__.py"


def test_programs_start_the_python_of_the_copy(tmp_path: Path) -> None:
    base, own = tmp_path / "base", tmp_path / "own"
    base.mkdir()
    own.mkdir()
    (own / "python").write_text("python")
    (base / "tool").write_text(f"#!{base}/python\nimport sys\n")
    (base / "tool").chmod(0o755)
    (base / "python").symlink_to("/usr/bin/env")
    copy_programs(base, own)
    assert (own / "tool").read_text() == f"#!{own}/python\nimport sys\n"
    assert (own / "tool").stat().st_mode & 0o777 == 0o755
    assert (own / "python").read_text() == "python"
