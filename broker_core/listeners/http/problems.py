"""Errors as HTTP responses: a status, a code and one sentence."""

from __future__ import annotations

from http import HTTPStatus
from math import ceil

import msgspec
from msgspec import UNSET

from broker_core.errors import BrokerError
from broker_core.operations.request import Problem

Headers = dict[str, str]


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: Headers
    body: bytes


def problem_of(error: BrokerError, retry_after_s: float = 1.0) -> Answer:
    status = error.code.status
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
