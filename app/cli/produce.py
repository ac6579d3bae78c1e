"""`brokerscope produce`: messages from arguments or standard input into a topic or queue."""

from __future__ import annotations

import argparse
import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from app.cli.errors import CommandError
from app.cli.numbers import seconds, whole
from app.cli.output import print_json, say
from app.cli.parser import Parser, with_exits
from app.cli.target import add_target, opened
from app.cli.typed import typed_lines
from app.cli.verbs import Command
from app.cli.waiting import note, tell_typist
from broker_core.clients.batches import Receipt
from broker_core.clients.host import Host
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.errors import BrokerError
from broker_core.plurals import counted

_TIMEOUT_S = 120.0
_PATIENCE_S = 2.0  # who waits longer is told why
_GOODBYE_S = 1.0
_MOST_UNTOLD = 50_000  # messages whose fate is not known yet; they are kept in memory


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A message in JSON Lines; `value` may be any JSON."""

    value: Any = None
    key: str | None = None
    headers: dict[str, str] = {}
    priority: int = 0
    partition: int | None = None


def command() -> Command:
    """The parser of the command, and what runs it."""
    parser = Parser(
        prog="brokerscope produce",
        description="Publish to a topic or queue: the values given, else a message for each line of standard input.",
        **with_exits(),
    )
    parser.add_argument("topic", metavar="TOPIC", help="a topic or a queue")
    # With a default of its own: argparse would call it missing where the topic is.
    parser.add_argument(
        "values", nargs="*", default=[], metavar="VALUE", help="a message each (default: the lines that come in)"
    )
    parser.add_argument("--key", metavar="KEY", help="of each message")
    parser.add_argument("--key-separator", metavar="SIGN", help="what stands between key and value in a line")
    parser.add_argument("--lines-are-json", action="store_true", help='lines such as {"key": "a", "value": {"n": 1}}')
    parser.add_argument(
        "--header", action="append", type=_header, default=[], metavar="NAME=VALUE", help="of each message; repeatable"
    )
    parser.add_argument("--partition", type=whole(0), metavar="P", help="default: the key's, else in turns")
    parser.add_argument(
        "--priority",
        type=whole(0),
        default=0,
        metavar="N",
        help="0 is the most urgent; below the queue's --priorities",
    )
    parser.add_argument("--ttl-ms", type=whole(1), metavar="MS", help="how long each is handed out at most")
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=_TIMEOUT_S,
        metavar="SECONDS",
        help=f"how long a message may wait for a broker that is full (default: {_TIMEOUT_S:g})",
    )
    add_target(parser)

    def run(options: argparse.Namespace) -> int:
        with opened(options) as host:
            return _produce(host, options)

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
    tell_typist("a message a line")
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
        raise CommandError(f"Line {number} is not such a message: {sentence}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"Line {number} is not JSON ({error}).") from error


def _bytes(value: object) -> bytes | None:
    if value is None:
        return None
    return value.encode(errors="surrogateescape") if isinstance(value, str) else msgspec.json.encode(value)


class _Told:
    """Says what became of messages, in the order in which they were sent."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._waiting: deque[Receipt] = deque()
        self._said_that_it_waits = False
        self.stored = 0

    def add(self, receipt: Receipt) -> None:
        """One more is on its way. Raises why an earlier one was not stored."""
        self._waiting.append(receipt)
        while self._waiting[0].done or len(self._waiting) > _MOST_UNTOLD:
            self._tell_first()
            if not self._waiting:
                break

    def finish(self) -> None:
        """Wait for all. Raises why one was not stored."""
        while self._waiting:
            self._tell_first()

    def count_the_rest(self) -> None:
        """After an error: those that were stored all the same count, too."""
        while self._waiting:
            if self._waiting[0].done and self._waiting[0].error() is None:
                self._tell_first()
            else:
                self._waiting.popleft()

    def _tell_first(self) -> None:
        receipt = self._waiting.popleft()
        if not self._said_that_it_waits and not receipt.done:
            with contextlib.suppress(BrokerError):
                receipt.result(_PATIENCE_S)
            if not receipt.done:
                self._said_that_it_waits = True
                note(
                    f"{self._options.topic} takes no more at the moment: waiting for room, at most "
                    f"{self._options.timeout:g} s; Ctrl+C gives up.",
                    as_json=self._options.json,
                )
        sent = receipt.result()
        self.stored += 1
        if self._options.json:
            # A message that its schema has buried lies in the dead letters, and is told from there.
            print_json({"topic": sent.topic, "partition": sent.partition, "offset": sent.offset})


def _produce(host: Host, options: argparse.Namespace) -> int:
    told = _Told(options)
    producer = Producer(host, ProducerConfig(delivery_timeout_ms=max(1.0, options.timeout * 1_000)))
    try:
        for line in _lines(options, told.finish):
            own = tuple((name, value.encode()) for name, value in line.headers.items())
            told.add(
                producer.send(
                    options.topic,
                    _bytes(line.value),
                    _bytes(line.key),
                    headers=(*options.header, *own),
                    ttl_ms=options.ttl_ms,
                    priority=line.priority,
                    partition=line.partition,
                )
            )
        told.finish()
    except BaseException:
        with contextlib.suppress(BrokerError):
            producer.close(_GOODBYE_S)
        told.count_the_rest()
        if told.stored and not options.json:
            say(f"Published {counted(told.stored, 'message')} to {options.topic}, and no more:")
        raise
    producer.close()
    if not options.json:
        say(f"Published {counted(told.stored, 'message')} to {options.topic}.")
    return 0
