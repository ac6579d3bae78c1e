"""The ASGI application: all routes, their OpenAPI document, and a page to try them that works offline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache

import msgspec
from starlette import routing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response

from broker_core.errors import BrokerError
from broker_core.listeners.http.catalogue_routes import catalogue_routes
from broker_core.listeners.http.context import GoneError, HttpCall, HttpContext, Route
from broker_core.listeners.http.gate import OriginGuard, RequestGate, problem_of, problem_with
from broker_core.listeners.http.openapi import document
from broker_core.listeners.http.routes import connections, mini_broker, registry
from broker_core.version import program_version
from resources import path

_ENCODE = msgspec.json.Encoder().encode


def served(route: Route) -> routing.Route:
    found = routing.Route(route.path, _endpoint(route), methods=[route.method], name=route.name)
    found.methods = {route.method}  # Starlette adds HEAD to GET
    return found


def _endpoint(route: Route) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        context: HttpContext = request.app.state.context
        call = HttpCall(context, request)
        try:
            if not route.open:
                call.identify()
            found = await route.handler(call)
        except BrokerError as error:
            call.connection.failed(str(error))
            if route.refusal is not None:
                return route.refusal(call, error)
            return problem_of(error, context.metrics.retry_after_s(error))
        except (GoneError, ClientDisconnect):
            return problem_with(503, "the listener is closing", {"Retry-After": "1"})
        if isinstance(found, Response):
            return found
        if found is None:
            return Response(status_code=204)
        return Response(_ENCODE(found), route.status, media_type=route.media_type)

    return endpoint


async def http_problem(request: Request, error: Exception) -> Response:
    """Refusals of Starlette itself, in the form of all other errors."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # Starlette names the methods of the first route of that path alone.
        found = [route for route in request.app.routes if route.matches(request.scope)[0] is not routing.Match.NONE]
        headers["Allow"] = ", ".join(sorted({method for route in found for method in getattr(route, "methods", ())}))
    return problem_with(error.status_code, str(error.detail), headers)


_FILES = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css", "favicon-32x32.png": "image/png"}
# The page has an inline script, and connects to this broker only.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
)


def application(context: HttpContext, origin: OriginGuard) -> RequestGate:
    own = [*mini_broker.routes.found, *catalogue_routes(), *connections.metrics_routes.found]
    described = [*own, *registry.routes.found]
    info = {
        "title": "Brokerscope",
        "version": program_version(),
        "summary": "The Brokerscope broker over HTTP",
        "description": path("swagger", "description.md").read_text(encoding="utf-8"),
    }

    @cache
    def encoded() -> bytes:
        return msgspec.json.encode(document(described, context.access, info))

    async def openapi(_request: Request) -> Response:
        return Response(encoded(), media_type="application/json")

    app = Starlette(
        routes=[
            *map(served, (*described, *connections.streams.found)),
            routing.Route("/openapi.json", openapi),
            routing.Route("/docs", _page),
            routing.Route("/docs/{file}", _page_file),
        ],
        exception_handlers={HTTPException: http_problem},
    )
    app.router.redirect_slashes = False
    app.state.context = context
    return RequestGate(app, context, origin)


async def _page(_request: Request) -> Response:
    headers = {"Content-Security-Policy": _POLICY, "X-Frame-Options": "DENY"}
    return FileResponse(path("swagger", "index.html"), media_type="text/html", headers=headers)


async def _page_file(request: Request) -> Response:
    file = request.path_params["file"]
    if file not in _FILES:
        raise HTTPException(404)
    return FileResponse(path("swagger", file), media_type=_FILES[file])
