from __future__ import annotations

import argparse
import contextlib
import io
import os
import select
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator

import msgspec

from app.cli.output import note, print_json, tell_typist
from app.cli.parser import Command, CommandError, parser_of
from app.cli.target import Broker, add_target, client_name, opened
from broker_core import BrokerHost, HttpBroker
from broker_core.broker.schemas import dead_letter_queue_of
from broker_core.clients.batches import NO_OFFSET, Receipt
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.messages import Placed, PublishBatch, PublishMessages, Record
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import ListTopics, TopicConfig
from broker_core.operations.values import base64_of
from broker_core.plurals import counted

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
        with opened(options) as broker:
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


def _produce(broker: Broker, options: argparse.Namespace) -> int:
    if options.priority:
        of_queues = {name for queue in broker.ask(ListQueues()) for name in (queue.name, queue.reads)}
        if options.topic in {topic.name for topic in broker.ask(ListTopics())} - of_queues:
            raise CommandError(f"--priority is for queues, but no queue reads {options.topic}; leave it out.")
    sender = publisher(broker, options)
    try:
        for value in _values(options, sender.finish):
            sender.send(value)
        sender.finish()
    except BaseException as error:
        sender.give_up()
        if sender.published and not options.json:
            print(f"{sender.sentence}, and no more{':' if isinstance(error, Exception) else '.'}")
        raise
    sender.close()
    if not options.json:
        print(f"{sender.sentence}.")
    return 0


TIMEOUT_S = 120.0
_PATIENCE_S = 2.0  # a longer wait has a note
_GOODBYE_S = 1.0
_MOST_UNTOLD = 50_000  # messages whose fate is not known yet; they are kept in memory
_BATCH_MESSAGES = 1_000
_BATCH_BYTES = 1 << 20
_LONGEST_WAIT_S = 60.0  # of one request
_PAUSES_S = (0.1, 0.3, 1.0)  # before what was refused is sent again; the last one for ever


class Publisher:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.key = None if options.key is None else _bytes(options.key)
        self.published = self.dead = 0
        self.is_waiting = False

    def told(self, topic: str, partition: int, offset: int) -> None:
        self.published += 1
        self.dead += topic != self.options.topic
        if self.options.json:
            # A dead letter is listed with its queue.
            print_json({"topic": topic, "partition": partition, "offset": offset})

    @property
    def sentence(self) -> str:
        topic = self.options.topic
        dead = f", and {counted(self.dead, 'dead letter')}, refused by its schema, to {dead_letter_queue_of(topic)}"
        return f"Published {counted(self.published - self.dead, 'message')} to {topic}{dead if self.dead else ''}"

    def give_up(self) -> None:
        """After an error: messages that were stored nevertheless are counted, too."""

    def close(self) -> None:
        """The connection to a broker elsewhere is its owner's."""

    def waits(self) -> None:
        if not self.is_waiting:
            self.is_waiting = True
            note(
                f"{self.options.topic} is full: waiting for room, at most {self.options.timeout:g} s; Ctrl+C gives up.",
                as_json=self.options.json,
            )


class LocalPublisher(Publisher):
    """`send` and `finish`, which waits until everything is stored, raise why an earlier message was not."""

    def __init__(self, host: BrokerHost, options: argparse.Namespace) -> None:
        super().__init__(options)
        self._pending: deque[Receipt] = deque()
        config = ProducerConfig(delivery_timeout_ms=max(1.0, options.timeout * 1_000))
        if options.at_once:  # each message by itself: what fits is stored
            config = msgspec.structs.replace(config, retries=0, linger_ms=0)
        self._producer = Producer(host, config)

    def send(self, value: bytes) -> None:
        options = self.options
        more = {"ttl_ms": options.ttl_ms, "priority": options.priority, "partition": options.partition}
        self._pending.append(self._producer.send(options.topic, value, self.key, **more))
        while self._pending and (self._pending[0].done or len(self._pending) > _MOST_UNTOLD):
            self._tell_first()

    def finish(self) -> None:
        while self._pending:
            self._tell_first()

    def give_up(self) -> None:
        with contextlib.suppress(BrokerError):
            self._producer.close(_GOODBYE_S)
        while self._pending:
            if self._pending[0].done and self._pending[0].error() is None:
                self._tell_first()
            else:
                self._pending.popleft()

    def close(self) -> None:
        self._producer.close()

    def _tell_first(self) -> None:
        receipt = self._pending.popleft()
        if not self.is_waiting and not receipt.done:
            with contextlib.suppress(BrokerError):
                receipt.result(_PATIENCE_S)
            if not receipt.done:
                self.waits()
        sent = receipt.result()
        self.told(sent.topic, sent.partition, sent.offset)


