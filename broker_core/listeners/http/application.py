"""The ASGI application: all routes, their OpenAPI document, and a page to try them that works offline."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from broker_core.listeners.access.origin import OriginGuard
from broker_core.listeners.http.catalogue_routes import catalogue_routes
from broker_core.listeners.http.context import HttpContext
from broker_core.listeners.http.gate import Gate
from broker_core.listeners.http.routes import mini_broker, monitoring, registry
from broker_core.listeners.http.routing import http_problem, mount, serve
from broker_core.version import program_version
from resources import path

_DESCRIPTION = """A message broker: topics in partitions, consumer groups, work queues with leases, dead letters.

* The operations of the **mini broker** are the shortest way in and out; everything under `/v1` is the whole broker.
* **Values**: a string is stored as text, any other JSON value as JSON; with `encoding: base64`, value and key are any
  bytes.
* **Errors** are one sentence with a code; 429 says in `Retry-After` how many seconds to wait.
* Bodies may be packed with gzip or deflate.
* **Confluent's schema registry** is served at the root: `/subjects`, `/schemas/ids`, `/config`, `/mode` and
  `/compatibility`, for Confluent's serializers.
* **Events** come from `GET /v1/events` as server-sent events, with `kinds`, `topic`, `group` and `limit` in the query;
  a client that is too slow for them gets the number of those it missed.
"""
_FILES = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
# The page has an inline script, and connects to this broker only.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
)


def application(context: HttpContext, origin: OriginGuard) -> Gate:
    """The ASGI application of a listener."""
    app = FastAPI(
        title="Brokerscope",
        version=program_version(),
        summary="The broker of the workbench, by HTTP",
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={HTTPException: http_problem},
    )
    mount(app, context, [*mini_broker.routes.found, *catalogue_routes(), *monitoring.metrics_routes.found])
    serve(app, context, [*monitoring.streams.found, *registry.routes.found])
    _add_page(app)
    return Gate(app, context, origin)


def _add_page(app: FastAPI) -> None:
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="Brokerscope",
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon-32x32.png",
    )

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(
            page.body, media_type="text/html", headers={"Content-Security-Policy": _POLICY, "X-Frame-Options": "DENY"}
        )

    @app.get("/docs/{file}", include_in_schema=False)
    async def docs_file(file: str) -> Response:
        if file not in _FILES:
            raise HTTPException(404)
        return FileResponse(path("swagger", file), media_type=_FILES[file])
