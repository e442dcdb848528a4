"""The app: every route of the service over one `Services`, behind what guards all of them."""

from __future__ import annotations

import logging
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from bisect_tool.service import api, guards, pages, probes, receiving, told
from bisect_tool.service.api.models import NewQuestion
from bisect_tool.service.feed import Feed
from bisect_tool.service.heads import HeadAsGet
from bisect_tool.service.metrics import Metrics
from bisect_tool.service.pages.for_people import ForPeople
from bisect_tool.service.problems import Problem, add_handlers
from bisect_tool.service.rates import Rates
from bisect_tool.service.services import Services

SUBMITTING = 8  # submissions that are read and stored at a time, in one process
# The rooms of routes, in the order in which an address is looked for.
ROUTERS = (api.router, probes.router, receiving.router, told.router)
_LOG = logging.getLogger("bisect.service")


def make_app(services: Services, rates: Rates | None = None) -> FastAPI:
    """The app over `services`; `rates` None: the usual ones.

    Routes get the services by `bisect_tool.service.access.Here`, and who asks by `Reader` and the like.
    """
    app = _unopened()
    feed = Feed(services.events, lambda error: _LOG.error("events cannot be read: %s", type(error).__name__))
    metrics = Metrics(services.database, lambda: feed.open_streams)
    app.state.services, app.state.feed, app.state.metrics = services, feed, metrics
    app.state.rates = rates or Rates()
    # A burst of submissions leaves threads for whoever reads, and takes turns: SQLite lets one write, and is not fair to many.
    app.state.submitting = CapacityLimiter(SUBMITTING if services.database.is_server else 1)
    add_handlers(app)
    pages.add_pages(app)
    _guard(app, services, metrics)
    return app


def description() -> dict[str, Any]:
    """The OpenAPI description of every server of this version."""
    return _unopened().openapi()


def _unopened() -> FastAPI:
    """The app with its routes, which cannot be asked yet."""
    app = FastAPI(
        title="bisect",
        version="1",  # of the API, as in its addresses
        description="When did this regress? Ask, get the answer, or watch it being found.",
        docs_url=None,  # they load scripts from elsewhere, which the content security policy refuses
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _guard(app: FastAPI, services: Services, metrics: Metrics) -> None:
    """The last one is the outermost."""
    app.add_middleware(guards.WithoutDefects)
    app.add_middleware(guards.BodyLimit)
    app.add_middleware(guards.OwnSite, hosting=services.hosting)
    app.add_middleware(ForPeople)
    app.add_middleware(guards.WithHeaders, hosting=services.hosting)
    app.add_middleware(HeadAsGet)
    app.add_middleware(guards.Logged, observe=metrics.observe)


def _described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description: that of FastAPI, with our problems in place of its own."""
    if app.openapi_schema is None:
        found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        parts = found.setdefault("components", {}).setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            parts.pop(name, None)
        models = [(Problem, "serialization"), (NewQuestion, "validation")]
        _, ours = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
        parts.update(ours["$defs"])
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{}, {"token": []}]
        app.openapi_schema = found
    return app.openapi_schema
