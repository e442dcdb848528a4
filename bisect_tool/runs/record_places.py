"""What the record of a search says of where its verdicts hold: package, channel, device, interpreter, files of the builds.

A look-up needs this to tell whether a verdict is one about the same thing (`bisect_tool.service.narrowing`). `replay` does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from bisect_tool.builds.build import LeftOutBecause
from bisect_tool.runs.asking import Asked
from bisect_tool.spec.asked_identity import beside_of, naming_of
from bisect_tool.spec.repro import case_digest
from bisect_tool.trials.judge import RULES


def places(askeds: Sequence[Asked]) -> dict[str, Any]:
    """`about`: for each question where it was asked; `listings`: the builds, those that several questions share once.

    The `listing` of a question is its number, None where no other one may count its builds: of commits, whose order no other
    listing has, of chosen builds only, and of builds that nobody gets without asking for them.
    """
    listings: dict[tuple[object, ...], int] = {}
    about = [
        {**_about(asked), "listing": listings.setdefault(_builds(asked), len(listings)) if _is_listing(asked) else None}
        for asked in askeds
    ]
    return {"about": about, "listings": [{"dates": dates, "files": files} for dates, files in listings]}


def _is_listing(asked: Asked) -> bool:
    wishes = asked.wishes
    return not (asked.listing.is_bounded or wishes.only or wishes.policy.thin or wishes.pre or wishes.yanked)


def file_name(identity: str) -> str:
    """Twelve digits for the content of a file."""
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _about(asked: Asked) -> dict[str, Any]:
    spec = asked.spec
    return {
        "package": spec.package,
        "channel": asked.stage.channel,
        "variant": spec.variant,
        "source": asked.channel.source_address(),
        "device": asked.device.kind,
        "python": asked.interpreter.identity,
        "settings": asked.settings,
        "from": asked.stage.from_,
        "to": asked.stage.to,
        "dated": asked.listing.dated,
        "has_gaps": any(one.because is LeftOutBecause.DATE for one in asked.selection.left_out),
        "rules": RULES,
        "beside": beside_of(spec),
        "naming": naming_of(spec),
        "cases": {case.name: case_digest(case, spec) for case in spec.cases},
        "controls": [case.name for case in spec.controls],
    }


def _builds(asked: Asked) -> tuple[tuple[int | None, ...], tuple[str, ...]]:
    """Seconds since 1970, and files. One that runs on another Python than the others has no file: it is another question's."""
    builds = asked.builds
    dates = tuple(int(build.date.timestamp()) if build.date else None for build in builds)
    return dates, tuple("" if build.python else file_name(build.identity) for build in builds)
