from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rig.fake_github import FakeGitHub, serve_github


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    """GitHub with one issue."""
    with serve_github() as github:
        github.add_issue("pytorch/pytorch", 12)
        yield github
