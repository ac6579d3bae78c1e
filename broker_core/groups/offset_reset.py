"""Targets of offset resets and of seeks, and their resolution. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, Protocol

import msgspec

from broker_core.messages import TopicPartition
from broker_core.settings import CallArguments, Whole

Form = Literal["earliest", "latest", "offset", "timestamp", "shift-by", "group"]


class Target(CallArguments, frozen=True):
    """The target of a reset or seek. `offset` is for `offset`, and a difference for `shift-by`.

    `timestamp_ms` (Unix time) means the first message that is not older, or the end. `group` copies the committed
    offset of another group. An offset outside the log is moved to its nearer end.
    """

    form: Form
    offset: Whole = 0
    timestamp_ms: Whole = 0
    group: str = ""


class Change(msgspec.Struct, frozen=True, gc=False):
    """The change of one partition. `from_offset` and `change` are None if nothing was committed."""

    topic: str
    partition: int
    from_offset: int | None
    to_offset: int
    change: int | None


class Bounds(Protocol):
    def start_offset(self, topic: str, partition: int) -> int:
        """The first available offset."""

    def end_offset(self, topic: str, partition: int) -> int:
        """The offset after the last one."""

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """The first offset whose message is not older than `timestamp_ms`, None if all are."""


Committed = Callable[[str, str, int], int | None]


def resolve(
    target: Target, topic: str, partition: int, bounds: Bounds, here: int | None, committed: Committed
) -> int | None:
    """The offset of `target` in one partition; None for a shift without `here`, or a copy of no committed offset.

    `here` is the committed offset or the position; `committed(group, topic, partition)` looks up another group's.
    """
    start, end = bounds.start_offset(topic, partition), bounds.end_offset(topic, partition)
    match target.form:
        case "earliest":
            wanted: int | None = start
        case "latest":
            wanted = end
        case "offset":
            wanted = target.offset
        case "timestamp":
            found = bounds.offset_at(topic, partition, target.timestamp_ms)
            wanted = end if found is None else found
        case "shift-by":
            wanted = None if here is None else here + target.offset
        case "group":
            wanted = committed(target.group, topic, partition)
    return None if wanted is None else min(max(wanted, start), end)


def preview(
    group: str,
    target: Target,
    partitions: Iterable[TopicPartition],
    bounds: Bounds,
    committed: Committed,
    here: Callable[[str, int], int | None] | None = None,
) -> list[Change]:
    """The changes that a reset would make, by (topic, partition). Partitions without an offset are left out.

    For a seek, `here(topic, partition)` is the position.
    """
    changes: list[Change] = []
    for topic, partition in sorted(partitions):
        old = committed(group, topic, partition) if here is None else here(topic, partition)
        new = resolve(target, topic, partition, bounds, old, committed)
        if new is not None:
            changes.append(Change(topic, partition, old, new, None if old is None else new - old))
    return changes


def sentence(target: Target) -> str:
    return {
        "earliest": "to the earliest message",
        "latest": "to the end",
        "offset": f"to offset {target.offset}",
        "timestamp": f"to the Unix time {target.timestamp_ms / 1000:.3f} s",
        "shift-by": f"by {target.offset:+d}",
        "group": f"to where {target.group} is",
    }[target.form]
