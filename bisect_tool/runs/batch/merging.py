"""One page, one summary and one JUnit file for the results of several batches, such as the shards of one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bisect_tool.errors import SettingError
from bisect_tool.reports.batch.line import SpecLine
from bisect_tool.runs.batch.folder import SUMMARY, ResultsFolder, open_folder, read_lines

_RANK = ("answered", "unfinished", "failed", "invalid")


def merge(folders: Sequence[Path], out: Path) -> list[SpecLine]:
    """Write what tells of all specs of `folders` into `out`; their own files stay where they are, and are linked to.

    A spec that several folders tell of counts once: an answer before none, then what ended last.

    Raises `SettingError` for a folder without a summary or one that cannot be read, `OutputNotWritten`.
    """
    lines: dict[str, SpecLine] = {}
    for folder in folders:
        if not (folder / SUMMARY).is_file():
            raise SettingError(
                "there are no results of a batch", where=str(folder), advice=f"name folders that have a {SUMMARY}"
            )
        for line in read_lines(folder):
            moved = line
            if line.folder:
                moved = line.model_copy(update={"folder": os.path.relpath(folder / line.folder, out)})
            known = lines.get(line.name)
            if known is not None and None not in (known.digest, moved.digest) and known.digest != moved.digest:
                # Another spec that happens to have the same name.
                moved = moved.model_copy(update={"name": f"{line.name}-{(moved.digest or '')[:8]}"})
                known = lines.get(moved.name)
            lines[moved.name] = moved if known is None else _better(known, moved)
    open_folder(out)
    merged = ResultsFolder(out, title=f"bisect batch: {len(folders)} folders", lines=dict(sorted(lines.items())))
    merged.rewrite()
    return list(merged.lines.values())


def _better(one: SpecLine, other: SpecLine) -> SpecLine:
    ranks = (_RANK.index(one.status), _RANK.index(other.status))
    if ranks[0] != ranks[1]:
        return one if ranks[0] < ranks[1] else other
    return other if other.ended >= one.ended else one
