"""Keeps the answers of real runs of `repro_specs/`: reports in `docs/results/corpus/`, trials in `tests/corpus/recorded/`.

    bisect run repro_specs/click-optional-value --json FOLDER/click-optional-value.json
    python -m tests.corpus.keep CACHE FOLDER [SPEC_FOLDER…]

Left out are the places of this machine, the address of the index, and the commits that nothing points to. The listing of the
index is read once more.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bisect_tool.builds.channel import names
from bisect_tool.runs.asking import ask
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import Stage, Wishes
from bisect_tool.runs.workshop import Workshop, open_workshop
from bisect_tool.settings import read_settings
from bisect_tool.spec.reading import ReadSpec, load_all
from tests.corpus.recorded import FOLDER, taken_down

ROOT = Path(__file__).resolve().parents[2]
SUSPECTS = 3  # so many commits of an end are kept, with so many of their files
REPORTS = ROOT / "docs" / "results" / "corpus"


def main(cache: Path, reports: Path, folders: list[Path]) -> None:
    """Keep what `cache` and `reports` say of each spec that has a report."""
    workshop = open_workshop(read_settings({"cache": cache}, os.environ, ROOT), os.environ)
    found = folders or [folder for folder in sorted((ROOT / "repro_specs").iterdir()) if folder.is_dir()]
    for read in load_all(found, channels=names()):
        path = reports / f"{read.spec.name}.json"
        if path.exists():
            report = json.loads(path.read_text())
            _write(REPORTS / path.name, _kept(report, cache))
            _write(FOLDER / path.name, _trials(workshop, read, report))
            sys.stdout.write(f"{read.spec.name}: kept\n")


def _trials(workshop: Workshop, read: ReadSpec, report: Mapping[str, Any]) -> dict[str, Any]:
    results = workshop.results()
    try:
        spec, stages = read.spec, report["stages"]
        channel = stages[0]["channel"] if stages else report["channel"]
        asked = ask(read, Wishes(), workshop.means(), Stage(channel, spec.from_, spec.to))
        session = Session(asked, results, workshop.environments())
        session.load()
        return taken_down(session, _places(workshop.cache.root))
    finally:
        results.close()


def _kept(report: dict[str, Any], cache: Path) -> dict[str, Any]:
    """The report without places of the machine, and of the commits only those that something points to."""
    ends = [
        end
        for failure in report["failures"]
        for episode in failure["episodes"]
        for end in (episode["appeared"], episode["fixed"])
        if end and end.get("suspicion")
    ]
    for end in ends:
        end["suspicion"]["suspects"] = end["suspicion"]["suspects"][:SUSPECTS]
    named = {suspect["sha"] for end in ends for suspect in end["suspicion"]["suspects"]}
    for boundary in report["boundaries"]:
        commits = boundary["commits"]
        if commits and commits["rows"]:
            rows = [
                {**row, "files": row["files"][:SUSPECTS] if row["files"] else row["files"]} for row in commits["rows"]
            ]
            commits["rows"] = [row for row in rows if row["sha"] in named]
            left = len(rows) - len(commits["rows"])
            commits["notes"] += [f"{left} more commits are left out here."] if left else []
    words = report["repeat"].split()
    if "--repo" in words:
        words[words.index("--repo") + 1] = "CLONE"
    report |= {"repeat": " ".join(words), "cache": "CACHE", "source": "the package index"}
    text = json.dumps(report)
    for place, instead in _places(cache).items():
        text = text.replace(place, instead)
    return dict(json.loads(text))


def _places(cache: Path) -> dict[str, str]:
    """What stands for the places of this machine; the cache first, because it may be in one of the others."""
    return {
        str(cache.resolve()): "CACHE",
        str(Path(sys.base_prefix)): "PYTHON",
        str(Path.home()): "HOME",
        tempfile.gettempdir(): "TMP",
    }


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(word) for word in sys.argv[3:]])
