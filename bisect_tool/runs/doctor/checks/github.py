"""Whether the commits between two builds can be read: a clone, or GitHub's API and what is left of its limit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from bisect_tool.history.source import token_in
from bisect_tool.reports.checkup import Finding, Level
from bisect_tool.runs.doctor.place import Fetched, Place, Unanswered

ORDER = 80
_FEW = 20
_OK, _REFUSED = 200, 401


def check(place: Place) -> Iterator[Finding]:
    """The clone that was named; else the API."""
    repo = place.settings.repo
    if repo is not None:
        printed = place.call(["git", "-C", str(repo), "rev-parse", "HEAD"])
        level: Level = "ok" if printed else "problem"
        says = (
            f"the clone {repo} is at {printed.strip()[:12]}" if printed else f"{repo} is no git repository with commits"
        )
        yield Finding(about="history", level=level, says=says, fix="name a clone with --repo")
        return
    api = (place.settings.github_api or "https://api.github.com").rstrip("/")
    token = token_in(place.environ)
    try:
        found = place.fetch(f"{api}/rate_limit", {"Authorization": f"Bearer {token}"} if token else None)
    except Unanswered as error:
        says = f"{api}: {error}: reports will not name the commits between two builds"
        yield Finding(about="history", level="warning", says=says, fix="name a clone of the repository with --repo DIR")
        return
    yield _limit(found, api, has_token=token is not None)


def _limit(found: Fetched, api: str, *, has_token: bool) -> Finding:
    if found.status == _REFUSED:
        return Finding(about="history", level="warning", says=f"{api} refuses the token", fix="renew GITHUB_TOKEN")
    try:
        core = json.loads(found.body)["resources"]["core"]
        limit, left, reset = int(core["limit"]), int(core["remaining"]), int(core["reset"])
    except (ValueError, KeyError, TypeError):
        says = f"{api} answers with status {found.status}, and not with a limit"
        state: Level = "ok" if found.status == _OK else "warning"
        return Finding(about="history", level=state, says=says, fix="name a clone of the repository with --repo DIR")
    until = datetime.fromtimestamp(reset, UTC)
    says = f"{api}: {left} of {limit} requests left until {until:%H:%M} UTC{'' if has_token else ', without a token'}"
    fix = "put a token into GITHUB_TOKEN (5000 requests an hour), or name a clone with --repo DIR"
    facts = {"limit": limit, "left": left, "token": has_token}
    return Finding(about="history", level="ok" if left >= _FEW else "warning", says=says, fix=fix, facts=facts)
