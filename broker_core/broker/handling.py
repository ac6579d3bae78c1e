"""Dispatch of operations: a table from types of requests to handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from broker_core.broker.handlers import (
    audits,
    clock,
    dead_letters,
    faults,
    groups,
    observe,
    queues,
    schemas,
    share_groups,
    topics,
    waiting,
)
from broker_core.broker.handlers.table import handlers_of
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from broker_core.replies import Reply

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker

T = TypeVar("T")

TABLE = handlers_of(
    topics, groups, share_groups, queues, dead_letters, schemas, observe, faults, clock, waiting, audits
)


def handle(broker: Broker, now_ns: int, request: Request[T]) -> Reply[T]:
    """The reply to `request`; it may be settled later. Raises the handler's errors, and INVALID_REQUEST for a request
    that only a listener answers.
    """
    handler = TABLE.get(type(request))
    if handler is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{type(request).__name__} is answered by a listener alone")
    found = handler(broker, now_ns, request)
    return found if isinstance(found, Reply) else Reply.of(found)
