"""Routes mounted into FastAPI: requests are authenticated, errors become problems."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from broker_core.errors import BrokerError
from broker_core.listeners.http.context import GoneError, HttpCall, HttpContext
from broker_core.listeners.http.openapi import Description
from broker_core.listeners.http.problems import Answer, problem_of, problem_with
from broker_core.listeners.http.route import Route

_ENCODE = msgspec.json.Encoder().encode


def mount(app: FastAPI, context: HttpContext, routes: Sequence[Route]) -> None:
    """Serve `routes`, and describe them."""
    description = Description(routes)
    for each in routes:
        app.add_api_route(
            each.path,
            _endpoint(context, each),
            methods=[each.method],
            response_class=Response,
            tags=[each.tag],
            name=each.name,
            operation_id=each.name,
            summary=each.title,
            description=each.details,
            openapi_extra=description.of(each),
        )
    app.openapi = lambda: description.document(app, context.access)  # type: ignore[method-assign]


def serve(app: FastAPI, context: HttpContext, routes: Iterable[Route]) -> None:
    """Serve `routes` that OpenAPI cannot describe."""
    for each in routes:
        app.add_api_route(
            each.path, _endpoint(context, each), methods=[each.method], response_class=Response, include_in_schema=False
        )


def _endpoint(context: HttpContext, route: Route) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        call = HttpCall(context, request)
        try:
            if not route.open:
                call.identify()
            found = await route.handler(call)
        except BrokerError as error:
            call.failed(error)
            return _response(problem_of(error, context.metrics.retry_after_s(error)))
        except (GoneError, ClientDisconnect):
            return _response(problem_with(503, "the listener is closing", {"Retry-After": "1"}))
        if isinstance(found, Response):
            return found
        if found is None:
            return Response(status_code=204)
        return Response(_ENCODE(found), route.status, media_type="application/json")

    return endpoint


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, answer.headers)


async def http_problem(request: Request, error: Exception) -> Response:
    """Refusals of FastAPI itself, in the form of all other errors."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # Starlette names the methods of the first route of that path alone.
        found = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
        headers["Allow"] = ", ".join(sorted({method for route in found for method in getattr(route, "methods", ())}))
    return _response(problem_with(error.status_code, str(error.detail), headers))
