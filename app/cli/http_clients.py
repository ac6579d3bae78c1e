"""`brokerscope http-produce` and `http-consume`: the plain clients of the HTTP listener, for trying it out."""

from __future__ import annotations

import argparse
import http.client
import json
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

from app.cli.errors import CommandError
from app.cli.numbers import seconds, whole
from app.cli.parser import Parser, with_exits
from app.cli.serve import HTTP_PORT
from app.cli.signals import exit_of_interrupt
from app.cli.tokens import add_token, token_of
from app.cli.verbs import Command
from app.cli.waiting import Quiet, note
from app.environment.exits import exit_of_status
from broker_core.errors import BrokerError, ErrorCode

_TIMEOUT_S = 30.0
_MOST_WAIT_S = 60.0


def produce_command() -> Command:
    """The parser of `http-produce`, and what runs it."""
    parser = Parser(prog="brokerscope http-produce", description="Produce messages over HTTP.", **with_exits())
    _add_common(parser)
    parser.add_argument("--count", type=whole(1), default=10, metavar="N", help="messages (default: 10)")
    parser.add_argument("--producer-id", metavar="ID", help="default: a new one")
    return parser, _produce


def consume_command() -> Command:
    """The parser of `http-consume`, and what runs it."""
    parser = Parser(prog="brokerscope http-consume", description="Consume messages over HTTP.", **with_exits())
    _add_common(parser)
    parser.add_argument("--consumer-id", metavar="ID", help="default: a new one")
    parser.add_argument(
        "--poll-interval",
        type=seconds,
        default=1.0,
        metavar="SECONDS",
        help="between looks at a topic without news (default: 1)",
    )
    parser.add_argument("--count", type=whole(1), metavar="N", help="end after so many")
    return parser, _consume


def _add_common(parser: argparse.ArgumentParser) -> None:
    usual = f"http://127.0.0.1:{HTTP_PORT}"
    parser.add_argument("--broker", default=usual, metavar="URL", help=f"its HTTP listener (default: {usual})")
    parser.add_argument("--topic", required=True, metavar="TOPIC", help="it is made where it is missing")
    add_token(parser, "for a broker that asks for a token")


def _post(options: argparse.Namespace, path: str, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    """(status, body, headers). Raises CONNECTION_LOST, and CommandError with what the broker has against it."""
    headers = {"Content-Type": "application/json"}
    token = options.known_token
    if token:
        if not (token.isascii() and token.isprintable()):
            raise CommandError("The token has signs that HTTP does not carry; letters, digits and ASCII signs it does.")
        headers["Authorization"] = f"Bearer {token}"
    broker = options.broker if "://" in options.broker else f"http://{options.broker}"
    if not broker.startswith(("http://", "https://")):
        raise CommandError(f"{options.broker} is no http:// or https:// address.")
    url = broker.rstrip("/") + path
    try:
        request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            data = answer.read()
            return answer.status, json.loads(data) if data else None, dict(answer.headers)
    except urllib.error.HTTPError as error:
        if error.code == 429:
            return 429, None, dict(error.headers)
        told = f"{url} answered {error.code}: {_message_of(error.read())}."
        raise CommandError(told, exit_of_status(error.code)) from error
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        about = f"{broker} cannot be reached ({getattr(reason, 'strerror', None) or reason})"
        raise BrokerError(ErrorCode.CONNECTION_LOST, f"{about}; brokerscope serve opens an HTTP listener") from error
    except (http.client.HTTPException, ValueError) as error:
        raise CommandError(
            f"{url} is no HTTP listener of a broker; give the URL that brokerscope serve says."
        ) from error


def _message_of(body: bytes) -> str:
    """The sentence of an error, without its full stop."""
    text = body.decode(errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        return text[:200]
    return str(found.get("message", text) if isinstance(found, dict) else text).rstrip(".")


def _produce(options: argparse.Namespace) -> int:
    options.known_token = token_of(options)
    producer = options.producer_id or f"producer-{uuid.uuid4().hex[:8]}"
    _post(options, "/producers/register", {"topic": options.topic, "producer_id": producer})
    for number in range(options.count):
        body = {"topic": options.topic, "value": f"message {number} of {producer}", "key": producer}
        while (answer := _post(options, "/produce", body))[0] == 429:
            wait_s = min(_MOST_WAIT_S, float(answer[2].get("Retry-After", "1")))
            note(f"The broker asks to wait {wait_s:g} s before the next message; Ctrl+C gives up.")
            time.sleep(wait_s)
        print(f"{options.topic} @{answer[1]['offset']}", flush=True)
    return 0


def _consume(options: argparse.Namespace) -> int:
    options.known_token = token_of(options)
    consumer = options.consumer_id or f"consumer-{uuid.uuid4().hex[:8]}"
    _post(options, "/consumers/register", {"topic": options.topic, "consumer_id": consumer})
    left = options.count
    quiet = Quiet(lambda: f"messages of {options.topic}", None)
    try:
        while left != 0:
            status, found, _headers = _post(options, "/consume", {"consumer_id": consumer})
            if status == 204 or found is None:
                quiet.over()
                time.sleep(options.poll_interval)
                continue
            quiet.heard()
            print(f"{found['topic']} @{found['offset']}  {found['value']}", flush=True)
            left = None if left is None else left - 1
    except KeyboardInterrupt as error:
        return exit_of_interrupt(error)
    return 0
