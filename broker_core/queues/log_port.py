"""The log as queues use it; `broker_core.log` implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from broker_core.messages import Message, Run, StoredMessage


class AppendedPort(Protocol):
    """The result of an append."""

    @property
    def base_offset(self) -> int:
        """The offset of the first message."""


class PartitionPort(Protocol):
    """One partition of a log."""

    @property
    def topic(self) -> str:
        """The name of its topic."""

    @property
    def partition(self) -> int:
        """Its number."""

    @property
    def start_offset(self) -> int:
        """The first available offset."""

    @property
    def end_offset(self) -> int:
        """The offset of the next message."""

    @property
    def high_watermark(self) -> int:
        """Messages below it can be read."""

    @property
    def last_stable_offset(self) -> int:
        """Below it no message belongs to an open transaction."""

    def read(self, offset: int, *, max_messages: int, max_bytes: int = ...) -> list[StoredMessage]: ...
    def message(self, offset: int, *, unsynced: bool = ...) -> StoredMessage: ...
    def batch_end(self, offset: int) -> int: ...
    def markers(self, offset: int, end_offset: int) -> Sequence[int]: ...
    def aborted_ranges(self, offset: int, end_offset: int) -> list[range]: ...
    def messages_between(self, offset: int, end_offset: int) -> int: ...
    def runs(self, offset: int, end_offset: int) -> list[Run]: ...
    def published_ns(self, offset: int) -> int: ...
    def append_batch(self, now_ns: int, messages: Sequence[Message]) -> AppendedPort: ...


class TopicPort(Protocol):
    """The partitions of a topic."""

    @property
    def name(self) -> str:
        """The topic's name."""

    @property
    def partitions(self) -> Sequence[PartitionPort]:
        """In order."""
