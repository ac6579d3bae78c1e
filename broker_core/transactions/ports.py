"""What the coordinator needs of partitions, groups and producer ids; the broker has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from broker_core.replies import Reply
from broker_core.transactions.transaction import Identity, PendingOffset, Place


class OpenPart(NamedTuple):
    """What a partition's log has of a producer whose transaction has no marker there."""

    place: Place
    identity: Identity


class Ports(Protocol):
    """The rest of the broker, as the coordinator sees it."""

    def new_identity(self, above: int) -> Identity:
        """A producer id greater than `above` that nobody has, at epoch 0."""

    def open_parts(self) -> Iterable[OpenPart]:
        """What is open in any log."""

    def write_marker(self, now_ns: int, place: Place, identity: Identity, *, commits: bool) -> int | None:
        """Append the marker and give its offset; None where the partition has nothing open of the producer, or is
        gone. Raises STORAGE_ERROR.
        """

    def durable(self, place: Place, end_offset: int) -> Reply[None]:
        """There when everything below `end_offset` is as durable as the partition promises."""

    def commit_offsets(
        self, now_ns: int, client: str, offsets: Sequence[PendingOffset], *, backwards: bool
    ) -> Reply[None]:
        """Commit; there when that survives the process. What is behind is left out unless `backwards`."""
