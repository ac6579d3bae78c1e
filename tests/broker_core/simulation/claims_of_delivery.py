"""Judges of the lessons about deliveries, queues, transactions and protocols, in the order of the lessons."""

from __future__ import annotations

from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from tests.broker_core.simulation.played_lesson import Played, given_up, judge, moves_only_of

# -- static-members

judge(
    "static-members",
    "about 0",
    0xDB01717A,
    lambda p: (
        [
            round(((r.ended_ns or 0) - r.started_ns) / NS_PER_S)
            for r in p.snapshot.rebalances
            if r.group == "dynamic" and r.started_ns
        ]
        == [5, 5, 5]
    ),
)
judge(
    "static-members",
    "about 1",
    0xEB65A956,
    lambda p: (
        not [r for r in p.snapshot.rebalances if r.group == "static" and 0 < r.started_ns < 50 * NS_PER_S]
        and p.deliveries(20.5, 25, client="regular-1") == 0
    ),
)
judge(
    "static-members",
    "step 0",
    0x9DB49B44,
    lambda p: (
        {e.client for e in p.of(EventKind.FAULT) if round(e.time_ns / NS_PER_S) == 20} == {"stranger-1", "regular-1"}
    ),
)
judge("static-members", "seen 0", 0xF268C1C4, lambda p: len(p.group("dynamic", 22).members) == 3)
judge(
    "static-members",
    "step 1",
    0x326C3EB7,
    lambda p: round(p.first(EventKind.MEMBER_JOINED, 20, client="regular-1")) == 25,
)
judge(
    "static-members",
    "seen 1",
    0x7066A49B,
    lambda p: (
        p.group("static", 19).generation == p.group("static", 30).generation
        and p.owned("regular-1", 19) == p.owned("regular-1", 30)
    ),
)
judge("static-members", "step 2", 0xF4B1B9B8, lambda p: p.rebalance("dynamic", 20).ended_ns is not None)
judge("static-members", "seen 2", 0x92C7D89D, lambda p: p.deliveries(25.5, 29.5, group="dynamic") == 0)
judge(
    "static-members",
    "seen 3",
    0x2F59D557,
    lambda p: (
        round(p.rebalance("static", 49).started_ns / NS_PER_S) == 50
        and sum(len(p.owned(f"regular-{n}", 55)) for n in (1, 3)) == 6
    ),
)

# -- at-most-or-at-least-once


def _repeats(p: Played, group: str) -> int:
    seen: set[tuple[int, int]] = set()
    again = 0
    for event in p.of(EventKind.DELIVERED, group=group):
        assert event.offset is not None and event.partition is not None
        for offset in range(event.offset, event.offset + event.count):
            again += (event.partition, offset) in seen
            seen.add((event.partition, offset))
    return again


def _done(p: Played, group: str) -> int:
    return sum(event.count for event in p.of(EventKind.ACKNOWLEDGED, group=group))


judge(
    "at-most-or-at-least-once",
    "about 0",
    0x18715F56,
    lambda p: _repeats(p, "at-most-once") == 0 and p.processed("booker-1") < _done(p, "at-most-once"),
)
judge("at-most-or-at-least-once", "about 1", 0xA12DB0ED, lambda p: _repeats(p, "at-least-once") > 0)
judge("at-most-or-at-least-once", "about 2", 0x5FB6FB11, lambda p: _repeats(p, "effectively-once") > 0)
judge("at-most-or-at-least-once", "about 3", 0x0CDAE48E, lambda p: p.deliveries(20.5, 25.5, group="at-least-once") == 0)
judge(
    "at-most-or-at-least-once", "step 0", 0xACFDBC48, lambda p: len({e.group for e in p.of(EventKind.DELIVERED)}) == 3
)
judge(
    "at-most-or-at-least-once",
    "step 1",
    0xECE819B2,
    lambda p: (
        {e.client for e in p.of(EventKind.FAULT) if round(e.time_ns / NS_PER_S) == 20}
        == {"booker-1", "poster-1", "clearer-1"}
    ),
)
judge(
    "at-most-or-at-least-once",
    "seen 1",
    0xC869B3F3,
    lambda p: all(25 < (p.rebalance(g, 19).ended_ns or 0) / NS_PER_S < 27 for g in ("at-most-once", "at-least-once")),
)
judge("at-most-or-at-least-once", "step 2", 0xF1C64C3D, lambda p: p.deliveries(26, 28, group="at-least-once") > 0)
judge(
    "at-most-or-at-least-once",
    "seen 2",
    0xED449B4D,
    lambda p: p.deliveries(26, 28, group="at-least-once", attempt=2) > 0 or _repeats(p, "at-least-once") > 0,
)
judge("at-most-or-at-least-once", "seen 3", 0x1A4DA9BD, lambda p: p.deliveries(45, 47, client="poster-1") > 0)

