"""Batches over toy builds from the rig's index, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from tests.integration.conftest import Place, failing, history

A = [{"name": "a", "args": ["a"]}]


def lines(results: Path) -> dict[str, dict[str, Any]]:
    found = [json.loads(text) for text in (results / "summary.jsonl").read_text().splitlines()]
    assert len({line["name"] for line in found}) == len(found)
    return {line["name"]: line for line in found}


def test_a_batch_on_the_command_line(place: Place) -> None:
    """With uv: a good spec, an invalid one, one whose requirements nothing meets; then again without those two."""
    place.publish(history(4, failing([3], case="a")))
    place.spec("good", cases=A, from_="1.0")
    place.spec("wrong", cases=[{"name": "a", "arg": ["a"]}])
    place.spec("needs", cases=A, from_="1.0", requires=["no-such-package-anywhere"])
    results = place.root / "results"

    ran = place.run("batch", place.specs, "--out", results)

    assert ran.status == 40, ran.err
    told = lines(results)
    assert {name: line["status"] for name, line in told.items()} == {
        "good": "answered", "wrong": "invalid", "needs": "failed",
    }  # fmt: skip
    assert told["good"]["changes"][0]["first_with"] == "1.3"
    assert told["needs"]["error"]["kind"] == "RequirementsUnmet"
    assert ET.parse(results / "junit.xml").getroot()[0].get("errors") == "2"
    assert "3 specs: 1 exact, 2 without an answer" in ran.out
    assert "2 of 3 specs have no answer" in ran.err
    assert "3 of 3 specs done" in ran.err

    shard = results / "shard"
    again = place.run(
        "batch", place.specs / "good", "--out", shard, "--shard", "1", environ={"JOB_COMPLETION_INDEX": "0"}
    )
    assert (again.status, lines(shard)["good"]["trials"]) == (0, 0)
    merged = place.run("batch", "--merge", shard, "--out", results)
    assert (merged.status, list(lines(results))) == (0, ["good"])
