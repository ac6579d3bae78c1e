"""What a page says first: each finding is computed from its table. No Spark needed."""

from __future__ import annotations

from typing import Any

import pytest

from spark_reports.findings.find import find
from spark_reports.findings.finding import WARN
from spark_reports.page.figures import key_figures
from spark_reports.scale import Scale
from tests.spark_reports.page.tables_by_hand import SCALE, S, equal, findings, made, rows_of


def test_without_a_summary_nobody_claims_that_it_adds_up() -> None:
    (only,) = findings()
    assert only.level == WARN and "no summary" in only.detail


CASES: dict[str, tuple[dict[str, list[dict[str, Any]]], list[str]]] = {
    "dead letters": (
        {
            "dead_letters": [
                {
                    **{"group": "q", "cause": "poison", "dead_lettered": 3, "redriven": 2, "first_ns": S},
                    **{"recovered": 1, "died_again": 1, "waiting": 0},
                },
                {
                    **{"group": "q", "cause": "late", "dead_lettered": 1, "redriven": 0, "first_ns": S},
                    **{"recovered": 0, "died_again": 0, "waiting": 0},
                },
            ],
            "dead_letter_keys": [{"group": "q", "key": "order-7", "dead_lettered": 2}],
        },
        [
            "4 messages ended in the dead letters",
            "Most often: poison (75 %, in q). 50 % have the key order-7.",
            "2 were redriven: 1 acknowledged and 1 dead again.",
        ],
    ),
    "alerts": (
        {
            "markers": [
                {"kind": kind, "time_ns": at_s * S, "cause": name, "client": "", "topic": "", "group": ""}
                for kind, at_s, name in (
                    ("alert_raised", 12, "behind"),
                    ("alert_over", 15, "behind"),
                    ("alert_raised", 20, "idle"),
                    ("alert_raised", 31, "behind"),
                    ("alert_over", 33, "behind"),
                )
            ],
        },
        [
            "The alert behind was raised 2 times",
            "The first time was 00:12.0. It was over at 00:33.0.",
            "The alert idle was raised 1 time",
            "It lasted to the end.",
        ],
    ),
    "an outage": (
        {
            "rebalances": [
                {
                    **{"group": "g", "started_ns": 31 * S, "ended_ns": 34 * S, "pause_ns": 3 * S, "finished": True},
                    **{"cause": "worker-2 left", "partitions": 6, "moved": 4, "kept": 2, "stopped": 4},
                },
                {
                    **{"group": "g", "started_ns": 0, "ended_ns": 50 * S, "pause_ns": 50 * S, "finished": True},
                    **{"cause": "start", "partitions": 6, "moved": 6, "kept": 0, "stopped": 0},
                },
            ],
            "unserved": [
                {
                    **{"group": "g", "started_ns": 31 * S, "topic": "t", "partition": partition, "published": 6},
                    **{"owner_before": "worker-2", "owner_after": "worker-1"},
                    **{"from_ns": 25 * S, "to_ns": 34 * S, "pause_ns": 9 * S},
                }
                for partition in (0, 1)
            ],
        },
        [
            "Nobody read 2 of 6 partitions of g for 9 s From 00:25.0 to 00:34.0.",
            "12 messages arrived meanwhile and waited. 4 moved, 2 stayed with their owner.",
            "The group rebalanced at 00:31.0, because worker-2 left.",
            "12 messages delayed by 4.5 s each",
        ],
    ),
    "a rebalance without an end": (
        {
            "rebalances": [
                {
                    **{"group": "g", "started_ns": 31 * S, "ended_ns": 60 * S, "pause_ns": 29 * S, "finished": False},
                    **{"cause": "c", "partitions": 6, "moved": 0, "kept": 0, "stopped": 6},
                }
            ]
        },
        ["A rebalance of g was still going on at the end, after 29 s It began at 00:31.0, because c."],
    ),
    "lag": (
        {
            "lag_series": [
                {"group": "g", "topic": "t", "partition": 2, "last_lag": 7, "max_lag": 40, "max_lag_ns": S},
                {"group": "g", "topic": "t", "partition": 3, "last_lag": 2, "max_lag": 5, "max_lag_ns": S},
            ]
        },
        [
            "g fell 40 messages behind on one partition, t/2",
            "Measured every 1 s, it was worst at 00:01.0. At the end the group was 9 messages behind, "
            "in its 2 partitions together.",
        ],
    ),
    "lag on the only partition": (
        {
            "lag_series": [
                {"group": "g", "topic": "t", "partition": 2, "last_lag": 7, "max_lag": 40, "max_lag_ns": S},
                {"group": "h", "topic": "t", "partition": 3, "last_lag": 2, "max_lag": 5, "max_lag_ns": S},
            ]
        },
        ["g fell 40 messages behind on t/2", "At the end the group was 7 messages behind."],
    ),
    "lag that grows": (
        {
            "lag": [
                {"group": "g", "topic": "t", "partition": partition, "start_ns": at * S, "lag": max(at - 40, 0) * 5}
                for at in range(60)
                for partition in (0, 1)
            ],
            "lag_series": [{"group": "g", "topic": "t", "partition": partition} for partition in (0, 1)],
        },
        ["The lag of g on t was still growing at the end: 190 messages behind, in its 2 partitions together"],
    ),
    "blocked": (
        {
            "backpressure": [
                {"topic": "t", "client": "p", "cause": "t is full", "from_ns": S, "blocked_ns": 3 * S},
                {"topic": "t", "client": "p", "cause": "", "from_ns": 9 * S, "blocked_ns": 3 * S},
            ]
        },
        [
            "p was blocked for 6 s on t, 10 % of the session",
            "The longest wait was 3 s at 00:01.0. It was told: t is full.",
        ],
    ),
    "refused": (
        {
            "backpressure_series": [
                {"topic": "t", "blocks": 0, "blocked_ns": 0, "rejected": 5, "dropped": 2, "evicted": 0, "expired": 0}
            ]
        },
        ["7 messages were turned away or discarded", "5 rejected and 2 dropped, on t."],
    ),
    "skew": (
        {
            "partitions": [
                {"topic": "t", "partition": 0, "messages": 6, "keys_not_read": 0, "share": 0.75, "times_even": 1.5},
                {"topic": "t", "partition": 1, "messages": 2, "keys_not_read": 0, "share": 0.25, "times_even": 0.5},
            ],
            "hot_keys": [{"topic": "t", "rank": 1, "key": "librdkafka/33", "partition": 0, "share_of_partition": 0.67}],
        },
        [
            "Partition 0 of t carried 75 % of its messages: key librdkafka/33",
            "The key librdkafka/33 alone is 67 % of the partition.",
        ],
    ),
    "a gap in the recording": (
        {
            "recording": [
                {"first_seq": 64, "last_seq": 127, "missing": 1, "doubled": 0, "from_ns": 2 * S, "to_ns": 3 * S},
                {"first_seq": 640, "last_seq": 703, "missing": 4, "doubled": 2, "from_ns": 5 * S, "to_ns": 6 * S},
            ]
        },
        [
            "5 events are missing from the recording 2 gaps; the first has 1 event, between 00:02.0 and 00:03.0.",
            "2 events are recorded twice The first near number 640, at 00:05.0.",
        ],
    ),
    "a message that broke a rule": (
        {
            "audit": [
                {
                    **{"check": "skipped: x", "messages": 3, "explained": 1, "ok": False, "group": "g", "topic": "t"},
                    **{"partition": 0, "near_offset": 64},
                }
            ],
            "audit_list": [
                {"check": "skipped: x", "group": "g", "topic": "t", "partition": 0, "offset": 70, "explained": True},
                {
                    **{"check": "skipped: x", "group": "g", "topic": "t", "partition": 0, "offset": 77},
                    **{"explained": False, "story": "published by p at 1.000 s", "happened_ns": S},
                },
            ],
        },
        ["2 messages skipped: x The first is t/0 @77 in g: published by p at 1.000 s."],
    ),
    "schema": (
        {
            "refusals": [
                {
                    **{"topic": "t", "subject": "order", "place": "/amount", "outcome": "refused", "messages": 3},
                    **{"producers": 1, "first_ns": S, "last_ns": 2 * S},
                },
                {
                    **{"topic": "t", "subject": "order", "place": "the value", "outcome": "refused", "messages": 1},
                    **{"producers": 1, "first_ns": S, "last_ns": 2 * S},
                },
            ]
        },
        [
            "The schema order refused 4 messages Most often because of /amount (75 %, on t), from 00:01.0 to 00:02.0.",
        ],
    ),
    "a queue that grows": (
        {
            "queues": [
                {"queue": "q", "start_ns": at * S, "waiting": max(at - 40, 0) * 10, "in_flight": 1} for at in range(60)
            ]
        },
        [
            "q was still growing at the end: 190 messages waited",
            "Over the last 30 s it rose by 7.19 a second. Nobody read it.",
        ],
    ),
    "who did nothing": (
        {
            "consumers": [
                {
                    **{
                        "group": group,
                        "client": client,
                        "from_ns": 0,
                        "to_ns": 60 * S,
                        "there_ns": 60 * S,
                        "delivered": 0,
                    },
                    **{"with_partitions_ns": owned, "utilisation": 0.0, "in_hand": 0.0, "outside": False},
                }
                for group, client, owned in (("g", "spare", 0), ("", "bench", None), ("q", "packer", None))
            ]
        },
        [
            "spare, bench and packer did nothing",
            "spare had no partition in g, bench was in no group and packer got nothing from q.",
        ],
    ),
    "who was always busy": (
        {
            "consumers": [
                {
                    **{
                        "group": "q",
                        "client": "packer",
                        "from_ns": 0,
                        "to_ns": 60 * S,
                        "there_ns": 60 * S,
                        "delivered": 9,
                    },
                    **{"with_partitions_ns": None, "utilisation": 0.97, "in_hand": 3.25, "outside": False},
                }
            ]
        },
        ["packer was busy at least 95 % of the time packer had 3.2 messages in progress on average."],
    ),
    "what a fault did": (
        {
            "effects": [
                {
                    **{"time_ns": 30 * S, "kind": "fault", "client": "w-1", "cause": "crash", "scope": "g"},
                    **{
                        "window_ns": 3 * S,
                        "published_before": 44.0,
                        "published_after": 44.0,
                        "delivered_before": 40.0,
                        "delivered_after": 10.0,
                        "p99_before_ns": S // 100,
                    },
                    **{"p99_after_ns": 3 * S, "behind_before": 3, "behind_after": 240},
                },
                {
                    **{"time_ns": S, "kind": "user_action", "client": "c", "cause": "moved c", "scope": "g"},
                    **{"window_ns": 3 * S, "delivered_before": 40.0, "delivered_after": 41.0},
                },
            ]
        },
        [
            "Fault at 00:30.0: crash (w-1)",
            "At the same time, within 3 s in g: deliveries went from 40.0 to 10.0 a second, while 44.0 came in, "
            "p99 from 10 ms to 3 s and the backlog from 3 to 240.",
        ],
    ),
    "a replay": (
        {
            "latency": [
                {"measure": measure, "messages": 70, "p50_ns": S, "p99_ns": S, "max_ns": 60 * S}
                for measure in ("delivered", "replayed")
            ],
            "latency_by_group": [
                {"measure": measure, "group": "new", "topic": "t", "messages": 70, "p99_ns": S}
                for measure in ("delivered", "replayed")
            ],
            "latency_over_time": [{"measure": "replayed", "start_ns": 7 * S}],
        },
        ["new read 70 messages from before its time They were up to 60 s old when they were read."],
    ),
    "repeats": (
        {
            "redeliveries": [
                {"group": "q", "topic": "q", "attempt": 1, "delivered": 90},
                {"group": "q", "topic": "q", "attempt": 2, "delivered": 10},
            ]
        },
        ["10 deliveries were repeats, 10 % of all", "Up to attempt 2, in q."],
    ),
}


