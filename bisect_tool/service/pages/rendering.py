"""A page from a template: everything escaped, with the headers that keep it from running what it shows."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bisect_tool import __version__
from bisect_tool.reports.formats import html
from bisect_tool.service.access import Visitor, services_of
from bisect_tool.service.pages import forgery, moments
from bisect_tool.service.pages.static_files import static_address
from bisect_tool.service.tokens import Scope

# Nothing but what this server sends: no inline script, no inline style, no frame around it, forms only to itself.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",  # it shows who is signed in
}
NAVIGATION = (
    ("/", "Questions"),
    ("/ask", "Ask"),
    ("/builds", "Builds"),
    ("/workers", "Workers"),
    ("/accuracy", "Accuracy"),
)


@cache
def templates() -> Environment:
    """The templates of the pages, and those of the reports that they include."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader("bisect_tool.service.pages"), PackageLoader("bisect_tool.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    made.filters |= {
        "listed": html.listed,
        "ago": moments.ago,
        "clock": moments.clock,
        "utc": moments.utc,
        "iso": moments.iso,
    }
    made.globals |= {"static": static_address, "version": __version__, "navigation": NAVIGATION}
    return made


def render(request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """The page `name`; `values` are those of its template. The cookie against forged forms comes along."""
    key = forgery.key_of(request)
    field = Markup('<input type="hidden" name="{}" value="{}">').format(forgery.FIELD, key)
    text = (
        templates().get_template(f"{name}.html.jinja").render({**page_values(request), "csrf_field": field, **values})
    )
    response = HTMLResponse(text, status, HEADERS)
    forgery.give_key(request, response, key)
    return response


def page_values(request: Request) -> dict[str, Any]:
    """What every page shows around its own part."""
    services = services_of(request)
    visitor: Visitor | None = getattr(request.state, "on_page", None)
    return {
        "who": visitor.name if visitor else "",
        "may_sign_in": visitor is not None and not (visitor.may(Scope.SUBMIT) and visitor.may(Scope.WORK)),
        "current": next((address for address, _ in NAVIGATION if request.url.path == address), ""),
        "now": services.clock(),
        "address": services.hosting.address,
        "back": _way_back(request),
    }


def _way_back(request: Request) -> str:
    """Where to go on after signing in: here, with the filters; from a form, to the page that it is on."""
    path, query = request.url.path, request.url.query
    if request.method in {"GET", "HEAD"}:
        return f"{path}?{query}" if query else path
    page = re.match(r"/ask$|/q/[^/]+(?=/)", path)
    return page[0] if page else "/"
