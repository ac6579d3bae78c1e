"""The completion of a decided transaction: a marker in each partition, offsets of groups, and the final state."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.events import EventKind, EventStream
from broker_core.replies import Reply, all_done
from broker_core.timers import Timers
from broker_core.transactions.ports import Ports
from broker_core.transactions.state_log import StateLog
from broker_core.transactions.transaction import ENDING, Identity, Transaction, TransactionState

_AGAIN_NS = 500 * NS_PER_MS  # the delay of a retry after a disk error


class Completion:
    """Completes transactions, with retries after disk errors: a decision is never reverted."""

    def __init__(self, events: EventStream, timers: Timers, states: StateLog, ports: Ports) -> None:
        self._events = events
        self._timers = timers
        self._states = states
        self._ports = ports

    def run(self, now_ns: int, found: Transaction, producer_id: int, *, restored: bool = False) -> Reply[None]:
        """The reply is settled when everything is written. With `restored`, what a group committed since is kept."""
        done: Reply[None] = Reply()
        self._try(now_ns, found, producer_id, restored, done)
        return done

    def _try(self, now_ns: int, found: Transaction, producer_id: int, restored: bool, done: Reply[None]) -> None:
        commits = found.state is TransactionState.PREPARE_COMMIT
        identity = Identity(producer_id, found.ends_at_epoch)
        committed: Reply[None] = Reply.of(None)
        try:
            for place in list(found.partitions):
                offset = self._ports.write_marker(now_ns, place, identity, commits=commits)
                if offset is not None:
                    found.markers.append((*place, offset))
            if commits and found.offsets:
                offsets = [
                    each
                    for key, each in found.offsets.items()
                    if not restored or self._ports.committed_offset(*key) == each.before
                ]
                committed = self._ports.commit_offsets(now_ns, found.client, offsets)
        except BrokerError:
            self._again(now_ns, found, producer_id, done)
            return
        durable = [self._ports.durable((topic, number), at + 1) for topic, number, at in found.markers]
        waits = [committed, *durable]

        def settled(_all: Reply[None]) -> None:
            failed = next((each.error for each in durable if each.error is not None), None)
            if failed is not None:
                # A failed sync is final for its log: the transaction stays prepared, and a restart completes it.
                done.fail(failed)
            elif committed.error is not None:
                self._again(now_ns, found, producer_id, done)
            else:
                self._finish(now_ns, found, identity, done)

        all_done(waits).then(settled)

    def _finish(self, now_ns: int, found: Transaction, identity: Identity, done: Reply[None]) -> None:
        commits = found.state is TransactionState.PREPARE_COMMIT
        cause, markers = found.cause, list(found.markers)
        found.move(ENDING[commits][1])
        found.clear()
        # After a disk error it stays prepared in the log of states: a restart finds nothing left to do.
        with contextlib.suppress(BrokerError):
            self._states.write(now_ns, found)
        self.tell(now_ns, found.transactional_id, identity, found.client, cause, commits, markers)
        self._ports.ended(now_ns, [(topic, partition) for topic, partition, _ in markers])
        done.resolve(None)

    def _again(self, now_ns: int, found: Transaction, producer_id: int, done: Reply[None]) -> None:
        self._timers.at(now_ns + _AGAIN_NS, lambda at_ns: self._try(at_ns, found, producer_id, True, done))

    def tell(
        self,
        now_ns: int,
        transactional_id: str,
        identity: Identity,
        client: str,
        cause: str,
        commits: bool,
        markers: Sequence[tuple[str, int, int]],
    ) -> None:
        """Emit the end of a transaction; `markers` are (topic, partition, offset)."""
        self._events.emit(
            now_ns,
            EventKind.TRANSACTION_ENDED,
            client=client,
            cause=cause or ("committed" if commits else "aborted"),
            detail={
                "transactional_id": transactional_id,
                "producer_id": identity.producer_id,
                "epoch": identity.epoch,
                "committed": commits,
                "markers": [list(each) for each in markers],
                "aborted": [] if commits else self._aborted(identity.producer_id, markers),
            },
        )

    def _aborted(self, producer_id: int, markers: Sequence[tuple[str, int, int]]) -> list[list[str | int]]:
        """[topic, partition, first offset, count] of the messages that nobody who reads committed ones is given."""
        found: list[list[str | int]] = []
        for topic, partition, marker in markers:
            end = -1
            for span in self._ports.aborted((topic, partition), producer_id, marker):
                if span.start == end:
                    found[-1][3] = span.stop - int(found[-1][2])
                else:
                    found.append([topic, partition, span.start, len(span)])
                end = span.stop
        return found