@pytest.mark.parametrize(("rows", "sentences"), CASES.values(), ids=CASES)
def test_a_finding_is_computed(rows: dict[str, list[dict[str, Any]]], sentences: list[str]) -> None:
    told = (f"{one.headline} {one.detail} {one.why} {one.harm.words()}" for one in findings(**rows))
    said = " ".join(told).replace("\u00a0", " ")
    for sentence in sentences:
        assert sentence in said


def _pause(group: str, pause_s: int, partitions: int, published: int) -> list[dict[str, Any]]:
    one = {"group": group, "started_ns": S, "topic": "t", "owner_before": "a", "owner_after": "b", "from_ns": S}
    times = {"to_ns": S + pause_s * S, "pause_ns": pause_s * S, "published": published}
    return [{**one, **times, "partition": partition} for partition in range(partitions)]


def test_the_outage_that_is_told_is_the_one_in_which_most_waited() -> None:
    """Not the longest, nor that of most partitions: what nobody sends to nobody misses."""
    rows = [*_pause("long", 9, 1, 0), *_pause("wide", 2, 8, 0), *_pause("worst", 3, 2, 50)]
    assert [one.headline for one in findings(unserved=rows) if one.section == "rebalances"] == [
        "Nobody read 2 partitions of worst for 3\u00a0s"
    ]


