"""What a stranger's spec may not ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bisect_tool.builds.channel import names
from bisect_tool.errors import SpecError
from bisect_tool.spec.reading import ReadSpec, load_all
from bisect_tool.spec.strangers import refuse_strange


def read(folder: Path, **keys: Any) -> ReadSpec:
    (folder / "repro.py").write_text("print(1)\n")
    (folder / "spec.yaml").write_text(yaml.safe_dump({"name": "x", "package": "toy", "script": "repro.py", **keys}))
    return load_all([folder / "spec.yaml"], channels=names())[0]


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({"requires": ["numpy", "evil @ https://example.org/evil.whl"]}, "requires[1]"),
        ({"requires": ["evil @ file:///srv/secret.whl"]}, "requires[0]"),
        ({"requires": ["evil @ git+https://example.org/evil.git"]}, "requires[0]"),
        ({"hold": ["evil @ https://example.org/evil.whl"]}, "hold[0]"),
        ({"python": "/usr/bin/env"}, "python"),
        ({"base": "system"}, "base"),
        ({"source": "ssh://internal/a/b"}, "source"),
        ({"source": "git@internal:a/b"}, "source"),
        ({"channel": "commit", "source": "owner/name"}, "channel"),
    ],
)
def test_what_would_run_or_read_outside(tmp_path: Path, keys: dict[str, Any], where: str) -> None:
    with pytest.raises(SpecError) as refused:
        refuse_strange([read(tmp_path, **keys)])
    assert f"{where}: found" in refused.value.what


def test_what_may_be_asked(tmp_path: Path) -> None:
    refuse_strange(
        [
            read(
                tmp_path,
                package="torch",
                requires=["numpy<3", "triton"],
                python="3.12",
                channel=["nightly", "commit"],
                source="pytorch/pytorch",
            )
        ]
    )


def test_a_file_that_is_a_link_to_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("geheim")
    folder = tmp_path / "spec"
    folder.mkdir()
    (folder / "data.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(SpecError, match="no link out of it"):
        refuse_strange([read(folder, files=["data.txt"])])


def test_a_module_that_is_a_link_to_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("x = 'geheim'")
    folder = tmp_path / "spec"
    folder.mkdir()
    (folder / "beside.py").symlink_to(tmp_path / "secret.py")
    found = read(folder)
    (folder / "repro.py").write_text("import beside\n")
    with pytest.raises(SpecError, match="no link out of it"):
        refuse_strange([found])
