from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

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


def print_rows(
    columns: Sequence[str], rows: Iterable[Sequence[object]], options: argparse.Namespace, none: str = ""
) -> None:
    """Rows under `columns`; as JSON an object a row. `none` is the sentence for no rows."""
    if options.json:
        for row in rows:
            print_json(dict(zip((column.lower().replace(" ", "_") for column in columns), row, strict=True)))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    found = [tuple(row) for row in rows]
    for place, column in enumerate(columns):
        numbers = any(_is_number(row[place]) for row in found)
        table.add_column(column, overflow="fold", justify="right" if numbers else "left")
    for row in found:
        # Names and payloads are data: rich must not read markup in them.
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console(highlight=False, soft_wrap=False)
    if console.is_terminal:
        console.print(table if found else Text(none))
    else:
        # Wider than any terminal: in a file or a pipe a row stays on one line.
        console.width = _WIDE
        with console.capture() as drawn:
            console.print(table if found else Text(none))
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in drawn.get().splitlines()))


def print_facts(facts: Sequence[tuple[str, object]], options: argparse.Namespace) -> None:
    """One thing, a line for each of its facts; as JSON one object."""
    if options.json:
        print_json({name.lower().replace(" ", "_"): value for name, value in facts})
        return
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        sys.stdout.write(f"{name:<{width}}  {_cell(value)}\n")


def print_described(
    facts: Sequence[tuple[str, object]],
    name: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    options: argparse.Namespace,
    none: str = "",
) -> None:
    """The facts of a thing, then its rows; as JSON the rows are the fact `name`. Without any, `none`, or nothing."""
    if options.json:
        keys = [column.lower().replace(" ", "_") for column in columns]
        facts = [*facts, (name, [dict(zip(keys, row, strict=True)) for row in rows])]
    print_facts(facts, options)
    if not options.json and (rows or none):
        print()
        print_rows(columns, rows, options, none=none)


def say(sentence: str, options: argparse.Namespace, **facts: object) -> None:
    if options.json:
        print_json(facts)
    else:
        sys.stdout.write(f"{sentence}\n")


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
