from __future__ import annotations

import base64

import pytest

from bisect_tool.service.signing import is_from_github, sign_webhook, webhook_secret


def test_the_example_of_github() -> None:
    # https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
    header = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert is_from_github("It's a Secret to Everybody", b"Hello, World!", header)


@pytest.mark.parametrize("header", ["", "sha256=", "sha1=757107ea", "757107ea", "sha256=\u00e9", "sha256=" + "0" * 64])
def test_other_signatures(header: str) -> None:
    assert not is_from_github("It's a Secret to Everybody", b"Hello, World!", header)


def test_without_a_secret_nothing_is_right() -> None:
    empty = "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"  # of nothing, with an empty key
    assert not is_from_github("", b"", empty)


def test_the_example_of_standard_webhooks() -> None:
    # The test vector of the libraries of Standard Webhooks.
    secret = webhook_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signed = sign_webhook((secret,), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "does not begin"),
        ("whsec_!!", "no base 64"),
        ("whsec_" + base64.b64encode(b"short").decode(), "5 bytes"),
    ],
)
def test_secrets_that_are_none(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as raised:
        webhook_secret(text)
    assert text.removeprefix("whsec_") not in str(raised.value)
