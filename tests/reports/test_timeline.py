from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bisect_tool.reports.report import Entry, State
from bisect_tool.reports.timeline import stretches, symbol

STATES: tuple[State, ...] = ("pass", "failing", "flaky", "untestable", "not tried")


def entries(states: str) -> tuple[Entry, ...]:
    words: dict[str, State] = {
        ".": "not tried",
        "p": "pass",
        "?": "untestable",
        "~": "flaky",
        "A": "failing",
        "B": "failing",
    }
    return tuple(
        Entry(build=f"1.{n}", state=words[s], failures=(s,) if s in "AB" else (), failure=s if s in "AB" else None)
        for n, s in enumerate(states)
    )


def shapes(states: str) -> list[tuple[str, str, str]]:
    return [(one.first, one.last, one.state) for one in stretches(entries(states))]


def test_untried_builds_between_equal_states_belong_to_them() -> None:
    assert shapes("p..p..A.A") == [
        ("1.0", "1.3", "pass"),
        ("1.4", "1.5", "not tried"),
        ("1.6", "1.8", "failing"),
    ]


def test_untried_builds_at_the_edge_belong_to_nobody() -> None:
    assert shapes("..pp.") == [("1.0", "1.1", "not tried"), ("1.2", "1.3", "pass"), ("1.4", "1.4", "not tried")]


def test_two_failures_are_two_stretches() -> None:
    assert shapes("AABB") == [("1.0", "1.1", "failing"), ("1.2", "1.3", "failing")]


@given(st.text(alphabet=".p?~AB", min_size=1, max_size=60))
def test_every_build_lies_in_one_stretch_and_no_change_is_lost(states: str) -> None:
    found = stretches(entries(states))
    covered = [index for one in found for index in range(one.start, one.end + 1)]
    assert covered == list(range(len(states)))
    for one in found:
        inside = {states[index] for index in range(one.start, one.end + 1)} - {"."}
        assert len(inside) <= 1


def test_every_state_has_a_symbol_of_its_own() -> None:
    assert len({symbol(state, ("A",), {"A": "A"}) for state in STATES}) == len(STATES)
