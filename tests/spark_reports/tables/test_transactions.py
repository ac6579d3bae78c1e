"""Transactions, who waited for them, and what share groups have not finished."""

from __future__ import annotations

import json

from spark_reports.scale import Scale
from spark_reports.tables import queues, transactions
from spark_reports.tables.details import detailed, passed
from spark_reports.tables.schema import rows
from tests.spark_reports.page.tables_by_hand import findings
from tests.spark_reports.tables.rows import MS, S, delivered, events, happened, leased, published, rolled

SCALE = Scale(0, 10 * S, S)


def _told(at: int, kind: str, who: str, seq: int, cause: str = "", **detail: object) -> dict:
    detail = {"transactional_id": f"tx-{who}", "timeout_ms": 4_000, **detail}
    return {"seq": seq, "time_ns": at, "kind": kind, "client": who, "cause": cause, "detail": json.dumps(detail)}


def _ended(at: int, who: str, seq: int, cause: str, *markers: tuple[str, int, int]) -> dict:
    return _told(at, "transaction_ended", who, seq, cause, markers=markers)


BEGAN = "transaction_started"
CONTROL = happened(
    _told(S, BEGAN, "a", 10), _ended(2 * S, "a", 20, "committed", ("t", 0, 3)),
    _told(3 * S, BEGAN, "a", 30), _ended(4 * S, "a", 40, "aborted", ("t", 0, 6)),
    _told(3 * S, BEGAN, "b", 31), _ended(7 * S, "b", 70, "timed out", ("t", 0, 9)),
    _told(8 * S, BEGAN, "b", 80), _ended(9 * S, "b", 90, "b begins a new session"),
    _told(9 * S, BEGAN, "b", 91),
)  # fmt: skip


def test_transactions_by_how_they_ended() -> None:
    each = transactions.each(detailed(CONTROL), SCALE)
    found = {row["transactional_id"]: row for row in transactions.transactions(each).iter_rows(named=True)}
    counts = ("committed", "aborted", "timed_out", "fenced", "open", "mean_open_ns", "longest_open_ns", "timeout_ns")
    assert [found["tx-a"][name] for name in counts] == [1, 1, 0, 0, 0, S, S, 4 * S]
    assert [found["tx-b"][name] for name in counts] == [0, 0, 1, 1, 1, 2 * S, 4 * S, 4 * S]
    longest = transactions.transaction_list(each).row(0, named=True)
    assert (longest["outcome"], longest["open_ns"], longest["partitions"]) == ("timed out", 4 * S, 1)
    part = transactions.each(detailed(CONTROL), Scale(5 * S, 10 * S, S))
    assert part.height == 3, "those that were open in it"


def _waits(reached: int, last: int, *, other: int = 4, first: int = 4) -> list[tuple]:
    """b's transaction began at offset `first` at 3.5 s; the group `g` had read up to `reached`, at last at `last`."""
    log = (1, "t", 0, "", first, 3 * S + S // 2, 9, None, None)
    held = rows(transactions.HELD_SCHEMA, [
        tuple(2 if at == 0 else value for at, value in enumerate(log)),
        (2, "t", 0, "g", None, None, None, reached, last), (2, "t", 0, "other", None, None, None, other, S),
    ])  # fmt: skip
    told = detailed(CONTROL)
    read = rolled(events(delivered(0, 0, 0)), SCALE)
    found = transactions.waits(transactions.each(told, SCALE), held, read, passed(told), SCALE)
    columns = ("group", "transactional_id", "from_ns", "to_ns", "waited_ns", "messages")
    return found.select(columns).rows()


def test_who_had_read_all_before_an_open_transaction_waited_for_it() -> None:
    """Behind it lie 4 to 8, of which 6 is another one's marker."""
    waited = ("g", "tx-b", 5 * S, 7 * S, 2 * S, 4)
    assert _waits(4, 5 * S, other=1) == [waited]
    assert _waits(4, S, other=1) == [("g", "tx-b", 3 * S + S // 2, 7 * S, 7 * S // 2, 4)], "since it began"
    assert _waits(3, 5 * S, other=1, first=4) == [waited], "3 is a marker: nothing to read"
    assert _waits(2, 5 * S, other=1) == [], "it had messages before it"
    assert [row[0] for row in _waits(5, 5 * S)] == ["other"], "who reads on waits for none"


def test_a_transaction_that_hangs_is_the_reason_of_a_lag() -> None:
    wait = {"group": "g", "topic": "t", "partition": 0, "transactional_id": "tx-b", "client": "b",
            "outcome": "timed out", "from_ns": 10 * S, "to_ns": 22 * S, "waited_ns": 12 * S,
            "messages": 40}  # fmt: skip
    told = {one.section: one for one in findings(stable_waits=[wait])}
    assert told["transactions"].headline.replace("\u00a0", " ") == "The transaction tx-b held up g for 12 s"
    assert (told["transactions"].harm.delayed, told["transactions"].harm.message_s) == (40, 240.0)
    short = [one.section for one in findings(stable_waits=[wait | {"waited_ns": 900 * MS}])]
    assert "transactions" not in short


def test_a_share_group_in_one_row() -> None:
    """Acknowledged out of order, evicted and dead messages are done."""
    created = {"kind": "queue_created", "time_ns": 0, "topic": "t", "group": "s.t", "count": 1}
    share = {"group": "s.t", "topic": "t"}
    table = events(
        published(2 * S, 0, 10, 10),
        leased("delivered", 3 * S, 10, 6, **share), leased("acknowledged", 4 * S, 15, 1, **share),
        leased("acknowledged", 4 * S, 10, 2, **share), leased("released", 5 * S, 12, 1, **share),
        leased("evicted", 6 * S, 19, 1, **share), leased("dead_lettered", 7 * S, 13, 1, to_topic="d", **share),
        leased("delivered", 7 * S, 12, 1, **share | {"client": "v", "attempt": 2}),
    )  # fmt: skip
    told, found = detailed(happened(created)), rolled(table, SCALE)
    left = queues.queues(found, told, SCALE)
    assert (left["waiting"] + left["in_flight"]).to_list() == [0, 0, 10, 10, 7, 7, 6, 5, 5, 5]
    (row,) = queues.share_groups(found, told, left).iter_rows(named=True)
    assert row == {
        "group": "s.t", "topic": "t", "members": 2, "delivered": 7, "acknowledged": 3, "nacked": 0, "released": 1,
        "lease_expired": 0, "dead_lettered": 1, "evicted": 1, "most_attempts": 2, "max_unfinished": 10,
        "last_unfinished": 5,
    }  # fmt: skip
