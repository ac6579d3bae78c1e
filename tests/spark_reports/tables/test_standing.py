"""How far behind groups are, and what waits in queues."""

from __future__ import annotations

import json

from spark_reports.scale import Scale
from spark_reports.tables import lag, queues
from spark_reports.tables.details import detailed
from tests.spark_reports.tables.rows import S, check, committed, events, happened, leased, published, rolled


def test_lag_carries_offsets_forward_and_is_null_before_the_first_commit() -> None:
    table = events(
        published(0, 0, 0, 10), committed(S, 0, 0, 4), published(3 * S, 0, 10, 5), committed(3 * S + 1, 0, 4, 2)
    )
    scale = Scale(0, 5 * S, S)
    answer = lag.lag(rolled(table, scale), detailed(happened()), scale)
    check(
        answer,
        lag.SCHEMA,
        [
            ("g", "t", 0, 0, 10, None, None),
            ("g", "t", 0, S, 10, 4, 6),
            ("g", "t", 0, 2 * S, 10, 4, 6),
            ("g", "t", 0, 3 * S, 15, 6, 9),
            ("g", "t", 0, 4 * S, 15, 6, 9),
        ],
    )
    created = {"kind": "topic_created", "time_ns": 0, "topic": "t", "detail": '{"cleanup":"compact"}'}
    for control, at_most in ((happened(), False), (happened(created), True)):
        told = [("g", "t", 0, 9, 9, 4 * S, 7.5, at_most)]
        check(lag.lag_series(answer, control, scale), lag.SERIES_SCHEMA, told)


def test_before_the_first_commit_lag_counts_from_where_the_group_began() -> None:
    began = happened(
        {"kind": "reading_began", "time_ns": 1, "topic": "t", "partition": 0, "offset": 3, "group": "g", "seq": 4}
    )
    table, scale = events(published(0, 0, 0, 10), committed(S, 0, 0, 8)), Scale(0, 2 * S, S)
    answer = lag.lag(rolled(table, scale), detailed(began), scale)
    check(answer, lag.SCHEMA, [("g", "t", 0, 0, 10, None, 7), ("g", "t", 0, S, 10, 8, 2)])


def test_a_reset_moves_the_committed_offset_back_and_redriven_messages_are_appended() -> None:
    redriven = {
        "kind": "redriven", "time_ns": S, "topic": "t.dlq", "partition": 0, "offset": 0, "count": 2,
        "to_topic": "t", "to_partition": 0, "to_offset": 10, "seq": 3,
    }  # fmt: skip
    table = events(published(0, 0, 0, 10), committed(0, 0, 0, 10), redriven)
    changes = json.dumps({"changes": [["t", 0, 10, 2]]})
    reset = happened({"kind": "offsets_reset", "time_ns": S, "group": "g", "count": 1, "detail": changes, "seq": 9})
    check(
        lag.lag(rolled(table, Scale(0, 2 * S, S)), detailed(reset), Scale(0, 2 * S, S)),
        lag.SCHEMA,
        [("g", "t", 0, 0, 10, 10, 0), ("g", "t", 0, S, 12, 2, 10)],
    )


def test_queues_have_what_waits_and_what_is_in_flight() -> None:
    table = events(
        {**published(0, 0, 0, 5), "topic": "q"},
        leased("delivered", 0, 0, 3),
        leased("acknowledged", S, 0, 1),
        leased("nacked", S, 1, 1),
        leased("lease_expired", S, 2, 1),
        leased("dead_lettered", S, 2, 1, to_topic="q.dlq", to_partition=0, to_offset=0),
        {"kind": "redriven", "time_ns": 2 * S, "topic": "q.dlq", "partition": 0, "offset": 0, "count": 1, "group": "q",
         "to_topic": "q", "to_partition": 0, "to_offset": 5},
        {"kind": "dropped", "time_ns": 2 * S, "topic": "q", "count": 7},
        leased("purged", 2 * S, 3, 2),
    )  # fmt: skip
    control = happened(
        {"kind": "user_action", "time_ns": 2 * S, "topic": "q", "count": 1, "cause": "undo purge"},
        {"kind": "user_action", "time_ns": 2 * S, "topic": "q", "cause": "looked at it"},
    )
    check(
        queues.queues(rolled(table, Scale(0, 3 * S, S)), control, Scale(0, 3 * S, S)),
        queues.SCHEMA,
        [("q", 0, 2, 3), ("q", S, 3, 0), ("q", 2 * S, 3, 0)],
    )


def test_of_a_subscription_only_what_is_unfinished_waits() -> None:
    own = {"group": "s", "topic": "t", "partition": 0}
    table = events(
        published(0, 0, 0, 51),
        {"kind": "evicted", "time_ns": 0, "offset": 0, "count": 40, **own},
        {"kind": "delivered", "time_ns": S, "offset": 40, "count": 3, "client": "c", **own},
        {"kind": "acknowledged", "time_ns": S, "offset": 40, "count": 1, "client": "c", **own},
    )
    scale = Scale(0, 2 * S, S)
    created = {"kind": "queue_created", "time_ns": 0, "topic": "t", "count": 1}
    control = happened({**created, "group": "s"}, {**created, "group": "late", "time_ns": 1})
    waiting = [("s", 0, 11, 0), ("s", S, 8, 2)]
    check(queues.queues(rolled(table, scale), control, scale), queues.SCHEMA, waiting)
    assert lag.lag(rolled(table, scale), detailed(control), scale).height == 0


def test_markers_of_transactions_count_in_no_lag() -> None:
    table = events(published(0, 0, 0, 3), committed(0, 0, 0, 2), published(S, 0, 4, 2), committed(2 * S, 0, 2, 4))
    markers = json.dumps({"markers": [["t", 0, 3], ["t", 0, 6], ["t", 1, 4]]})
    ended = happened({"kind": "transaction_ended", "time_ns": S, "detail": markers, "seq": 9})
    check(
        lag.lag(rolled(table, Scale(0, 3 * S, S)), detailed(ended), Scale(0, 3 * S, S)),
        lag.SCHEMA,
        [("g", "t", 0, 0, 3, 2, 1), ("g", "t", 0, S, 6, 2, 3), ("g", "t", 0, 2 * S, 6, 6, 0)],
    )
