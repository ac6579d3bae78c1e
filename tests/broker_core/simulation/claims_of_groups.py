"""Judges of the lessons about topics and groups, in the order of the lessons."""

from __future__ import annotations

from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from tests.broker_core.simulation.played_lesson import given_up, judge, moves_between_those_who_stay, moves_only_of

# -- first-session

judge(
    "first-session",
    "about 0",
    0xA10F0178,
    lambda p: (
        max(p.lag_at("indexers", s) for s in range(60, 300)) > 40
        and min(p.lag_at("indexers", s) for s in range(60, 300)) < 10
    ),
)
judge(
    "first-session",
    "about 1",
    0x88C94A08,
    lambda p: max(at := [v.end_offset for v in p.at(300).topics[0].partitions]) > 1.4 * min(at),
)
judge(
    "first-session",
    "about 2",
    0xC4E495F8,
    lambda p: {e.attempt for e in p.of(EventKind.DEAD_LETTERED, group="builds")} == {3},
)
judge(
    "first-session",
    "about 3",
    0x6A650EEB,
    lambda p: any(p.of(EventKind.PRODUCER_BLOCKED, client="notifier", topic="mails")),
)
judge(
    "first-session",
    "seen 0",
    0x073BE037,
    lambda p: [len(m.partitions) for m in p.group("indexers", 10).members] == [2, 2, 2],
)
judge(
    "first-session",
    "seen 1",
    0x31550C65,
    lambda p: len(p.group("indexers", 30).members) == 4 and p.rebalance("indexers", 20).ended_ns is not None,
)
judge("first-session", "step 2", 0x86997BD8, lambda p: p.first(EventKind.DEAD_LETTERED, group="builds") < 120)
judge(
    "first-session",
    "seen 2",
    0xDD3B8537,
    lambda p: p.queue("builds", 60).retry.base_ms == 500 and p.queue("builds", 60).max_attempts == 3,
)

# -- partitions-and-keys

judge(
    "partitions-and-keys",
    "about 0",
    0xB09ED0C6,
    lambda p: (
        max(at := [v.end_offset for v in p.at(120).topics[0].partitions]) > 1.3 * min(at)
        and len({e.key for e in p.of(EventKind.PUBLISHED, topic="orders")}) == 10
    ),
)
judge(
    "partitions-and-keys",
    "about 1",
    0x17322EBF,
    lambda p: max(at := [v.end_offset for v in p.at(120).topics[1].partitions]) < 1.2 * min(at),
)
judge(
    "partitions-and-keys",
    "about 2",
    0x0DAE4A85,
    lambda p: [len(m.partitions) for m in p.group("packers", 8).members] == [2, 2],
)
judge("partitions-and-keys", "step 0", 0xB8D87820, lambda p: len(p.group("packers", 5).members) == 2)
judge(
    "partitions-and-keys",
    "seen 0",
    0x10CB4C9C,
    lambda p: len({(e.key, e.partition) for e in p.of(EventKind.PUBLISHED, topic="orders")}) == 10,
)
judge(
    "partitions-and-keys",
    "seen 1",
    0x8C6329B6,
    lambda p: (
        {e.key for e in p.of(EventKind.PUBLISHED, topic="readings")} <= {None, ""}
        and {e.partition for e in p.of(EventKind.PUBLISHED, topic="readings")} == {0, 1, 2, 3}
    ),
)
judge("partitions-and-keys", "seen 2", 0x43E04F26, lambda p: len(p.owned("packer-1", 14)) == 4)

# -- hot-key

judge(
    "hot-key",
    "about 0",
    0xF891A461,
    lambda p: (
        sorted(o.lag or 0 for o in p.group("counters", 120).offsets)[-1] > 500
        and all(sorted(o.lag or 0 for o in p.group("counters", s).offsets)[-2] < 20 for s in range(30, 120, 10))
    ),
)
judge(
    "hot-key",
    "about 1",
    0x1B76D9B8,
    lambda p: (
        sorted(p.processed(f"counter-{n}") for n in range(1, 5))[-1]
        > 1.5 * sorted(p.processed(f"counter-{n}") for n in range(1, 5))[-2]
    ),
)
judge("hot-key", "step 0", 0x7E60FA67, lambda p: p.lag_at("counters", 15) > p.lag_at("counters", 5) + 50)
judge(
    "hot-key",
    "seen 0",
    0xB8AC67E2,
    lambda p: (
        0.45
        < max(v.end_offset for v in p.at(20).topics[0].partitions)
        / sum(v.end_offset for v in p.at(20).topics[0].partitions)
        < 0.65
    ),
)
judge(
    "hot-key",
    "seen 2",
    0xA7A84D74,
    lambda p: len(p.group("counters", 30).members) == 5 and len(p.group("counters", 30).offsets) == 8,
)
judge("hot-key", "step 3", 0x95C2F19E, lambda p: p.lag_at("counters", 60) > p.lag_at("counters", 30) + 50)
judge("hot-key", "seen 3", 0x96F39F1C, lambda p: p.lag_at("counters", 110) > p.lag_at("counters", 60) + 50)

# -- lag-and-catch-up

