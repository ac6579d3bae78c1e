"""Routes as Starlette serves them: requests are authenticated, errors become problems."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from starlette import routing
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from broker_core.errors import BrokerError
from broker_core.listeners.http.context import GoneError, HttpCall, HttpContext
from broker_core.listeners.http.problems import Answer, problem_of, problem_with
from broker_core.listeners.http.route import Route

_ENCODE = msgspec.json.Encoder().encode


def served(route: Route) -> routing.Route:
    """The route as Starlette serves it."""
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
    """Refusals of Starlette itself, in the form of all other errors."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # Starlette names the methods of the first route of that path alone.
        found = [route for route in request.app.routes if route.matches(request.scope)[0] is not routing.Match.NONE]
        headers["Allow"] = ", ".join(sorted({method for route in found for method in getattr(route, "methods", ())}))
    return _response(problem_with(error.status_code, str(error.detail), headers))
