"""Dispatch of operations: a table from types of requests to handlers."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction, signature
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from broker_core.broker.handlers import broker as whole_broker
from broker_core.broker.handlers import browse, groups, queues, schemas, topics
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from broker_core.replies import Reply

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker

T = TypeVar("T")
#: `handler(broker, now_ns, request)` returns the result, or a reply that is settled with it.
Handlers = dict[type[Request[Any]], Callable[[Any, int, Any], Any]]


def handlers_of(*modules: ModuleType) -> Handlers:
    """The functions `_x(broker, now_ns, request)` of these modules, by the type of request in their annotations."""
    found: Handlers = {}
    for module in modules:
        for function in filter(isfunction, vars(module).values()):
            names = [(each.name.lstrip("_"), each.annotation) for each in signature(function).parameters.values()]
            if [name for name, _ in names] == ["broker", "now_ns", "request"]:
                found[attrgetter(names[2][1])(module)] = function
    return found


TABLE = handlers_of(topics, browse, groups, queues, schemas, whole_broker)


def handle(broker: Broker, now_ns: int, request: Request[T]) -> Reply[T]:
    """The reply to `request`; it may be settled later. Raises the handler's errors, and INVALID_REQUEST for a request
    that only a listener answers.
    """
    handler = next((TABLE[kind] for kind in type(request).__mro__ if kind in TABLE), None)
    if handler is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{type(request).__name__} is answered by a listener alone")
    found = handler(broker, now_ns, request)
    return found if isinstance(found, Reply) else Reply.of(found)
