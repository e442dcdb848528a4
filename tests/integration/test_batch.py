"""Batches over toy builds from the rig's index, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from tests.integration.conftest import Place, history

A = [{"name": "a", "args": ["a"]}]
B = [{"name": "b", "args": ["b"]}]


def lines(results: Path) -> dict[str, dict[str, Any]]:
    found = [json.loads(text) for text in (results / "summary.jsonl").read_text().splitlines()]
    assert len({line["name"] for line in found}) == len(found)
    return {line["name"]: line for line in found}


def two_failures(builds: int) -> list[Any]:
    behaviour: dict[int, Any] = {number: {"a": "RuntimeError: a broke"} for number in range(9, builds)}
    for number in range(6, builds):
        behaviour.setdefault(number, {})["b"] = "ValueError: b broke"
    return history(builds, behaviour)


def test_a_batch_with_bad_specs_among_good_ones(place: Place) -> None:
    place.publish(two_failures(16))
    place.spec("one", cases=A, from_="1.0")
    place.spec("two", cases=B, from_="1.0")
    place.spec("unlisted", cases=A, package="nowhere")
    place.spec("wrong", cases=[{"name": "a", "arg": ["a"]}])
    place.spec("needs", cases=A, from_="1.0", requires=["no-such-package-anywhere"])
    mistyped = place.spec("mistyped", cases=A, from_="1.0", command=["no-such-program"])
    mistyped.write_text(mistyped.read_text().replace('"script": "repro.py", ', ""))
    results = place.root / "results"

    ran = place.run("batch", place.specs, "--out", results)

    assert ran.status == 40, ran.err
    told = lines(results)
    assert {name: line["status"] for name, line in told.items()} == {
        "one": "answered", "two": "answered", "unlisted": "failed", "wrong": "invalid", "needs": "failed", "mistyped": "failed",
    }  # fmt: skip
    assert told["one"]["changes"][0]["first_with"] == "1.9"
    assert told["two"]["changes"][0]["first_with"] == "1.6"
    assert told["one"]["installed"] + told["two"]["installed"] <= 9  # as many as both need together
    assert told["unlisted"]["error"]["kind"] == "PackageNotFound"
    assert told["needs"]["error"]["kind"] == "RequirementsUnmet"
    assert told["mistyped"]["error"]["kind"] == "CommandFault"
    assert "arg" in told["wrong"]["error"]["what"]
    suite = ET.parse(results / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("6", "2", "4")
    page = (results / "index.html").read_text()
    assert 'href="specs/one/report.html"' in page
    folder = results / "specs" / "one"
    assert json.loads((folder / "report.json").read_text())["outcome"] == "exact"
    assert "a@1.9.txt" in {path.name for path in (folder / "logs").iterdir()}
    assert "2 exact, 4 without an answer" in ran.out

    (place.specs / "needs" / "spec.yaml").unlink()
    for name in ("unlisted", "wrong", "mistyped"):
        (place.specs / name / "spec.yaml").unlink()
    again = place.run("batch", place.specs, "--out", results)
    assert again.status == 0, again.err
    assert {name: line["trials"] for name, line in lines(results).items()} == {"one": 0, "two": 0}
    assert lines(results)["one"]["changes"] == told["one"]["changes"]


def test_open_failures_are_looked_at_again_on_new_builds_only(place: Place) -> None:
    open_since_3: dict[int, Any] = {number: {"a": "RuntimeError: a broke", "b": "ValueError: b"} for number in range(3, 6)}
    place.publish(history(6, open_since_3))
    place.spec("a", cases=A, from_="1.0")
    place.spec("b", cases=B, from_="1.0")
    place.spec("never", cases=[{"name": "c", "args": ["c"]}], from_="1.0")
    first, second, third = (place.root / name for name in ("first", "second", "third"))
    assert place.run("batch", place.specs, "--out", first).status == 0

    assert place.run("batch", place.specs, "--out", third, "--since", first).status == 0
    assert {name: [one["now"] for one in line["since"]] for name, line in lines(third).items()} == {
        "a": ["no new build"], "b": ["no new build"],
    }  # fmt: skip

    place.publish(history(10, open_since_3 | {number: {"b": "ValueError: b"} for number in range(6, 10)}))
    ran = place.run("batch", place.specs, "--out", second, "--since", first)
    assert ran.status == 0, ran.err
    told = lines(second)
    assert set(told) == {"a", "b"}
    assert (told["a"]["first"], told["a"]["builds"]) == ("1.5", 5)
    (fixed,), (still,) = told["a"]["since"], told["b"]["since"]
    assert (fixed["now"], fixed["was"], fixed["first_without"], fixed["kind"]) == ("fixed", "1.5", "1.6", "exact")
    assert (still["now"], still["last_with"]) == ("still failing", "1.9")
    assert "1 spec had no open failure" in (second / "index.html").read_text()

    by_store = place.run("batch", place.specs, "--out", third, "--since", "1.5")
    assert by_store.status == 0, by_store.err
    assert set(lines(third)) == {"b"}  # what the store answered last of `a` has no open failure any more
    assert place.run("batch", place.specs, "--out", first, "--since", first).status == 18
    assert place.run("batch", place.specs, "--out", first, "--since", "nonsense").status == 18


def test_shards_answer_every_spec_once_and_are_merged(place: Place) -> None:
    place.publish(history(4, failing([2, 3], case="a")))
    for name in ("a", "b", "c"):
        place.spec(name, cases=A, from_="1.0", requires=[] if name == "a" else ["packaging"])
    shards = [place.root / "results" / f"shard-{number}" for number in range(3)]
    for number, out in enumerate(shards):
        environ = {"JOB_COMPLETION_INDEX": str(number)}
        assert place.run("batch", place.specs / "a", "--out", out, "--shard", "3", environ=environ).status == 0
    assert [set(lines(out)) for out in shards].count({"a"}) == 1
    merged = place.run("batch", "--merge", *shards, "--out", place.root / "results")
    assert merged.status == 0, merged.err
    page = place.root / "results" / "index.html"
    (line,) = lines(place.root / "results").values()
    assert (page.parent / line["folder"] / "report.html").is_file()