@pytest.mark.parametrize(
    ("pauses_ms", "headline", "detail"),
    [
        (
            [6200, 6200, 205, 205, 150, 205],
            "2 of 6 partitions of g for 6.2 s",
            "4 more went unread for 205 ms at most.",
        ),
        ([6200, 5100, 205], "2 of 6 partitions of g for 5.1 s to 6.2 s", "The longest from 00:01.0 to 00:07.2."),
    ],
)
def test_an_outage_is_told_of_the_partitions_that_it_was_as_long_for(
    pauses_ms: list[int], headline: str, detail: str
) -> None:
    """Not of all that the rebalance took, which most had back in no time."""
    one, of = _pause("g", 1, 1, 1)[0], {"group": "g", "started_ns": S, "partitions": 6, "finished": True, "cause": ""}
    times = [{"pause_ns": ms * 10**6, "to_ns": S + ms * 10**6, "partition": at} for at, ms in enumerate(pauses_ms)]
    (told,) = (
        each for each in findings(unserved=[one | time for time in times], rebalances=[of]) if "Nobody" in each.headline
    )
    assert told.headline.replace("\u00a0", " ") == f"Nobody read {headline}"
    assert detail in told.detail.replace("\u00a0", " ")


def test_a_crash_that_was_noticed_late_is_told_from_when_nobody_read() -> None:
    one = _pause("g", 9, 1, 4)[0] | {"started_ns": 7 * S, "cause": "crash"}
    of = {"group": "g", "started_ns": 7 * S, "partitions": 6, "finished": True, "cause": ""}
    (told,) = (each for each in findings(unserved=[one], rebalances=[of]) if each.section == "rebalances")
    assert told.why.startswith("a had crashed, and the group noticed 6\u00a0s later.") and told.kind == "outage"
    assert told.advice == "Detect a missing member sooner."
    # A rebalance that went on already tells nothing of that; the end of its membership does.
    left = {"time_ns": 4 * S, "kind": "member_left", "group": "g", "client": "a", "cause": ""}
    (told,) = (
        each
        for each in findings(unserved=[one | {"started_ns": 0}], rebalances=[of | {"started_ns": 0}], markers=[left])
        if each.section == "rebalances"
    )
    assert told.why.startswith("a had crashed, and the group noticed 3\u00a0s later.")
    back = {"time_ns": 3 * S, "kind": "fault", "client": "a", "cause": "restarted"}
    late = {**of, "started_ns": 2 * S}
    rows = {"unserved": [one | {"started_ns": 2 * S}], "rebalances": [late], "markers": [back]}
    (told,) = (each for each in findings(**rows) if each.section == "rebalances")
    assert told.advice == "Let a member that comes back keep its place."


