"""`brokerscope http-produce` and `http-consume`: the plain clients of the HTTP door, for trying it out."""

from __future__ import annotations

import argparse
import json
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

from app.command_line.numbers import seconds, whole
from app.command_line.serve import HTTP_PORT
from app.command_line.verbs import Command
from broker_core.errors import BrokerError, ErrorCode

_TIMEOUT_S = 30.0
_MOST_WAIT_S = 60.0


def produce_command() -> Command:
    """The parser of `http-produce`, and what runs it."""
    parser = argparse.ArgumentParser(prog="brokerscope http-produce", description="Produce messages over HTTP.")
    _add_common(parser)
    parser.add_argument("--count", type=whole(1), default=10, metavar="N", help="messages (default: 10)")
    parser.add_argument("--producer-id", metavar="ID", help="default: a new one")
    return parser, _produce


def consume_command() -> Command:
    """The parser of `http-consume`, and what runs it."""
    parser = argparse.ArgumentParser(prog="brokerscope http-consume", description="Consume messages over HTTP.")
    _add_common(parser)
    parser.add_argument("--consumer-id", metavar="ID", help="default: a new one")
    parser.add_argument("--poll-interval", type=seconds, default=1.0, metavar="SECONDS", help="default: 1")
    parser.add_argument("--count", type=whole(1), metavar="N", help="end after so many")
    return parser, _consume


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--broker", default=f"http://127.0.0.1:{HTTP_PORT}", metavar="URL")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--token", help="for a broker that asks for one")


def _post(options: argparse.Namespace, path: str, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    """(status, body, headers). Raises CONNECTION_LOST, and INVALID_REQUEST with what the broker has against it."""
    headers = {"Content-Type": "application/json"}
    if options.token:
        headers["Authorization"] = f"Bearer {options.token}"
    broker = options.broker if "://" in options.broker else f"http://{options.broker}"
    if not broker.startswith(("http://", "https://")):
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{options.broker} is no http:// address")
    url = broker.rstrip("/") + path
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            data = answer.read()
            return answer.status, json.loads(data) if data else None, dict(answer.headers)
    except urllib.error.HTTPError as error:
        if error.code == 429:
            return 429, None, dict(error.headers)
        about = f"{url} answered {error.code}: {_message_of(error.read())}"
        raise BrokerError(ErrorCode.INVALID_REQUEST, about) from error
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        about = f"{broker} cannot be reached ({getattr(reason, 'strerror', None) or reason}); is its HTTP door open"
        raise BrokerError(ErrorCode.CONNECTION_LOST, about + "? brokerscope serve opens one") from error
    except json.JSONDecodeError as error:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{url} is no door of a broker: it answers no JSON") from error


def _message_of(body: bytes) -> str:
    """The sentence of an error, without its full stop."""
    text = body.decode(errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        return text[:200]
    return str(found.get("message", text) if isinstance(found, dict) else text).rstrip(".")


def _produce(options: argparse.Namespace) -> int:
    producer = options.producer_id or f"producer-{uuid.uuid4().hex[:8]}"
    _post(options, "/producers/register", {"topic": options.topic, "producer_id": producer})
    for number in range(options.count):
        body = {"topic": options.topic, "value": f"message {number} of {producer}", "key": producer}
        while (answer := _post(options, "/produce", body))[0] == 429:
            wait_s = min(_MOST_WAIT_S, float(answer[2].get("Retry-After", "1")))
            print(f"The broker asks to wait {wait_s:g} s.", flush=True)
            time.sleep(wait_s)
        print(f"{options.topic} @{answer[1]['offset']}", flush=True)
    return 0


def _consume(options: argparse.Namespace) -> int:
    consumer = options.consumer_id or f"consumer-{uuid.uuid4().hex[:8]}"
    _post(options, "/consumers/register", {"topic": options.topic, "consumer_id": consumer})
    left = options.count
    try:
        while left != 0:
            status, found, _headers = _post(options, "/consume", {"consumer_id": consumer})
            if status == 204 or found is None:
                time.sleep(options.poll_interval)
                continue
            print(f"{found['topic']} @{found['offset']}  {found['value']}", flush=True)
            left = None if left is None else left - 1
    except KeyboardInterrupt:
        return 130
    return 0
