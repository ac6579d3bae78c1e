"""Messages in flight and utilisation of clients, and the outcomes of leases."""

from __future__ import annotations

import json

import polars as pl
import pytest

from spark_reports.scale import Scale
from spark_reports.tables import consumers, presence, queues
from spark_reports.tables.details import detailed
from tests.spark_reports.tables.rows import (
    MS,
    S,
    check,
    committed,
    delivered,
    events,
    happened,
    in_flight_time,
    leased,
    owned,
    rolled,
)

SCALE = Scale(0, 10 * S, S)


def in_flight(table: pl.DataFrame, control: pl.DataFrame, scale: Scale = SCALE) -> pl.DataFrame:
    # Numbered as they happened, which two lists are not.
    table, control = (one.with_columns(seq=pl.col("time_ns") * 2 + late) for late, one in enumerate((table, control)))
    told, counted = detailed(control), rolled(table, scale)
    return in_flight_time(
        table, presence.lost_in_flight(counted, told, presence.intervals(counted, told, scale)), scale
    )


def busy(table: pl.DataFrame, control: pl.DataFrame, scale: Scale = SCALE) -> dict[str, int]:
    found = in_flight(table, control, scale).drop_nulls("start_ns")
    return dict(found.group_by("client").agg(pl.col("busy_ns").sum()).rows())


def _revoked(at: int, *partitions: int) -> dict:
    detail = json.dumps({"partitions": [["t", number] for number in partitions]})
    return {"kind": "partitions_revoked", "time_ns": at, "group": "g", "client": "c", "detail": detail}


def test_who_takes_one_message_at_a_time_is_busy_to_the_nanosecond() -> None:
    work = [(3 * MS, 17 * MS), (105 * MS + 1, 995 * MS), (2 * S + 7, 2 * S + 9)]
    table = events(
        *(
            row
            for number, (begin, end) in enumerate(work)
            for row in (leased("delivered", begin, number), leased("acknowledged", end, number))
        )
    )
    assert busy(table, happened()) == {"w": sum(end - begin for begin, end in work)}


def test_several_messages_in_hand_are_no_more_than_busy() -> None:
    table = events(
        leased("delivered", 1 * S, 0, 10), leased("acknowledged", 2 * S, 0, 9), leased("nacked", 3 * S, 9),
        leased("delivered", 5 * S, 10), leased("lease_expired", 6 * S, 10),
    )  # fmt: skip
    assert busy(table, happened()) == {"w": 3 * S}
    held = in_flight(table, happened()).drop_nulls("start_ns")["in_flight_message_ns"].sum()
    assert held == pytest.approx(9 * S + 2 * S + S)


def test_what_is_taken_from_a_client_is_no_longer_in_flight() -> None:
    table = events(delivered(S, 0, 0, 5), delivered(S, 1, 0), committed(4 * S, 1, 0))
    control = happened(_revoked(3 * S, 0))
    assert busy(table, control) == {"c": 3 * S}
    # Without the revocation the five messages of partition 0 are in hand to the end.
    assert busy(table, happened()) == {"c": 9 * S}
    # A commit of more than was delivered leaves nobody with less than nothing.
    more = events(committed(S, 0, 0, 3), delivered(2 * S, 0, 3), committed(3 * S, 0, 3))
    assert busy(more, happened()) == {"c": S}


def test_a_part_begins_with_what_was_in_hand_before() -> None:
    table = events(leased("delivered", S, 0), leased("acknowledged", 6 * S, 0))
    assert busy(table, happened(), Scale(5 * S, 10 * S, S)) == {"w": S}
    assert busy(table.filter(pl.col("time_ns") < 4 * S), happened(), Scale(2 * S, 4 * S, S)) == {"w": 2 * S}


