from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, TypeVar

from app.cli.output import Quiet, note, print_json, stored, text_of
from app.cli.parser import Command, CommandError, parser_of
from app.cli.signals import exit_of_interrupt
from app.cli.target import Broker, add_target, client_name, is_running, opened
from app.environment.exits import Exit
from broker_core import BrokerHost, HttpBroker
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.closable import Closable
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.operations import queues
from broker_core.operations.groups import CommitOffsets, CommitPlace, Join, Leave, Poll
from broker_core.operations.messages import ReadMessages
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import DescribeTopic
from broker_core.operations.values import json_bytes
from broker_core.plurals import counted
from broker_core.snapshots import TopicView

_POLL_S = 0.5
_LONG_POLL_S = 20.0  # of one request to a running broker
_SHARED_OUT_ANEW = {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID}


def command() -> Command:
    parser = parser_of("consume")
    add_target(parser)

    def run(options: argparse.Namespace) -> int:
        try:
            if options.data is not None and options.group is None:
                with opened(options, read_only=True) as broker:
                    if options.name not in _queues(broker):
                        return _exit(_consume(broker, options), options)
            with opened(options) as broker:
                return _exit(_consume(broker, options), options)
        except KeyboardInterrupt as error:
            return exit_of_interrupt(error)

    return parser, run


def _exit(shown: int, options: argparse.Namespace) -> Exit:
    """The exit code after `shown` messages; a note says where that is fewer than --count."""
    if options.count is None or shown >= options.count:
        return Exit.DONE
    note(
        f"{counted(shown, 'message')} of {options.name} arrived, but {options.count:,} were requested: nothing more "
        f"within {options.timeout:g} s.",
        as_json=options.json,
    )
    return Exit.PARTLY


def _queues(broker: Broker) -> set[str]:
    return {queue.name for queue in broker.ask(ListQueues())}


def _consume(broker: Broker, options: argparse.Namespace) -> int:
    name = options.name
    queue = name in _queues(broker)
    if queue and (wrong := _given(options, "group", "start", "partition", "offset")):
        raise CommandError(f"{name} is a queue, but {wrong} is for topics; leave it out.")
    if options.group is not None and (wrong := _given(options, "partition", "offset")):
        raise CommandError(f"A group assigns partitions and keeps offsets itself; leave out --group or {wrong}.")
    if options.offset is not None and options.start is not None:
        raise CommandError("--from and --offset both say where to start; leave one out.")
    if queue:
        return _take(broker, options)
    topic = broker.ask(DescribeTopic(topic=name))
    if options.group is not None:
        return _poll(broker, options)
    read = _printed(_read(broker, topic, options), as_json=options.json)
    return sum(1 for _message in islice(read, options.count))


def _given(options: argparse.Namespace, *names: str) -> str:
    given = next((name for name in names if getattr(options, name) is not None), "")
    return {"": "", "start": "--from"}.get(given, f"--{given}")


def _printed(messages: Iterable[StoredMessage], *, as_json: bool) -> Iterator[StoredMessage]:
    for message in messages:
        if as_json:
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
        yield message


def _read(broker: Broker, topic: TopicView, options: argparse.Namespace) -> Iterator[StoredMessage]:
    quiet = Quiet(lambda: f"messages of {topic.name}", options.timeout, as_json=options.json)
    connection = Connection(as_json=options.json)
    chosen = [part for part in topic.partitions if options.partition in {None, part.partition}]
    if not chosen:
        told = f"{topic.name} has no partition {options.partition}; its last is {len(topic.partitions) - 1}."
        raise CommandError(told, Exit.NOT_FOUND)
    latest = options.start == "latest"
    at = {part.partition: part.end_offset if latest else part.start_offset for part in chosen}
    if options.offset is not None:
        at = dict.fromkeys(at, options.offset)
    while not quiet.over():
        found = False
        for number in at:
            request = ReadMessages(
                topic=topic.name, partition=number, offset=at[number], max_messages=PAGE, encoding="base64"
            )
            page = connection.tried(lambda request=request: broker.ask(request))  # type: ignore[misc]
            for message in () if page is None else page.messages:
                yield stored(message, topic.name)
                at[number] = message.offset + 1
                found = True
        if found:
            quiet.heard()
        else:
            time.sleep(quiet.poll_s(_POLL_S, _POLL_S))


