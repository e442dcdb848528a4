from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.builds.build import Build, Listing, Machine, Wanted
from bisect_tool.builds.channel import Access
from bisect_tool.builds.channels.nightly import NightlyChannel
from bisect_tool.builds.fitting import target_for
from bisect_tool.builds.nightly.memory import Memory
from bisect_tool.builds.nightly.pages import Pages
from bisect_tool.builds.nightly.site import open_site
from bisect_tool.builds.nightly.tables import Tables, read_tables
from tests.rig.nightly_index import Hrefs, NightlyIndex, NightlyPlan

H200 = Machine("cuda", "580.65.06", (9, 0))
Serve = Callable[..., NightlyIndex]


def wanted(from_: str | None = None, to: str | None = None, **rest: Any) -> Wanted:
    return Wanted("torch", target_for("3.11.7"), from_=from_, to=to, **rest)


def channel(index: NightlyIndex, pages: Path | None = None, **access: Any) -> NightlyChannel:
    site = open_site(access.pop("address", index.address), backoff=0)
    chosen = Access(index=index.default_index, pages=pages, nightly_index=index.address, **access)
    return NightlyChannel(site, Pages(site), Memory(pages), chosen, clock=lambda: index.now)


def versions(listing: Listing) -> list[str]:
    return [build.version for build in listing.builds]


def days(listing: Listing) -> list[str]:
    return [day_of(build) for build in listing.builds]


def day_of(build: Build) -> str:
    assert build.date is not None
    return build.date.date().isoformat()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts an index of nightlies; without `known_gaps`, so that every date of a plan has its builds."""
    with ExitStack() as stack:

        def start(
            first: date, last: date, *variants: str, hrefs: Hrefs = Hrefs.AS_OF_TODAY, **rest: Any
        ) -> NightlyIndex:
            for_index = {name: rest.pop(name) for name in ("today", "r2_since", "password") if name in rest}
            plan = NightlyPlan(
                first=first,
                last=last,
                variants=variants or ("cpu",),
                **{"pythons": ("cp311",), "known_gaps": False, **rest},
            )
            return stack.enter_context(NightlyIndex(plan, hrefs=hrefs, **for_index))

        yield start


@pytest.fixture(scope="session")
def tables() -> Tables:
    return read_tables()
