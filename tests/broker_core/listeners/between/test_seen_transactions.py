"""Transactions that nobody ends by EndTxn, and markers that nobody sees."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from broker_core.events import Event, EventKind, EventStream
from broker_core.listeners.between.seen_logs import Arrived, SeenLog
from broker_core.listeners.between.seen_transactions import SeenTransactions
from broker_core.messages import TopicPartition

S = 1_000_000_000
A, B = ("a", 0), ("b", 0)
PRODUCER = 7


class Passing:
    """What one producer and its cluster do, as far as it passes."""

    def __init__(self, *, inits: bool = True) -> None:
        self.events: list[Event] = []
        self.logs: dict[TopicPartition, SeenLog] = {}
        stream = EventStream()
        stream.attach(self.events.append)
        self.transactions = SeenTransactions(stream, self.log)
        if inits:
            self.inits(0, 0)

    def log(self, place: TopicPartition) -> SeenLog:
        return self.logs.setdefault(place, SeenLog(place, 0, lambda _place, _offset: None))

    def inits(self, at_s: int, epoch: int) -> None:
        asked = SimpleNamespace(transactional_id="till", transaction_timeout=1_000)
        answer = SimpleNamespace(error_code=0, producer_id=PRODUCER, producer_epoch=epoch)
        self.transactions.init_producer_id_answered(self.seen(at_s), asked, answer)  # type: ignore[arg-type]

    def seen(self, at_s: int) -> SimpleNamespace:
        return SimpleNamespace(client="shop", time_ns=at_s * S)

    def writes(self, at_s: int, *places: TopicPartition) -> None:
        for place in places:
            self.transactions.begins(at_s * S, PRODUCER, "shop")
            self.transactions.writes(PRODUCER, place)
            end = self.log(place).end_offset
            for found in self.log(place).arrived(Arrived(end, 1, 10, "shop", PRODUCER), at_s * S):
                self.log(place).keep(found, at_s * S)

    def commits(self, at_s: int) -> None:
        asked, answer = SimpleNamespace(producer_id=PRODUCER), SimpleNamespace(topics=[])
        self.transactions.txn_offset_commit_answered(self.seen(at_s), asked, answer)  # type: ignore[arg-type]

    def ends(self, at_s: int, epoch: int) -> int:
        """How many commits of offsets take effect."""
        asked = SimpleNamespace(producer_id=PRODUCER, committed=True, transactional_id="till", producer_epoch=epoch)
        answer = SimpleNamespace(error_code=0)
        return len(self.transactions.end_txn_answered(at_s * S, self.seen(at_s), asked, answer)[0])  # type: ignore[arg-type]

    def marked(self, at_s: int, place: TopicPartition, *, commits: bool) -> None:
        marker = Arrived(self.log(place).end_offset, 1, 0, "", PRODUCER, is_marker=True, is_commit=commits)
        for found in self.log(place).arrived(marker, at_s * S):
            self.transactions.marked(at_s * S, place, found)

    @property
    def told(self) -> list[tuple[int, EventKind, str, str, int]]:
        return [
            (each.time_ns // S, each.kind, each.client or "", each.cause, (each.detail or {})["epoch"])
            for each in self.events
        ]


@pytest.mark.parametrize("by_marker", [True, False])
def test_a_transaction_that_the_coordinator_aborts_has_ended(by_marker: bool):
    """By its timeout, which the first of its markers tells, or by the next instance of its producer."""
    passing = Passing()
    passing.writes(1, A, B)
    passing.commits(1)
    if by_marker:
        passing.marked(2, A, commits=False)
        passing.inits(3, 1)
    else:
        passing.inits(3, 1)
        passing.marked(3, A, commits=False)
    passing.marked(3, B, commits=False)
    assert [range(0, 1)] == passing.log(A).aborted_ranges(0, 9) == passing.log(B).aborted_ranges(0, 9)
    passing.writes(4, B)
    assert passing.ends(5, 1) == 0, "the aborted transaction's commits take no effect"
    passing.marked(6, B, commits=True)
    assert passing.told == [
        (1, EventKind.TRANSACTION_STARTED, "shop", "", 0),
        (3, EventKind.TRANSACTION_ENDED, "shop", "aborted", 0),
        (4, EventKind.TRANSACTION_STARTED, "shop", "", 1),
        (6, EventKind.TRANSACTION_ENDED, "shop", "committed", 1),
    ]
    assert not passing.log(A).markers_due and not passing.log(B).markers_due


def test_a_transaction_of_offsets_alone_ends_with_the_next_instance():
    passing = Passing()
    passing.commits(1)
    passing.inits(2, 1)
    passing.commits(3)
    assert passing.ends(4, 1) == 1


def test_a_producer_that_began_before_us_is_named_by_its_first_end():
    """Nobody has seen its InitProducerId."""
    passing = Passing(inits=False)
    for at_s in (1, 3):
        passing.commits(at_s)
        passing.ends(at_s + 1, 0)
    assert [(each.detail or {})["transactional_id"] for each in passing.events] == ["", "till", "till", "till"]


def test_a_marker_that_was_not_seen_in_time_is_no_longer_waited_for():
    """Or somebody else's next message would be taken for it."""
    passing = Passing()
    passing.writes(1, A)
    passing.ends(2, 0)
    passing.transactions.settle(12 * S)
    assert passing.told[-1] == (12, EventKind.TRANSACTION_ENDED, "shop", "committed", 0)
    log = passing.log(A)
    assert [found.is_marker for found in log.arrived(Arrived(2, 1), 13 * S) + log.fetched(Arrived(2, 1))] == [
        False,
        False,
    ]
