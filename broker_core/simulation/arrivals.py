from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from string import Template
from typing import Literal

import msgspec

from broker_core.clock import ns_from_s
from broker_core.messages import Message
from broker_core.settings import NotNegative, NotNegativeNumber, Positive, PositiveNumber, Share, TimeMs
from broker_core.simulation.arrival_files import Arrival, FileArrivals, from_file


class _Made(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """Messages of `value_bytes` bytes, with one of `keys` keys each (0 sends without), at most `limit` of them.

    `spacing` constant gives equal gaps; poisson gives the gaps of independent senders. A share `hot_share` of the
    messages has the key key-0, whatever the others draw. `priorities` are the shares of priority 0, 1, ...
    `first_s` is when the first one comes; without it, that is one gap after the start. `ttl_ms` is how long each
    may wait. A share `tombstones` of them has no value, which deletes the key in a compacted topic. `value` is sent
    in place of dots, with its number for $number.
    """

    spacing: Literal["constant", "poisson"] = "constant"
    keys: NotNegative = 0
    hot_share: Share = 0.0
    value_bytes: Positive = 100
    limit: NotNegative | None = None
    first_s: NotNegativeNumber | None = None
    priorities: tuple[NotNegativeNumber, ...] = ()
    ttl_ms: TimeMs | None = None
    tombstones: Share = 0.0
    value: str = ""

    def __post_init__(self) -> None:
        if self.priorities and not any(self.priorities):
            raise ValueError("priorities must be shares that are not all 0")
        if self.tombstones and not self.keys:
            raise ValueError("tombstones need keys")


class RateArrivals(_Made, frozen=True, kw_only=True, tag="rate"):
    """`per_s` messages a second, all the time."""

    per_s: PositiveNumber

    def time_s(self, messages: float) -> float:
        return messages / self.per_s


class BurstyArrivals(_Made, frozen=True, kw_only=True, tag="bursty"):
    """`per_s` messages a second for `on_s` seconds, none for `off_s`, and so on."""

    per_s: PositiveNumber
    on_s: PositiveNumber
    off_s: PositiveNumber

    def time_s(self, messages: float) -> float:
        bursts, rest = divmod(messages / self.per_s, self.on_s)
        return bursts * (self.on_s + self.off_s) + rest


class RampArrivals(_Made, frozen=True, kw_only=True, tag="ramp"):
    """A rate that goes evenly from `from_per_s` to `to_per_s` within `over_s`, and stays there."""

    from_per_s: PositiveNumber
    to_per_s: PositiveNumber
    over_s: PositiveNumber

    def time_s(self, messages: float) -> float:
        ramped = (self.from_per_s + self.to_per_s) / 2 * self.over_s
        if messages > ramped:
            return self.over_s + (messages - ramped) / self.to_per_s
        # from t + steeper t^2 = messages, in the form that loses no digits where it hardly rises
        steeper = (self.to_per_s - self.from_per_s) / (2 * self.over_s)
        root = math.sqrt(max(0.0, self.from_per_s**2 + 4 * steeper * messages))
        return 2 * messages / (self.from_per_s + root)


MadeArrivals = RateArrivals | BurstyArrivals | RampArrivals
Arrivals = FileArrivals | MadeArrivals


def arrivals(spec: Arrivals, numbers: random.Random, find_file: Callable[[str], Path]) -> Iterator[Arrival]:
    """(session time in ns, message) in the order of time. Raises `ArrivalError` at the first bad row of a file."""
    if isinstance(spec, FileArrivals):
        return from_file(spec, find_file(spec.file))
    return _made(spec, numbers)


def _made(spec: MadeArrivals, numbers: random.Random) -> Iterator[Arrival]:
    for number, time_ns in enumerate(_times(spec, numbers)):
        if spec.limit is not None and number >= spec.limit:
            return
        value: bytes | None = _value(spec, number)
        if spec.tombstones and numbers.random() < spec.tombstones:
            value = None
        yield time_ns, Message(value, _key(spec, numbers), (), spec.ttl_ms, _priority(spec, numbers))


def _value(spec: MadeArrivals, number: int) -> bytes:
    if spec.value:
        return Template(spec.value).safe_substitute(number=number).encode()
    return f"message {number} ".encode().ljust(spec.value_bytes, b".")[: spec.value_bytes]


def _times(spec: MadeArrivals, numbers: random.Random) -> Iterator[int]:
    steady = isinstance(spec, RateArrivals)
    start_s = 0.0 if spec.first_s is None else spec.first_s
    time_ns, come = ns_from_s(start_s), 0.0
    if spec.first_s is not None:
        yield time_ns
    while True:
        gap = 1.0 if spec.spacing == "constant" else numbers.expovariate(1.0)
        come += gap
        # At a steady rate gaps are added up, so that equal gaps are equal to the nanosecond.
        time_ns = time_ns + ns_from_s(spec.time_s(gap)) if steady else ns_from_s(start_s + spec.time_s(come))
        yield time_ns


def _key(spec: MadeArrivals, numbers: random.Random) -> bytes | None:
    if not spec.keys:
        return None
    if spec.hot_share and numbers.random() < spec.hot_share:
        return b"key-0"
    return f"key-{numbers.randrange(spec.keys)}".encode()


def _priority(spec: MadeArrivals, numbers: random.Random) -> int:
    if not spec.priorities:
        return 0
    drawn = numbers.random() * sum(spec.priorities)
    bounds = list(accumulate(spec.priorities))
    return next((level for level, bound in enumerate(bounds) if drawn < bound), len(bounds) - 1)
