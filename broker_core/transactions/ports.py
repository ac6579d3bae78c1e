"""The broker's parts as the transaction coordinator uses them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from broker_core.messages import TopicPartition
from broker_core.replies import Reply
from broker_core.transactions.transaction import Identity, PendingOffset


class OpenPart(NamedTuple):
    """An open transaction in a partition's log."""

    place: TopicPartition
    identity: Identity


class Ports(Protocol):
    """Partitions, groups and producer ids."""

    def new_identity(self, above: int) -> Identity:
        """A new producer id greater than `above`, at epoch 0."""

    def open_parts(self) -> Iterable[OpenPart]:
        """The open transactions in all logs."""

    def write_marker(self, now_ns: int, place: TopicPartition, identity: Identity, *, commits: bool) -> int | None:
        """Append the marker. Returns its offset, None if no transaction is open there. Raises STORAGE_ERROR."""

    def aborted(self, place: TopicPartition, producer_id: int, marker_offset: int) -> Iterable[range]:
        """The offsets that the marker at this offset has aborted; none where it has committed them."""

    def durable(self, place: TopicPartition, end_offset: int) -> Reply[None]:
        """A reply that is settled when all messages below `end_offset` are durable."""

    def ended(self, now_ns: int, places: Iterable[TopicPartition]) -> None:
        """The transaction has ended in these partitions: serve consumers that wait at its first message."""

    def committed_offset(self, group: str, topic: str, partition: int) -> int:
        """The committed offset of the group; -1 for none."""

    def commit_offsets(self, now_ns: int, client: str, offsets: Sequence[PendingOffset]) -> Reply[None]:
        """Commit offsets, lower ones too. The reply is settled when everything committed so far is stored."""
