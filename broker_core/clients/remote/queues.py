"""Queues and dead letters from afar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from broker_core.clients.remote.link import Link
from broker_core.errors import BrokerError
from broker_core.messages import Message, StoredMessage
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letter_edit import DeadLetterEdit, Edits
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.dead_letters import PurgeResult, Redrivable, Redriven, RedrivePreview, RedriveResult, Refused
from broker_core.queues.lease import Lease
from broker_core.snapshots import DeadLetterView, QueueView
from broker_core.wire import dead_letters as letters_api
from broker_core.wire import queues as api
from broker_core.wire.errors import broker_error
from broker_core.wire.fetch import Messages

_PAGE = 1_000
_AT_A_TIME = 10_000
_LEASES_AT_A_TIME = 1_000


class RemoteQueue:
    """What clients do with `Broker.queue(name)`."""

    def __init__(self, link: Link, name: str, shift_ns: Callable[[], int]) -> None:
        self._link = link
        self.name = name
        self._shift_ns = shift_ns

    @property
    def config(self) -> QueueConfig:
        """How it hands out messages. Raises UNKNOWN_QUEUE."""
        return self._link.ask(api.DescribeQueue(self.name, 0, 0), api.QueueDescription, repeat=True).config

    def view(self, now_ns: int, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """Times are those of the broker's session. Raises UNKNOWN_QUEUE."""
        body = api.DescribeQueue(self.name, max_leases, max_dead_letters)
        return self._link.ask(body, api.QueueDescription, repeat=True).view

    def peek(self, max_messages: int = 1) -> list[StoredMessage]:
        """See `Queue.peek`."""
        body = api.PeekQueue(self.name, max_messages)
        return self._link.ask(body, Messages, repeat=True).stored(self._shift_ns())

    def purge(self, now_ns: int, client: str = "") -> int:
        """See `Queue.purge`."""
        return self._link.ask(api.PurgeQueue(self.name), api.Count, repeat=False).count

    def undo_purge(self, now_ns: int, client: str = "") -> int:
        """See `Queue.undo_purge`."""
        return self._link.ask(api.PurgeQueue(self.name, undo=True), api.Count, repeat=False).count

    def release_holder(self, now_ns: int, holder: str, cause: str) -> int:
        """See `Queue.release_holder`."""
        return self._link.ask(api.ReleaseHolder(self.name, holder, cause), api.Count, repeat=True).count


