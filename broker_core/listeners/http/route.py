"""A route: one path and method, as it is served and described."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from broker_core.listeners.http.context import HttpCall
from broker_core.operations.request import Request as OperationRequest

RouteHandler = Callable[[HttpCall], Awaitable[Any]]
#: Handlers of the operations that a listener answers itself.
ByHand = dict[type[OperationRequest[Any]], Callable[[HttpCall, Any], Awaitable[Any]]]


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One path and method. `answer` is one type, or a tuple of those it may be, or None for an answer without a body;
    `parameters` are the types of those in the path; `errors` are further statuses. With `empty` it may answer 204, too;
    `open` routes need no token.
    """

    method: str
    path: str
    handler: RouteHandler
    tag: str
    name: str
    title: str
    details: str = ""
    answer: Any = None
    status: int = 200
    parameters: Mapping[str, Any] = {}
    body: Any = None
    query: Any = None
    empty: bool = False
    errors: tuple[int, ...] = ()
    open: bool = False
    media_type: str = "application/json"


class Routes:
    """Collects the routes of one tag that no entry of the catalogue stands for."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.found: list[Route] = []

    def __call__(
        self, method: str, path: str, answer: Any = None, **more: Any
    ) -> Callable[[RouteHandler], RouteHandler]:
        """Declare the handler below, whose docstring is the description; `more` are fields of `Route`."""

        def declare(handler: RouteHandler) -> RouteHandler:
            title, *rest = (handler.__doc__ or handler.__name__).strip().splitlines()
            self.found.append(
                Route(
                    method=method,
                    path=path,
                    handler=handler,
                    tag=self.tag,
                    name=handler.__name__,
                    title=title.rstrip("."),
                    details=re.sub(r"\s+", " ", " ".join(rest)).strip(),
                    answer=answer,
                    **more,
                )
            )
            return handler

        return declare