judge(
    "lag-and-catch-up",
    "about 0",
    0xC74F3D3B,
    lambda p: p.lag_at("clerks", 10) > 200 and p.lag_at("clerks", 22) < 20 and p.lag_at("clerks", 34) > 200,
)
judge(
    "lag-and-catch-up",
    "about 1",
    0xC8C8B380,
    lambda p: all(p.lag_at("clerks", s) > 30 for s in range(61, 190)) and p.lag_at("clerks", 199) < 20,
)
judge("lag-and-catch-up", "about 2", 0x05F27241, lambda p: p.lag_at("archive", 199) < 200)
judge("lag-and-catch-up", "step 0", 0x1069DFB9, lambda p: p.lag_at("clerks", 10) > p.lag_at("clerks", 2) + 100)
judge("lag-and-catch-up", "seen 0", 0x28D68241, lambda p: p.lag_at("clerks", 9) > p.lag_at("clerks", 4))
judge("lag-and-catch-up", "step 1", 0xB207EB49, lambda p: p.lag_at("clerks", 22) == 0)
judge(
    "lag-and-catch-up",
    "seen 1",
    0xEFAD5BCC,
    lambda p: all(min(p.lag_at("clerks", s) for s in range(at, at + 12)) < 20 for at in (14, 38)),
)
judge("lag-and-catch-up", "step 3", 0x71C3D6F4, lambda p: any(p.of(EventKind.FAULT, client="clerk-2")))
judge(
    "lag-and-catch-up", "seen 3", 0x97B32A63, lambda p: len(p.owned("clerk-2", 70)) == 2 and p.lag_at("clerks", 74) > 30
)
judge("lag-and-catch-up", "seen 4", 0x99B7BA12, lambda p: len(p.owned("clerk-2", 90)) < 2)

# -- alerts

judge(
    "alerts",
    "about 0",
    0x9C62D071,
    lambda p: len([e for e in p.of(EventKind.ALERT_RAISED, cause="many parcels") if e.time_ns < 46 * NS_PER_S]) == 3,
)
judge(
    "alerts",
    "about 1",
    0xDC96C472,
    lambda p: (
        len(list(p.of(EventKind.ALERT_RAISED, cause="packers fall behind"))) == 1
        and p.first(EventKind.ALERT_RAISED, cause="packers fall behind") > 46
    ),
)
judge("alerts", "step 0", 0x79A19155, lambda p: p.first(EventKind.ALERT_RAISED) < 6)
judge("alerts", "seen 0", 0xC801EBDB, lambda p: p.lag_at("packers", 2) > 80)
judge("alerts", "step 1", 0x04D7AF83, lambda p: 6 < p.first(EventKind.ALERT_OVER, cause="many parcels") < 15)
judge("alerts", "seen 1", 0x9AAE3865, lambda p: p.lag_at("packers", 14) == 0 and p.lag_at("packers", 29) == 0)
judge("alerts", "step 2", 0x18BF8FD0, lambda p: p.first(EventKind.FAULT, client="packer-1") == 46)
judge(
    "alerts",
    "seen 2",
    0x32C02B12,
    lambda p: (
        p.first(EventKind.ALERT_OVER, cause="many parcels") - p.first(EventKind.ALERT_RAISED, cause="many parcels") < 10
    ),
)
judge("alerts", "seen 4", 0x094970CA, lambda p: p.lag_at("packers", 72) < 80)

# -- range-versus-sticky

judge(
    "range-versus-sticky",
    "about 0",
    0xE9A6B221,
    lambda p: (
        [sorted(len(m.partitions) for m in p.group(g, 3).members) for g in ("ranged", "stuck", "cooperating")]
        == [[2, 2, 4], [2, 3, 3], [2, 3, 3]]
    ),
)
judge(
    "range-versus-sticky",
    "about 1",
    0xE20EC59B,
    lambda p: [len(p.rebalance(g, 30).moved) for g in ("ranged", "stuck", "cooperating")] == [6, 3, 3],
)
judge(
    "range-versus-sticky",
    "about 2",
    0x00830621,
    lambda p: given_up(p, "stuck", 30) == 8 and given_up(p, "cooperating", 30) == 3,
)
judge(
    "range-versus-sticky",
    "step 0",
    0x37B6C614,
    lambda p: all(g.state == "Stable" and len(g.offsets) == 8 for g in p.at(3).groups),
)
judge(
    "range-versus-sticky",
    "seen 0",
    0x2F99B912,
    lambda p: (
        [len(p.owned(c, 3)) for c in ("ranger-1", "ranger-2", "ranger-3", "sticker-1", "sticker-2", "sticker-3")]
        == [4, 2, 2, 3, 3, 2]
    ),
)
judge("range-versus-sticky", "seen 1", 0x97AD16AF, lambda p: moves_between_those_who_stay(p, "ranged", "ranger-1", 4))
judge(
    "range-versus-sticky",
    "seen 2",
    0xDFA88E4F,
    lambda p: moves_only_of(p, "stuck", "sticker-1", 9) and given_up(p, "stuck", 9) == 8,
)
judge(
    "range-versus-sticky",
    "seen 3",
    0xEC659D85,
    lambda p: moves_only_of(p, "cooperating", "helper-1", 14) and given_up(p, "cooperating", 14) == 3,
)
