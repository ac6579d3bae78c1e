"""Operations as they are declared: a path, shapes of what goes in and out, and from these the OpenAPI file."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from broker_core.errors import BrokerError
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.context import Call, GoneError, HttpContext
from broker_core.listeners.http.models.basics import Name, Number, Partition, Problem, Version
from broker_core.listeners.http.problems import Answer, problem_of, problem_with

Handler = Callable[[Call], Awaitable[Any]]
Kinds = list[Any]

_ENCODE = msgspec.json.Encoder().encode
_REF = "#/components/schemas/{name}"
_PATH_KINDS: dict[str, Any] = {"partition": Partition, "version": Version, "connection": Number}
_WHAT = {
    401: "No token, or one that the broker does not know",
    403: "The principal may not do this, or the Host or Origin is not allowed",
    404: "What the request names is not there",
    409: "The state of things does not allow it",
    413: "The request or a message is too large",
    415: "The body is not JSON",
    422: "The request is not as it must be",
    429: "A limit is reached; the header Retry-After says when to try again",
    503: "The broker is closing, or its disk refuses",
}


class Operation(msgspec.Struct, frozen=True):
    """One path and method. `answer` is one shape, or a tuple of those it may be, or None for an answer without a body;
    `errors` are further statuses.
    """

    method: str
    path: str
    handler: Handler
    tag: str
    answer: Any
    status: int
    body: Any
    query: Any
    empty: bool
    errors: tuple[int, ...]
    open: bool
    media_type: str


class Operations:
    """Collects the operations of one tag."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.found: list[Operation] = []

    def __call__(
        self,
        method: str,
        path: str,
        answer: Any = None,
        *,
        status: int = 200,
        body: Any = None,
        query: Any = None,
        empty: bool = False,
        errors: tuple[int, ...] = (),
        open: bool = False,
        media_type: str = "application/json",
    ) -> Callable[[Handler], Handler]:
        """Declare the handler below. With `empty` it may answer 204, too; `open` operations need no token."""

        def declare(handler: Handler) -> Handler:
            self.found.append(
                Operation(method, path, handler, self.tag, answer, status, body, query, empty, errors, open, media_type)
            )
            return handler

        return declare


def mount(app: FastAPI, context: HttpContext, operations: list[Operation]) -> None:
    """Serve `operations`, and describe them."""
    kinds: Kinds = [Problem]
    for each in operations:
        kinds += [kind for kind in (*_answers(each), each.body) if kind is not None]
    refs, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    _mark_base64(components)
    schemas = {id(kind): ref for kind, ref in zip(kinds, refs, strict=True)}
    for each in operations:
        app.add_api_route(
            each.path,
            _endpoint(context, each),
            methods=[each.method],
            response_class=Response,
            tags=[each.tag],
            name=each.handler.__name__,
            operation_id=each.handler.__name__,
            summary=_first_line(each.handler),
            description=_rest(each.handler),
            openapi_extra=_described(each, schemas),
        )
    app.openapi = lambda: _openapi(app, operations, components, context.access)  # type: ignore[method-assign]


def serve(app: FastAPI, context: HttpContext, operations: list[Operation]) -> None:
    """Serve `operations` that OpenAPI has no words for."""
    for each in operations:
        app.add_api_route(
            each.path, _endpoint(context, each), methods=[each.method], response_class=Response, include_in_schema=False
        )


def _endpoint(context: HttpContext, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        call = Call(context, request)
        try:
            if not operation.open:
                call.identify()
            found = await operation.handler(call)
        except BrokerError as error:
            call.failed(error)
            return _response(problem_of(error, context.metrics.retry_after_s(error)))
        except (GoneError, ClientDisconnect):
            return _response(problem_with(503, "the listener is closing", {"Retry-After": "1"}))
        if isinstance(found, Response):
            return found
        if found is None:
            return Response(status_code=204)
        return Response(_ENCODE(found), operation.status, media_type="application/json")

    return endpoint


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, answer.headers)


async def http_problem(request: Request, error: Exception) -> Response:
    """What FastAPI itself refuses, in the words of all other errors."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # Starlette names the methods of the first route of that path alone.
        found = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
        headers["Allow"] = ", ".join(sorted({method for route in found for method in getattr(route, "methods", ())}))
    return _response(problem_with(error.status_code, str(error.detail), headers))


# -- the OpenAPI file


def _mark_base64(components: dict[str, Any]) -> None:
    """Say in the shapes of messages that what is marked as Base64 must be that."""
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


def _first_line(handler: Handler) -> str:
    return (handler.__doc__ or "").strip().splitlines()[0].rstrip(".")


def _rest(handler: Handler) -> str:
    return re.sub(r"\s+", " ", " ".join((handler.__doc__ or "").strip().splitlines()[1:])).strip()


def _answers(operation: Operation) -> tuple[Any, ...]:
    return operation.answer if isinstance(operation.answer, tuple) else (operation.answer,)


def _described(operation: Operation, schemas: dict[int, Any]) -> dict[str, Any]:
    extra: dict[str, Any] = {
        "parameters": _path_parameters(operation.path),
        "responses": _responses(operation, schemas),
    }
    if operation.query is not None:
        extra["parameters"] += _query_parameters(operation.query)
    if operation.body is not None:
        extra["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas[id(operation.body)]}},
        }
    if operation.open:
        extra["security"] = []
    return extra


def _responses(operation: Operation, schemas: dict[int, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    status = str(operation.status)
    if operation.answer is not None:
        refs = [schemas[id(answer)] for answer in _answers(operation)]
        content = {operation.media_type: {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}}}
        found[status] = {"description": "Done", "content": content}
    elif operation.media_type != "application/json":
        found[status] = {"description": "Done", "content": {operation.media_type: {"schema": {"type": "string"}}}}
    if operation.empty or not found:
        found["204"] = {"description": "Nothing is there" if found else "Done"}
    errors = {403, 429, 503, *operation.errors}
    if not operation.open:
        errors.add(401)
    if operation.body is not None:
        errors |= {413, 415, 422}
    if operation.query is not None or "{" in operation.path:
        errors.add(422)
    if "{" in operation.path:
        errors.add(404)
    problem = {"application/json": {"schema": {"$ref": _REF.format(name="Problem")}}}
    for error in sorted(errors):
        found[str(error)] = {"description": _WHAT[error], "content": problem}
        if error in {429, 503}:
            seconds = {"description": "Seconds to wait", "schema": {"type": "integer", "minimum": 1}}
            found[str(error)]["headers"] = {"Retry-After": seconds}
    return found


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(_PATH_KINDS.get(name, Name))}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(kind: Any) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([kind], ref_template=_REF)
    schema = components[kind.__name__]
    return [
        {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": found}
        for name, found in schema["properties"].items()
    ]


def _openapi(app: FastAPI, operations: list[Operation], components: dict[str, Any], access: Access) -> dict[str, Any]:
    if app.openapi_schema is None:
        from fastapi.openapi.utils import get_openapi

        found = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
            tags=[{"name": tag} for tag in dict.fromkeys(each.tag for each in operations)],
        )
        for each in operations:
            # FastAPI puts a 200 beside what is declared.
            declared = found["paths"][each.path][each.method.lower()]["responses"]
            if str(each.status) != "200" or (each.answer is None and each.media_type == "application/json"):
                declared.pop("200", None)
        parts = found.setdefault("components", {})
        parts.setdefault("schemas", {}).update(components)
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}, {}] if access.open else [{"token": []}]
        app.openapi_schema = found
    return app.openapi_schema