def test_in_hand_over_time() -> None:
    table = events(leased("delivered", S // 2, 0, 2), leased("acknowledged", 2 * S, 0, 2))
    scale = Scale(0, 3 * S, S)
    there = presence.intervals(rolled(table, scale), detailed(happened()), scale)
    check(
        consumers.over_time(in_flight(table, happened(), scale), there, scale),
        consumers.TIME_SCHEMA,
        [
            ("q", "w", 0, S // 2, S // 2, 1.0, 0, None),
            ("q", "w", S, S, S, 2.0, 0, None),
            ("q", "w", 2 * S, S, 0, 0.0, 2, 0.75 * S),
        ],
    )


def test_a_last_bucket_that_is_shorter_has_its_own_mean() -> None:
    table, scale = events(leased("delivered", 0, 0)), Scale(0, 9 * S + S // 2, S)
    there = presence.intervals(rolled(table, scale), detailed(happened()), scale)
    found = consumers.over_time(in_flight(table, happened(), scale), there, scale)
    assert found["in_hand"].to_list() == [1.0] * 10


def test_what_a_message_took_is_from_when_the_one_before_was_done_or_from_when_it_came() -> None:
    table = events(
        leased("delivered", 0, 0, 3), leased("acknowledged", S, 0), leased("acknowledged", 3 * S, 1),
        leased("lease_expired", 5 * S, 2), leased("delivered", 7 * S, 2, attempt=2), leased("nacked", 8 * S, 2),
    )  # fmt: skip
    found = in_flight(table, happened()).drop_nulls("log_bucket").sort("log_bucket")
    assert found.select("done", "worked_ns").rows() == [(2, 2.0 * S), (1, 2.0 * S)], "a lease that runs out is no work"
    row = _one(table, happened())
    assert abs(row["each_p50_ns"] / S - 1) < 0.005 and abs(row["each_p99_ns"] / S - 2) < 0.01


def test_consumers_are_busy_idle_or_did_nothing() -> None:
    table = events(delivered(2 * S, 0, 0), committed(4 * S, 0, 0), delivered(9 * S, 0, 1))
    started = [
        {"kind": "client_started", "time_ns": at, "client": client, "detail": json.dumps({"role": role})}
        for at, client, role in ((0, "c", "consumer"), (S, "bench", "worker"), (0, "p", "producer"))
    ]
    started.append({"kind": "client_started", "time_ns": 0, "client": "idle", "detail": json.dumps({"held_from": "g"})})
    assigned = {
        "kind": "partitions_assigned", "time_ns": S, "group": "g", "client": "c",
        "detail": json.dumps({"partitions": [["t", 0], ["t", 1]]}),
    }  # fmt: skip
    joined = {"kind": "member_joined", "time_ns": 2 * S, "group": "g", "client": "idle"}
    stopped = {"kind": "client_stopped", "time_ns": 6 * S, "client": "bench"}
    control = happened(*started, assigned, joined, stopped, _revoked(8 * S, 1))
    owners = owned(control, SCALE)
    found = rolled(table, SCALE)
    there = presence.intervals(found, detailed(control), SCALE)
    answer = consumers.consumers(found, detailed(control), there, owners, in_flight(table, control), SCALE)
    each = answer["each_p50_ns"][0]
    assert abs(each / (2 * S) - 1) < 0.005
    check(
        answer,
        consumers.SCHEMA,
        [
            ("g", "c", S, 10 * S, 9 * S, 9 * S, 2, 1, 3 * S, 6 * S, 1 / 3, 1 / 3, each, each, False),
            ("", "bench", S, 6 * S, 5 * S, None, 0, 0, 0, 5 * S, 0.0, 0.0, None, None, False),
            ("g", "idle", 2 * S, 10 * S, 8 * S, 0, 0, 0, 0, 8 * S, 0.0, 0.0, None, None, True),
        ],
    )


def test_who_comes_back_as_the_session_ends_was_there_twice() -> None:
    control = happened(*(_said(SCALE.to_ns, f"member_{what}", "c", "g") for what in ("joined", "left", "joined")))
    there = presence.intervals(rolled(events(), SCALE), detailed(control), SCALE)
    end = ("g", "c", SCALE.to_ns, SCALE.to_ns)
    assert there.rows() == [(*end, 1), (*end, None)]


def _said(at: int, kind: str, client: str, group: str = "", **detail: object) -> dict:
    return {"kind": kind, "time_ns": at, "client": client, "group": group, "detail": json.dumps(detail)}


def _one(table: pl.DataFrame, control: pl.DataFrame) -> dict:
    found, told = rolled(table, SCALE), detailed(control)
    there = presence.intervals(found, told, SCALE)
    owners = owned(control, SCALE)
    return consumers.consumers(found, told, there, owners, in_flight(table, control), SCALE).row(0, named=True)


def test_a_static_member_that_comes_back_begins_with_nothing_in_flight() -> None:
    """Nothing is revoked from it: what it held when it crashed is delivered to it again."""
    table = events(delivered(S, 0, 0, 5), delivered(5 * S, 0, 0, 5, attempt=2), committed(6 * S, 0, 0, 5))
    control = happened(
        _said(0, "client_started", "c", role="consumer"),
        _said(0, "member_joined", "c", "g", member_id="c-1"),
        _said(2 * S, "fault", "c", fault="crash"),
        _said(4 * S, "fault", "c", ended="crash"),
        _said(4 * S, "member_joined", "c", "g", member_id="c-2", replaces="c-1"),
        _said(9 * S, "member_left", "c", "g", member_id="c-1", heard_ns=S),
    )
    row = _one(table, control)
    assert (row["from_ns"], row["to_ns"], row["there_ns"]) == (0, 10 * S, 8 * S)
    assert (row["busy_ns"], row["idle_ns"]) == (2 * S, 6 * S)


def test_who_stops_and_starts_again_is_present_twice() -> None:
    table = events(delivered(S, 0, 0), committed(2 * S, 0, 0), delivered(8 * S, 0, 1), committed(9 * S, 0, 1))
    control = happened(
        _said(0, "member_joined", "c", "g", member_id="c-1"),
        _said(3 * S, "member_left", "c", "g", member_id="c-1"),
        _said(3 * S, "client_stopped", "c", role="consumer"),
        _said(7 * S, "client_started", "c", role="consumer"),
        _said(7 * S, "member_joined", "c", "g", member_id="c-2"),
    )
    row = _one(table, control)
    assert (row["there_ns"], row["busy_ns"], row["utilisation"]) == (6 * S, 2 * S, 1 / 3)
    worker = happened(
        _said(0, "client_started", "w", role="worker"),
        _said(4 * S, "fault", "w", fault="crash"),
        _said(8 * S, "fault", "w", ended="crash"),
    )
    lease = events(leased("delivered", 3 * S, 0), leased("lease_expired", 6 * S, 0))
    row = _one(lease, worker)
    assert (row["there_ns"], row["busy_ns"]) == (6 * S, S)  # the lease goes on, and nobody works


def test_who_leaves_and_was_not_seen_to_join_was_there_before_the_session() -> None:
    """As when a cluster is attached to: of a member that only loses a partition that is known, too."""
    control = happened(
        _said(3 * S, "partitions_revoked", "c", "g", member_id="c-1", partitions=[["t", 0]]),
        _said(4 * S, "member_left", "c", "g", member_id="c-1"),
        _said(5 * S, "member_left", "d", "g", member_id="d-1"),
        _said(6 * S, "member_left", "d", "g", member_id="d-2"),
        _said(7 * S, "member_joined", "c", "g", member_id="c-2"),
    )
    there = presence.intervals(rolled(events(), SCALE), detailed(control), SCALE)
    assert list(there.select("client", "from_ns", "to_ns").iter_rows()) == [
        ("c", 0, 4 * S),
        ("c", 7 * S, 10 * S),
        ("d", 0, 5 * S),
    ]


def test_leases_are_counted_by_how_they_ended() -> None:
    table = events(
        leased("delivered", 0, 0, 4), leased("lease_extended", S, 0, 2), leased("lease_extended", 2 * S, 0),
        leased("acknowledged", 2 * S, 0, 2), leased("lease_expired", 3 * S, 2), leased("released", 4 * S, 3),
        leased("delivered", 5 * S, 2, attempt=2), leased("nacked", 6 * S, 2, attempt=2),
        delivered(0, 0, 0), committed(S, 0, 0),
    )  # fmt: skip
    control = happened({"kind": "member_joined", "group": "g", "client": "c"})
    answer = queues.leases(rolled(table, SCALE), control, in_flight(table, control), SCALE)
    held = 2 * 2 * S + 3 * S + 4 * S + S
    check(answer, queues.LEASES_SCHEMA, [("q", "w", 5, 2, 1, 1, 1, 3, float(held), held / 5, held / (10 * S))])
