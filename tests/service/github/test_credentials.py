"""An App of GitHub proves who it is, and gets tokens for an hour."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from bisect_tool.errors import SettingError
from bisect_tool.service.github.client import GitHubClient
from bisect_tool.service.github.credentials import AppCredentials, AppKey
from bisect_tool.service.github.faults import Rejected, TokenRefused
from bisect_tool.service.github.issue import Issue
from bisect_tool.service.talk_settings import read_talk
from tests.rig.fake_github import FakeApp, FakeGitHub

ISSUE = Issue("pytorch/pytorch", 12)
NOW = 1_800_000_000.0  # 2027-01-15 08:00 UTC; the tokens of the rig end at 09:00


@pytest.fixture(scope="module")
def keys() -> tuple[str, str]:
    """A private and a public key."""
    made = rsa.generate_private_key(65537, 2048)
    private = made.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def app(github: FakeGitHub, keys: tuple[str, str], clock: Clock) -> GitHubClient:
    github.app = FakeApp(keys[1], repositories=frozenset({"pytorch/pytorch"}))
    return GitHubClient(AppCredentials(AppKey("99", keys[0]), clock), github.url, clock)


def test_an_app_writes_as_its_bot_with_a_token_for_an_hour(github: FakeGitHub, keys: tuple[str, str]) -> None:
    clock = Clock()
    client = app(github, keys, clock)
    assert client.me() == "our-app[bot]"
    client.create(ISSUE, "one")
    client.create(ISSUE, "two")
    assert [one.author for one in client.own_comments(ISSUE)] == ["our-app[bot]"] * 2
    assert github.count("token") == 1
    assert github.app is not None
    assert github.app.claims[0] == {"iat": int(NOW) - 60, "exp": int(NOW) + 540, "iss": "99"}
    clock.now += 3400
    client.create(ISSUE, "three")
    assert github.count("token") == 2


def test_a_token_that_is_not_accepted_any_more_is_forgotten(github: FakeGitHub, keys: tuple[str, str]) -> None:
    client = app(github, keys, Clock())
    client.create(ISSUE, "one")
    github.tokens.clear()
    with pytest.raises(TokenRefused):
        client.create(ISSUE, "two")
    client.create(ISSUE, "two")
    assert [one["body"] for one in github.comments("pytorch/pytorch", 12)] == ["one", "two"]


def test_another_key_and_another_repository_are_refused(github: FakeGitHub, keys: tuple[str, str]) -> None:
    client = app(github, keys, Clock())
    github.add_issue("else/where", 1)
    with pytest.raises(Rejected):
        client.create(Issue("else/where", 1), "text")
    other = rsa.generate_private_key(65537, 2048).public_key()
    github.app = FakeApp(other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())
    with pytest.raises(TokenRefused):
        client.me()


def test_the_key_may_stand_on_one_line_and_is_never_shown(keys: tuple[str, str]) -> None:
    line = keys[0].replace("\n", "\\n")
    found = read_talk({"BISECT_GITHUB_APP_ID": "99", "BISECT_GITHUB_APP_KEY": line, "BISECT_GITHUB_POST": "on"}).github
    assert found.app is not None
    assert found.app.header(NOW).startswith("Bearer ey")
    assert "PRIVATE" not in repr(found)
    with pytest.raises(SettingError, match="the private key cannot be used"):
        read_talk({"BISECT_GITHUB_APP_ID": "99", "BISECT_GITHUB_APP_KEY": "no key"})
    with pytest.raises(SettingError, match="an App has an id and a private key"):
        read_talk({"BISECT_GITHUB_APP_ID": "99"})
