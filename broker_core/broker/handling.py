"""Operations of the catalogue, answered: a table from requests to calls of the broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from broker_core.broker.handlers import dead_letters, faults, groups, observe, queues, schemas, topics
from broker_core.broker.handlers.table import Handlers
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from broker_core.replies import Reply

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker

T = TypeVar("T")

TABLE: Handlers = {
    **topics.HANDLERS,
    **groups.HANDLERS,
    **queues.HANDLERS,
    **dead_letters.HANDLERS,
    **schemas.HANDLERS,
    **observe.HANDLERS,
    **faults.HANDLERS,
}


def handle(broker: Broker, now_ns: int, request: Request[T]) -> Reply[T]:
    """The reply to `request`; it may come later. Raises what the broker does, and INVALID_REQUEST for what only a
    listener can answer.
    """
    handler = TABLE.get(type(request))
    if handler is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{type(request).__name__} is answered by a listener alone")
    found = handler(broker, now_ns, request)
    return found if isinstance(found, Reply) else Reply.of(found)
