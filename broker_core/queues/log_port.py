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

    def read(self, offset: int, *, max_messages: int, max_bytes: int = ...) -> list[StoredMessage]: ...
    def message(self, offset: int, *, unsynced: bool = ...) -> StoredMessage: ...
    def markers(self, offset: int, end_offset: int) -> Sequence[int]: ...
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