# -- work-queue


def _depth(p: Played, second: float) -> int:
    queue = p.queue("walls", second)
    return queue.ready + queue.delayed + queue.in_flight


judge(
    "work-queue",
    "about 0",
    0x147254A4,
    lambda p: any(
        e.attempt == 2 for e in p.of(EventKind.DELIVERED, group="walls") if 23 * NS_PER_S < e.time_ns < 27 * NS_PER_S
    ),
)
judge(
    "work-queue",
    "about 1",
    0x1A66CD3D,
    lambda p: _depth(p, 58) > _depth(p, 20) + 10 and _depth(p, 110) < _depth(p, 60) - 10,
)
judge(
    "work-queue", "step 0", 0xEE4B394F, lambda p: len({e.client for e in p.of(EventKind.DELIVERED, group="walls")}) == 4
)
judge("work-queue", "seen 0", 0x251B3987, lambda p: len(p.queue("walls", 5).leases) > 0)
judge("work-queue", "step 2", 0xB2888172, lambda p: p.first(EventKind.FAULT, client="painter-2") == 20)
judge("work-queue", "seen 2", 0xFDBF0787, lambda p: 23 < p.first(EventKind.LEASE_EXPIRED, client="painter-2") < 25)
judge(
    "work-queue",
    "seen 3",
    0x0E7B4DD7,
    lambda p: _depth(p, 57) > _depth(p, 28) + 30 and not any(p.of(EventKind.DEAD_LETTERED)),
)

# -- poison-message

judge(
    "poison-message",
    "about 0",
    0x50B87FC8,
    lambda p: {e.cause for e in p.of(EventKind.DEAD_LETTERED)} == {"too many lines"},
)
judge(
    "poison-message",
    "about 1",
    0xDA10B230,
    lambda p: [p.queue("commits", 5).retry.base_ms, p.queue("commits", 5).max_attempts] == [1000, 3],
)
judge(
    "poison-message",
    "about 2",
    0x83494EAD,
    lambda p: {e.attempt for e in p.of(EventKind.ACKNOWLEDGED, group="commits")} == {1},
)
judge("poison-message", "step 0", 0xB9FB46D1, lambda p: p.first(EventKind.NACKED) < 20)
judge("poison-message", "seen 0", 0x1F47E4CD, lambda p: {e.cause for e in p.of(EventKind.NACKED)} == {"too many lines"})
judge("poison-message", "step 1", 0x5950B1E1, lambda p: {e.attempt for e in p.of(EventKind.DEAD_LETTERED)} == {3})

# -- backpressure-policies

