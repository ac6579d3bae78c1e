"""Common code of the transaction APIs: the producer, error codes by version, and answers that are settled later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import Answer, Call, Waiting, kafka_code
from broker_core.listeners.kafka.codec import Body
from broker_core.replies import Reply
from broker_core.transactions.transaction import Identity

T = TypeVar("T")
NEVER = 1 << 15  # no version of the API has the error


def identity_of(request: Any) -> Identity:
    """The producer that the request shows."""
    return Identity(request.producer_id, request.producer_epoch)


def code_of(call: Call, error: Exception | None, fenced_from: int) -> int:
    """The number of an error; versions before `fenced_from` know PRODUCER_FENCED as INVALID_PRODUCER_EPOCH."""
    if error is not None:
        call.connection.failed(str(error))
    if isinstance(error, BrokerError) and error.code is ErrorCode.PRODUCER_FENCED and call.version < fenced_from:
        return ErrorCode.INVALID_PRODUCER_EPOCH.code
    return kafka_code(error)


def answered(
    call: Call, ask: Callable[[], Reply[T]], body: Callable[[int, T | None], Body], *, fenced_from: int
) -> Answer:
    """`body(error number, result)` when what was asked for is settled; the result is None with an error."""
    try:
        reply = ask()
    except BrokerError as error:
        return body(code_of(call, error, fenced_from), None)

    def answer(_reply: Reply[Any], _now_ns: int) -> Body:
        if reply.error is not None:
            return body(code_of(call, reply.error, fenced_from), None)
        return body(0, reply.result())

    return Waiting(reply, answer)
