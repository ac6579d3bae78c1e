"""What control events say in their details."""

from __future__ import annotations

import json

from spark_reports.tables.details import detailed, markers, places
from tests.spark_reports.tables.rows import S, happened


def test_a_users_request_is_not_taken_for_what_the_broker_tells_by_the_same_names() -> None:
    told = detailed(
        happened(
            {"kind": "user_action", "detail": json.dumps({"action": "delete_records", "before": {"1": 120}})},
            {"kind": "user_action", "detail": json.dumps({"action": "reset_offsets", "partitions": [0, 2]})},
            {"kind": "records_deleted", "topic": "t", "detail": json.dumps({"markers": 3})},
            {
                **{"kind": "partitions_assigned", "time_ns": 2 * S, "group": "g", "client": "c"},
                "detail": json.dumps({"partitions": [["t", 1], ["t", 2]], "member_id": "c-1"}),
            },
            {"kind": "transaction_ended", "detail": json.dumps({"markers": [["t", 2, 7]]})},
        )
    )
    assert told["before"].null_count() == told.height
    assert places(told, "partitions_assigned").select("client", "topic", "partition").rows() == [
        ("c", "t", 1),
        ("c", "t", 2),
    ]
    assert markers(told).rows() == [("t", 2, 7)]


def test_a_session_in_which_nothing_is_told_has_the_same_columns() -> None:
    told = detailed(happened())
    assert places(told, "partitions_assigned").is_empty() and markers(told).is_empty()
