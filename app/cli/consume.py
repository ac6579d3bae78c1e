from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal

from app.cli.notes import Quiet, note
from app.cli.output import print_json, text_of
from app.cli.parser import Command, CommandError, parser_of
from app.cli.target import Broker, add_target, client_name, opened, served
from app.environment.exits import Exit
from broker_core import BrokerHost, HttpBroker
from broker_core.clients.http_readers import MOST_MESSAGES, HttpGroupReader, HttpQueueReader, Reconnecting
from broker_core.clients.membership import next_offsets
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import StoredMessage
from broker_core.operations.messages import ReadMessages
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import DescribeTopic
from broker_core.operations.values import json_bytes
from broker_core.plurals import counted

_POLL_S = 0.5
_LONG_POLL_S = 20.0  # of one request
_SHARED_OUT_ANEW = {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID}


def command() -> Command:
    parser = parser_of("consume")
    add_target(parser)

    def run(options: argparse.Namespace) -> int:
        _check(options)
        if options.data is not None and options.group is None:
            with opened(options, read_only=True) as broker:
                assert isinstance(broker, BrokerHost)
                if options.name not in _queues(broker):
                    return _exit(_read(broker, options), options)
        with served(options) as broker:
            return _exit(_consume(broker, options), options)

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


def _consume(broker: HttpBroker, options: argparse.Namespace) -> int:
    if options.name in _queues(broker):
        if wrong := _given(options, "group", "start", "partition", "offset"):
            raise CommandError(f"{options.name} is a queue, but {wrong} is for topics; leave it out.")
        return _take(broker, options)
    return _read(broker, options) if options.group is None else _poll(broker, options)


def _check(options: argparse.Namespace) -> None:
    """Raises CommandError for options that exclude each other."""
    if options.group is not None and (wrong := _given(options, "partition", "offset")):
        raise CommandError(f"A group assigns partitions and keeps offsets itself; leave out --group or {wrong}.")
    if options.offset is not None and options.start is not None:
        raise CommandError("--from and --offset both say where to start; leave one out.")


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


def _on_lost(options: argparse.Namespace) -> Callable[[bool], None]:
    lost, back = "The connection to the broker is lost; retrying, Ctrl+C gives up.", "The broker is back."
    return lambda is_lost: note(lost if is_lost else back, as_json=options.json)


def _read(broker: BrokerHost | HttpBroker, options: argparse.Namespace) -> int:
    topic = broker.ask(DescribeTopic(topic=options.name))
    chosen = [part for part in topic.partitions if options.partition in {None, part.partition}]
    if not chosen:
        told = f"{topic.name} has no partition {options.partition}; its last is {len(topic.partitions) - 1}."
        raise CommandError(told, Exit.NOT_FOUND)
    latest = options.start == "latest"
    at = {part.partition: part.end_offset if latest else part.start_offset for part in chosen}
    if options.offset is not None:
        if len(chosen) > 1:
            told = (
                f"{topic.name} has {len(chosen)} partitions, each with offsets of its own; name one with --partition."
            )
            raise CommandError(told)
        at = dict.fromkeys(at, options.offset)
    read = _printed(_messages(broker, topic.name, at, options), as_json=options.json)
    return sum(1 for _message in islice(read, options.count))


def _messages(
    broker: BrokerHost | HttpBroker, topic: str, at: dict[int, int], options: argparse.Namespace
) -> Iterator[StoredMessage]:
    """The messages of partitions from the offsets `at` on."""
    quiet = Quiet(lambda: f"messages of {topic}", options.timeout, as_json=options.json)
    connection = Reconnecting(broker, _on_lost(options))
    while not quiet.over():
        found = False
        for number, offset in at.items():
            page = connection.ask(
                ReadMessages(
                    topic=topic, partition=number, offset=offset, max_messages=MOST_MESSAGES, encoding="base64"
                )
            )
            for message in () if page is None else page.messages:
                yield message.stored()
                at[number] = message.offset + 1
                found = True
        if found:
            quiet.heard()
        else:
            time.sleep(quiet.poll_s(_POLL_S, _POLL_S))


def _poll(broker: HttpBroker, options: argparse.Namespace) -> int:
    name, group = options.name, options.group
    broker.ask(DescribeTopic(topic=name))  # or a member would wait for it
    reset: Literal["earliest", "latest"] = options.start or "earliest"
    with HttpGroupReader(
        broker, group, name, client_id=client_name(), auto_offset_reset=reset, on_lost=_on_lost(options)
    ) as reader:

        def what() -> str:
            if reader.assignment:
                return f"messages of {name} in the group {group}"
            return f"a partition of {name}, for the group {group} has none available at the moment"

        def found(wait_s: float, most: int) -> list[StoredMessage]:
            messages = reader.poll(wait_s, most)
            if not messages and not reader.assignment:
                _check_topic(broker, name)
            return messages

        def commit(printed: Sequence[StoredMessage]) -> None:
            """Commit what was printed. If a partition has another owner by now, that one gets its messages again."""
            try:
                reader.commit(next_offsets(printed))
            except BrokerError as error:
                if error.code not in _SHARED_OUT_ANEW:
                    raise
                told = "The partitions were reassigned: the last messages printed may be repeated."
                note(told, as_json=options.json)

        return _shown(found, commit, what, options)


def _check_topic(broker: Broker, name: str) -> None:
    """Raises CommandError if the topic was deleted."""
    try:
        broker.ask(DescribeTopic(topic=name))
    except BrokerError as error:
        if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise CommandError(f"{name} was deleted, so nothing more will come.", Exit.NOT_FOUND) from error


def _take(broker: HttpBroker, options: argparse.Namespace) -> int:
    with HttpQueueReader(broker, options.name, client_id=client_name(), on_lost=_on_lost(options)) as reader:
        leases: list[str] = []

        def found(wait_s: float, most: int) -> list[StoredMessage]:
            taken = reader.take(wait_s, most)
            leases[:] = [lease for _message, lease in taken]
            return [message for message, _lease in taken]

        def ack(printed: Sequence[StoredMessage]) -> None:
            reader.ack(leases[: len(printed)])

        return _shown(found, ack, lambda: f"messages of the queue {options.name}", options)


def _shown(
    found: Callable[[float, int], Sequence[StoredMessage]],
    done: Callable[[Sequence[StoredMessage]], object],
    what: Callable[[], str],
    options: argparse.Namespace,
) -> int:
    """Print what `found(wait_s, most)` gives, up to --count messages, and call `done` with those that were printed.

    `what()` is waited for. Returns how many were printed.
    """
    quiet = Quiet(what, options.timeout, as_json=options.json)
    shown = 0
    while not quiet.over() and shown != options.count:
        wait_s = quiet.poll_s(_POLL_S, _LONG_POLL_S)
        messages = found(wait_s, MOST_MESSAGES if options.count is None else options.count - shown)
        printed: list[StoredMessage] = []
        try:
            for message in _printed(messages, as_json=options.json):
                printed.append(message)
        finally:  # whoever reads the output may have closed it, as `head` does
            if printed:
                done(printed)
                quiet.heard()
        shown += len(printed)
    return shown
