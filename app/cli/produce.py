from __future__ import annotations

import argparse
import io
import os
import select
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from app.cli.errors import CommandError
from app.cli.parser import Command, arguments, described
from app.cli.publishers import TIMEOUT_S, publisher
from app.cli.target import Broker, add_target, opened
from app.cli.waiting import tell_typist
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import ListTopics

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


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A message in JSON Lines; `value` may be any JSON."""

    value: Any = None
    key: str | None = None
    headers: dict[str, str] = {}
    priority: int = 0
    partition: int | None = None


def command() -> Command:
    parser = described("produce")
    arguments(parser, "produce", {"header": _header}, {"default": f"{TIMEOUT_S:g}"})
    add_target(parser)

    def run(options: argparse.Namespace) -> int:
        with opened(options) as broker:
            return _produce(broker, options)

    return parser, run


def _header(text: str) -> tuple[str, bytes]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value.encode(errors="surrogateescape")


def _lines(options: argparse.Namespace, before_waiting: Callable[[], object]) -> Iterator[_Line]:
    if options.values:
        for value in options.values:
            yield _Line(value, options.key, {}, options.priority, options.partition)
        return
    tell_typist("one message per line")
    for number, raw in enumerate(typed_lines(before_waiting), 1):
        line = raw.decode(errors="surrogateescape")
        if options.lines_are_json:
            yield _json_line(number, line.encode(errors="surrogateescape"))
            continue
        key = options.key
        if options.key_separator and options.key_separator in line:
            key, _, line = line.partition(options.key_separator)
        yield _Line(line, key, {}, options.priority, options.partition)


def _json_line(number: int, line: bytes) -> _Line:
    try:
        return msgspec.json.decode(line, type=_Line)
    except msgspec.ValidationError as error:
        from broker_core.simulation.scenario_errors import fault

        _, sentence = fault(error, msgspec.json.decode(line), _Line, called="it")
        raise CommandError(f"Line {number} is not a valid message: {sentence}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"Line {number} is not JSON ({error}).") from error


def _bytes(value: object) -> bytes | None:
    if value is None:
        return None
    return value.encode(errors="surrogateescape") if isinstance(value, str) else msgspec.json.encode(value)


def _produce(broker: Broker, options: argparse.Namespace) -> int:
    if options.priority:
        of_queues = {name for queue in broker.ask(ListQueues()) for name in (queue.name, queue.reads)}
        if options.topic in {topic.name for topic in broker.ask(ListTopics())} - of_queues:
            raise CommandError(f"--priority is for queues, but no queue reads {options.topic}; leave it out.")
    sender = publisher(broker, options)
    try:
        try:
            for line in _lines(options, sender.finish):
                own = tuple((name, value.encode()) for name, value in line.headers.items())
                headers = (*options.header, *own)
                sender.send(
                    _bytes(line.key), _bytes(line.value), headers, priority=line.priority, partition=line.partition
                )
        except CommandError:
            sender.finish()  # the lines before the one that is wrong
            raise
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