judge(
    "backpressure-policies",
    "about 0",
    0x38F5DAB9,
    lambda p: (
        not p.count(EventKind.REJECTED, topic="wait")
        and not p.count(EventKind.DROPPED, topic="wait")
        and not p.count(EventKind.EVICTED, topic="wait")
    ),
)
judge(
    "backpressure-policies",
    "about 1",
    0x52DD96FE,
    lambda p: (
        p.count(EventKind.REJECTED, topic="refuse") > 100
        and p.count(EventKind.DROPPED, topic="newest") > 100
        and not p.count(EventKind.REJECTED, topic="newest")
    ),
)
judge("backpressure-policies", "about 2", 0x35EE00F4, lambda p: p.count(EventKind.EVICTED, topic="oldest") > 100)
judge("backpressure-policies", "about 3", 0xDB34D825, lambda p: p.count(EventKind.EVICTED, topic="urgent") > 100)
judge("backpressure-policies", "step 0", 0xD0D6205A, lambda p: all(q.ready + q.in_flight >= 19 for q in p.at(5).queues))
judge(
    "backpressure-policies",
    "seen 0",
    0x4553C919,
    lambda p: (
        not p.count(EventKind.DROPPED, topic="wait")
        and p.count(EventKind.REJECTED, topic="refuse") > 0
        and p.count(EventKind.DROPPED, topic="newest") > 0
    ),
)
judge(
    "backpressure-policies",
    "step 1",
    0xD6683D5F,
    lambda p: {e.topic for e in p.of(EventKind.EVICTED)} == {"oldest", "urgent"},
)
judge("backpressure-policies", "seen 1", 0x6C53F74B, lambda p: p.count(EventKind.EVICTED, topic="urgent") > 0)

# -- transactions

judge(
    "transactions",
    "about 1",
    0xEBFB3F80,
    lambda p: (
        max(p.lag_at("booked", s / 2) for s in range(4, 60)) > 12
        and min(p.lag_at("booked", s / 2) for s in range(4, 60)) < 10
        and max(p.lag_at("screens", s) for s in range(2, 60)) < 6
    ),
)
judge("transactions", "about 2", 0x6A3A083B, lambda p: p.lag_at("booked", 44) > p.lag_at("booked", 32) + 80)
judge("transactions", "step 0", 0x4E3ACB6C, lambda p: any(len(s.transactions) > 1 for s in p.during(1, 5)))
judge(
    "transactions",
    "seen 0",
    0x0FA734F0,
    lambda p: len({e.client for e in p.of(EventKind.PUBLISHED) if e.time_ns < 3 * NS_PER_S}) == 2,
)
judge(
    "transactions",
    "step 1",
    0xC0600126,
    lambda p: any(p.lag_at("booked", s / 2) > 15 and p.lag_at("screens", s / 2) < 5 for s in range(2, 60)),
)
judge("transactions", "seen 1", 0xE8A696C1, lambda p: any(s.transactions for s in p.during(1, 5)))
judge(
    "transactions",
    "step 2",
    0x44F99774,
    lambda p: p.first(EventKind.TRANSACTION_ENDED, client="shop", cause="aborted") < 31,
)
judge(
    "transactions",
    "seen 2",
    0xF25AF7A4,
    lambda p: p.first(EventKind.TRANSACTION_ENDED, client="shop", cause="aborted") > 0,
)
judge(
    "transactions",
    "step 3",
    0xFFBC5F84,
    lambda p: (
        round(p.first(EventKind.FAULT, client="bank")) == 31 and any(t.client == "bank" for t in p.at(32).transactions)
    ),
)
judge("transactions", "seen 3", 0x9E3755D7, lambda p: p.lag_at("booked", 40) > p.lag_at("booked", 33))
judge(
    "transactions",
    "step 5",
    0x78FE40C6,
    lambda p: p.first(EventKind.TRANSACTION_ENDED, client="bank", cause="timed out") > 31,
)
judge("transactions", "seen 5", 0x03CF15CA, lambda p: p.lag_at("booked", 50) < 30)
judge(
    "transactions",
    "seen 6",
    0xDD5AAD9B,
    lambda p: (
        p.first(EventKind.TRANSACTION_ENDED, 61, client="shop", cause="aborted") >= 80
        and next(t.timeout_ms for t in p.at(65).transactions if t.client == "shop") == 60_000
    ),
)

# -- share-group

