"""The rules of the history checker one by one, by events made by hand and by what users do."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.events import BROKER_CRASH, Event, EventKind, EventStream
from broker_core.queues.config import QueueConfig
from broker_core.recording.checker import Checker
from broker_core.recording.violation import Violation
from tests.broker_core.clients.virtual_broker import VirtualBroker
from tests.broker_core.recording.drained import finish


def story(*events: tuple[EventKind, dict[str, Any]], **checker: Any) -> Checker:
    """Feed events to a checker, a millisecond apart."""
    found = Checker(**checker)
    stream = EventStream()
    stream.attach(found)
    for number, (kind, fields) in enumerate(events):
        stream.emit(number * 1_000_000, kind, **fields)
    return found


def queue(kind: EventKind, offset: int = 0, **fields: Any) -> tuple[EventKind, dict[str, Any]]:
    return kind, {"topic": "q", "partition": 0, "offset": offset, "count": 1, "group": "q", **fields}


def topic(kind: EventKind, offset: int = 0, **fields: Any) -> tuple[EventKind, dict[str, Any]]:
    return kind, {"topic": "t", "partition": 0, "offset": offset, "count": 1, "group": "g", **fields}


def owns(kind: EventKind, client: str, generation: int) -> tuple[EventKind, dict[str, Any]]:
    detail = {"partitions": [["t", 0]]}
    return kind, {"group": "g", "client": client, "generation": generation, "detail": detail}


K = EventKind
MADE = (K.QUEUE_CREATED, {"topic": "q"})
BURIED: dict[str, Any] = {"to_topic": "q.dlq", "to_partition": 0, "to_offset": 0}
LETTER = (K.REDRIVEN, {"topic": "q.dlq", "offset": 0, "count": 1, "to_topic": "q", "to_partition": 0, "to_offset": 1})

BEGUN = (K.TRANSACTION_STARTED, {"client": "shop"})
ENDED = (K.TRANSACTION_ENDED, {"client": "shop", "detail": {"markers": [["t", 0, 1]]}})


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([topic(K.PUBLISHED, 0), topic(K.PUBLISHED, 2)], "continues at 2, not at 1"),
        ([topic(K.PUBLISHED, 0), topic(K.PUBLISHED, 0)], "continues at 0, not at 1"),
        ([topic(K.DELIVERED, 0, attempt=1)], "which was never published"),
        ([topic(K.PUBLISHED, 0), topic(K.ACKNOWLEDGED, 0)], "which it never received"),
        ([topic(K.PUBLISHED), topic(K.DELIVERED, attempt=1), topic(K.DELIVERED, attempt=1)], "counted as attempt 1"),
        ([owns(K.PARTITIONS_ASSIGNED, "a", 1), owns(K.PARTITIONS_ASSIGNED, "b", 2)], "while a owns it"),
        ([owns(K.PARTITIONS_ASSIGNED, "a", 2), owns(K.PARTITIONS_ASSIGNED, "a", 1)], "generation 1, which is over"),
        (
            [owns(K.PARTITIONS_ASSIGNED, "a", 1), topic(K.PUBLISHED), topic(K.DELIVERED, client="b", attempt=1)],
            "which a owns",
        ),
        (
            [MADE, queue(K.PUBLISHED), queue(K.DELIVERED, client="a", attempt=1), queue(K.ACKNOWLEDGED, client="b")],
            "b ends the lease of 0, which a holds",
        ),
        (
            [
                MADE,
                queue(K.PUBLISHED),
                queue(K.DELIVERED, client="a", attempt=1),
                queue(K.DELIVERED, client="b", attempt=2),
            ],
            "while a holds it",
        ),
        ([MADE, queue(K.PUBLISHED), queue(K.DELIVERED, client="a", attempt=2)], "counts delivery 1 of 0 as attempt 2"),
        (
            [
                MADE,
                queue(K.PUBLISHED),
                queue(K.DELIVERED, client="a", attempt=1),
                queue(K.ACKNOWLEDGED, client="a"),
                queue(K.DELIVERED, client="a", attempt=2),
            ],
            "which is finished",
        ),
        ([MADE, queue(K.PUBLISHED), LETTER], "a dead letter that is not in q.dlq"),
        ([MADE, queue(K.PUBLISHED), queue(K.DEAD_LETTERED, **BURIED), LETTER, LETTER], "not in q.dlq"),
        ([MADE, queue(K.PUBLISHED), queue(K.DEAD_LETTERED, **BURIED), queue(K.DEAD_LETTERED, **BURIED)], "finished"),
    ],
)
def test_each_rule_is_broken_once(events: list[tuple[EventKind, dict[str, Any]]], words: str) -> None:
    with pytest.raises(Violation, match=words) as caught:
        story(*events)
    last = events[-1][0]
    assert caught.value.history[-1].kind is last


def test_markers_are_skipped_and_nothing_else() -> None:
    events = [
        BEGUN,
        topic(K.PUBLISHED, 0, client="shop"),
        ENDED,
        topic(K.PUBLISHED, 2),
        topic(K.DELIVERED, 0, attempt=1),
        topic(K.ACKNOWLEDGED, 0),
        topic(K.DELIVERED, 2, attempt=1),
    ]
    finish(story(*events, topic(K.ACKNOWLEDGED, 2)))
    with pytest.raises(Violation, match="t/0 @2 is the first of 1 message that group g has not acknowledged"):
        finish(story(*events))
    with pytest.raises(Violation, match="acknowledges t/0 @2, which it never received"):
        story(
            *events[:4],
            topic(K.PUBLISHED, 3),
            events[4],
            topic(K.DELIVERED, 3, attempt=1),
            topic(K.ACKNOWLEDGED, 0, count=4),
        )


def test_who_reads_committed_messages_gets_none_of_an_open_transaction() -> None:
    events = [BEGUN, topic(K.PUBLISHED, 0, client="shop"), topic(K.DELIVERED, 0, attempt=1)]
    story(*events)
    story(*events[:2], ENDED, events[2], committed_readers=["g"])
    with pytest.raises(Violation, match="the transaction of shop is open"):
        story(*events, committed_readers=["g"])


def test_who_reads_committed_messages_gets_none_that_was_aborted() -> None:
    aborted = (
        K.TRANSACTION_ENDED,
        {"client": "shop", "detail": {"markers": [["t", 0, 1]], "aborted": [["t", 0, 0, 1]]}},
    )
    events = [BEGUN, topic(K.PUBLISHED, 0, client="shop"), aborted, topic(K.DELIVERED, 0, attempt=1)]
    story(*events)
    with pytest.raises(Violation, match="gets 0, which was aborted"):
        story(*events, committed_readers=["g"])


def test_a_client_of_another_program_may_read_what_is_not_committed_in_a_group_that_does_not() -> None:
    def reads(client: str) -> None:
        published = [BEGUN, topic(K.PUBLISHED, 0, client="shop")]
        started = (K.CLIENT_STARTED, {"client": "own", "detail": {"role": "consumer"}})
        held = (K.CLIENT_STARTED, {"client": "other", "detail": {"role": "consumer", "held_from": "g"}})
        delivered = topic(K.DELIVERED, 0, attempt=1, client=client, member=f"{client}-1")
        story(started, held, *published, delivered, committed_readers=["g"], unseen_seeks=True)

    reads("other")
    with pytest.raises(Violation, match="the transaction of shop is open"):
        reads("own")


def test_only_what_was_deleted_or_compacted_may_be_skipped() -> None:
    def skips(*between: tuple[EventKind, dict[str, Any]], **checker: Any) -> None:
        published = [topic(K.PUBLISHED, offset) for offset in range(4)]
        done = story(
            *published,
            topic(K.DELIVERED, 0, attempt=1),
            topic(K.ACKNOWLEDGED, 0),
            *between,
            topic(K.DELIVERED, 3, attempt=1),
            topic(K.ACKNOWLEDGED, 1, count=3),
            **checker,
        )
        finish(done)

    skips(topic(K.RECORDS_DELETED, 0, count=3))
    skips((K.USER_ACTION, {"topic": "t", "detail": {"log": {"cleanup": "delete,compact"}}}))
    with pytest.raises(Violation, match=r"g acknowledges t/0 @[12], which it never received"):
        skips()
    with pytest.raises(Violation, match=r"g acknowledges t/0 @[12], which it never received"):
        skips(topic(K.RECORDS_DELETED, 0, count=2))


def test_a_drained_run_that_lost_something_is_caught() -> None:
    checker = story(topic(K.PUBLISHED), topic(K.DELIVERED, attempt=1))
    with pytest.raises(Violation, match="that group g has not acknowledged"):
        finish(checker)
    with pytest.raises(Violation, match="that queue q has not acknowledged"):
        finish(story(MADE, queue(K.PUBLISHED)))
    finish(
        story(MADE, queue(K.PUBLISHED), queue(K.DELIVERED, client="a", attempt=1), queue(K.ACKNOWLEDGED, client="a"))
    )


def test_a_gap_in_the_stream_and_time_that_goes_back_are_caught() -> None:
    checker = Checker()
    checker(Event(0, 5, K.FAULT))
    with pytest.raises(Violation, match="the stream has a gap"):
        checker(Event(2, 6, K.FAULT))
    with pytest.raises(Violation, match="time goes backwards"):
        checker(Event(1, 4, K.FAULT))


def test_what_a_user_takes_back_is_there_again_and_may_be_handed_out() -> None:
    virtual, checker = VirtualBroker(), Checker(max_attempts={"jobs": 1})
    virtual.stream.attach(checker)
    broker, now_ns = virtual.broker, 0
    broker.queues.create(0, "jobs", QueueConfig(max_attempts=1))
    virtual.publish(b"a", b"b", b"c", topic="jobs")
    assert broker.queues.queue("jobs").purge(now_ns) == 3
    assert broker.queues.queue("jobs").undo_purge(now_ns) == 3
    for lease in broker.queues.take(now_ns, "jobs", "w", max_messages=2).result():
        broker.queues.nack(now_ns, lease, "no")
    letters = broker.queues.dead_letters("jobs")
    letters.purge(now_ns)
    assert letters.undo_purge(now_ns) == 2
    broker.redrives.redrive(now_ns, "jobs", [0], client="u")
    assert letters.undo_redrive(
        now_ns, withdraw=lambda _t, level, at: broker.queues.queue("jobs").withdraw(now_ns, level, at)
    )
    broker.redrives.redrive(now_ns, "jobs", [0], client="u")
    with pytest.raises(Violation, match="jobs/0 @2 is the first of 2 messages that queue jobs has not acknowledged"):
        finish(checker)
    for lease in broker.queues.take(now_ns, "jobs", "w", max_messages=5).result():
        broker.queues.ack(now_ns, lease)
    finish(checker)


def test_what_retention_has_deleted_from_a_queue_is_not_lost() -> None:
    virtual, checker = VirtualBroker(), Checker()
    virtual.stream.attach(checker)
    virtual.broker.queues.create(0, "jobs", QueueConfig())
    virtual.publish(b"a", b"b", topic="jobs")
    virtual.broker.cleaning.delete_records(0, "jobs", 0, 1)
    (lease,) = virtual.broker.queues.take(0, "jobs", "w", max_messages=5).result()
    virtual.broker.queues.ack(0, lease)
    finish(checker)


def test_after_a_crash_of_the_broker_nobody_owns_anything_and_deliveries_count_anew():
    before = (
        topic(EventKind.PUBLISHED),
        owns(EventKind.PARTITIONS_ASSIGNED, "one", 5),
        topic(EventKind.DELIVERED, group="g", client="one", attempt=1),
    )
    after = (
        owns(EventKind.PARTITIONS_ASSIGNED, "two", 1),
        topic(EventKind.DELIVERED, group="g", client="two", attempt=1),
        topic(EventKind.ACKNOWLEDGED, group="g", client="two"),
    )
    finish(story(*before, (EventKind.FAULT, {"detail": {"fault": BROKER_CRASH}}), *after))
    with pytest.raises(Violation, match="generation 1, which is over"):
        story(*before, *after)