def _poll(broker: Broker, options: argparse.Namespace) -> int:
    shown, most = 0, options.count
    reset: Reset = options.start or "earliest"
    with group_reader(broker, options.group, options.name, reset, as_json=options.json) as reader:

        def what() -> str:
            if reader.assignment:
                return f"messages of {options.name} in the group {options.group}"
            return f"a partition of {options.name}, for the group {options.group} has none available at the moment"

        quiet = Quiet(what, options.timeout, as_json=options.json)
        while not quiet.over() and shown != most:
            wait_s = quiet.poll_s(_POLL_S, _LONG_POLL_S if is_running(broker) else _POLL_S)
            messages = reader.poll(wait_s, None if most is None else most - shown)
            if messages:
                printed: list[StoredMessage] = []
                try:
                    for message in _printed(messages, as_json=options.json):
                        printed.append(message)
                finally:  # whoever reads the output may have closed it, as `head` does
                    _commit(reader, options, None if len(printed) == len(messages) else printed)
                shown += len(printed)
                quiet.heard()
            elif not reader.assignment:
                _check_topic(broker, options.name)
    return shown


def _check_topic(broker: Broker, name: str) -> None:
    """Raises CommandError if the topic was deleted."""
    try:
        broker.ask(DescribeTopic(topic=name))
    except BrokerError as error:
        if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise CommandError(f"{name} was deleted, so nothing more will come.", Exit.NOT_FOUND) from error


def _commit(reader: GroupReader, options: argparse.Namespace, printed: Sequence[StoredMessage] | None) -> None:
    """Commit what was printed. If a partition has another owner since, that one gets its messages again."""
    try:
        reader.commit(None if printed is None else ends(printed))
    except BrokerError as error:
        if error.code not in _SHARED_OUT_ANEW:
            raise
        note("The partitions were reassigned: the last messages printed may be repeated.", as_json=options.json)


def _take(broker: Broker, options: argparse.Namespace) -> int:
    quiet = Quiet(lambda: f"messages of the queue {options.name}", options.timeout, as_json=options.json)
    shown, most = 0, options.count
    with queue_reader(broker, options.name, as_json=options.json) as reader:
        while not quiet.over() and shown != most:
            wait_s = quiet.poll_s(_POLL_S, _LONG_POLL_S if is_running(broker) else _POLL_S)
            found = reader.take(wait_s, PAGE if most is None else min(PAGE, most - shown))
            if found:
                before = shown
                try:
                    for _message in _printed([message for message, _lease in found], as_json=options.json):
                        shown += 1
                finally:
                    if held := [lease for _message, lease in found[: shown - before]]:
                        reader.ack(held)
                quiet.heard()
    return shown


T = TypeVar("T")

Reset = Literal["earliest", "latest"]
PAGE = 500
LOST = frozenset({ErrorCode.CONNECTION_LOST, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CLOSED})
_AGAIN_S = 0.5