judge(
    "share-group",
    "about 0",
    0x9B83950F,
    lambda p: (
        p.lag_at("lines", 18) > p.lag_at("lines", 6) + 10
        and len({e.client for e in p.of(EventKind.DELIVERED, group="floor.orders")}) >= 4
    ),
)
judge(
    "share-group",
    "about 1",
    0xA2D64CB3,
    lambda p: p.deliveries(20, 22, group="floor.orders") > 0 and p.first(EventKind.FAULT) == 20,
)
judge("share-group", "about 2", 0xAE934C38, lambda p: any(p.of(EventKind.NACKED, group="floor.orders")))
judge(
    "share-group",
    "step 0",
    0xB526D00B,
    lambda p: len({e.client for e in p.of(EventKind.DELIVERED, group="floor.orders") if e.time_ns < 5 * NS_PER_S}) == 4,
)
judge("share-group", "seen 0", 0xF75EC9EA, lambda p: len(p.queue("floor.orders", 5).leases) > 0)
judge("share-group", "step 1", 0x21C67BAA, lambda p: p.lag_at("lines", 8) > p.lag_at("lines", 3))
judge(
    "share-group",
    "seen 1",
    0xAF867B8D,
    lambda p: sorted(len(m.partitions) for m in p.group("lines", 10).members) == [0, 0, 1, 1],
)
judge("share-group", "step 2", 0xC1F8F210, lambda p: any(e.client == "floor-2" for e in p.of(EventKind.FAULT)))
judge(
    "share-group",
    "seen 2",
    0xEC4087F0,
    lambda p: (
        p.deliveries(20, 23, group="floor.orders") > 0 and 23 < p.first(EventKind.LEASE_EXPIRED, client="floor-2") < 25
    ),
)
judge("share-group", "step 3", 0x107B7047, lambda p: p.rebalance("lines", 20).ended_ns is not None)
judge(
    "share-group",
    "seen 3",
    0x5E32FBFA,
    lambda p: (
        not [
            e
            for e in p.of(EventKind.DELIVERED, group="lines", partition=0)
            if 21 * NS_PER_S < e.time_ns < (p.rebalance("lines", 20).ended_ns or 0)
        ]
    ),
)
judge("share-group", "seen 4", 0x82834EB0, lambda p: p.deliveries(45, 48, client="floor-5") > 0)

# -- group-protocols


judge("group-protocols", "about 0", 0x1AAE72BF, lambda p: [given_up(p, g, 19) for g in ("classic", "modern")] == [6, 1])
judge(
    "group-protocols",
    "about 2",
    0xB21ABB24,
    lambda p: all(round(p.rebalance(g, 30).started_ns / NS_PER_S) == 46 for g in ("classic", "modern")),
)
judge(
    "group-protocols",
    "step 0",
    0xCD0903E5,
    lambda p: all(sum(len(m.partitions) for m in p.group(g, 5).members) == 6 for g in ("classic", "modern")),
)
judge(
    "group-protocols",
    "seen 0",
    0xA9934BEE,
    lambda p: bool(p.group("classic", 5).leader) and not p.group("modern", 5).leader,
)
judge(
    "group-protocols",
    "step 1",
    0xE57C6365,
    lambda p: any(p.lag_at("classic", s / 2) > 150 and p.lag_at("modern", s / 2) < 140 for s in range(40, 50)),
)
judge(
    "group-protocols",
    "seen 1",
    0xFEFAC83D,
    lambda p: p.deliveries(20.7, 23, group="classic") == 0 and p.deliveries(20.7, 23, group="modern") > 0,
)
judge("group-protocols", "step 2", 0x786E2028, lambda p: len(p.rebalance("modern", 19).moved) == 1)
judge(
    "group-protocols",
    "seen 2",
    0x5A4D17FA,
    lambda p: [(old, new) for _, _, old, new in p.rebalance("modern", 19).moved] == [("new-1", "new-4")],
)
judge(
    "group-protocols",
    "step 3",
    0x5379DB25,
    lambda p: all(round(p.rebalance(g, 30).started_ns / NS_PER_S) == 46 for g in ("classic", "modern")),
)
judge(
    "group-protocols",
    "seen 3",
    0x51338324,
    lambda p: p.deliveries(40.5, 45.5, client="new-2") == 0 and p.deliveries(40.5, 45.5, client="old-2") == 0,
)
judge(
    "group-protocols",
    "seen 4",
    0xC7E6A438,
    lambda p: (p.rebalance("classic", 74).generation_after or 0) > p.rebalance("classic", 74).generation_before,
)
judge("group-protocols", "seen 5", 0x2F47EFBF, lambda p: moves_only_of(p, "modern", "new-3", 84))
