from __future__ import annotations

import argparse
import string
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from broker_core.operations.dead_letters import Letter
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.values import bytes_of, json_bytes
from broker_core.plurals import counted

Facts = Mapping[str, object]  # values by their titles, which in JSON are keys
Column = str | tuple[str, str | Callable[[Any], object]]  # an attribute; or a title, and an attribute or a function
_WIDE = 10_000
_UNLIMITED = (1 << 63) - 1  # what Kafka's settings have where there is no limit
_ENCODER = msgspec.json.Encoder(enc_hook=str)


def text_of(data: bytes | None) -> str | None:
    """Bytes of a message for people: as UTF-8, with what is not shown as escapes; None for none."""
    if data is None:
        return None
    text = data.decode(errors="backslashreplace")
    return text if text.isprintable() else "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


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
        numbers = any(isinstance(row[title], int | float) and not isinstance(row[title], bool) for row in found)
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
        title, what = (column.replace("_", " ").capitalize(), column) if isinstance(column, str) else column
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


def payload(found: MessageAnswer | Letter, *, as_json: bool) -> dict[str, object]:
    """Key and value of what was asked for as Base64, by their titles, for people or for programs."""
    shown = json_bytes if as_json else text_of
    return {"Key": shown(bytes_of(found.key, "base64")), "Value": shown(bytes_of(found.value, "base64"))}


def say(sentence: str, options: argparse.Namespace, **facts: object) -> None:
    """Print `sentence` with the facts that it names in braces; as JSON all facts.

    A noun behind a colon makes a count of a fact: "Purged {purged:message}." says "Purged 2 messages."
    """
    if options.json:
        print_json(facts)
    else:
        sys.stdout.write(f"{sentence_of(sentence, **facts)}\n")


class _Sentence(string.Formatter):
    def format_field(self, value: Any, noun: str) -> str:
        return counted(value if isinstance(value, int) else len(value), noun) if noun else str(value)


sentence_of = _Sentence().format  # as `say`; of what is no number, its elements are counted


def _cell(value: object) -> str:
    if value is None or value == _UNLIMITED:
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
