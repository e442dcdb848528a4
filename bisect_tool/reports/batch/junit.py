"""The lines of a batch as a JUnit file, as CI systems show it. Pure.

A spec is a test case. It *failed* when the newest build that could be judged has a failure; it is an *error* when it has no
answer because it is invalid or something went wrong; it is *skipped* when nothing could be judged or the batch was stopped
before. Else it passed: also when a failure was there once, and is fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from bisect_tool.reports.batch.line import SpecLine
from bisect_tool.reports.cleaning import clean, one_line

NOT_IN_XML = str.maketrans("", "", "￾￿")


def render(lines: Sequence[SpecLine]) -> str:
    """The file, UTF-8 with its declaration."""
    suite = ET.Element("testsuite", name="bisect batch", tests=str(len(lines)))
    kinds = [_case(suite, line) for line in lines]
    for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(kinds.count(kind)))
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ET.Element, line: SpecLine) -> str:
    """Add a test case; gives what became of it."""
    case = ET.SubElement(suite, "testcase", classname=_text(line.package or "spec"), name=_text(line.name))
    case.set("file", _text(line.path))
    kind, message, text = _outcome(line)
    if kind:
        part = ET.SubElement(case, kind, message=_text(one_line(message, 300)))
        if kind == "error" and line.error is not None:
            part.set("type", line.error.kind)
        part.text = _text(text)
    if line.summary:
        ET.SubElement(case, "system-out").text = _text("\n".join(line.summary))
    return kind


def _outcome(line: SpecLine) -> tuple[str, str, str]:
    """Kind (empty: passed), message and text."""
    told = "\n".join(line.summary)
    if line.error is not None:
        return (
            "error",
            line.error.what,
            f"{line.error.what}\nwhere: {line.error.where or ''}\nnext: {line.error.advice}",
        )
    if line.status == "unfinished":
        return "skipped", "the batch was stopped before this was answered", told
    if line.open_changes:
        return "failure", "; ".join(f"{one.name} in {one.last_with}" for one in line.open_changes), told
    if line.outcome == "not judged":
        return "skipped", "too few builds could be tested to say anything", told
    return "", "", ""


def _text(text: str) -> str:
    """What XML 1.0 may hold."""
    return clean(text).translate(NOT_IN_XML)