def test_members_that_leave_with_nobody_after_them_are_no_outage() -> None:
    one = _pause("g", 9, 1, 4)[0] | {"owner_after": None, "assigned_ns": None}
    assert not [each for each in findings(unserved=[one]) if each.section == "rebalances"]
    assert [each for each in findings(unserved=[one | {"cause": "crash"}]) if each.section == "rebalances"]


def test_priority_levels_are_no_skew_of_keys() -> None:
    rows = [
        {"topic": "q", "partition": at, "messages": 6, "keys_not_read": 0, "share": 0.75, "times_even": even}
        for at, even in ((0, 1.5), (1, 0.5))
    ]
    assert [each for each in findings(partitions=rows) if each.section == "keys"]
    waiting = [{"queue": "q", "start_ns": 0, "waiting": 0, "in_flight": 0}]
    assert not [each for each in findings(partitions=rows, queues=waiting) if each.section == "keys"]


def test_the_figure_of_lag_says_that_it_is_of_a_partition() -> None:
    rows = [
        {"group": "g", "topic": "t", "partition": 2, "last_lag": 7, "max_lag": 40, "max_lag_ns": S},
        {"group": "g", "topic": "t", "partition": 3, "last_lag": 30, "max_lag": 35, "max_lag_ns": S},
    ]
    figure = next(one for one in key_figures(rows_of(made(lag_series=rows)), SCALE) if one.section == "lag")
    assert (figure.label, figure.value, figure.note) == ("Highest lag", "40", "one partition: g on t/2")


