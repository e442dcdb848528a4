"""The news of a job, in the words of whoever watches."""

from __future__ import annotations

from typing import assert_never

from bisect_tool.builds.build import Build
from bisect_tool.environments.environment import Checking, Making, Trouble, Waiting
from bisect_tool.environments.uv import Download
from bisect_tool.reports import events
from bisect_tool.runs.executors import GpuNews, News, WaitingForFirst, WaitingForLock

FIRST = "the first environment fetches what most of them need"
OTHER_RUN = "another run makes this environment"


def event_of(
    news: News, build: Build, slot: str | None, *, lock: str, environment: str = OTHER_RUN
) -> events.Event:  # fmt: skip
    """What is told of `news` about a build; `lock` and `environment` say what is being waited for when it is one of these."""
    version = build.version
    match news:
        case WaitingForLock(by):
            return events.Waiting(version, f"{lock}: {by}" if by else lock, slot)
        case GpuNews(text):
            return events.Notice(text)
        case WaitingForFirst():
            return events.Waiting(version, FIRST, slot)
        case Waiting():
            return events.Waiting(version, environment, slot)
        case Making():
            return events.Installing(version, build.size, slot)
        case Checking():
            return events.Checking(version, slot)
        case Download(package, size, done, here):
            return events.Downloading(version, package, (size or 1) if done else here, size, slot)
        case Trouble(reason, attempt, of):
            return events.MachineTrouble(reason, attempt, of)
        case _:
            assert_never(news)
