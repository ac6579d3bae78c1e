"""What a page says first: each finding is computed from its table. No Spark needed."""

from __future__ import annotations

from typing import Any

import pytest

from spark_reports.findings.find import find
from spark_reports.findings.finding import WARN
from spark_reports.page.figures import key_figures
from spark_reports.scale import Scale
from spark_reports.text import bare
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
            "3 messages of q ended in the dead letters, 4 times in all",
            "Most often: poison (75 %, in q). 50 % have the key order-7.",
            "2 were redriven: 1 acknowledged and 1 dead again.",
            "2 messages are dead letters",
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
            ]
        },
        [
            "The alert behind was raised 2 times",
            "The first time was 00:12.0. It was over at 00:33.0.",
            "The alert idle was raised 1 time",
            "It lasted to the end.",
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
                    **{"check": "skipped: x", "messages": 2, "ok": False, "group": "g", "topic": "t"},
                    **{"partition": 0, "offset": 77, "because": "t/0 @77 was skipped by group g"},
                }
            ]
        },
        ["2 messages skipped: x t/0 @77 was skipped by group g."],
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
        ["The schema order refused 4 messages Most often because of /amount (75 %, on t), from 00:01.0 to 00:02.0."],
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


def test_a_hot_partition_is_said_to_be_hot_until_it_was_worst_and_others_are_named() -> None:
    def lag(partition: int, second: int, end: int, behind: int) -> dict[str, Any]:
        place = {"group": "g", "topic": "t", "partition": partition, "start_ns": second * S}
        return {**place, "end_offset": end, "committed": end - behind, "lag": behind}

    ends = [[min(at, 20) * 20 for at in range(60)], [min(at, 20) * 16 for at in range(60)], *[range(0, 120, 2)] * 4]
    waits = [[min(at, 41 - at) * 10 if at < 41 else 0 for at in range(60)]] * 2
    rows = [
        lag(number, at, end, waits[number][at] if number < 2 else 0)
        for number, each in enumerate(ends)
        for at, end in enumerate(each)
    ]
    (found,) = (one for one in findings(lag=rows) if one.section == "lag")
    assert bare(found.headline).replace("\u00a0", " ") == (
        "Partition t/0 is too much for one reader of g: it carried 44 % until 00:24.0"
    )
    assert "What waited was there and on t/1, and" in bare(found.why)


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
    tables = rows_of(made(consumers=[IDLE | {"utilisation": 0.0}, BUSY], reconciliation=[equal()]))
    assert len(find(tables, SCALE)) == 2
    assert [one.headline for one in find(tables, Scale(0, 1, 1))] == [
        "The recording is whole: its totals are the broker's own"
    ]
    assert key_figures(tables, Scale(0, 1, 1))[0].note.startswith("n/a, ")


def test_what_took_no_time_is_at_once() -> None:
    row = {"measure": "delivered", "p50_ns": 0, "p99_ns": 0}
    said = [one.headline for one in findings(latency=[row], latency_by_group=[row | {"group": "g", "topic": "t"}])]
    assert any(headline.endswith("of the messages were delivered at once") for headline in said)
