from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_tool import errors
from bisect_tool.errors import Answered, BisectError

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "exit-statuses.md"
KINDS: list[type[BisectError]] = [BisectError, *BisectError.__subclasses__()]


def test_all_errors_of_the_module_are_known_here() -> None:
    classes = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Exception)]
    assert set(classes) == set(KINDS)
    assert len(KINDS) == 28


def test_every_status_has_one_meaning() -> None:
    statuses = [kind.status for kind in KINDS]
    assert len(set(statuses)) == len(statuses)
    assert not set(statuses) & {*Answered, 1, 2, 125, 126, 127}
    assert all(10 <= status < 128 or status == 130 for status in statuses)


def test_the_answers() -> None:
    assert {one.name: int(one) for one in Answered} == {"EXACT": 0, "NARROWED": 3, "NO_CHANGE": 4, "NOT_JUDGED": 5}


@pytest.mark.parametrize("kind", KINDS)
def test_the_message_has_what_where_and_next(kind: type[BisectError]) -> None:
    assert str(kind("it broke", where="there", advice="mend it")) == "it broke\n  where: there\n  next:  mend it"


def test_the_message_without_a_place() -> None:
    assert str(BisectError("it broke", advice="mend it")) == "it broke\n  next:  mend it"


def test_ctrl_c() -> None:
    assert str(errors.interrupted()) == (
        "interrupted\n  next:  run the same command again: it goes on from where it stopped"
    )
    assert errors.interrupted().status == 130


def test_the_page_has_each_status_once() -> None:
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| [^|]+ \|$", PAGE.read_text(), re.MULTILINE)
    named = {name: int(status) for status, name in rows}
    assert len(rows) == len(named) == len(set(named.values()))
    assert [int(status) for status, _ in rows] == sorted(named.values())
    expected = {kind.__name__: kind.status for kind in BisectError.__subclasses__()}
    expected |= {one.name.lower().replace("_", " "): int(one) for one in Answered}
    assert named == expected | {"findings": 1, "usage": 2, "defect": 70}


def test_the_reference_is_current() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "generate_docs.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
