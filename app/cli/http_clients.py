from __future__ import annotations

import argparse
import time
import uuid
from typing import Any

from app.cli.errors import CommandError, with_hint
from app.cli.numbers import seconds, whole
from app.cli.parser import Command, Parser, with_exits
from app.cli.signals import ended_by_signals, exit_of_interrupt
from app.cli.target import add_access, add_url, http_broker
from app.cli.waiting import Quiet
from app.environment.exits import exit_of
from broker_core import HttpBroker
from broker_core.errors import BrokerError, ErrorCode


def produce_command() -> Command:
    parser = Parser(prog="brokerscope http-produce", description="Produce messages over HTTP.", **with_exits())
    _add_common(parser)
    parser.add_argument("--count", type=whole(1), default=10, metavar="N", help="how many messages (default: 10)")
    parser.add_argument("--producer-id", metavar="ID", help="id of the producer (default: a new one)")
    return parser, _produce


def consume_command() -> Command:
    parser = Parser(prog="brokerscope http-consume", description="Consume messages over HTTP.", **with_exits())
    _add_common(parser)
    parser.add_argument("--consumer-id", metavar="ID", help="id of the consumer (default: a new one)")
    parser.add_argument(
        "--poll-interval",
        type=seconds,
        default=1.0,
        metavar="SECONDS",
        help="between polls of a topic without new messages (default: 1)",
    )
    parser.add_argument("--count", type=whole(1), metavar="N", help="end after this many messages")
    return parser, _consume


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_url(parser)
    parser.add_argument("--topic", required=True, metavar="TOPIC", help="topic, which is created if it is missing")
    add_access(parser)


def _post(broker: HttpBroker, path: str, body: dict[str, Any]) -> Any:
    """What it answers, however long that takes where the broker asks to wait. Raises CommandError."""
    while True:
        try:
            return broker.post(path, body)
        except BrokerError as error:
            if error.code is not ErrorCode.THROTTLED:
                raise CommandError(with_hint(error), exit_of(error)) from error


def _produce(options: argparse.Namespace) -> int:
    producer = options.producer_id or f"producer-{uuid.uuid4().hex[:8]}"
    with ended_by_signals(), http_broker(options) as broker:
        _post(broker, "/producers/register", {"topic": options.topic, "producer_id": producer})
        for number in range(options.count):
            body = {"topic": options.topic, "value": f"message {number} of {producer}", "key": producer}
            print(f"{options.topic} @{_post(broker, '/produce', body)['offset']}", flush=True)
    return 0


def _consume(options: argparse.Namespace) -> int:
    consumer = options.consumer_id or f"consumer-{uuid.uuid4().hex[:8]}"
    left = options.count
    quiet = Quiet(lambda: f"messages of {options.topic}", None)
    with ended_by_signals(), http_broker(options) as broker:
        _post(broker, "/consumers/register", {"topic": options.topic, "consumer_id": consumer})
        try:
            while left != 0:
                found = _post(broker, "/consume", {"consumer_id": consumer})
                if found is None:
                    quiet.over()
                    time.sleep(options.poll_interval)
                    continue
                quiet.heard()
                print(f"{found['topic']} @{found['offset']}  {found['value']}", flush=True)
                left = None if left is None else left - 1
        except KeyboardInterrupt as error:
            return exit_of_interrupt(error)
    return 0
