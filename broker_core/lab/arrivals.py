"""When messages come, and what they say: from a file of real events, or made by a rate."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from broker_core.clock import NS_PER_S, ns_from_s
from broker_core.messages import Message


class ArrivalError(Exception):
    """The file of events cannot be used; one sentence says where and why."""


class FileArrivals(msgspec.Struct, frozen=True, kw_only=True, tag="file", tag_field="kind", forbid_unknown_fields=True):
    """Events from JSON Lines, plain or gzip, in their real order and with their real gaps.

    `time` names the column with Unix seconds; `seconds_per_day` is how much session time one day of it takes.
    `key` names the column that becomes the key; "" sends without one. `where` keeps only rows whose columns have these values.
    `skip` leaves out that many of the kept rows.
    """

    file: str
    time: str = "time"
    key: str = ""
    seconds_per_day: float = 1.0
    where: dict[str, str | int] = {}
    skip: int = 0

    def __post_init__(self) -> None:
        if not self.seconds_per_day > 0:
            raise ValueError("seconds_per_day must be above 0")


class RateArrivals(msgspec.Struct, frozen=True, kw_only=True, tag="rate", tag_field="kind", forbid_unknown_fields=True):
    """Messages of `value_bytes` bytes, `per_s` of them a second, with one of `keys` keys each (0 sends without).

    `spacing` constant gives equal gaps; poisson gives the gaps of independent senders.
    """

    per_s: float
    spacing: Literal["constant", "poisson"] = "constant"
    keys: int = 0
    value_bytes: int = 100
    limit: int | None = None

    def __post_init__(self) -> None:
        if not self.per_s > 0:
            raise ValueError("per_s must be above 0")
        if self.value_bytes < 1:
            raise ValueError("value_bytes must be 1 or more")


Arrivals = FileArrivals | RateArrivals
Arrival = tuple[int, Message]


def arrivals(spec: Arrivals, numbers: random.Random, find_file: Callable[[str], Path]) -> Iterator[Arrival]:
    """(session time in ns, message) in the order of time. Raises `ArrivalError` at the first row that cannot be used."""
    if isinstance(spec, FileArrivals):
        return _from_file(spec, find_file(spec.file))
    return _by_rate(spec, numbers)


def _by_rate(spec: RateArrivals, numbers: random.Random) -> Iterator[Arrival]:
    time_ns, number = 0, 0
    mean_gap_s = 1 / spec.per_s
    while spec.limit is None or number < spec.limit:
        gap_s = mean_gap_s if spec.spacing == "constant" else numbers.expovariate(spec.per_s)
        time_ns += ns_from_s(gap_s)
        value = f"message {number} ".encode().ljust(spec.value_bytes, b".")[: spec.value_bytes]
        key = f"key-{numbers.randrange(spec.keys)}".encode() if spec.keys else None
        yield time_ns, Message(value, key)
        number += 1


def _from_file(spec: FileArrivals, path: Path) -> Iterator[Arrival]:
    first_s: float | None = None
    skipped = 0
    last_ns = 0
    for line_number, line, row in _rows(path):
        try:
            at_s = float(row[spec.time])
            key = str(row[spec.key]).encode() if spec.key else None
            kept = all(row[column] == wanted for column, wanted in spec.where.items())
        except KeyError as error:
            raise ArrivalError(f"{path.name}, line {line_number}: there is no column {error}.") from error
        except (TypeError, ValueError) as error:
            raise ArrivalError(f"{path.name}, line {line_number}: '{spec.time}' is not a time in seconds.") from error
        if not kept:
            continue
        if skipped < spec.skip:
            skipped += 1
            continue
        if first_s is None:
            first_s = at_s
        # A clock that went backwards in the source must not reorder the stream.
        last_ns = max(last_ns, round((at_s - first_s) / 86_400 * spec.seconds_per_day * NS_PER_S))
        yield last_ns, Message(line, key)


def _rows(path: Path) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    try:
        opened = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")
        with opened as lines:
            for line_number, raw in enumerate(lines, start=1):
                line = raw.strip()
                if not line:
                    continue
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ArrivalError(f"{path.name}, line {line_number}: a row must be a JSON object.")
                yield line_number, line, row
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ArrivalError(f"{path.name}, line {line_number}: this is not JSON.") from error
    except (OSError, EOFError) as error:
        raise ArrivalError(f"The file {path} cannot be read: {error}.") from error