IDLE = {
    "client": "c",
    "group": "g",
    "from_ns": 0,
    "to_ns": 60 * S,
    "there_ns": 60 * S,
    "delivered": 0,
    "with_partitions_ns": 0,
    "outside": False,
}
BUSY = IDLE | {"delivered": 5, "utilisation": 1.0, "in_hand": 1.0}


def test_nobody_is_said_to_have_done_nothing_where_events_are_missing() -> None:
    consumers = [IDLE | {"utilisation": 0.0}]
    assert any("did nothing" in one.headline for one in findings(consumers=consumers))
    gap = {"from_ns": 0, "to_ns": S, "first_seq": 0, "last_seq": 9, "missing": 8, "doubled": 0}
    assert not any("did nothing" in one.headline for one in findings(consumers=consumers, recording=[gap]))


def test_where_no_time_passes_nobody_is_busy_idle_or_late() -> None:
    tables = rows_of(
        made(consumers=[IDLE | {"utilisation": 0.0}, BUSY], unserved=_pause("g", 1, 8, 1), reconciliation=[equal()])
    )
    assert len(find(tables, SCALE)) == 4
    assert [one.headline for one in find(tables, Scale(0, 1, 1))] == ["Everything adds up"]
    assert key_figures(tables, Scale(0, 1, 1))[0].note.startswith("n/a, ")


def test_what_took_no_time_is_at_once() -> None:
    row = {"measure": "delivered", "p50_ns": 0, "p99_ns": 0}
    said = [one.headline for one in findings(latency=[row], latency_by_group=[row | {"group": "g", "topic": "t"}])]
    assert any(headline.endswith("of the messages were delivered at once") for headline in said)


def test_even_partitions_are_no_finding() -> None:
    rows = [
        {"topic": "t", "partition": p, "messages": 5, "bytes": 1, "keys_not_read": 0, "share": 0.5, "times_even": 1.0}
        for p in (0, 1)
    ]
    assert [one.section for one in findings(partitions=rows, reconciliation=[equal()])] == ["totals"]
