from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bisect_tool.service.app import make_app
from bisect_tool.service.posts import NewPost, PostKind, Posts, key_of
from bisect_tool.service.services import Services
from bisect_tool.service.tokens import Scope
from bisect_tool.store.address import file_address
from tests.rig.opened_services import ADDRESS, opened_services

QUESTION = "q0123456789abcdef0123"


@pytest.fixture
def services(made_file: Path, tmp_path: Path) -> Iterator[Services]:
    """A server that would have written a comment, and has a webhook to call."""
    shutil.copy(made_file, tmp_path / "shared.sqlite")
    with opened_services(file_address(tmp_path / "shared.sqlite", is_own=False), tmp_path / "cache") as services:
        posts = Posts(services.database)
        comment = NewPost(key_of("1"), PostKind.COMMENT, "a/b#1", QUESTION, "It appeared.")
        call = NewPost(key_of("2"), PostKind.WEBHOOK, "hooks.example.org 0123", "q" + "0" * 20, "{}")
        services.database.write(lambda connection: posts.add(connection, comment, is_dry=True))
        services.database.write(lambda connection: posts.add(connection, call))
        yield services


def test_what_was_told_is_listed(services: Services) -> None:
    client = TestClient(make_app(services), base_url=ADDRESS)
    every = client.get("/api/v1/posts").json()["posts"]
    assert [(one["kind"], one["state"]) for one in every] == [("webhook", "waiting"), ("comment", "dry")]
    (dry,) = client.get("/api/v1/posts", params={"state": "dry", "question": QUESTION}).json()["posts"]
    assert (dry["address"], dry["body"]) == ("a/b#1", "It appeared.")


def test_it_is_nothing_for_those_who_may_only_read(services: Services) -> None:
    token = services.tokens.make("reader", [Scope.READ]).text
    client = TestClient(make_app(services), base_url=ADDRESS, headers={"Authorization": f"Bearer {token}"})
    assert client.get("/api/v1/posts").status_code == 403
