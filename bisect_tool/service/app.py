"""The app: every route of the service over one `Services`."""

from __future__ import annotations

from fastapi import FastAPI

from bisect_tool import __version__
from bisect_tool.service import api
from bisect_tool.service.problems import add_handlers
from bisect_tool.service.services import Services

# The rooms of routes, in the order in which an address is looked for.
ROUTERS = (api.router,)


def make_app(services: Services) -> FastAPI:
    """The app over `services`; routes get them by `bisect_tool.service.access.Here`, and who asks by `Reader` and the like."""
    app = FastAPI(
        title="bisect",
        version=__version__,
        description="When did this regress? Ask, get the answer, or watch it being found.",
        docs_url=None,  # they load scripts from elsewhere, which the content security policy refuses
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    app.state.services = services
    add_handlers(app)
    for router in ROUTERS:
        app.include_router(router)
    return app
