from __future__ import annotations

import argparse
import io
import os
import select
import sys
from collections.abc import Callable, Iterator

from app.cli.output import tell_typist
from app.cli.parser import Command, CommandError, arguments, described
from app.cli.publishers import TIMEOUT_S, publisher
from app.cli.target import Broker, add_target, opened
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
    return name, _bytes(value)


def _lines(options: argparse.Namespace, before_waiting: Callable[[], object]) -> Iterator[tuple[str | None, str]]:
    """(key, value) of each message."""
    if options.values:
        yield from ((options.key, value) for value in options.values)
        return
    tell_typist("one message per line")
    for raw in typed_lines(before_waiting):
        line, key = raw.decode(errors="surrogateescape"), options.key
        if options.key_separator and options.key_separator in line:
            key, _, line = line.partition(options.key_separator)
        yield key, line


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _produce(broker: Broker, options: argparse.Namespace) -> int:
    if options.priority:
        of_queues = {name for queue in broker.ask(ListQueues()) for name in (queue.name, queue.reads)}
        if options.topic in {topic.name for topic in broker.ask(ListTopics())} - of_queues:
            raise CommandError(f"--priority is for queues, but no queue reads {options.topic}; leave it out.")
    sender = publisher(broker, options)
    try:
        for key, value in _lines(options, sender.finish):
            sender.send(None if key is None else _bytes(key), _bytes(value))
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