class HttpPublisher(Publisher):
    """Publishes to a remote broker, one batch at a time, so that messages stay in order."""

    def __init__(self, broker: HttpBroker, options: argparse.Namespace) -> None:
        super().__init__(options)
        self._broker = broker
        self._records: list[Record] = []
        self._bytes = 0

    def send(self, value: bytes) -> None:
        self._records.append(_record(self.key, value, self.options))
        self._bytes += len(self.key or b"") + len(value)
        if len(self._records) >= _BATCH_MESSAGES or self._bytes >= _BATCH_BYTES:
            self.finish()

    def finish(self) -> None:
        left, self._records, self._bytes = self._records, [], 0
        began_s = time.monotonic()
        tries = 0
        while left:
            left_s = began_s + self.options.timeout - time.monotonic()
            refused, error = self._sent(left, left_s)
            if len(refused) < len(left):
                # The first one that is refused says why when it is sent by itself.
                left, tries = [*self._first(refused, left_s), *refused[1:]], 0
                continue
            assert error is not None
            self._check(error)
            if left_s <= 0:
                raise _withdrawn(len(left), self.options) from error
            if time.monotonic() - began_s >= _PATIENCE_S:
                self.waits()
            time.sleep(min(_PAUSES_S[min(tries, len(_PAUSES_S) - 1)], max(0.0, left_s)))
            tries += 1

    def _first(self, refused: list[Record], left_s: float) -> list[Record]:
        if not refused:
            return []
        again, error = self._sent(refused[:1], left_s)
        if error is not None:
            self._check(error)
        return again

    def _check(self, error: BrokerError) -> None:
        """Raises `error` unless trying again may help."""
        refused_at_once = self.options.at_once and error.code is ErrorCode.THROTTLED
        if refused_at_once or not error.retriable or error.possibly_stored:
            raise error

    def _sent(self, records: list[Record], left_s: float) -> tuple[list[Record], BrokerError | None]:
        """The records that were refused, and are not stored; if all were, also the error. Raises CONNECTION_LOST."""
        wait_s = min(max(left_s, 0.001), _LONGEST_WAIT_S if self.is_waiting else _PATIENCE_S)
        batch = PublishBatch(messages=records, producer_id=client_name(), timeout_ms=max(1, round(wait_s * 1_000)))
        try:
            published = self._broker.ask(PublishMessages(topic=self.options.topic, batch=batch))
        except BrokerError as error:
            if error.code is ErrorCode.CONNECTION_LOST:
                raise
            return records, error
        if published.created_partitions:
            made = f"There was no topic {self.options.topic}; the broker has created it with"
            note(f"{made} {counted(published.created_partitions, 'partition')}.", as_json=self.options.json)
        refused = []
        for sent, found in zip(records, published.messages, strict=True):
            if found.possibly_stored is True:
                raise BrokerError(ErrorCode[found.status], f"a message for {self.options.topic}", possibly_stored=True)
            if found.status in ErrorCode.__members__:
                refused.append(sent)
            else:
                self._tell(found)
        why = BrokerError(ErrorCode.THROTTLED, self.options.topic) if len(refused) == len(records) else None
        return refused, why

    def _tell(self, found: Placed) -> None:
        topic = self.options.topic
        if found.status == "dead-lettered":
            topic = dead_letter_queue_of(topic)
        partition, offset = found.partition, found.offset
        self.told(topic, NO_OFFSET if partition is None else partition, NO_OFFSET if offset is None else offset)


def _record(key: bytes | None, value: bytes, options: argparse.Namespace) -> Record:
    """Key and value as texts where both are, else as Base64."""
    more = {"ttl_ms": options.ttl_ms, "priority": options.priority, "partition": options.partition}
    try:
        return Record(value=value.decode(), key=None if key is None else key.decode(), **more)
    except UnicodeDecodeError:
        return Record(value=base64_of(value), key=base64_of(key), encoding="base64", **more)


def _withdrawn(count: int, options: argparse.Namespace) -> BrokerError:
    what = f"{counted(count, 'message')} for {options.topic}, after {options.timeout:g} s"
    return BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{what}; it is withdrawn, and not stored")


def publisher(broker: Broker, options: argparse.Namespace) -> LocalPublisher | HttpPublisher:
    options.at_once = False  # whether a message is given up where the topic refuses it
    if options.timeout is None:
        options.timeout = TIMEOUT_S
        with contextlib.suppress(BrokerError):  # whoever may write may not be allowed to read this
            flow = broker.ask(TopicConfig(topic=options.topic)).flow
            options.at_once = flow is not None and flow.policy == "reject"
    if isinstance(broker, HttpBroker):
        return HttpPublisher(broker, options)
    return LocalPublisher(broker, options)
