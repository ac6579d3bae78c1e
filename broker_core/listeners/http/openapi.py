"""The OpenAPI document of the routes: parameters, bodies and answers from their types, statuses from their form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from fastapi import FastAPI

from broker_core.listeners.access.access import Access
from broker_core.listeners.http.route import Route
from broker_core.operations.request import Problem

_REF = "#/components/schemas/{name}"
_WHAT = {
    401: "No token, or one that the broker does not know",
    403: "The principal may not do this, or the Host or Origin is not allowed",
    404: "What the request names is not there",
    409: "The state of things does not allow it",
    413: "The request or a message is too large",
    415: "The body is not JSON",
    422: "The request is malformed",
    429: "A limit is reached; the header Retry-After says when to try again",
    503: "The broker is closing, or its disk refuses",
}


class Description:
    """The document's components, and the description of each route."""

    def __init__(self, routes: Sequence[Route]) -> None:
        kinds: list[Any] = [Problem]
        for each in routes:
            kinds += [kind for kind in (*_answers(each), each.body) if kind is not None]
        refs, self._components = msgspec.json.schema_components(kinds, ref_template=_REF)
        _mark_base64(self._components)
        self._schemas = {id(kind): ref for kind, ref in zip(kinds, refs, strict=True)}
        self._routes = routes

    def of(self, route: Route) -> dict[str, Any]:
        """What is added to FastAPI's description of `route`."""
        return _described(route, self._schemas)

    def document(self, app: FastAPI, access: Access) -> dict[str, Any]:
        """The whole document; made once."""
        return _openapi(app, self._routes, self._components, access)


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
    extra: dict[str, Any] = {
        "parameters": _path_parameters(route),
        "responses": _responses(route, schemas),
    }
    if route.query is not None:
        extra["parameters"] += _query_parameters(route.query)
    if route.body is not None:
        extra["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas[id(route.body)]}},
        }
    if route.open:
        extra["security"] = []
    return extra


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
    for error in sorted(errors):
        found[str(error)] = {"description": _WHAT[error], "content": problem}
        if error in {429, 503}:
            seconds = {"description": "Seconds to wait", "schema": {"type": "integer", "minimum": 1}}
            found[str(error)]["headers"] = {"Retry-After": seconds}
    return found


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(kind)}
        for name, kind in route.parameters.items()
    ]


def _query_parameters(kind: Any) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([kind], ref_template=_REF)
    schema = components[kind.__name__]
    return [
        {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": found}
        for name, found in schema["properties"].items()
    ]


def _openapi(app: FastAPI, routes: Sequence[Route], components: dict[str, Any], access: Access) -> dict[str, Any]:
    if app.openapi_schema is None:
        from fastapi.openapi.utils import get_openapi

        found = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
            tags=[{"name": tag} for tag in dict.fromkeys(each.tag for each in routes)],
        )
        for each in routes:
            # FastAPI adds a 200 to the declared statuses.
            declared = found["paths"][each.path][each.method.lower()]["responses"]
            if str(each.status) != "200" or (each.answer is None and each.media_type == "application/json"):
                declared.pop("200", None)
        parts = found.setdefault("components", {})
        parts.setdefault("schemas", {}).update(components)
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}, {}] if access.open else [{"token": []}]
        app.openapi_schema = found
    return app.openapi_schema
