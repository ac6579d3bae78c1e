"""The view of a queue."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from broker_core.errors import BrokerError
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.states import LeaseState
from broker_core.snapshots import LeaseView, QueueView, RetryView, WaitView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from broker_core.queues.queue import Queue


def queue_view(queue: Queue, max_leases: int, max_dead_letters: int) -> QueueView:
    """At most `max_leases` leases, the lowest offsets of the most urgent levels, and the newest dead letters."""
    leases = (lease for table in queue.levels.tables for lease in _leases(queue, table))
    waits = (wait for table in queue.levels.tables for wait in _waits(table)) if queue.delayed else ()
    retry = queue.config.retry
    return QueueView(
        name=queue.name,
        priorities=len(queue.levels.tables),
        ready=queue.ready + queue.levels.held_back,
        delayed=queue.delayed,
        in_flight=queue.in_flight,
        dead=queue.dead_letters.count(queue.name),
        lease_ms=round(queue.config.lease_ms),
        max_attempts=queue.config.max_attempts or 0,
        waiting_takers=queue.waiting_takers,
        acknowledged=queue.counts.acknowledged,
        redelivered=queue.counts.redelivered,
        dead_lettered=queue.counts.dead_lettered,
        redriven=queue.dead_letters.redriven(queue.name),
        leases=tuple(islice(leases, max_leases)),
        dead_letters=queue.dead_letters.newest(queue.name, max_dead_letters),
        gate=None,
        topic=queue.levels.tables[0].log.topic,
        dead_letter_topic=queue.dead_letters.name,
        retry=RetryView(retry.kind, retry.base_ms, retry.max_ms, retry.factor),
        waits=tuple(islice(waits, max_leases)),
    )


def _leases(queue: Queue, table: LeaseTable) -> Iterator[LeaseView]:
    for first, end, span in table.index.runs():
        if span.state is LeaseState.ACQUIRED:
            for offset in range(first, end):
                yield LeaseView(
                    queue.name,
                    table.log.partition,
                    offset,
                    _key(table, offset),
                    span.holder,
                    span.since_ns,
                    span.deadline_ns,
                    span.attempts,
                    queue.config.max_attempts or 0,
                )


def _waits(table: LeaseTable) -> Iterator[WaitView]:
    for first, end, span in table.index.runs():
        if span.state is LeaseState.DELAYED:
            for offset in range(first, end):
                yield WaitView(table.log.partition, offset, None if span.doomed else span.deadline_ns)


def _key(table: LeaseTable, offset: int) -> bytes | None:
    try:
        return table.log.message(offset).key
    except BrokerError:  # corrupt, or just deleted
        return None
