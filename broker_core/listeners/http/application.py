"""The ASGI application: all routes, their OpenAPI document, and a page to try them that works offline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any

import msgspec
from starlette import routing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response

from broker_core.errors import BrokerError
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.catalogue_routes import catalogue_routes
from broker_core.listeners.http.context import GoneError, HttpCall, HttpContext, Route
from broker_core.listeners.http.gate import OriginGuard, RequestGate
from broker_core.listeners.http.problems import problem_of, problem_with
from broker_core.listeners.http.routes import connections, mini_broker, registry
from broker_core.operations.request import Problem
from broker_core.version import program_version
from resources import path

# -- the OpenAPI document

_REF = "#/components/schemas/{name}"
_MEANINGS = {  # of error statuses
    401: "No token, or one that the broker does not know",
    403: "The principal may not do this, or the Host or Origin is not allowed",
    404: "Something that the request names does not exist",
    409: "The current state does not allow it",
    413: "The request or a message is too large",
    415: "The body is not JSON",
    422: "The request is malformed",
    429: "A limit is reached; the header Retry-After says when to try again",
    503: "The broker is closing, its disk refuses, or time ran out; with Retry-After it may help to try again",
}


def document(routes: Sequence[Route], access: Access, info: dict[str, str]) -> dict[str, Any]:
    """The OpenAPI document of `routes`: parameters, bodies and answers by their types, statuses by their form."""
    kinds: list[Any] = [Problem]
    for each in routes:
        kinds += [kind for kind in (*_answers(each), each.body, each.error) if kind is not None]
    refs, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    _mark_base64(components)
    schemas = {id(kind): ref for kind, ref in zip(kinds, refs, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for each in routes:
        paths.setdefault(each.path, {})[each.method.lower()] = _described(each, schemas)
    return {
        "openapi": "3.1.0",
        "info": info,
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "tags": [{"name": tag} for tag in dict.fromkeys(each.tag for each in routes)],
        "security": [{"token": []}, {}] if access.open else [{"token": []}],
    }


def _mark_base64(components: dict[str, Any]) -> None:
    """Require in the schemas of messages that what is marked as Base64 is Base64."""
    base64 = {
        "anyOf": [
            {"type": "string", "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
            {"type": "null"},
        ]
    }
    for schema in components.values():
        fields = schema.get("properties", {})
        if {"encoding", "value", "key"} <= fields.keys():
            marked = {"encoding": {"const": "base64"}, "value": base64, "key": base64}
            schema["anyOf"] = [
                {"properties": {"encoding": {"const": "text"}}},
                {"properties": marked, "required": ["encoding"]},
            ]


def _answers(route: Route) -> tuple[Any, ...]:
    return route.answer if isinstance(route.answer, tuple) else (route.answer,)


def _described(route: Route, schemas: dict[int, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "tags": [route.tag],
        "summary": route.title,
        "operationId": route.name,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(kind)}
            for name, kind in route.parameters.items()
        ],
        "responses": _responses(route, schemas),
    }
    if route.details:
        found["description"] = route.details
    if route.query is not None:
        found["parameters"] += _query_parameters(route.query)
    if route.body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": schemas[id(route.body)]}}}
    if route.open:
        found["security"] = []
    return found


def _responses(route: Route, schemas: dict[int, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    status = str(route.status)
    if route.answer is not None:
        refs = [schemas[id(answer)] for answer in _answers(route)]
        content = {route.media_type: {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}}}
        found[status] = {"description": "Done", "content": content}
    elif route.media_type != "application/json":
        found[status] = {"description": "Done", "content": {route.media_type: {"schema": {"type": "string"}}}}
    if route.empty or not found:
        found["204"] = {"description": "Nothing is there" if found else "Done"}
    errors = {403, 429, 503, *route.errors}
    if not route.open:
        errors.add(401)
    if route.body is not None:
        errors |= {413, 415, 422}
    if route.query is not None or "{" in route.path:
        errors.add(422)
    if "{" in route.path:
        errors.add(404)
    problem = {"application/json": {"schema": {"$ref": _REF.format(name="Problem")}}}
    if route.error is not None:  # for some errors the listener answers before the route
        problem[route.media_type] = {"schema": schemas[id(route.error)]}
    for error in sorted(errors):
        found[str(error)] = {"description": _MEANINGS[error], "content": problem}
        if error in {429, 503}:
            seconds = {"description": "Seconds to wait", "schema": {"type": "integer", "minimum": 1}}
            found[str(error)]["headers"] = {"Retry-After": seconds}
    return found


def _query_parameters(kind: Any) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([kind], ref_template=_REF)
    schema = components[kind.__name__]
    return [
        {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": found}
        for name, found in schema["properties"].items()
    ]


# -- the application

_ENCODE = msgspec.json.Encoder().encode


def _served(route: Route) -> routing.Route:
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
            return problem_of(error, context.host)
        except (GoneError, ClientDisconnect):
            return problem_with(503, "the listener is closing")
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
            *map(_served, (*described, *connections.streams.found)),
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
