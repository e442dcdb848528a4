from __future__ import annotations

import pytest

from bisect_tool.service.github.harmless import defused

Z = "\u200b"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cc @torvalds and @pytorch/core", f"cc @{Z}torvalds and @{Z}pytorch/core"),
        ("fixes #12, closes pytorch/pytorch#3", f"fixes #{Z}12, closes pytorch/pytorch#{Z}3"),
        ("resolves GH-7", f"resolves GH{Z}-7"),
        ("### Title", "### Title"),
        ("call `@torvalds #1` now @x", f"call `@torvalds #1` now @{Z}x"),
        ("an open ` tick @x", f"an open ` tick @{Z}x"),
        ("``a ` @x`` @y", f"``a ` @x`` @{Z}y"),
        ("```text\n@x #1\n```\n@y", f"```text\n@x #1\n```\n@{Z}y"),
        ("````\n```\n@x\n````\n@y", f"````\n```\n@x\n````\n@{Z}y"),
        ("```no fence` @x", f"```no fence` @{Z}x"),
        ("[a](https://github.com/o/r/pull/12)", "[a](https://redirect.github.com/o/r/pull/12)"),
        ("[a](https://github.com/o/r/issues/12#issuecomment-1)",
         "[a](https://redirect.github.com/o/r/issues/12#issuecomment-1)"),
        ("[a](https://github.com/o/r/commit/12ab)", "[a](https://github.com/o/r/commit/12ab)"),
        ("[a](https://github.com/o/r/compare/a...b) @x", f"[a](https://github.com/o/r/compare/a...b) @{Z}x"),
        ("[@x](https://github.com/o/r/pull/1)", f"[@{Z}x](https://redirect.github.com/o/r/pull/1)"),
    ],
)  # fmt: skip
def test_nobody_is_called_and_nothing_is_closed(text: str, said: str) -> None:
    assert defused(text) == said
    assert defused(said) == said
