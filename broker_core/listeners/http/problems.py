"""Error responses, all in one form; those of a limit or of a broker that is busy say when to try again."""

from __future__ import annotations

from http import HTTPStatus
from math import ceil

import msgspec
from msgspec import UNSET
from starlette.responses import Response

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.awaiting import ServedHost
from broker_core.operations.request import Problem

_RETRY_AFTER_S = 1.0
_MOST_RETRY_AFTER_S = 60.0


def problem_of(error: BrokerError, host: ServedHost | None = None) -> Response:
    """With `host`, a refused producer is told when its topic's rate allows another message."""
    status = error.code.status
    problem = Problem(
        error=error.code.name,
        message=str(error),
        retriable=error.retriable,
        possibly_stored=error.possibly_stored or UNSET,
    )
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    return _response(status, problem, headers, _RETRY_AFTER_S if host is None else _retry_after_s(error, host))


def problem_with(status: int, about: str = "", headers: dict[str, str] | None = None) -> Response:
    """The response for an error of HTTP itself."""
    found = HTTPStatus(status)
    sentence = f"{found.phrase}: {about}." if about not in {"", found.phrase} else f"{found.phrase}."
    return _response(status, Problem(error=found.name, message=sentence), headers or {})


def _response(
    status: int, problem: Problem, headers: dict[str, str], retry_after_s: float = _RETRY_AFTER_S
) -> Response:
    if problem.retriable and status in {429, 503}:
        headers = {**headers, "Retry-After": str(max(1, ceil(retry_after_s)))}
    return Response(msgspec.json.encode(problem), status, headers, "application/json")


def _retry_after_s(error: BrokerError, host: ServedHost) -> float:
    if error.code is not ErrorCode.THROTTLED:
        return _RETRY_AFTER_S
    gate = host.call(
        lambda now_ns: host.broker.views.topic(now_ns, error.about).gate if error.about in host.broker.topics else None
    )
    if gate is None or gate.rate_limit_per_s is None or gate.tokens is None or gate.tokens >= 1:
        return _RETRY_AFTER_S
    return min(_MOST_RETRY_AFTER_S, (1 - gate.tokens) / gate.rate_limit_per_s)
