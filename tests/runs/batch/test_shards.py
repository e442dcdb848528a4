from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisect_tool.errors import SettingError
from bisect_tool.runs.batch.finding import Member
from bisect_tool.runs.batch.shards import Shard, members_of, read_shard, share_out
from bisect_tool.spec.model import Spec
from bisect_tool.spec.reading import ReadSpec


def member(name: str, **keys: Any) -> Member:
    spec = Spec.model_validate(
        {"name": "s", "script": "x.py", **{key.rstrip("_"): value for key, value in keys.items()}}
    )
    path = Path(name)
    return Member(name, path, ReadSpec(spec, path, path.parent))


def month(name: str, number: int, **keys: Any) -> Member:
    return member(name, channel="nightly", from_=f"2026-{number:02}-01", to=f"2026-{number:02}-28", **keys)


@st.composite
def batches(draw: st.DrawFn) -> list[Member]:
    bounds = st.sampled_from([None, "2026-01-01", "2026-02-03", "2.11", "2.13.0.dev20260520", "nonsense"])
    kinds = st.fixed_dictionaries({
        "package": st.sampled_from(["torch", "toy"]), "from": bounds, "to": bounds,
        "python": st.sampled_from([None, "3.11"]), "requires": st.sampled_from([[], ["numpy"]]),
    })  # fmt: skip
    specs = draw(st.lists(kinds, max_size=25))
    made = [member(f"s{number}", **keys) for number, keys in enumerate(specs)]
    invalid = draw(st.integers(0, 3))
    return [*made, *(Member(f"bad{number}", Path("x"), None) for number in range(invalid))]


@settings(deadline=None, max_examples=150)
@given(batches(), st.integers(1, 9), st.randoms(use_true_random=False))
def test_every_spec_is_in_exactly_one_shard_whatever_the_order(
    batch: list[Member], of: int, rng: random.Random
) -> None:
    taken = Counter(one.name for number in range(of) for one in members_of(batch, Shard(number, of)))
    assert taken == Counter(one.name for one in batch)
    mixed = list(batch)
    rng.shuffle(mixed)
    assert share_out(mixed, of) == share_out(batch, of)


def test_specs_that_share_installs_stay_together() -> None:
    batch = [
        month(f"{package}-{number}", 1, package=package) for package in ("a", "b", "c", "d") for number in range(5)
    ]
    home = share_out(batch, 4)
    shards = {package: {home[f"{package}-{number}"] for number in range(5)} for package in ("a", "b", "c", "d")}
    assert sorted(shards.values(), key=min) == [{0}, {1}, {2}, {3}]


def test_ranges_that_do_not_meet_are_groups_of_their_own() -> None:
    batch = [month(f"{number}-{copy}", number) for number in (1, 3, 5) for copy in "xy"]
    home = share_out(batch, 3)
    assert all(home[f"{number}-x"] == home[f"{number}-y"] for number in (1, 3, 5))
    assert len(set(home.values())) == 3


def test_a_group_that_is_too_large_is_cut_so_that_neighbours_stay_together() -> None:
    batch = [
        member(f"{day:02}", channel="nightly", from_=f"2026-01-{day:02}", to=f"2026-02-{day:02}")
        for day in range(1, 25)
    ]
    home = share_out(batch, 4)
    order = [home[f"{day:02}"] for day in range(1, 25)]
    assert sorted(Counter(order).values()) == [6, 6, 6, 6]
    assert sum(before != after for before, after in itertools.pairwise(order)) == 3


def test_more_shards_than_specs_leave_some_empty() -> None:
    assert len(set(share_out([member("a"), member("b")], 8).values())) == 2


@pytest.mark.parametrize(
    ("text", "environ", "shard"),
    [
        (None, {}, None),
        ("0/8", {}, Shard(0, 8)),
        ("7/8", {"JOB_COMPLETION_INDEX": "1"}, Shard(7, 8)),
        ("8", {"JOB_COMPLETION_INDEX": "3"}, Shard(3, 8)),
        (None, {"BISECT_SHARDS": "8", "JOB_COMPLETION_INDEX": "3"}, Shard(3, 8)),
        (None, {"JOB_COMPLETION_INDEX": "3"}, None),
        (None, {"BISECT_SHARDS": "2/8"}, Shard(2, 8)),
    ],
)
def test_reading(text: str | None, environ: dict[str, str], shard: Shard | None) -> None:
    assert read_shard(text, environ) == shard


@pytest.mark.parametrize("text", ["8/8", "1/0", "-1/8", "a/b", "1/2/3", "8", "1/", "1.5/2"])
def test_what_names_no_shard_is_refused(text: str) -> None:
    with pytest.raises(SettingError):
        read_shard(text, {})
