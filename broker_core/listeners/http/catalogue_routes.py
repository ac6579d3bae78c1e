"""Routes of the catalogue: a request is decoded, checked, asked of the host, and answered as its entry says."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from broker_core.listeners.http.context import ByHand, HttpCall, Route, RouteHandler
from broker_core.listeners.http.routes import access, connections, publishing, readers
from broker_core.operations.catalogue import CATALOGUE
from broker_core.operations.entry import READ, Entry
from broker_core.operations.http_form import form_of
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.observe import WaitUntil
from broker_core.operations.request import Request

_CHECKED = {"topic", "queue", "topic or queue", "broker", "subject"}


def readable(call: HttpCall, entry: Entry, result: Any) -> Any:
    """`result` as its caller may see it: who may read a group need not be allowed to read its topics."""
    visible = entry.visible
    if visible is not None:
        every = getattr(result, visible.field) if visible.field else result
        rows = [each for each in every if call.may(READ, visible.kind, getattr(each, visible.name))]
        result = msgspec.structs.replace(result, **{visible.field: rows}) if visible.field else rows
    if any(right.kind in _CHECKED for right in entry.rights):
        return result
    return _named(result, cache(lambda name: call.may(READ, "topic", name) or call.may(READ, "queue", name)))


def _named(value: Any, may_read: Callable[[str], bool]) -> Any:
    if isinstance(value, list):
        return [_named(each, may_read) for each in value]
    if not isinstance(value, msgspec.Struct) or isinstance(value, MessageAnswer):
        return value  # a message names no topic but its own
    changes = {
        field: type(found)(
            _named(each, may_read) for each in found if (topic := _topic(field, each)) is None or may_read(topic)
        )
        for field in value.__struct_fields__
        if isinstance(found := getattr(value, field), list | tuple)
    }
    return msgspec.structs.replace(value, **changes) if changes else value


def _topic(field: str, each: Any) -> str | None:
    """The topic that an element of `field` names; None for none."""
    if isinstance(each, str):
        return each if field == "topics" else None
    if isinstance(each, tuple):
        return str(each[0])  # (topic, partition)
    found: str | None = getattr(each, "topic", None)
    return found


#: Operations that are more than asking the host.
BY_HAND: ByHand = {**publishing.HANDLERS, **readers.HANDLERS, **connections.HANDLERS, **access.HANDLERS}


def catalogue_routes() -> list[Route]:
    return [_route(entry) for entry in CATALOGUE]


def _route(entry: Entry) -> Route:
    form = form_of(entry)
    return Route(
        method=entry.verb,
        path=entry.path,
        handler=_handler(entry),
        tag=entry.tag,
        name=entry.name,
        title=entry.title,
        details=entry.details,
        answer=entry.result,
        status=entry.status,
        parameters=form.path,
        body=form.body,
        query=form.query,
        errors=entry.errors,
    )


def _handler(entry: Entry) -> RouteHandler:
    form, by_hand = form_of(entry), BY_HAND.get(entry.request)
    # Rights on what the path names are checked before the rest of the request is read.
    early = [right for right in entry.rights if not right.preview and (not right.field or right.field in form.path)]
    late = [right for right in entry.rights if right not in early]

    async def handler(call: HttpCall) -> Any:
        path = {name: call.path(name, kind) for name, kind in form.path.items()}
        for right in early:
            call.must_have(right, path)
        rest = None
        if form.query is not None:
            rest = call.query(form.query)
        elif form.body is not None:
            rest = await call.body(form.body)
        request = form.request(path, rest)
        for right in late:
            call.must_have(right, {name: getattr(request, name) for name in (right.field, right.preview) if name})
        result = await (_asked(call, entry, request) if by_hand is None else by_hand(call, request))
        return readable(call, entry, result)

    return handler


async def _asked(call: HttpCall, entry: Entry, request: Request[Any]) -> Any:
    if entry.mode == "slow":
        result = await call.ask(request)
    elif entry.mode == "parked":
        if isinstance(request, WaitUntil):
            request = msgspec.structs.replace(request, timeout_ms=call.wait_ms(request.timeout_ms))
        result = await call.wait(call.host.call(lambda now_ns: call.broker.handle(now_ns, request)))
    else:
        result = call.host.ask(request)
    call.connection.messages_out += getattr(result, "read_messages", 0)
    return result
