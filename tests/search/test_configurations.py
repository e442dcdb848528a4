"""Which configuration comes next: stated for small sets of changes, and played against planted answers."""

from __future__ import annotations

from bisect_tool.search.configurations import (
    Change,
    Configuration,
    Limits,
    LookAt,
    NoneReproduces,
    Reproduces,
    Shown,
    Spent,
    decide,
)

DYNAMIC = Change("dynamic", "yes", 0.2)
STATIC = Change("dynamic", "no", 0.05)
DTYPE = Change("dtype", "float64", 0.1)
BUILD = Change("build", "2.12.1", 0.5, price=400.0)
REPEATS = Change("repeats", "4", 0.2, looks=4)
AS_IS: Configuration = ()
NOTHING = Spent(0, 0.0, 10.0)


def played(
    changes: list[Change], shown: dict[Configuration, list[Shown]], limits: Limits | None = None
) -> tuple[list[Configuration], Reproduces | NoneReproduces]:
    """The looks that are made when `shown` says what each configuration shows, in turn; the others pass."""
    seen: dict[Configuration, list[Shown]] = {AS_IS: [Shown.PASSES]}
    looks: list[Configuration] = []
    while isinstance(
        step := decide(changes, seen, Spent(len(looks), 10.0 * len(looks), 10.0), limits or Limits()), LookAt
    ):
        looks.append(step.configuration)
        before = seen.setdefault(step.configuration, [])
        planted = shown.get(step.configuration, [Shown.PASSES])
        before.append(planted[len(before) % len(planted)])
    return looks, step


def test_likely_and_cheap_ones_come_first_and_pairs_after_all_single_ones() -> None:
    looks, end = played([STATIC, DTYPE, BUILD, DYNAMIC], {})
    assert looks[:4] == [(DYNAMIC,), (DTYPE,), (STATIC,), (BUILD,)]
    assert looks[4:] == [(DYNAMIC, DTYPE), (DTYPE, STATIC), (DYNAMIC, BUILD), (DTYPE, BUILD), (STATIC, BUILD)]
    assert end == NoneReproduces(0)


def test_a_configuration_counts_when_a_second_trial_confirms_it() -> None:
    looks, end = played([DYNAMIC, DTYPE], {(DTYPE,): [Shown.WANTED]})
    assert looks == [(DYNAMIC,), (DTYPE,), (DTYPE,)]
    assert end == Reproduces((DTYPE,), is_flaky=False)


def test_what_is_not_confirmed_is_flaky_or_given_up() -> None:
    _, end = played([DTYPE], {(DTYPE,): [Shown.WANTED, Shown.PASSES]})
    assert end == Reproduces((DTYPE,), is_flaky=True)
    looks, end = played([DTYPE], {(DTYPE,): [Shown.WANTED, *[Shown.PASSES] * 4]})
    assert looks == [(DTYPE,)] * 5
    assert end == NoneReproduces(0)


def test_repeats_are_looks_at_the_spec_as_it_is() -> None:
    looks, end = played([REPEATS], {(REPEATS,): [Shown.PASSES, Shown.PASSES, Shown.WANTED, Shown.PASSES, Shown.WANTED]})
    assert looks == [(REPEATS,)] * 5
    assert end == Reproduces((REPEATS,), is_flaky=True)


def test_a_change_that_spoils_the_repro_is_in_no_pair() -> None:
    looks, _ = played([DYNAMIC, DTYPE, BUILD], {(DYNAMIC,): [Shown.OTHER], (BUILD,): [Shown.NOT_JUDGED]})
    assert looks == [(DYNAMIC,), (DTYPE,), (BUILD,)]


def test_a_pair_is_found_when_no_single_change_does_it() -> None:
    _, end = played([DYNAMIC, DTYPE, STATIC], {(DYNAMIC, DTYPE): [Shown.WANTED]})
    assert end == Reproduces((DYNAMIC, DTYPE), is_flaky=False)


def test_the_limits_are_kept_and_what_is_left_is_counted() -> None:
    looks, end = played([DYNAMIC, DTYPE, STATIC], {}, Limits(looks=2))
    assert looks == [(DYNAMIC,), (DTYPE,)]
    assert end == NoneReproduces(3)  # one single change and two pairs
    short = Limits(seconds=25.0)
    assert decide([BUILD, DTYPE], {AS_IS: [Shown.PASSES]}, NOTHING, short) == LookAt((DTYPE,))  # no time to install
    begun = {AS_IS: [Shown.PASSES], (DTYPE,): [Shown.WANTED]}
    assert decide([DTYPE], begun, Spent(9, 99.0, 10.0), Limits(1, 1.0)) == LookAt((DTYPE,), confirms=True)
