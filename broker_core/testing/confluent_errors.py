"""Errors as programs that use confluent-kafka catch them."""

from __future__ import annotations

import functools
import sys
from typing import Any, Literal

from broker_core.errors import BrokerError, ErrorCode

_NOT_KAFKAS = 400  # the codes from here on are not Kafka's
# librdkafka's own errors.
LocalErrorName = Literal["_NO_OFFSET", "_STATE", "_ASSIGNMENT_LOST", "_INVALID_ARG"]


def local_error(name: LocalErrorName, about: str, code: ErrorCode = ErrorCode.INVALID_REQUEST) -> BrokerError:
    """An error that no broker sends, as librdkafka raises it."""
    return _raised(BrokerError(code, f"{name}, {about}"), name)


def as_raised(error: BrokerError) -> BrokerError:
    """`error` as a program catches it: as a KafkaException, too, if Kafka has it and the program uses confluent-kafka.

    The error of librdkafka is that with the same number: some have another name there.
    """
    return error if error.code.code >= _NOT_KAFKAS else _raised(error, error.code.code)


def _raised(error: BrokerError, number: int | LocalErrorName) -> BrokerError:
    kafka: Any = sys.modules.get("confluent_kafka")
    if kafka is None or isinstance(error, kafka.KafkaException):
        return error
    if isinstance(number, str):
        number = getattr(kafka.KafkaError, number)
    raised = _both(kafka.KafkaException)(error.code, error.about, possibly_stored=error.possibly_stored)
    raised.args = (kafka.KafkaError(number, str(error)),)
    return raised


@functools.cache
def _both(kafka_error: Any) -> type[BrokerError]:
    return type("VirtualKafkaException", (BrokerError, kafka_error), {})
