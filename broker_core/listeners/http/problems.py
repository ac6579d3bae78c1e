"""Errors as HTTP responses: a status, a code and one sentence."""

from __future__ import annotations

from http import HTTPStatus
from math import ceil

import msgspec
from msgspec import UNSET

from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Problem

# 409 for what the current state does not allow, 422 for what the types do not allow.
STATUSES: dict[ErrorCode, int] = {
    ErrorCode.OFFSET_OUT_OF_RANGE: 409,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 404,
    ErrorCode.REQUEST_TIMED_OUT: 503,
    ErrorCode.MESSAGE_TOO_LARGE: 413,
    ErrorCode.OFFSET_METADATA_TOO_LARGE: 413,
    ErrorCode.INVALID_TOPIC: 422,
    ErrorCode.ILLEGAL_GENERATION: 409,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL: 409,
    ErrorCode.INVALID_GROUP_ID: 422,
    ErrorCode.UNKNOWN_MEMBER_ID: 404,
    ErrorCode.INVALID_SESSION_TIMEOUT: 422,
    ErrorCode.REBALANCE_IN_PROGRESS: 409,
    ErrorCode.TOPIC_ALREADY_EXISTS: 409,
    ErrorCode.INVALID_PARTITIONS: 409,
    ErrorCode.INVALID_CONFIG: 409,
    ErrorCode.INVALID_REQUEST: 409,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: 409,
    ErrorCode.DUPLICATE_SEQUENCE_NUMBER: 409,
    ErrorCode.INVALID_PRODUCER_EPOCH: 409,
    ErrorCode.STORAGE_ERROR: 503,
    ErrorCode.NON_EMPTY_GROUP: 409,
    ErrorCode.GROUP_ID_NOT_FOUND: 404,
    ErrorCode.GROUP_MAX_SIZE_REACHED: 409,
    ErrorCode.FENCED_INSTANCE_ID: 409,
    ErrorCode.INVALID_RECORD: 409,
    ErrorCode.THROTTLED: 429,
    ErrorCode.UNKNOWN_QUEUE: 404,
    ErrorCode.INVALID_LEASE: 409,
    ErrorCode.UNKNOWN_DEAD_LETTER: 404,
    ErrorCode.CLOSED: 503,
    ErrorCode.READ_ONLY: 403,
    ErrorCode.UNSERIALIZABLE: 422,
    ErrorCode.UNREADABLE: 422,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.REQUEST_TOO_LARGE: 413,
    ErrorCode.UNKNOWN_CONSUMER: 404,
    ErrorCode.MALFORMED_REQUEST: 422,
    ErrorCode.INCOMPATIBLE_SCHEMA: 409,
    ErrorCode.UNKNOWN_SUBJECT: 404,
    ErrorCode.UNKNOWN_SCHEMA_VERSION: 404,
    ErrorCode.UNKNOWN_SCHEMA: 404,
    ErrorCode.INVALID_SCHEMA: 409,
    ErrorCode.REFERENCE_EXISTS: 409,
}

Headers = dict[str, str]


class Answer(msgspec.Struct, frozen=True):
    """A status, headers, and a JSON body."""

    status: int
    headers: Headers
    body: bytes


def problem_of(error: BrokerError, retry_after_s: float = 1.0) -> Answer:
    status = STATUSES.get(error.code, 500)
    headers: Headers = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    elif status in {429, 503}:
        headers["Retry-After"] = str(max(1, ceil(retry_after_s)))
    return _answer(status, error.code.name, str(error), error.retriable, headers, error.possibly_stored)


def problem_with(status: int, about: str = "", headers: Headers | None = None) -> Answer:
    """The response for an error of HTTP itself."""
    found = HTTPStatus(status)
    sentence = f"{found.phrase}: {about}." if about not in {"", found.phrase} else f"{found.phrase}."
    return _answer(status, found.name, sentence, False, headers or {})


def _answer(
    status: int, code: str, sentence: str, retriable: bool, headers: Headers, possibly_stored: bool = False
) -> Answer:
    body = msgspec.json.encode(
        Problem(error=code, message=sentence, retriable=retriable, possibly_stored=possibly_stored or UNSET)
    )
    return Answer(status, {"content-type": "application/json", **headers}, body)
