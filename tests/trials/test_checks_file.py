from __future__ import annotations

import json
from pathlib import Path

import pytest

from bisect_tool.trials.checks_file import read_checks
from bisect_tool.trials.observation import Check


def read(folder: Path, content: bytes | str) -> tuple[tuple[Check, ...], str | None]:
    path = folder / "checks.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_checks(path)


def test_no_file(tmp_path: Path) -> None:
    assert read_checks(tmp_path / "missing") == ((), None)
    assert read_checks(tmp_path) == ((), None)


def test_results_and_numbers_in_their_order(tmp_path: Path) -> None:
    text = (
        '{"check": "grad", "ok": false, "message": "all zero"}\n\n'
        '{"check": "loss", "ok": true}\n'
        '{"check": "latency_ms", "value": 12}\n'
        '{"check": "both", "ok": true, "value": -1e-3, "unknown": 7}'
    )
    assert read(tmp_path, text) == (
        (
            Check("grad", False, "all zero"),  # noqa: FBT003
            Check("loss", True),  # noqa: FBT003
            Check("latency_ms", None, "", 12.0),
            Check("both", True, "", -0.001),  # noqa: FBT003
        ),
        None,
    )


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("grad: failed", "is not JSON"),
        ('{"check": "half", "ok": ', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('["check", "ok"]', "is not an object"),
        ("null", "is not an object"),
        ('{"ok": true}', 'has no "check" with a name'),
        ('{"check": "", "ok": true}', 'has no "check" with a name'),
        ('{"check": 7, "ok": true}', 'has no "check" with a name'),
        ('{"check": "a", "ok": "yes"}', '"ok" is neither true nor false'),
        ('{"check": "a", "ok": 1}', '"ok" is neither true nor false'),
        ('{"check": "a", "value": true}', '"value" is not a number'),
        ('{"check": "a", "value": "12"}', '"value" is not a number'),
        ('{"check": "a", "value": NaN}', '"value" is not a finite number'),
        ('{"check": "a", "value": -Infinity}', '"value" is not a finite number'),
        ('{"check": "a", "value": 1e999}', '"value" is not a finite number'),
        ('{"check": "a", "value": 1' + "0" * 400 + "}", '"value" is not a finite number'),
        ('{"check": "a"}', 'has neither "ok" nor "value"'),
    ],
)
def test_lines_that_are_no_checks(tmp_path: Path, line: str, wrong: str) -> None:
    good = '{"check": "good", "ok": true}\n'
    assert (
        read(tmp_path, f"{good}\n{line}\n{good}")
        == (
            (Check("good", True),),  # noqa: FBT003
            f"line 3 {wrong}: {line[:120]}",
        )
    )


def test_a_line_that_is_not_text(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xff\xfe\x00\n")[1] == "line 1 is not JSON: \\xff\\xfe\\x00"


def test_names_and_messages_are_cut_and_printable(tmp_path: Path) -> None:
    line = json.dumps({"check": "n" * 999, "ok": False, "message": "\ud800" + "m" * 9999})
    (check,), wrong = read(tmp_path, line)
    assert wrong is None
    assert (check.name, len(check.message)) == ("n" * 200, 4000)
    assert check.message.startswith("\\ud800mm")
    assert check.message.encode()


def test_too_much(tmp_path: Path) -> None:
    line = '{"check": "a", "ok": true}\n'
    assert len(read(tmp_path, line * 10_000)[0]) == 10_000
    assert read(tmp_path, line * 10_001) == ((), "it has more than 10000 lines")
    assert read(tmp_path, " " * (8 * 1024 * 1024 + 1)) == ((), "it is longer than 8 MB")
