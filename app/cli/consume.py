"""`brokerscope consume`: messages of topics by a group, of a partition from an offset, or of a queue."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator

from app.cli.errors import CommandError
from app.cli.numbers import seconds, whole
from app.cli.output import json_bytes, print_json, text_of
from app.cli.parser import Parser, with_exits
from app.cli.signals import exit_of_interrupt
from app.cli.target import add_target, opened
from app.cli.verbs import Command
from app.cli.waiting import Quiet, note
from app.environment.exits import Exit
from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.host import Host
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import StoredMessage
from broker_core.plurals import counted
from broker_core.snapshots import TopicView

_PAGE = 500
_POLL_S = 0.5
_SHARED_OUT_ANEW = {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID}


def command() -> Command:
    """The parser of the command, and what runs it."""
    parser = Parser(
        prog="brokerscope consume",
        description="Read a topic as a member of a group (--group), a topic without a group, or take from a queue.",
        **with_exits("Ctrl+C or a polite kill ends it; what was printed is committed, or acknowledged."),
    )
    parser.add_argument("name", metavar="TOPIC_OR_QUEUE", help="what is read")
    parser.add_argument("--group", metavar="GROUP", help="commits what was printed")
    parser.add_argument(
        "--from", dest="start", choices=("earliest", "latest"), help="where to begin in a topic (default: earliest)"
    )
    parser.add_argument("--partition", type=whole(0), metavar="P", help="without a group: only this one")
    parser.add_argument("--offset", type=whole(0), metavar="OFFSET", help="without a group: from here on")
    parser.add_argument("--count", type=whole(1), metavar="N", help="end after so many messages")
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="end when nothing came for so long")
    parser.add_argument("--keep", action="store_true", help="queues: give every message back instead of acknowledging")
    add_target(parser)

    def run(options: argparse.Namespace) -> int:
        try:
            if options.data is not None and options.group is None:
                with opened(options, read_only=True) as host:
                    if options.name not in Admin(host).queues():
                        return _exit(_consume(host, options), options)
            with opened(options) as host:
                return _exit(_consume(host, options), options)
        except KeyboardInterrupt as error:
            return exit_of_interrupt(error)

    return parser, run


def _exit(shown: int, options: argparse.Namespace) -> Exit:
    """How the command ends that printed `shown` messages; fewer than it was asked for is told."""
    if options.count is None or shown >= options.count:
        return Exit.DONE
    note(
        f"{counted(shown, 'message')} of {options.name} came, and {options.count:,} were asked for: "
        f"nothing more within {options.timeout:g} s.",
        as_json=options.json,
    )
    return Exit.PARTLY


def _consume(host: Host, options: argparse.Namespace) -> int:
    """Print what there is; how many messages that were."""
    admin, name = Admin(host), options.name
    queue = name in admin.queues()
    if queue and (wrong := _given(options, "group", "start", "partition", "offset")):
        raise CommandError(f"{name} is a queue, and {wrong} is for topics; leave it out.")
    if not queue and options.keep:
        raise CommandError(f"--keep is for queues, and {name} is none; leave it out.")
    if options.group is not None and (wrong := _given(options, "partition", "offset")):
        raise CommandError(f"A group shares out partitions and keeps offsets itself; leave out --group or {wrong}.")
    if options.offset is not None and options.start is not None:
        raise CommandError("--from and --offset both say where to begin; leave one out.")
    if queue:
        return _take(host, options)
    host.ensure_topic(name)  # it makes one where the broker is set to
    view = admin.describe_topic(name)
    if options.group is not None:
        return _poll(host, options)
    return _show(_read(admin, view, options), options)


def _given(options: argparse.Namespace, *names: str) -> str:
    """The first of these options that was given, as it is written; "" for none."""
    given = next((name for name in names if getattr(options, name) is not None), "")
    return {"": "", "start": "--from"}.get(given, f"--{given}")


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


def _read(admin: Admin, view: TopicView, options: argparse.Namespace) -> Iterator[StoredMessage]:
    """Messages of a topic for nobody: nothing counts as delivered."""
    quiet = Quiet(lambda: f"messages of {view.name}", options.timeout, as_json=options.json)
    chosen = [part for part in view.partitions if options.partition in {None, part.partition}]
    if not chosen:
        told = f"{view.name} has no partition {options.partition}; its last is {len(view.partitions) - 1}."
        raise CommandError(told, Exit.NOT_FOUND)
    latest = options.start == "latest"
    at = {part.partition: part.end_offset if latest else part.start_offset for part in chosen}
    if options.offset is not None:
        at = dict.fromkeys(at, options.offset)
    while not quiet.over():
        found = False
        for number in at:
            page = admin.messages(view.name, number, at[number], limit=_PAGE)
            for message in page:
                yield message
                at[number] = message.offset + 1
            found = found or bool(page)
        if found:
            quiet.heard()
        else:
            time.sleep(min(_POLL_S, options.timeout or _POLL_S))


def _poll(host: Host, options: argparse.Namespace) -> int:
    config = ConsumerConfig(auto_offset_reset=options.start or "earliest")
    shown, most = 0, options.count
    with GroupConsumer(host, options.group, [options.name], config) as consumer:

        def what() -> str:
            if consumer.assignment:
                return f"messages of {options.name} in the group {options.group}"
            return f"a partition of {options.name}, for the group {options.group} has none to give at the moment"

        quiet = Quiet(what, options.timeout, as_json=options.json)
        while not quiet.over() and shown != most:
            messages = consumer.poll(_POLL_S, None if most is None else most - shown)
            if messages:
                shown += _show(messages, argparse.Namespace(json=options.json, count=None))
                _commit(consumer, options)
                quiet.heard()
    return shown


def _commit(consumer: GroupConsumer, options: argparse.Namespace) -> None:
    """What was printed is done with, and nothing else; where it is somebody else's by now, it comes again there."""
    try:
        consumer.commit()
    except BrokerError as error:
        if error.code not in _SHARED_OUT_ANEW:
            raise
        note("The partitions were shared out anew: what was printed last may come again.", as_json=options.json)


def _take(host: Host, options: argparse.Namespace) -> int:
    quiet = Quiet(lambda: f"messages of the queue {options.name}", options.timeout, as_json=options.json)
    shown, most = 0, options.count
    kept: list[Delivery] = []
    # What is kept must not come again meanwhile: that would cost it its attempts.
    lease_s = Admin(host).describe_queue(options.name).lease_ms / 1_000
    poll_s = min(_POLL_S, lease_s / 4) if options.keep else _POLL_S
    extended_s = time.monotonic()
    with QueueConsumer(host, options.name) as consumer:
        while not quiet.over() and shown != most:
            deliveries = consumer.take_many(_PAGE if most is None else min(_PAGE, most - shown), poll_s)
            if kept and time.monotonic() - extended_s >= lease_s / 4:
                for delivery in kept:
                    delivery.extend()
                extended_s = time.monotonic()
            if deliveries:
                messages = [delivery.message for delivery in deliveries]
                shown += _show(messages, argparse.Namespace(json=options.json, count=None))
                if options.keep:
                    kept += deliveries
                else:
                    consumer.ack_many(deliveries)
                quiet.heard()
        for delivery in kept:
            delivery.release()
    return shown
