"""`brokerscope consume`: messages of topics by a group, of a partition from an offset, or of a queue."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator

from app.command_line.numbers import seconds, whole
from app.command_line.output import json_bytes, print_json, text_of
from app.command_line.target import add_target, opened
from app.command_line.verbs import Command
from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.host import Host
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.messages import StoredMessage

_PAGE = 500
_POLL_S = 0.5


def command() -> Command:
    """The parser of the command, and what runs it."""
    parser = argparse.ArgumentParser(
        prog="brokerscope consume",
        description="Read a topic as a member of a group (--group), a topic without a group, or take from a queue.",
        epilog="Ctrl+C ends it; what was printed is committed, or acknowledged.",
    )
    parser.add_argument("name", metavar="TOPIC_OR_QUEUE")
    parser.add_argument("--group", metavar="GROUP", help="commits what was printed")
    parser.add_argument("--from", dest="start", choices=("earliest", "latest"), default="earliest")
    parser.add_argument("--partition", type=whole(0), metavar="P", help="without a group: only this one")
    parser.add_argument("--offset", type=whole(0), metavar="OFFSET", help="without a group: from here on")
    parser.add_argument("--count", type=whole(1), metavar="N", help="end after so many messages")
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="end when nothing came for so long")
    parser.add_argument("--keep", action="store_true", help="queues: give every message back instead of acknowledging")
    add_target(parser)

    def run(options: argparse.Namespace) -> int:
        with opened(options) as host:
            try:
                _consume(host, options)
            except KeyboardInterrupt:
                return 130
        return 0

    return parser, run


def _consume(host: Host, options: argparse.Namespace) -> None:
    if options.group is None and options.name in Admin(host).queues():
        _take(host, options)
    elif options.group is not None:
        _poll(host, options)
    else:
        _show(_read(host, options), options)


def _show(messages: Iterable[StoredMessage], options: argparse.Namespace) -> int:
    """Print messages, at most --count; how many those were."""
    shown = 0
    for message in messages:
        if options.json:
            print_json(
                {
                    "topic": message.topic,
                    "partition": message.partition,
                    "offset": message.offset,
                    "timestamp_ms": message.timestamp_ms,
                    "key": json_bytes(message.key),
                    "value": json_bytes(message.value),
                    "headers": {name: json_bytes(value) for name, value in message.headers},
                }
            )
        else:
            key = "" if message.key is None else f"{text_of(message.key)}  "
            print(f"{message.topic}/{message.partition} @{message.offset}  {key}{text_of(message.value)}", flush=True)
        shown += 1
        if options.count is not None and shown >= options.count:
            break
    return shown


class _Quiet:
    """Says when nothing has come for as long as --timeout allows."""

    def __init__(self, timeout_s: float | None) -> None:
        self._timeout_s = timeout_s
        self._heard_s = time.monotonic()

    def heard(self) -> None:
        """Something came."""
        self._heard_s = time.monotonic()

    @property
    def over(self) -> bool:
        """It was quiet for too long."""
        return self._timeout_s is not None and time.monotonic() - self._heard_s >= self._timeout_s


def _read(host: Host, options: argparse.Namespace) -> Iterator[StoredMessage]:
    """Messages of a topic for nobody: nothing counts as delivered."""
    admin, quiet = Admin(host), _Quiet(options.timeout)
    parts = {part.partition: part for part in admin.describe_topic(options.name).partitions}
    chosen = list(parts) if options.partition is None else [options.partition]
    at: dict[int, int] = {}
    for number in chosen:
        part = parts.get(number)
        latest = options.start == "latest"
        first = 0 if part is None else part.end_offset if latest else part.start_offset
        at[number] = first if options.offset is None else options.offset
    while not quiet.over:
        found = False
        for number in chosen:
            page = admin.messages(options.name, number, at[number], limit=_PAGE)
            for message in page:
                yield message
                at[number] = message.offset + 1
            found = found or bool(page)
        if found:
            quiet.heard()
        else:
            time.sleep(min(_POLL_S, options.timeout or _POLL_S))


def _poll(host: Host, options: argparse.Namespace) -> None:
    config = ConsumerConfig(auto_offset_reset=options.start)
    quiet, left = _Quiet(options.timeout), options.count
    with GroupConsumer(host, options.group, [options.name], config) as consumer:
        while not quiet.over and left != 0:
            messages = consumer.poll(_POLL_S, left)
            if messages:
                _show(messages, argparse.Namespace(json=options.json, count=None))
                # What was printed is done with, and nothing else.
                consumer.commit()
                quiet.heard()
                left = None if left is None else left - len(messages)


def _take(host: Host, options: argparse.Namespace) -> None:
    quiet, left = _Quiet(options.timeout), options.count
    kept: list[Delivery] = []
    # What is kept must not come again meanwhile: that would cost it its attempts.
    lease_s = Admin(host).describe_queue(options.name).lease_ms / 1_000
    poll_s = min(_POLL_S, lease_s / 4) if options.keep else _POLL_S
    extended_s = time.monotonic()
    with QueueConsumer(host, options.name) as consumer:
        while not quiet.over and left != 0:
            deliveries = consumer.take_many(min(_PAGE, left or _PAGE), poll_s)
            if kept and time.monotonic() - extended_s >= lease_s / 4:
                for delivery in kept:
                    delivery.extend()
                extended_s = time.monotonic()
            if deliveries:
                _show([delivery.message for delivery in deliveries], argparse.Namespace(json=options.json, count=None))
                if options.keep:
                    kept += deliveries
                else:
                    consumer.ack_many(deliveries)
                quiet.heard()
                left = None if left is None else left - len(deliveries)
        for delivery in kept:
            delivery.release()
