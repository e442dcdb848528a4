from __future__ import annotations

import pytest

from bisect_tool.errors import SettingError
from bisect_tool.service.talk_settings import GitHubSettings, TalkSettings, read_talk

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_by_itself_nothing_is_said_and_nothing_heard() -> None:
    assert read_talk({}) == TalkSettings()
    assert read_talk({"GITHUB_TOKEN": "for reading"}).github == GitHubSettings()


def test_everything_that_can_be_said() -> None:
    found = read_talk(
        {
            "BISECT_GITHUB_TOKEN": "t0ken",
            "BISECT_GITHUB_POST": "on",
            "BISECT_GITHUB_REPOSITORIES": "PyTorch/pytorch, else/where",
            "BISECT_GITHUB_DAILY": "5",
            "BISECT_GITHUB_MINUTES_A_DAY": "90",
            "BISECT_GITHUB_ASSOCIATIONS": "member owner",
            "BISECT_GITHUB_ASKERS": "ann",
            "BISECT_GITHUB_WEBHOOK_SECRET": "0123456789abcdef",
            "BISECT_WEBHOOKS": "https://hooks.example.org/s3cret https://other.example.org",
            "BISECT_WEBHOOK_SECRET": f"{SECRET} {SECRET}",
        },
        "https://github.example.org/api/v3",
    )
    assert found.github == GitHubSettings(
        token="t0ken", posts=True, repositories=frozenset({"pytorch/pytorch", "else/where"}), daily=5, seconds_a_day=5400.0,
        associations=frozenset({"MEMBER", "OWNER"}), askers=frozenset({"ann"}), secret="0123456789abcdef",
        api="https://github.example.org/api/v3", host="github.example.org",
    )  # fmt: skip
    assert [target.address for target in found.targets] == [
        "https://hooks.example.org/s3cret",
        "https://other.example.org",
    ]
    assert [len(target.secrets) for target in found.targets] == [2, 2]
    for secret in ("t0ken", "0123456789abcdef", "s3cret", "MfKQ"):
        assert secret not in repr(found)


@pytest.mark.parametrize(
    ("environ", "what"),
    [
        ({"BISECT_GITHUB_POST": "on"}, "nothing can be posted without a token"),
        ({"BISECT_GITHUB_POST": "maybe"}, "neither on nor off"),
        ({"BISECT_GITHUB_REPOSITORIES": "pytorch"}, "not a repository: 'pytorch'"),
        ({"BISECT_GITHUB_REPOSITORIES": "https://github.com/pytorch/pytorch"}, "not a repository"),
        ({"BISECT_GITHUB_DAILY": "many"}, "not a number from 0 to 1000"),
        ({"BISECT_GITHUB_MINUTES_A_DAY": "0"}, "not a number of minutes"),
        ({"BISECT_GITHUB_ASSOCIATIONS": "friends"}, "not an association"),
        ({"BISECT_GITHUB_WEBHOOK_SECRET": "s3cret"}, "shorter than 16 characters"),
        ({"BISECT_WEBHOOKS": "https://x.example.org"}, "without a secret to sign with"),
        ({"BISECT_WEBHOOKS": "http://x.example.org/s3cret", "BISECT_WEBHOOK_SECRET": SECRET}, "not an address to call"),
        (
            {"BISECT_WEBHOOKS": "https://u:s3cret@x.example.org", "BISECT_WEBHOOK_SECRET": SECRET},
            "not an address to call",
        ),
        ({"BISECT_WEBHOOKS": "https://x.example.org:99999", "BISECT_WEBHOOK_SECRET": SECRET}, "not an address to call"),
        ({"BISECT_WEBHOOKS": "https://x.example.org", "BISECT_WEBHOOK_SECRET": "whsec_s3cret!"}, "no base 64"),
    ],
)
def test_mistakes_are_explained_without_the_secret(environ: dict[str, str], what: str) -> None:
    with pytest.raises(SettingError) as raised:
        read_talk(environ)
    assert what in str(raised.value)
    assert "s3cret" not in str(raised.value)


def test_private_webhooks_need_a_word() -> None:
    environ = {
        "BISECT_WEBHOOKS": "http://127.0.0.1:8000/x",
        "BISECT_WEBHOOK_SECRET": SECRET,
        "BISECT_WEBHOOK_PRIVATE": "on",
    }
    assert read_talk(environ).may_be_private
