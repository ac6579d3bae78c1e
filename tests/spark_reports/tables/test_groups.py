"""Rebalances and owners of partitions."""

from __future__ import annotations

import json

from spark_reports.scale import Scale
from spark_reports.tables import groups, ownership
from spark_reports.tables.details import detailed
from tests.spark_reports.tables.rows import S, check, happened, owned


def _started(at: int, generation: int, cause: str, **more: object) -> dict:
    return {"kind": "rebalance_started", "time_ns": at, "group": "g", "generation": generation, "cause": cause, **more}


def _completed(at: int, generation: int, cause: str, **detail: object) -> dict:
    return {
        "kind": "rebalance_completed", "time_ns": at, "group": "g", "generation": generation, "cause": cause,
        "detail": json.dumps(detail),
    }  # fmt: skip


def test_rebalances_say_cause_pause_and_what_moved() -> None:
    before = [["t", 0, "a"], ["t", 1, "a"], ["t", 2, "b"]]
    after = [["t", 0, "a"], ["t", 1, "b"], ["t", 2, "b"], ["t", 3, "b"]]
    revoked = {
        "kind": "partitions_revoked",
        "group": "g",
        "client": "a",
        "detail": json.dumps({"partitions": [["t", 1]]}),
    }
    control = happened(
        _started(S, 1, "b joined"),
        {**revoked, "time_ns": S},
        {**revoked, "time_ns": S},
        {"kind": "group_state", "group": "g", "time_ns": S},
        _completed(3 * S, 2, "b joined", before=before, after=after, started_ns=S),
        {**revoked, "time_ns": 3 * S + 1, "group": "other"},
        _started(8 * S, 2, "b crashed"),
    )
    check(
        groups.rebalances(detailed(control), Scale(0, 10 * S, S)),
        groups.REBALANCES_SCHEMA,
        [
            ("g", S, 3 * S, 2 * S, True, "b joined", 1, 2, 4, 2, 2, 1, 2),
            ("g", 8 * S, 10 * S, 2 * S, False, "b crashed", 2, None, 0, 0, 0, 0, 0),
        ],
    )


def test_a_partition_given_back_and_then_out_has_changed_its_owner_once() -> None:
    both, back, out = [["t", 0, "a"], ["t", 1, "a"]], [["t", 0, "a"]], [["t", 0, "a"], ["t", 1, "b"]]
    control = happened(
        _completed(S, 1, "a joined", before=[], after=both, started_ns=0),
        _completed(2 * S, 2, "b joined", before=both, after=back, started_ns=2 * S),
        _completed(3 * S, 3, "a gave back 1 partition", before=back, after=out, started_ns=3 * S),
    )
    found = groups.rebalances(detailed(control), Scale(0, 10 * S, S)).rows(named=True)
    assert [row["moved"] for row in found] == [2, 1, 1]
    assert [row["changed"] for row in found] == [0, 0, 1]


def _owned(kind: str, at: int, client: str, *partitions: int, generation: int = 1) -> dict:
    detail = json.dumps({"partitions": [["t", number] for number in partitions]})
    return {
        "kind": f"partitions_{kind}", "time_ns": at, "group": "g", "client": client, "generation": generation,
        "detail": detail,
    }  # fmt: skip


def test_ownership_is_one_interval_per_holder() -> None:
    control = happened(
        _owned("assigned", S, "a", 0, 1),
        _owned("revoked", 2 * S, "a", 1),
        _owned("assigned", 3 * S, "b", 1, generation=2),
        _owned("assigned", 3 * S, "a", 0, generation=2),  # kept: no new interval
        _owned("revoked", 4 * S, "a", 1),  # late: b holds it
    )
    check(
        owned(control, Scale(0, 5 * S, S)),
        ownership.SCHEMA,
        [
            ("g", "t", 0, "a", 1, S, 5 * S, 4 * S),
            ("g", "t", 1, "a", 1, S, 2 * S, S),
            ("g", "t", 1, "b", 2, 3 * S, 5 * S, 2 * S),
        ],
    )
