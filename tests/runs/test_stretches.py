from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bisect_tool.builds.build import Build
from bisect_tool.runs.stretches import LONGEST, bases_of, laid, thinned, whole


def nightly(number: int, variant: str = "cu130") -> Build:
    date = datetime(2026, 4, 1, tzinfo=UTC) + timedelta(days=number)
    return Build("torch", f"2.13.0.dev{date:%Y%m%d}+{variant}", f"torch-{number}.whl", "http://x/", date,
                 size=600_000_000, variant=variant, fingerprint=f"modified:{number}")  # fmt: skip


BUILDS = tuple(nightly(number) for number in range(6))


def test_the_newest_build_carries_all_others() -> None:
    assert bases_of(BUILDS, (), ()) == (5, 5, 5, 5, 5, None)


def test_an_overlay_that_does_not_fit_carries_what_is_older() -> None:
    assert bases_of(BUILDS, {2}, ()) == (2, 2, None, 5, 5, None)


def test_a_dead_build_carries_nothing() -> None:
    assert bases_of(BUILDS, (), {5, 4}) == (3, 3, 3, None, None, None)


def test_a_build_that_is_here_is_looked_at_whole_and_changes_nothing_for_others() -> None:
    assert bases_of(BUILDS, (), (), {3}) == (5, 5, 5, None, 5, None)


def test_a_stretch_is_of_one_variant_and_bounded() -> None:
    two = (nightly(0, "cu126"), nightly(1, "cu126"), nightly(1), nightly(2))
    assert bases_of(two, (), ()) == (1, None, 3, None)
    many = tuple(nightly(number) for number in range(LONGEST + 2))
    assert bases_of(many, (), ())[:3] == (1, None, LONGEST + 1)
    assert bases_of(many, (), (), {1})[:3] == (1, None, LONGEST + 1)


def test_a_thin_build_is_another_one_than_both_of_its_parts() -> None:
    thin = laid(BUILDS, bases_of(BUILDS, (), ()))[0]
    others = {thinned(BUILDS[0], BUILDS[4]).identity, thinned(BUILDS[1], BUILDS[5]).identity}
    assert thin.identity not in {BUILDS[0].identity, BUILDS[5].identity} | others
    assert len(thin.identity) < 200
    assert whole(thin, 600_000_000) == BUILDS[0]
