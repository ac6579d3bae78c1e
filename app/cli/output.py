from __future__ import annotations

import argparse
import base64
import contextlib
import string
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from broker_core.messages import Headers, StoredMessage
from broker_core.operations.dead_letters import Letter
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.queues import Delivery
from broker_core.operations.values import bytes_of, json_bytes
from broker_core.plurals import counted

Facts = Mapping[str, object]  # values by their titles, which in JSON are keys
Column = str | tuple[str, str | Callable[[Any], object]]  # an attribute; or a title, and an attribute or a function
_WIDE = 10_000
_ENCODER = msgspec.json.Encoder(enc_hook=str)


def text_of(data: bytes | None) -> str | None:
    """Bytes of a message for people: as UTF-8, with what is not shown as escapes; None for none."""
    if data is None:
        return None
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in data.decode(errors="backslashreplace"))


def print_json(value: object) -> None:
    sys.stdout.write(_ENCODER.encode(value).decode() + "\n")
    sys.stdout.flush()


def by_key(facts: Facts) -> dict[str, object]:
    return {
        title.lower().replace(" ", "_"): by_key(value) if isinstance(value, Mapping) else value
        for title, value in facts.items()
    }


def print_rows(rows: Iterable[Facts], options: argparse.Namespace, none: str = "") -> None:
    """Rows of the same titles, as a table; as JSON an object a row. `none` is the sentence for no rows."""
    if options.json:
        for row in rows:
            print_json(by_key(row))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    found = list(rows)
    for title in found[0] if found else ():
        numbers = any(_is_number(row[title]) for row in found)
        table.add_column(title, overflow="fold", justify="right" if numbers else "left")
    for row in found:
        # Names and payloads are data: rich must not read markup in them.
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = _WIDE  # in a file or a pipe a row stays on one line
    with console.capture() as drawn:
        console.print(table if found else Text(none))
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in drawn.get().splitlines()))


def print_facts(facts: Facts, options: argparse.Namespace) -> None:
    """One thing, a line for each of its facts, and of those in them; as JSON one object, with such facts as objects."""
    if options.json:
        print_json(by_key(facts))
        return
    lines: dict[str, object] = {}
    for title, value in facts.items():
        lines |= value if isinstance(value, Mapping) else {title: value}
    width = max(map(len, lines), default=0)
    for title, value in lines.items():
        sys.stdout.write(f"{title:<{width}}  {_cell(value)}\n")


def print_described(
    facts: Facts, title: str, rows: Sequence[Facts], options: argparse.Namespace, none: str = ""
) -> None:
    """The facts of a thing, then its rows; as JSON the rows are the fact `title`. Without any, `none`, or nothing."""
    if options.json:
        facts = {**facts, title: [by_key(row) for row in rows]}
    print_facts(facts, options)
    if not options.json and (rows or none):
        print()
        print_rows(rows, options, none=none)


def facts_of(found: Any, *columns: Column) -> dict[str, object]:
    """What `found` has, by title. An attribute that is "" is None."""
    facts = {}
    for column in columns:
        title, what = (_title(column), column) if isinstance(column, str) else column
        if callable(what):
            facts[title] = what(found)
        else:
            value = getattr(found, what)
            facts[title] = None if value == "" else value
    return facts


def rows_of(found: Iterable[Any], *columns: Column) -> list[Facts]:
    return [facts_of(each, *columns) for each in found]


def struct_facts(found: msgspec.Struct) -> dict[str, object]:
    """All that `found` has; of a struct in it, such as `retry`, the titles begin with its own."""
    facts: dict[str, object] = {}
    for title, value in facts_of(found, *found.__struct_fields__).items():
        if isinstance(value, msgspec.Struct):
            facts |= {f"{title} {inner.lower()}": each for inner, each in struct_facts(value).items()}
        else:
            facts[title] = value
    return facts


def say(sentence: str, options: argparse.Namespace, **facts: object) -> None:
    """Print `sentence` with the facts that it names in braces; as JSON all facts.

    A noun behind a colon makes a count of a fact: "Purged {purged:message}." says "Purged 2 messages."
    """
    if options.json:
        print_json(facts)
    else:
        sys.stdout.write(f"{_SENTENCE.format(sentence, **facts)}\n")


class _Sentence(string.Formatter):
    def format_field(self, value: Any, noun: str) -> str:
        return counted(value, noun) if noun else str(value)


_SENTENCE = _Sentence()


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(value, bytes):
        return text_of(value) or ""
    return str(value)


PATIENCE_S = 1.0  # what comes sooner needs no explanation


def note(sentence: str, *, as_json: bool = False) -> None:
    """Print `sentence` on standard error, so that standard output has results only; with `as_json` only on a terminal,
    for a program may join the streams.
    """
    if not as_json or sys.stderr.isatty():
        print(sentence, file=sys.stderr, flush=True)


def tell_typist(what: str) -> None:
    """On a terminal, print that `what` is to be typed, and how to end the input."""
    if sys.stdin.isatty():
        note(f"Type {what}; Ctrl+D at the beginning of a line ends it, Ctrl+C gives up.")


class Quiet:
    """The time without a message; the first time that it is long, a note says what is waited for.

    `what()` says what that is, `timeout_s` after how long it is over.
    """

    def __init__(self, what: Callable[[], str], timeout_s: float | None, *, as_json: bool = False) -> None:
        self._what = what
        self._timeout_s = timeout_s
        self._as_json = as_json
        self._heard_s = time.monotonic()
        self._told = False

    def poll_s(self, short_s: float, long_s: float) -> float:
        """How long to wait for the next message: `short_s` before the note, `long_s` after it."""
        left_s = long_s if self._timeout_s is None else self._timeout_s - (time.monotonic() - self._heard_s)
        return max(0.0, min(long_s if self._told else short_s, left_s))

    def heard(self) -> None:
        self._heard_s = time.monotonic()

    def over(self) -> bool:
        """Whether nothing has come for `timeout_s`. Prints the note when it is due, so call it regularly."""
        quiet_s = time.monotonic() - self._heard_s
        if self._timeout_s is not None and quiet_s >= self._timeout_s:
            return True
        if not self._told and quiet_s >= PATIENCE_S:
            self._told = True
            limit = "" if self._timeout_s is None else f", for {self._timeout_s:g} s at most"
            note(f"Waiting for {self._what()}{limit}; Ctrl+C ends it.", as_json=self._as_json)
        return False


_BASE64 = "base64:"


def bytes_pair(found: MessageAnswer | Delivery | Letter) -> tuple[bytes | None, bytes | None]:
    """(key, value) of what was asked for as Base64."""
    return bytes_of(found.key, "base64"), bytes_of(found.value, "base64")


def payload(found: MessageAnswer | Letter, *, as_json: bool) -> dict[str, object]:
    """Key and value of what was asked for as Base64, by their titles, for people or for programs."""
    key, value = map(json_bytes if as_json else text_of, bytes_pair(found))
    return {"Key": key, "Value": value}


def stored(found: MessageAnswer | Delivery, topic: str) -> StoredMessage:
    key, value = bytes_pair(found)
    when_ms = found.timestamp_ms
    return StoredMessage(topic, found.partition, found.offset, when_ms, 0, key, value, headers_of(found))


def headers_of(found: MessageAnswer | Delivery | Letter) -> Headers:
    return tuple((name, _header(text)) for name, text in found.headers.items())


def _header(text: str) -> bytes:
    if text.startswith(_BASE64):
        with contextlib.suppress(ValueError):
            return base64.b64decode(text.removeprefix(_BASE64), validate=True)
    return text.encode()
