"""Errors of the virtual consumer: those of the broker, and of confluent-kafka where a program has imported that."""

from __future__ import annotations

import functools
import sys
from typing import Any, Literal

from broker_core.errors import BrokerError, ErrorCode

_NAMED = "librdkafka_name"
# librdkafka's own errors.
Local = Literal["_NO_OFFSET", "_STATE", "_ASSIGNMENT_LOST", "_INVALID_ARG"]


def local_error(name: Local, about: str, code: ErrorCode = ErrorCode.INVALID_REQUEST) -> BrokerError:
    """An error that no broker sends, as librdkafka raises it."""
    return _error(BrokerError(code, f"{name}, {about}"), name)


def as_raised(error: BrokerError) -> BrokerError:
    """`error` as a program catches it: as a KafkaException, too, if it uses confluent-kafka."""
    return error if hasattr(error, _NAMED) else _error(error, error.code.name)


def _error(error: BrokerError, name: str) -> BrokerError:
    kafka = sys.modules.get("confluent_kafka")
    number = None if kafka is None else getattr(kafka.KafkaError, name, None)
    if number is None:
        return error
    raised = _both(kafka)(error.code, error.about)
    setattr(raised, _NAMED, name)
    raised.args = (kafka.KafkaError(number, str(error)),)  # type: ignore[union-attr]
    return raised


@functools.cache
def _both(kafka: Any) -> type[BrokerError]:
    return type("VirtualKafkaException", (BrokerError, kafka.KafkaException), {})
