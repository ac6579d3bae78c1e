from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Executor
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from broker_core.access import ResourceKind
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import ANYBODY, Access, Principal
from broker_core.listeners.access.limits import Budget, GuardConfig
from broker_core.listeners.awaiting import ServedHost, awaited
from broker_core.listeners.connections import Connection, Connections
from broker_core.listeners.http.members import Consumers, Members
from broker_core.listeners.http.metrics import Metrics
from broker_core.listeners.http.reading import HeldBytes, converted, decoded, query_of, read_body
from broker_core.operations.entry import READ, Operation, Right
from broker_core.operations.request import Request as OperationRequest
from broker_core.replies import Reply

T = TypeVar("T")
SLASH = "\0"  # what a parameter in a path has for a %2F until it is read, so that routes are found

SPARE_S = 0.5  # how late a reply may come after its deadline, on a busy machine


class HttpContext(msgspec.Struct, eq=False, dict=True):
    """A listener's broker, access rules, limits and sessions. Used by the listener's thread only."""

    host: ServedHost
    access: Access
    limits: GuardConfig
    connections: Connections
    budget: Budget
    executor: Executor
    closing: asyncio.Event
    _streams: int = 0

    def __post_init__(self) -> None:
        self.broker = self.host.broker
        self.consumers = Consumers(self.host, self.limits.max_sessions)
        self.members = Members(self.host, self.limits.max_sessions)
        self.metrics = Metrics(self.host, self.connections)

    @contextlib.contextmanager
    def streaming(self) -> Iterator[None]:
        """Count a stream of events. Raises THROTTLED if there are too many."""
        if self._streams >= self.limits.max_streams:
            raise BrokerError(ErrorCode.THROTTLED, f"{self._streams} streams of events are open, which is the maximum")
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    def close(self) -> None:
        self.members.close()
        self.consumers.close()
        self.metrics.close()


class HttpCall:
    """One request: its principal, its fields, and the means to answer it."""

    def __init__(self, context: HttpContext, request: Request) -> None:
        self.context = context
        self.host = context.host
        self.broker = context.broker
        self.request = request
        self.principal: Principal = ANYBODY
        self.connection: Connection = request.scope["state"]["connection"]
        self.held: HeldBytes = request.scope["state"]["held"]

    # -- authentication and authorization

    def identify(self) -> None:
        """Set the principal by the token in the Authorization header. Raises UNAUTHORIZED."""
        scheme, _, token = self.request.headers.get("authorization", "").partition(" ")
        self.principal = self.context.access.principal(token.strip() if scheme.lower() == "bearer" else None)
        self.connection.principal = self.principal.name

    def must(self, operation: Operation, kind: ResourceKind, name: str = "") -> None:
        """Raises FORBIDDEN."""
        self.context.access.check(self.principal, operation, kind, name)

    def may(self, operation: Operation, kind: ResourceKind, name: str = "") -> bool:
        return self.context.access.allows(self.principal, operation, kind, name)

    def must_have(self, right: Right, values: Mapping[str, Any]) -> None:
        """Raises FORBIDDEN if the principal lacks `right` on what `values`, the fields of a request, name."""
        operation = READ if right.preview and values.get(right.preview) else right.operation
        named = values[right.field] if right.field else ""
        names = () if named is None else (named,) if isinstance(named, str) else named
        for name in names:
            if right.kind == "topic or queue":
                self.must(operation, "queue" if name in self.broker.queues else "topic", name)
            else:
                self.must(operation, right.kind, name)

    @property
    def client(self) -> str:
        """The client's name in the broker, which no other connection has."""
        return f"http-{self.connection.id}"

    def named(self, name: str) -> str:
        """`client`, prefixed with the name that the client gives itself."""
        self.connection.client = name or self.connection.client
        return f"{name}@{self.client}" if name else self.client

    # -- reading

    async def body(self, kind: type[T]) -> T:
        """Raises MALFORMED_REQUEST, REQUEST_TOO_LARGE, THROTTLED."""
        return decoded(await read_body(self.request, self.context.limits, self.held), kind)

    def query(self, kind: type[T], *, passes_over: bool = False) -> T:
        """The query parameters of the request; raises as `query_of`."""
        return query_of(self.request, kind, passes_over=passes_over)

    def path(self, name: str, kind: Any = str) -> Any:
        """Raises MALFORMED_REQUEST."""
        return converted(self.request.path_params[name].replace(SLASH, "/"), kind, name)

    # -- answering

    async def ask(self, request: OperationRequest[T]) -> T:
        return await self.slow(lambda: self.host.ask(request))

    async def slow(self, action: Callable[[], T]) -> T:
        """`action()` in a worker thread, since it may wait for the disk or compute for long."""
        return await asyncio.get_running_loop().run_in_executor(self.context.executor, action)

    async def wait(
        self, reply: Reply[T], cancel: Callable[[Reply[T]], object] | None = None, timeout_s: float | None = None
    ) -> T:
        """The result of `reply`. Raises its error, GoneError when the client or the listener goes, TimeoutError."""
        if reply.done:
            return reply.result()
        waiting = asyncio.ensure_future(awaited(self.host, reply, cancel))
        gone = asyncio.ensure_future(self._gone())
        closing = asyncio.ensure_future(self.context.closing.wait())
        try:
            await asyncio.wait((waiting, gone, closing), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
            if gone.done() or closing.done():
                raise GoneError
            raise TimeoutError
        finally:
            for task in (waiting, gone, closing):
                task.cancel()

    async def _gone(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            pass

    def wait_ms(self, timeout_ms: int) -> int:
        return min(timeout_ms, self.context.limits.max_wait_ms)


class GoneError(Exception):
    """The client has disconnected, or the listener is closing."""


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
    error: Any = None  # what `refusal` answers, if errors have a form of their own
    refusal: Callable[[HttpCall, BrokerError], Response] | None = None


def path_names(path: str) -> list[str]:
    """The names of the parameters in a path."""
    return re.findall(r"{(\w+)}", path)


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
            named = handler.__name__.replace("_", " ").capitalize()
            title, *rest = (handler.__doc__ or named).strip().splitlines()
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
