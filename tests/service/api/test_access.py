"""Who may do what: tokens with scopes, anybody where that was said, nobody from another web site."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from bisect_tool.errors import SettingError
from bisect_tool.service.app import make_app
from bisect_tool.service.rates import Rates, read_rate
from bisect_tool.service.services import Services
from bisect_tool.service.serving import hosting_for
from bisect_tool.service.tokens import Scope
from tests.rig.opened_services import ADDRESS
from tests.service.api.test_questions import QUESTIONS, handed_in


@pytest.fixture
def closed(services: Services) -> TestClient:
    """A server where each needs a token."""
    hosting = replace(services.hosting, open_to=frozenset())
    return TestClient(make_app(replace(services, hosting=hosting)), base_url=ADDRESS)


def bearer(services: Services, *scopes: Scope, name: str = "ann") -> dict[str, str]:
    return {"Authorization": f"Bearer {services.tokens.make(name, scopes).text}"}


def test_without_a_token(closed: TestClient) -> None:
    told = closed.get(QUESTIONS)
    assert (told.status_code, told.headers["www-authenticate"]) == (401, 'Bearer realm="bisect"')
    assert told.json()["detail"] == "this needs a token with the scope `read`"
    assert closed.post(QUESTIONS, json=handed_in()).status_code == 401
    assert closed.get("/metrics").status_code == 401
    assert [closed.get(path).status_code for path in ("/healthz", "/readyz", "/openapi.json")] == [200, 200, 200]


def test_each_scope_allows_its_own(closed: TestClient, services: Services) -> None:
    reader = bearer(services, Scope.READ, name="reader")
    asker = bearer(services, Scope.SUBMIT, name="asker")
    worker = bearer(services, Scope.WORK, name="worker")
    admin = bearer(services, Scope.ADMIN, name="admin")
    asked = closed.post(QUESTIONS, json=handed_in(), headers=asker)
    assert (asked.status_code, asked.json()["question"]["owner"]) == (201, "asker")
    cancel = f"{QUESTIONS}/{asked.json()['question']['id']}/cancel"
    assert [closed.get(QUESTIONS, headers=who).status_code for who in (reader, asker, worker, admin)] == [
        200,
        403,
        403,
        200,
    ]
    assert [closed.post(cancel, headers=who).status_code for who in (reader, asker, worker, admin)] == [
        403,
        403,
        200,
        200,
    ]
    assert closed.post(QUESTIONS, json=handed_in(1), headers=reader).status_code == 403
    assert closed.post(QUESTIONS, json={**handed_in(2), "priority": 90}, headers=admin).status_code == 201


def test_a_browser_shows_its_token_as_a_cookie(closed: TestClient, services: Services) -> None:
    text = services.tokens.make("ann", [Scope.READ]).text
    assert closed.get(QUESTIONS, headers={"Cookie": f"bisect_token={text}"}).status_code == 200


def test_a_token_that_is_not_valid(client: TestClient, services: Services) -> None:
    """Also where anybody may read: whoever shows one means it."""
    ann = bearer(services, Scope.READ)
    wrong = {"Authorization": ann["Authorization"][:-1] + "!"}
    other = {"Authorization": ann["Authorization"][:-2] + "aa"}
    for who in (
        wrong,
        other,
        {"Authorization": "Bearer bisect_0000000000000000_" + "a" * 43},
        {"Authorization": "Bearer é"},
    ):
        assert (
            client.get(QUESTIONS, headers=[(name.encode(), text.encode()) for name, text in who.items()]).status_code
            == 401
        )
    assert client.get(QUESTIONS, headers=ann).status_code == 200
    services.tokens.revoke("ann")
    told = client.get(QUESTIONS, headers=ann)
    assert (told.status_code, told.json()["detail"]) == (401, "this token is not valid: unknown, expired or revoked")


def test_who_may_come_in(services: Services) -> None:
    def scopes(
        host: str, *, is_open: bool = False, proxies: tuple[str, ...] = (), address: str = services.hosting.address
    ) -> set[str]:
        hosting = replace(services.hosting, host=host, proxies=proxies, address=address)
        return {str(one) for one in hosting_for(services.tokens, hosting, is_open=is_open).open_to}

    assert scopes("127.0.0.1") == scopes("::1") == scopes("localhost") == {"read", "submit", "work"}
    with pytest.raises(SettingError, match="there are no tokens yet"):
        scopes("0.0.0.0")
    with pytest.raises(SettingError, match="there are no tokens yet"):
        scopes("127.0.0.1", proxies=("10.0.0.1",))
    with pytest.raises(SettingError, match="there are no tokens yet"):
        scopes("127.0.0.1", address="https://bisect.example")  # behind a proxy that was not named
    assert scopes("0.0.0.0", is_open=True) == {"read", "submit"}
    services.tokens.make("ann", [Scope.READ])
    assert scopes("127.0.0.1") == scopes("0.0.0.0") == set()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_web_site_has_a_browser_ask(client: TestClient, headers: dict[str, str]) -> None:
    """A form needs no permission to be sent anywhere; without this, any page could have code run here."""
    form = {"spec": "name: x\nscript: repro.py\n"}
    told = client.post(QUESTIONS, data=form, files={"files": ("repro.py", b"evil")}, headers=headers)
    assert (told.status_code, told.json()["detail"]) == (403, "the request comes from another web site")


def test_our_own_pages_ask(client: TestClient) -> None:
    for headers in ({"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
        assert client.post(QUESTIONS, json=handed_in(), headers=headers).status_code in {200, 201}


def test_the_name_of_another_host_leads_here(client: TestClient) -> None:
    assert client.get(QUESTIONS, headers={"Host": "evil.example:8765"}).status_code == 403
    for host in ("localhost:8765", "127.0.0.1", "[::1]:8765"):
        assert client.get(QUESTIONS, headers={"Host": host}).status_code == 200


def test_too_many_requests(services: Services) -> None:
    rates = Rates(read_rate("3/minute"), read_rate("1/minute"))
    client = TestClient(make_app(services, rates), base_url=ADDRESS)
    assert client.post(QUESTIONS, json=handed_in()).status_code == 201
    told = client.post(QUESTIONS, json=handed_in())
    assert (told.status_code, told.json()["detail"]) == (429, "too many submissions: at most 1 per 1 minute")
    assert 1 <= int(told.headers["retry-after"]) <= 60
    assert [client.get(QUESTIONS).status_code for _ in range(2)] == [200, 429]
    assert client.get(QUESTIONS, headers=bearer(services, Scope.READ)).status_code == 200  # counted by itself
    assert client.get("/healthz").status_code == 200
    with pytest.raises(SettingError, match="not a rate"):
        read_rate("many")
