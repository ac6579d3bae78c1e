"""The law of one account: each message in one state for each reader, by the events of one partition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core import Admin, BrokerHost, Producer
from broker_core.events import BROKER_CRASH, FIRST_COMMIT, READ_OUTSIDE, Event, EventKind
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.recording.account import Account
from broker_core.recording.reader import open_session
from broker_core.recording.verdicts import Order, findings, not_known
from resources.account import STATES
from tests.long_form import examples

Told = tuple[str, dict[str, Any]]
SAMPLES = Path(__file__).parent / "samples"
PLACES = {"partitions": [["orders", 0]]}


def published(count: int = 10, offset: int = 0) -> Told:
    return "published", {"offset": offset, "count": count, "group": "", "client": "shop"}


def given_to(member: str, first: int, end: int) -> Told:
    return "delivered", {"offset": first, "count": end - first, "member": member, "client": member, "attempt": 1}


def committed(member: str, first: int, end: int) -> Told:
    return "acknowledged", {"offset": first, "count": end - first, "member": member, "client": member}


def owns(member: str) -> Told:
    return "partitions_assigned", {"client": member, "detail": PLACES | {"member_id": member}}


def loses(member: str) -> Told:
    return "partitions_revoked", {"client": member, "detail": PLACES | {"member_id": member}}


def leaves(member: str, **detail: int) -> Told:
    return "member_left", {"client": member, "detail": {"member_id": member, **detail}}


def reset(old: int | None, new: int, cause: str = "reset by an administrator") -> Told:
    return "offsets_reset", {"detail": {"changes": [["orders", 0, old, new]]}, "cause": cause}


def deleted(end: int) -> Told:
    return "records_deleted", {"offset": 0, "count": end, "group": "", "client": ""}


def begins(offset: int) -> Told:
    return "reading_began", {"offset": offset}


def queue(kind: str, first: int, count: int, **more: Any) -> Told:
    return kind, {"offset": first, "count": count, "group": "orders", "client": "worker", **more}


QUEUE: Told = ("queue_created", {"count": 1, "group": ""})
CRASH: Told = ("fault", {"detail": {"fault": BROKER_CRASH}, "group": "", "client": ""})
COMPACTS: Told = ("topic_created", {"count": 1, "group": "", "detail": {"cleanup": "compact"}})
GONE: Told = ("topic_deleted", {"group": ""})
ANEW: Told = ("topic_created", {"count": 1, "group": ""})
RESTORED: Told = ("topic_created", {"count": 1, "group": "", "cause": "restored"})
DEAD: Told = ("group_state", {"cause": "Dead"})
ABORTS: Told = ("transaction_ended", {"group": "", "detail": {"markers": [], "aborted": [["orders", 0, 4, 3]]}})
START = (published(), owns("a"), given_to("a", 0, 10), committed("a", 0, 4))


def account_of(*told: Told) -> Account:
    found = Account()
    usual = {"topic": "orders", "partition": 0, "group": "billing", "client": ""}
    for seq, (kind, more) in enumerate(told):
        found(Event(seq=seq, time_ns=seq, kind=EventKind(kind), **{**usual, **more}))
    return found


def states(account: Account) -> dict[str, int]:
    (row,) = account.rows()
    return {name: row.counts[name] for name in STATES if row.counts[name]}


CASES: dict[str, tuple[tuple[Told, ...], dict[str, int]]] = {
    "nobody reads": ((published(),), {"waiting": 10}),
    "given and committed": (START, {"acknowledged": 4, "in_hand": 6}),
    "the owner leaves": ((*START, leaves("a")), {"acknowledged": 4, "waiting": 6}),
    "the partition moves": ((*START, loses("a")), {"acknowledged": 4, "waiting": 6}),
    "committed after it was revoked": ((*START, loses("a"), committed("a", 4, 10)), {"acknowledged": 10}),
    "a zombie reads on": ((*START, loses("a"), owns("b"), given_to("a", 4, 10)), {"acknowledged": 4, "waiting": 6}),
    "the broker crashes": ((*START, CRASH), {"acknowledged": 4, "waiting": 6}),
    "deleted in hand": ((*START, deleted(8)), {"acknowledged": 4, "in_hand": 6}),
    "deleted in hand, then left": ((*START, deleted(8), leaves("a")), {"acknowledged": 4, "waiting": 2, "deleted": 4}),
    "left, then deleted": ((*START, leaves("a"), deleted(8)), {"acknowledged": 4, "waiting": 2, "deleted": 4}),
    "deleted in hand, then committed": ((*START, deleted(8), committed("a", 4, 10)), {"acknowledged": 10}),
    "begins at the end": ((published(), begins(10), published(2, 10)), {"waiting": 2, "before_it_began": 10}),
    "begins anew at the end": ((published(), begins(0), begins(10)), {"skipped_by_reader": 10}),
    "seeks and commits beyond": (
        (published(), owns("a"), begins(0), committed("a", 0, 6)),
        {"waiting": 4, "skipped_by_reader": 6},
    ),
    "seeks, reads and commits": (
        (published(), owns("a"), begins(0), given_to("a", 6, 8), committed("a", 0, 8)),
        {"waiting": 2, "acknowledged": 2, "skipped_by_reader": 6},
    ),
    "a commit without reading": ((published(), committed("@tool", 0, 6)), {"waiting": 4, "skipped_by_reader": 6}),
    "reset forwards": ((*START, leaves("a"), reset(4, 8)), {"waiting": 2, "acknowledged": 4, "skipped_by_reset": 4}),
    "a first commit is seen": ((published(), reset(None, 6, FIRST_COMMIT)), {"waiting": 4, "before_it_began": 6}),
    "reset backwards": ((*START, leaves("a"), reset(4, 0)), {"waiting": 10}),
    "committed backwards": ((*START, reset(4, 0, "committed backwards")), {"in_hand": 10}),
    "reset beyond what was aborted": (
        (published(), ABORTS, reset(None, 8)),
        {"waiting": 2, "aborted": 3, "skipped_by_reset": 5},
    ),
    "reset beyond what was aborted, which it reads": (
        (published(), ABORTS, owns("a"), given_to("a", 0, 5), leaves("a"), reset(None, 8)),
        {"waiting": 2, "skipped_by_reset": 8},
    ),
    "reset where what was aborted is beyond it": (
        (published(), ABORTS, reset(None, 2), owns("a"), given_to("a", 2, 6), committed("a", 2, 6), leaves("a")),
        {"waiting": 4, "acknowledged": 4, "skipped_by_reset": 2},
    ),
    "read outside the group beyond what was aborted": (
        (published(), ABORTS, owns("a"), given_to("a", 0, 3), leaves("a"), reset(None, 8, READ_OUTSIDE)),
        {"waiting": 2, "acknowledged": 3, "aborted": 3, "skipped_by_reset": 2},
    ),
    "reset beyond what was aborted, and back": (
        (published(), ABORTS, reset(None, 8), reset(8, 0), owns("a"), given_to("a", 0, 5)),
        {"waiting": 5, "in_hand": 5},
    ),
    "reset behind what was aborted before it began": (
        (published(), ABORTS, reset(8, 9)),
        {"waiting": 1, "skipped_by_reset": 1, "before_it_began": 8},
    ),
    "read outside the group": ((*START, reset(4, 8, READ_OUTSIDE)), {"in_hand": 2, "acknowledged": 8}),
    "compacted": (
        (COMPACTS, published(), owns("a"), given_to("a", 0, 1), given_to("a", 8, 9), committed("a", 0, 9)),
        {"waiting": 1, "acknowledged": 2, "compacted": 7},
    ),
    "compacted, deleted, and another topic of its name skipped": (
        (
            COMPACTS,
            GONE,
            ANEW,
            published(),
            owns("a"),
            given_to("a", 0, 3),
            given_to("a", 7, 10),
            committed("a", 0, 10),
        ),
        {"acknowledged": 6, "skipped_by_reader": 4},
    ),
    "compacted, deleted, and restored": (
        (
            *(COMPACTS, published(), GONE, RESTORED),
            *(owns("a"), given_to("a", 0, 1), given_to("a", 8, 9), committed("a", 0, 9)),
        ),
        {"waiting": 1, "acknowledged": 2, "compacted": 7},
    ),
    "the group is deleted, then the log": (
        (published(), owns("a"), given_to("a", 0, 10), committed("a", 0, 10), leaves("a"), DEAD, deleted(10)),
        {"acknowledged": 10},
    ),
    "dead letters": (
        (QUEUE, published(), queue("delivered", 0, 5), queue("nacked", 0, 2), queue("dead_lettered", 2, 3)),
        {"waiting": 7, "dead_lettered": 3},
    ),
    "redriven": (
        (
            *(QUEUE, published(), queue("delivered", 0, 5), queue("dead_lettered", 2, 3)),
            queue("redriven", 0, 3, topic="orders.dlq", to_topic="orders", to_partition=0, to_offset=10),
        ),
        {"waiting": 8, "in_hand": 2, "dead_lettered": 3},
    ),
    "evicted": ((QUEUE, published(), queue("evicted", 0, 3)), {"waiting": 7, "evicted": 3}),
    "held, removed by compaction, and committed": (
        (COMPACTS, published(), owns("a"), given_to("a", 0, 10), committed("a", 2, 5), committed("a", 7, 8)),
        {"in_hand": 2, "acknowledged": 8},
    ),
    "removed by compaction": (
        (QUEUE, published(), queue("purged", 3, 1, cause="compacted")),
        {"waiting": 9, "compacted": 1},
    ),
    "withdrawn": ((QUEUE, published(), queue("purged", 9, 1, cause="withdrawn")), {"waiting": 9}),
}


def test_what_an_undone_redrive_took_back_is_not_missing() -> None:
    taken_back = queue("purged", 10, 1, cause="withdrawn")
    account = account_of(QUEUE, published(11), taken_back, published(3, 11), published(1, 15))
    assert [*account.missing()] == [("orders", 0, 14, 15)]
    assert (states(account), account.lost(account.rows())) == ({"waiting": 14}, 1)


def test_what_is_redriven_is_published_once() -> None:
    (row,) = account_of(*CASES["redriven"][0]).rows()
    assert (row.published, row.redriven, row.counts.total()) == (10, 3, 13)
    taken_back = queue("purged", 11, 2, cause="withdrawn")
    (row,) = account_of(*CASES["redriven"][0], taken_back).rows()
    assert (row.published, row.redriven, row.counts.total()) == (10, 1, 11)


@pytest.mark.parametrize("case", CASES)
def test_each_message_is_in_one_state(case: str) -> None:
    told, expected = CASES[case]
    assert states(account_of(*told)) == expected


def test_what_waits_in_a_subscription_when_the_account_begins_is_its_own() -> None:
    with BrokerHost() as host:
        Admin(host).create_topic("orders")
        host.call(lambda now_ns: host.broker.queues.subscribe(now_ns, "audit", "orders", QueueConfig()))
        with Producer(host) as producer:
            producer.publish_many("orders", [Message(b"")] * 3)
        (row,) = Account(host.call(host.broker.snapshot)).rows()
    assert (row.source, row.reader, dict(row.counts)) == ("orders", "audit", {"waiting": 3})


def test_what_comes_for_a_subscription_that_had_nothing_waiting_when_the_account_began_waits() -> None:
    with BrokerHost() as host, Producer(host) as producer:
        Admin(host).create_topic("orders")
        producer.publish_many("orders", [Message(b"")] * 3)
        host.call(lambda now_ns: host.broker.queues.subscribe(now_ns, "audit", "orders", QueueConfig()))
        account = Account(host.call(host.broker.snapshot))
        host.call(lambda _now_ns: host.events.attach(account))
        producer.publish_many("orders", [Message(b"")] * 2)
        producer.flush()
    (row,) = account.rows()
    assert (row.reader, dict(row.counts)) == ("audit", {"before_it_began": 3, "waiting": 2})


@pytest.mark.parametrize("purges", [True, False])
def test_what_is_brought_back_into_a_subscription_that_was_empty_when_the_account_began_waits(purges: bool) -> None:
    def empty(now_ns: int) -> None:
        if purges:
            queues.queue("audit").purge(now_ns, "user")
        else:
            for lease in queues.take(now_ns, "audit", holder="worker", max_messages=3).result():
                queues.ack(now_ns, lease)

    def bring_back(now_ns: int) -> None:
        queue = queues.queue("audit")
        queue.undo_purge(now_ns, "user") if purges else queue.reset(now_ns, 0, 0, "user")

    with BrokerHost() as host, Producer(host) as producer:
        queues = host.broker.queues
        Admin(host).create_topic("orders")
        host.call(lambda now_ns: queues.subscribe(now_ns, "audit", "orders", QueueConfig()))
        producer.publish_many("orders", [Message(b"")] * 3)
        producer.flush()
        host.call(empty)
        account = Account(host.call(host.broker.snapshot))
        host.call(lambda _now_ns: host.events.attach(account))
        host.call(bring_back)
    (row,) = account.rows()
    assert (dict(row.counts), row.open) == ({"waiting": 3}, 3)


def test_what_a_subscription_has_done_when_the_account_begins_does_not_wait() -> None:
    """Nor does what lay in its topic before it existed."""

    def publishes(count: int) -> None:
        with Producer(host) as producer:
            producer.publish_many("orders", [Message(b"")] * count)

    def acknowledges(now_ns: int) -> None:
        queues = host.broker.queues
        for lease in queues.take(now_ns, "audit", holder="worker", max_messages=2).result():
            queues.ack(now_ns, lease)

    with BrokerHost() as host:
        Admin(host).create_topic("orders")
        publishes(5)
        host.call(lambda now_ns: host.broker.queues.subscribe(now_ns, "audit", "orders", QueueConfig()))
        publishes(3)
        host.call(acknowledges)
        account = Account(host.call(host.broker.snapshot))
        host.call(lambda _now_ns: host.events.attach(account))
        publishes(1)
        host.call(acknowledges)
    assert states(account) == {"acknowledged": 2, "before_it_began": 7}
    assert not findings(account)["everything_done"]


AGAIN: dict[str, tuple[tuple[Told, ...], list[tuple[str, int]], bool]] = {
    "the same owner seeks": ((*START, given_to("a", 4, 10)), [], True),
    "reads again what is acknowledged": ((*START, given_to("a", 0, 2)), [("acknowledged", 2)], False),
    "the member left": ((*START, leaves("a"), owns("b"), given_to("b", 4, 10)), [("member left", 6)], False),
    "it fell silent": (
        (*START, leaves("a", heard_ns=1), owns("b"), given_to("b", 4, 10)),
        [("member fell silent", 6)],
        False,
    ),
    "it moved": ((*START, loses("a"), owns("b"), given_to("b", 4, 6)), [("partition moved", 2)], False),
    "it moved, and came back": ((*START, loses("a"), owns("a"), given_to("a", 4, 6)), [("partition moved", 2)], False),
    "offsets reset": ((*START, leaves("a"), reset(4, 0), owns("a"), given_to("a", 0, 4)), [("offsets reset", 4)], True),
    "nacked": (
        (QUEUE, published(), *(queue(kind, 0, 1) for kind in ("delivered", "nacked", "delivered", "acknowledged"))),
        [("nacked", 1)],
        True,
    ),
    "nacked until it is dead-lettered, redriven and done": (
        (
            *(QUEUE, published(1)),
            *(queue(kind, 0, 1) for kind in ("delivered", "nacked") * 3),
            queue("dead_lettered", 0, 1, to_topic="orders.dlq", to_partition=0, to_offset=0),
            queue("redriven", 0, 1, topic="orders.dlq", to_topic="orders", to_partition=0, to_offset=1),
            *(queue(kind, 1, 1) for kind in ("delivered", "acknowledged")),
        ),
        [("nacked", 1)] * 2,
        True,
    ),
    "its lease ran out": (
        (QUEUE, published(), *(queue(kind, 0, 1) for kind in ("delivered", "lease_expired", "delivered"))),
        [("lease ran out", 1)],
        False,
    ),
}


@pytest.mark.parametrize("case", AGAIN)
def test_what_is_delivered_again_says_why(case: str) -> None:
    told, expected, holds = AGAIN[case]
    account = account_of(*told)
    assert [(again.why, again.messages) for again in account.again] == expected
    assert (not findings(account)["nothing_twice"]) is holds
    assert all(again.before for again in account.again)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ((*START, committed("a", 4, 10)), ""),
        (
            (published(), owns("a"), given_to("a", 0, 4), committed("a", 0, 10)),
            "orders/0 was given to its group up to 4, and a of group billing committed 10",
        ),
    ],
    ids=["what it was given", "beyond it"],
)
def test_a_commit_beyond_what_was_given_is_told_at_once(told: tuple[Told, ...], sentence: str) -> None:
    assert [each.what for each in findings(account_of(*told))["commits_are_sound"]] == ([sentence] if sentence else [])


def test_a_recording_from_before_the_account_tells_what_it_can() -> None:
    """Its readers have no ids, and no delivery says why it is one more; the keys of batches were never told."""
    account, order = Account(), Order()
    for event in open_session(SAMPLES / "version-2").index.events():
        account(event)
        order(event)
    assert [(row.reader, dict(+row.counts)) for row in account.rows()] == [
        ("billing", {"acknowledged": 293}),
        ("dashboard", {"acknowledged": 490, "waiting": 30}),
        ("orders", {"acknowledged": 42, "dead_lettered": 1, "in_hand": 5}),
    ]
    assert account.lost(account.rows()) == 0
    assert list(map(str, not_known(account, order))) == [
        "The keys of 635 messages are not recorded: their order is not judged."
    ]


def test_who_had_it_before_is_known_where_members_have_no_ids() -> None:
    def without_ids(kind: str, client: str, **more: Any) -> Told:
        return kind, {"client": client, **more}

    moved = [
        without_ids("partitions_revoked", "a", detail=PLACES),
        without_ids("partitions_assigned", "b", detail=PLACES),
    ]
    first, again = ({"offset": 0, "count": 4, "attempt": attempt} for attempt in (1, None))
    begin = [
        published(),
        without_ids("partitions_assigned", "a", detail=PLACES),
        without_ids("delivered", "a", **first),
    ]
    account = account_of(*begin, without_ids("delivered", "a", **again), *moved, without_ids("delivered", "b", **again))
    assert [(each.messages, each.after) for each in account.fetched_again] == [(4, "a")]
    assert [(each.why, each.before, each.after) for each in account.again] == [("partition moved", "a", "b")]


OFFSETS = st.integers(0, 12)
MEMBERS = st.sampled_from(["a", "b"])
STEPS = st.one_of(
    st.builds(given_to, MEMBERS, OFFSETS, OFFSETS),
    st.builds(committed, MEMBERS, OFFSETS, OFFSETS),
    st.builds(owns, MEMBERS),
    st.builds(loses, MEMBERS),
    st.builds(leaves, MEMBERS),
    st.builds(reset, OFFSETS, OFFSETS),
    st.builds(deleted, OFFSETS),
    st.builds(begins, OFFSETS),
)


@settings(max_examples=examples(200))
@given(st.lists(STEPS, max_size=20))
def test_whatever_happens_the_states_add_up_to_what_was_published(steps: list[Told]) -> None:
    steps = [step for step in steps if step[1].get("count", 1) > 0]
    (row,) = account_of(published(12), owns("a"), *steps).rows()
    assert row.counts.total() == 12
    assert sorted(place.first for place in row.places) == [place.first for place in row.places]
