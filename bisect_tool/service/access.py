"""Who asks, and whether that may be done: a token in the header, the cookie of a browser, or anybody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from bisect_tool.service.problems import Refused
from bisect_tool.service.rates import Rates
from bisect_tool.service.services import Services
from bisect_tool.service.tokens import Scope

if TYPE_CHECKING:
    from bisect_tool.service.question import Asker

COOKIE = "bisect_token"
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="bisect"'}


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks: the `name` of the token, empty for anybody; `address` is that of the client; `seconds_a_day` as in `Token`."""

    name: str
    scopes: frozenset[Scope]
    seconds_a_day: float | None
    address: str

    @property
    def key(self) -> str:
        """What its requests are counted under."""
        return f"token {self.name}" if self.name else f"address {self.address}"

    def may(self, scope: Scope) -> bool:
        """Whether this is allowed."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    @property
    def asker(self) -> Asker:
        """The same for the queue."""
        from bisect_tool.service.question import Asker

        return Asker(self.name, self.seconds_a_day)


def services_of(request: Request) -> Services:
    """What the app was made with."""
    found: Services = request.app.state.services
    return found


Here = Annotated[Services, Depends(services_of)]


def visitor_of(request: Request, services: Here) -> Visitor:
    """Who asks; the request is counted. Raises `Refused`: 401 for a token that is not valid, 429 for too many requests."""
    rates: Rates = request.app.state.rates
    address = request.client.host if request.client else ""
    text = _token_text(request)
    if not text:
        nobody = Visitor("", services.hosting.open_to, None, address)
        rates.count(nobody.key)
        return nobody
    token = services.tokens.find(text)
    if token is None:
        rates.count(f"address {address}")
        raise Refused(
            401,
            "this token is not valid: unknown, expired or revoked",
            "ask whoever runs the server for another one",
            headers=_CHALLENGE,
        )
    visitor = Visitor(token.name, token.scopes, token.seconds_a_day, address)
    request.state.visitor = visitor.name
    rates.count(visitor.key)
    return visitor


Anybody = Annotated[Visitor, Depends(visitor_of)]


def needs(scope: Scope) -> Callable[[Visitor], Visitor]:
    """A dependency that lets nobody in who may not do this. Raises `Refused`: 401 without a token, 403 with another one."""

    def check(visitor: Anybody) -> Visitor:
        if visitor.may(scope):
            return visitor
        if visitor.name:
            raise Refused(
                403,
                f"the token {visitor.name} does not have the scope `{scope}`",
                "ask whoever runs the server for a token that has it",
            )
        raise Refused(
            401,
            f"this needs a token with the scope `{scope}`",
            "send the header `Authorization: Bearer TOKEN`; whoever runs the server makes one with `bisect token create`",
            headers=_CHALLENGE,
        )

    return check


def _token_text(request: Request) -> str:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return text.strip()
    return request.cookies.get(COOKIE, "")


Reader = Annotated[Visitor, Depends(needs(Scope.READ))]
Submitter = Annotated[Visitor, Depends(needs(Scope.SUBMIT))]
Worker = Annotated[Visitor, Depends(needs(Scope.WORK))]
