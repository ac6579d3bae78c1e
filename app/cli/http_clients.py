"""Clients of the small broker that a listener serves beside `/v1`: `/produce`, `/consume`, and how one registers."""

from __future__ import annotations

import argparse
import time
import uuid
from typing import Any

from app.cli.notes import Quiet
from app.cli.parser import Command, CommandError, Parser, argument, arguments, described, with_hint
from app.cli.signals import ended_by_signals
from app.cli.target import http_broker
from app.cli.target_types import TYPES
from app.environment.exits import exit_of
from broker_core import HttpBroker
from broker_core.errors import BrokerError, ErrorCode


def produce_command() -> Command:
    return _parser("http-produce"), _produce


def consume_command() -> Command:
    return _parser("http-consume"), _consume


def _parser(name: str) -> Parser:
    parser = described(name)
    argument(parser, "target --broker", TYPES)
    for each in ("http-clients", name):
        arguments(parser, each)
    return parser


def _post(broker: HttpBroker, path: str, body: dict[str, Any]) -> Any:
    """The broker's answer to a POST, repeated as long as the broker is throttling. Raises CommandError."""
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
        while left != 0:
            found = _post(broker, "/consume", {"consumer_id": consumer})
            if found is None:
                quiet.over()
                time.sleep(options.poll_interval)
                continue
            quiet.heard()
            print(f"{found['topic']} @{found['offset']}  {found['value']}", flush=True)
            left = None if left is None else left - 1
    return 0