class Connection:
    """Notes once when the broker stops answering, and once when it answers again."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self.is_lost = False

    def tried(self, action: Callable[[], T]) -> T | None:
        """The result of `action`; None, after a pause, where no broker answers."""
        try:
            found = action()
        except BrokerError as error:
            if error.code not in LOST:
                raise
            if not self.is_lost:
                note("The connection to the broker is lost; retrying, Ctrl+C gives up.", as_json=self._as_json)
            self.is_lost = True
            time.sleep(_AGAIN_S)
            return None
        if self.is_lost:
            note("The broker is back.", as_json=self._as_json)
        self.is_lost = False
        return found


class HttpGroupReader(Closable):
    """A member of a group of a remote broker. After a lost connection it joins again, and continues from the committed
    offsets.
    """

    def __init__(self, broker: HttpBroker, group: str, topic: str, reset: Reset, *, as_json: bool) -> None:
        self._broker, self._group, self._topic, self._reset = broker, group, topic, reset
        self._connection = Connection(as_json=as_json)
        self._member: str | None = None
        self._done: dict[TopicPartition, int] = {}
        self.assignment: Sequence[object] = ()

    def poll(self, wait_s: float, most: int | None) -> Sequence[StoredMessage]:
        try:
            found = self._connection.tried(lambda: self._polled(wait_s, most))
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_MEMBER_ID:
                raise
            found = None
        if found is None:
            # What a lost answer held comes again to the next member.
            self._leave()
            return ()
        return found

    def _polled(self, wait_s: float, most: int | None) -> list[StoredMessage]:
        if self._member is None:
            request = Join(
                group=self._group, topics=(self._topic,), client_id=client_name(), auto_offset_reset=self._reset
            )
            self._member = self._broker.ask(request).member
        polled = self._broker.ask(
            Poll(
                group=self._group,
                member=self._member,
                max_messages=min(PAGE, most or PAGE),
                timeout_ms=round(wait_s * 1_000),
                encoding="base64",
            )
        )
        self.assignment = polled.assignment
        messages = [stored(message, message.topic) for message in polled.messages]
        self._done |= ends(messages)
        return messages

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        done = self._done if offsets is None else offsets
        places = [CommitPlace(topic=topic, partition=number, offset=at) for (topic, number), at in done.items()]
        self._done.clear()
        if places and self._member is not None:
            request = CommitOffsets(group=self._group, member=self._member, offsets=places)
            if self._connection.tried(lambda: self._broker.ask(request)) is None:
                self._leave()  # what was printed last comes again

    def _leave(self) -> None:
        member, self._member = self._member, None
        self._done.clear()
        if member is not None and not self._connection.is_lost:
            with contextlib.suppress(BrokerError):
                self._broker.ask(Leave(group=self._group, member=member))

    def close(self) -> None:
        self._leave()


class LocalQueueReader(Closable):
    """Takes messages, each with its lease; none if none came in time."""

    def __init__(self, host: BrokerHost, queue: str) -> None:
        self._consumer = QueueConsumer(host, queue)

    def take(self, wait_s: float, most: int) -> Sequence[tuple[StoredMessage, Delivery]]:
        return [(delivery.message, delivery) for delivery in self._consumer.take_many(most, wait_s)]

    def ack(self, held: Sequence[Any]) -> None:
        self._consumer.ack_many(held)

    def close(self) -> None:
        self._consumer.close()


class HttpQueueReader(Closable):
    def __init__(self, broker: HttpBroker, queue: str, *, as_json: bool) -> None:
        self._broker, self._queue = broker, queue
        self._connection = Connection(as_json=as_json)
        self._held: dict[str, None] = {}

    def take(self, wait_s: float, most: int) -> Sequence[tuple[StoredMessage, str]]:
        """What a lost answer held comes again when its leases end."""
        request = queues.Take(
            queue=self._queue,
            max_messages=most,
            timeout_ms=round(wait_s * 1_000),
            holder=client_name(),
            encoding="base64",
        )
        taken = self._connection.tried(lambda: self._broker.ask(request))
        found = [] if taken is None else taken
        self._held |= {delivery.lease: None for delivery in found}
        return [(stored(delivery, self._queue), delivery.lease) for delivery in found]

    def ack(self, held: Sequence[Any]) -> None:
        for lease in held:
            self._held.pop(lease, None)
        request = queues.Ack(queue=self._queue, leases=list(held))
        _check(self._connection.tried(lambda: self._broker.ask(request)))  # if it is lost, they come again later

    def close(self) -> None:
        if self._held and not self._connection.is_lost:
            with contextlib.suppress(BrokerError):
                self._broker.ask(queues.Release(queue=self._queue, leases=list(self._held)))


GroupReader = GroupConsumer | HttpGroupReader


def group_reader(broker: Broker, group: str, topic: str, reset: Reset, *, as_json: bool) -> GroupReader:
    if isinstance(broker, HttpBroker):
        return HttpGroupReader(broker, group, topic, reset, as_json=as_json)
    return GroupConsumer(broker, group, [topic], ConsumerConfig(auto_offset_reset=reset))


def queue_reader(broker: Broker, queue: str, *, as_json: bool) -> LocalQueueReader | HttpQueueReader:
    if isinstance(broker, HttpBroker):
        return HttpQueueReader(broker, queue, as_json=as_json)
    return LocalQueueReader(broker, queue)


def ends(messages: Iterable[StoredMessage]) -> dict[TopicPartition, int]:
    return {(message.topic, message.partition): message.offset + 1 for message in messages}


def _check(done: queues.LeasesDone | None) -> None:
    for refused in () if done is None else done.refused:
        code = ErrorCode[refused.error]
        raise BrokerError(code, refused.message.removeprefix(f"{code.sentence}: ").rstrip("."))