class RemoteDeadLetters:
    """What clients do with `Broker.dead_letters(queue)`."""

    def __init__(self, link: Link, queue: str) -> None:
        self._link = link
        self._queue = queue

    def list(
        self, only: DeadLetterFilter | None = None, offset: int = 0, limit: int | None = 100
    ) -> tuple[DeadLetterView, ...]:
        """See `DeadLetters.list`; page by page."""
        found: list[DeadLetterView] = []
        start: int | None = offset
        while start is not None and (limit is None or len(found) < limit):
            wanted = _PAGE if limit is None else min(_PAGE, limit - len(found))
            body = letters_api.ListDeadLetters(self._queue, only, start, wanted)
            page = self._link.ask(body, letters_api.DeadLetters, repeat=True)
            found += page.letters
            start = page.next_offset
        return tuple(found)

    def by_cause(self, _queue: str = "") -> dict[str, int]:
        """See `DeadLetters.by_cause`."""
        return self._link.ask(letters_api.DeadLettersByCause(self._queue), letters_api.Causes, repeat=True).counts

    def preview(self, offsets: Iterable[int], edits: Edits | None = None) -> RedrivePreview:
        """See `DeadLetters.preview`."""
        redrivable: list[Redrivable] = []
        refused: list[Refused] = []
        for part, changed in _parts(offsets, self._whole(edits)):
            body = letters_api.PreviewRedrive(self._queue, part, changed)
            found = self._link.ask(body, letters_api.Preview, repeat=True)
            redrivable += found.redrivable
            refused += (each.refused() for each in found.refused)
        return RedrivePreview(tuple(redrivable), tuple(refused))

    def redrive(self, offsets: Iterable[int], edits: Edits | None) -> RedriveResult:
        """See `Broker.redrive`."""
        redriven: list[Redriven] = []
        refused: list[Refused] = []
        for part, changed in _parts(offsets, self._whole(edits)):
            body = letters_api.Redrive(self._queue, part, changed)
            found = self._link.ask(body, letters_api.RedriveReply, repeat=False)
            redriven += found.redriven
            refused += (each.refused() for each in found.refused)
        return RedriveResult(tuple(redriven), tuple(refused))

    def _whole(self, edits: Edits | None) -> dict[int, Message]:
        """What is to be sent: for what changes only a part, the rest is asked for."""
        whole, partial = {}, {}
        for offset, edit in (edits or {}).items():
            if isinstance(edit, DeadLetterEdit):
                partial[offset] = edit
            else:
                whole[offset] = edit
        if partial:
            whole |= {
                each.offset: partial[each.offset].applied_to(each.message) for each in self.preview(partial).redrivable
            }
        return whole

    def purge(self, now_ns: int, offsets: Iterable[int] | None = None, client: str = "") -> PurgeResult:
        """See `DeadLetters.purge`."""
        purged, refused = 0, []
        for part in (None,) if offsets is None else (part for part, _ in _parts(offsets, None)):
            body = letters_api.PurgeDeadLetters(self._queue, part)
            found = self._link.ask(body, letters_api.PurgeReply, repeat=False)
            purged += found.purged
            refused += [each.refused() for each in found.refused]
        return PurgeResult(purged, tuple(refused))

    def undo_redrive(self) -> range:
        """See `Broker.undo_redrive`. As many as were taken back."""
        return range(self._link.ask(letters_api.UndoRedrive(self._queue), api.Count, repeat=False).count)

    def undo_purge(self, now_ns: int, client: str = "") -> int:
        """See `DeadLetters.undo_purge`."""
        return self._link.ask(letters_api.UndoPurgeDeadLetters(self._queue), api.Count, repeat=False).count


class Leases:
    """The ends of leases. Waits for the broker's answer, and raises what it says."""

    def __init__(self, link: Link, shift_ns: Callable[[], int]) -> None:
        self._link = link
        self._shift_ns = shift_ns

    def settle(self, lease: Lease, outcome: Literal["nack", "release"], cause: str = "", requeue: bool = True) -> None:
        """See `Broker.nack` and `Broker.release`."""
        body = api.Settle(outcome, (_held(lease),), cause, requeue)
        [(number, about)] = self._link.ask(body, api.Settled, repeat=True).errors
        if number:
            raise broker_error(number, about)

    def ack_many(self, leases: Sequence[Lease], durable: bool | None) -> None:
        """See `Broker.ack_many`."""
        late: BrokerError | None = None
        for first in range(0, len(leases), _LEASES_AT_A_TIME):
            part = tuple(_held(lease) for lease in leases[first : first + _LEASES_AT_A_TIME])
            body = api.Settle("ack", part, durable=durable)
            for number, about in self._link.ask(body, api.Settled, repeat=True).errors:
                late = late or (broker_error(number, about) if number else None)
        if late is not None:
            raise late

    def extend(self, lease: Lease, lease_ms: float | None) -> Lease:
        """See `Broker.extend`."""
        [(end_ns, number, about)] = self._link.ask(
            api.Extend((_held(lease),), lease_ms), api.Extended, repeat=True
        ).ends
        if number:
            raise broker_error(number, about)
        return msgspec.structs.replace(lease, deadline_ns=end_ns + self._shift_ns())


def _held(lease: Lease) -> api.Held:
    return api.Held(lease.queue, lease.partition, lease.offset, lease.holder, lease.attempt)


def _parts(
    offsets: Iterable[int], edits: Mapping[int, Message] | None
) -> Iterable[tuple[tuple[int, ...], dict[int, Message]]]:
    """As many at a time as one request may hold, each with the edits of its own."""
    every = tuple(offsets)
    for first in range(0, max(1, len(every)), _AT_A_TIME):
        part = every[first : first + _AT_A_TIME]
        chosen: dict[int, Any] = {offset: edits[offset] for offset in part if edits and offset in edits}
        yield part, chosen
