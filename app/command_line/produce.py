"""`brokerscope produce`: messages from arguments or standard input into a topic or queue."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from app.command_line.output import print_json, say
from app.command_line.target import add_target, opened
from app.command_line.verbs import Command
from broker_core.clients.host import Host
from broker_core.clients.producer import Producer
from broker_core.errors import BrokerError, ErrorCode


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A message in JSON Lines; `value` may be any JSON."""

    value: Any = None
    key: str | None = None
    headers: dict[str, str] = {}
    priority: int = 0
    partition: int | None = None


def command() -> Command:
    """The parser of the command, and what runs it."""
    parser = argparse.ArgumentParser(
        prog="brokerscope produce",
        description="Publish to a topic or queue: the values given, else a message for each line of standard input.",
    )
    parser.add_argument("topic", metavar="TOPIC", help="a topic or a queue")
    parser.add_argument("values", nargs="*", metavar="VALUE")
    parser.add_argument("--key")
    parser.add_argument("--key-separator", metavar="SIGN", help="what stands between key and value in a line")
    parser.add_argument("--lines-are-json", action="store_true", help='lines such as {"key": "a", "value": {"n": 1}}')
    parser.add_argument("--header", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--partition", type=int, metavar="P")
    parser.add_argument("--priority", type=int, default=0, metavar="N", help="0 is the most urgent")
    parser.add_argument("--ttl-ms", type=int, metavar="MS")
    add_target(parser)

    def run(options: argparse.Namespace) -> int:
        headers = _headers(options.header)
        with opened(options) as host:
            return _produce(host, options, headers)

    return parser, run


def _headers(given: list[str]) -> tuple[tuple[str, bytes], ...]:
    found = []
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the header {one!r} is not NAME=VALUE")
        found.append((name, value.encode()))
    return tuple(found)


def _lines(options: argparse.Namespace) -> Iterator[_Line]:
    if options.values:
        for value in options.values:
            yield _Line(value, options.key, {}, options.priority, options.partition)
        return
    for number, raw in enumerate(sys.stdin.buffer, 1):
        line = raw.rstrip(b"\r\n").decode(errors="surrogateescape")
        if options.lines_are_json:
            try:
                yield msgspec.json.decode(line.encode(errors="surrogateescape"), type=_Line)
            except msgspec.DecodeError as error:
                raise BrokerError(ErrorCode.INVALID_REQUEST, f"line {number} is not such a message: {error}") from error
            continue
        key = options.key
        if options.key_separator and options.key_separator in line:
            key, _, line = line.partition(options.key_separator)
        yield _Line(line, key, {}, options.priority, options.partition)


def _bytes(value: object) -> bytes | None:
    if value is None:
        return None
    return value.encode(errors="surrogateescape") if isinstance(value, str) else msgspec.json.encode(value)


def _produce(host: Host, options: argparse.Namespace, headers: tuple[tuple[str, bytes], ...]) -> int:
    receipts = []
    with Producer(host) as producer:
        for line in _lines(options):
            own = tuple((name, value.encode()) for name, value in line.headers.items())
            receipts.append(
                producer.send(
                    options.topic,
                    _bytes(line.value),
                    _bytes(line.key),
                    headers=(*headers, *own),
                    ttl_ms=options.ttl_ms,
                    priority=line.priority,
                    partition=line.partition,
                )
            )
        producer.flush()
        stored = [receipt.result() for receipt in receipts]
    if options.json:
        for sent in stored:
            print_json({"topic": options.topic, "partition": sent.partition, "offset": sent.offset})
    else:
        say(f"Published {len(stored):,} messages to {options.topic}.")
    return 0
