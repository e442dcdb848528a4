from __future__ import annotations

from xml.etree import ElementTree as ET

from bisect_tool.reports.batch.junit import render
from tests.reports.batch.lines import several


def cases() -> dict[str, ET.Element]:
    root = ET.fromstring(render(several()))
    assert root.tag == "testsuites"
    (suite,) = root
    return {case.get("name", ""): case for case in suite}


def kind(case: ET.Element) -> str:
    return next((part.tag for part in case if part.tag != "system-out"), "passed")


def test_what_becomes_of_each_spec() -> None:
    found = {name: kind(case) for name, case in cases().items()}
    assert found["exact"] == "passed"
    assert found["unchanged"] == "passed"
    assert found["open"] == "failure"
    assert found["not-judged"] == "skipped"
    assert found["cut-short"] == "skipped"
    assert found["fault"] == "error"
    assert found["wrong"] == "error"


def test_the_suite_counts_its_cases() -> None:
    suite = ET.fromstring(render(several()))[0]
    kinds = [kind(case) for case in suite]
    counted = {name: int(suite.get(name, "")) for name in ("tests", "failures", "errors", "skipped")}
    assert counted == {
        "tests": 11, "failures": kinds.count("failure"), "errors": 2, "skipped": kinds.count("skipped"),
    }  # fmt: skip


def test_the_reason_is_told() -> None:
    part = cases()["fault"].find("error")
    assert part is not None
    assert part.get("type") == "PackageNotFound"
    assert "correct it" in (part.text or "")
    failure = cases()["open"].find("failure")
    assert failure is not None
    assert "zero-grad in 2.15.0" in (failure.get("message") or "")


def test_what_xml_cannot_hold_is_left_out() -> None:
    text = render([one.model_copy(update={"path": "a\x00\uffff<b>&\x1b[31m"}) for one in several()])
    assert "\x00" not in text
    assert "\uffff" not in text
    assert "\x1b" not in text
    ET.fromstring(text)
