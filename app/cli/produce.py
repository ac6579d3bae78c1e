from __future__ import annotations

import argparse
import contextlib
import io
import os
import select
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from app.cli.notes import note, tell_typist
from app.cli.output import print_json
from app.cli.parser import Command, CommandError, parser_of
from app.cli.target import add_target, client_name, served
from app.environment.exits import Exit
from broker_core import HttpBroker
from broker_core.broker.schemas import dead_letter_queue_of
from broker_core.clients.http_publisher import HttpPublisher
from broker_core.errors import BrokerError
from broker_core.operations.messages import Placed
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import ListTopics, TopicConfiguration
from broker_core.plurals import counted

TIMEOUT_S = 120.0
_CHUNK_BYTES = 1 << 16


def typed_lines(before_waiting: Callable[[], object]) -> Iterator[bytes]:
    """Each line, without its end. `before_waiting()` whenever nothing has come yet that could be read."""
    source = sys.stdin.buffer
    try:
        descriptor = source.fileno()
    except io.UnsupportedOperation:
        yield from (line.rstrip(b"\r\n") for line in source)
        return
    begun = bytearray()
    while True:
        # Python's own iteration does not say when it is about to wait.
        if not select.select([descriptor], [], [], 0)[0]:
            before_waiting()
        data = os.read(descriptor, _CHUNK_BYTES)
        begun += data
        if b"\n" in data or (begun and not data):
            *lines, rest = bytes(begun).split(b"\n")
            if not data:
                lines, rest = [*lines, rest], b""
            begun = bytearray(rest)
            yield from (line.rstrip(b"\r") for line in lines)
        if not data:
            return


def command() -> Command:
    parser = parser_of("produce", said={"default": f"{TIMEOUT_S:g}"})
    add_target(parser)

    def run(options: argparse.Namespace) -> int:
        with served(options) as broker:
            return _produce(broker, options)

    return parser, run


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _values(options: argparse.Namespace, before_waiting: Callable[[], object]) -> Iterator[bytes]:
    if options.values:
        yield from map(_bytes, options.values)
        return
    tell_typist("one message per line")
    yield from typed_lines(before_waiting)


def _produce(broker: HttpBroker, options: argparse.Namespace) -> int:
    if options.priority:
        of_queues = {name for queue in broker.ask(ListQueues()) for name in (queue.name, queue.reads)}
        if options.topic in {topic.name for topic in broker.ask(ListTopics())} - of_queues:
            raise CommandError(f"--priority is for queues, but no queue reads {options.topic}; leave it out.")
    told = _Told(options)
    publisher = HttpPublisher(
        broker,
        options.topic,
        client_id=client_name(),
        **_patience(broker, options),
        on_placed=told.placed,
        on_wait=told.waits,
        on_created=told.created,
    )
    key = None if options.key is None else _bytes(options.key)
    more = {"ttl_ms": options.ttl_ms, "priority": options.priority, "partition": options.partition}
    try:
        for value in _values(options, publisher.flush):
            publisher.send(value, key, **more)
        publisher.flush()
    except BaseException as error:
        if told.counts and not options.json:
            print(f"{told.sentence}, and no more{':' if isinstance(error, Exception) else '.'}")
        raise
    if not options.json:
        print(f"{told.sentence}.")
    return Exit.PARTLY if told.counts["dropped"] else Exit.DONE


def _patience(broker: HttpBroker, options: argparse.Namespace) -> dict[str, Any]:
    """How long a message waits for room; without --timeout none does where the topic's policy is to reject."""
    if options.timeout is not None:
        return {"timeout_s": options.timeout}
    options.timeout, at_once = TIMEOUT_S, False
    with contextlib.suppress(BrokerError):  # whoever may write may not be allowed to read this
        flow = broker.ask(TopicConfiguration(topic=options.topic)).flow
        at_once = flow is not None and flow.policy == "reject"
    return {"timeout_s": TIMEOUT_S, "at_once": at_once}


class _Told:
    """Counts what became of the messages, and says so."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.counts = Counter[str]()  # of messages, by status

    def placed(self, placed: Placed) -> None:
        self.counts[placed.status] += 1
        if self._options.json:
            is_dead = placed.status == "dead-lettered"
            topic = dead_letter_queue_of(self._options.topic) if is_dead else self._options.topic
            more = {"status": placed.status} if placed.status == "dropped" else {}
            print_json({"topic": topic, "partition": placed.partition, "offset": placed.offset, **more})

    @property
    def sentence(self) -> str:
        topic = self._options.topic
        said = f"Published {counted(self.counts['stored'], 'message')} to {topic}"
        if dead := self.counts["dead-lettered"]:
            said += f", and {counted(dead, 'dead letter')}, refused by its schema, to {dead_letter_queue_of(topic)}"
        if dropped := self.counts["dropped"]:
            said += f"; its limit dropped {counted(dropped, 'message')}"
        return said

    def waits(self) -> None:
        options = self._options
        told = f"{options.topic} is full: waiting for room, at most {options.timeout:g} s; Ctrl+C gives up."
        note(told, as_json=options.json)

    def created(self, partitions: int) -> None:
        made = f"There was no topic {self._options.topic}; the broker has created it with"
        note(f"{made} {counted(partitions, 'partition')}.", as_json=self._options.json)
