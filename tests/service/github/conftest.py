from __future__ import annotations

from collections.abc import Iterator

import pytest

from bisect_tool.store.database import Database
from tests.rig.fake_github import FakeGitHub, serve_github
from tests.rig.talk_stage import Stage, talk_settings


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    """GitHub with one issue."""
    with serve_github() as github:
        github.add_issue("pytorch/pytorch", 12)
        yield github


@pytest.fixture
def stage(file_database: Database, github: FakeGitHub) -> Stage:
    """A server that posts to that GitHub."""
    return Stage(file_database, talk_settings(github))
