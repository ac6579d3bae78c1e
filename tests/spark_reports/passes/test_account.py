"""The report folds as the window does, whether its events are folded one by one or put together, in one slice or in
many.
"""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from broker_core.events import FETCHED_AGAIN, MESSAGE_KINDS, Event, EventKind
from broker_core.recording.account import Account
from broker_core.recording.columns import batch_of
from broker_core.recording.ownership import Ownership
from broker_core.recording.verdicts import Order, as_json
from spark_reports.passes import fold
from spark_reports.passes.fold import FoldedEvents
from spark_reports.passes.series import MESSAGES, TEXTS, Series
from spark_reports.pipeline.session_data import SessionData
from spark_reports.scale import scale_of
from tests.broker_core.recording.test_fold import SCENARIOS, keyframes_of
from tests.long_form import some
from tests.spark_reports.tables.passes import InMemory
from tests.spark_reports.tables.rows import in_flight_time


def folded(found: pl.DataFrame, slices: int) -> tuple[FoldedEvents, InMemory]:
    messages = pl.col("kind").is_in([kind.value for kind in MESSAGE_KINDS])
    scale = scale_of(int(found["time_ns"].to_numpy().max()))
    data = InMemory(found.filter(messages), found.filter(~messages), scale)
    made = FoldedEvents(Series(), data.lost_in_flight, scale, keys=slices == 1)
    told = data._messages.select(*TEXTS, *MESSAGES, *(["key"] if slices == 1 else []))
    for part in found.iter_slices(-(-found.height // slices)):
        between = pl.col("seq").is_between(part["seq"][0], part["seq"][-1])
        made.add(told.filter(between), found.filter(~messages & between))
    made.end()
    return made, data


def table(found: list[Event]) -> pl.DataFrame:
    made = pl.from_arrow(batch_of(found))
    assert isinstance(made, pl.DataFrame)
    return made


@pytest.mark.parametrize("name", some(SCENARIOS))
@pytest.mark.parametrize("slices", [1, 7])
def test_what_is_put_together_has_the_account_of_each_event(name: str, slices: int) -> None:
    _, told = keyframes_of(name)
    account, order = Account(), Order()
    for event in told:
        account(event)
        order(event)
    made, data = folded(table(told), slices)
    whole = order if slices == 1 else None
    assert as_json(made.account, made.order, []) == as_json(account, whole, [])
    assert made.account.events < len(told)
    names = ("group", "client", "start_ns", "log_bucket")
    mine = in_flight_time(data._messages, data.lost_in_flight, data.scale)
    assert_frame_equal(made.in_flight_time.select(mine.columns).sort(names), mine.sort(names), rel_tol=1e-9)


@pytest.mark.spark
def test_spark_brings_each_event_of_a_session_of_many_slices_once(
    data: SessionData, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, events = data.folded_events, int(data.rollup["events"].sum()) + data.control.height
    monkeypatch.setattr(fold, "MOST_ROWS", 0)
    monkeypatch.setattr(fold, "_SLICE", events // 3)
    made = fold.fold_events(data._lazy_tables, events, Series(), data.lost_in_flight, data.scale)
    assert made.order is None and whole.order is not None
    assert made.broken.height == whole.broken.height == 0
    assert as_json(made.account, None, []) == as_json(whole.account, None, [])
    names = ("group", "client", "start_ns", "log_bucket")
    assert_frame_equal(
        made.in_flight_time.sort(names), whole.in_flight_time.sort(names), check_column_order=False, rel_tol=1e-9
    )


def read(seq: int, offset: int, kind: EventKind = EventKind.DELIVERED, **more: object) -> Event:
    group = "" if kind is EventKind.PUBLISHED else "g"
    fields = {"topic": "t", "partition": 0, "count": 1, "group": group, "client": "c", "member": group and "c", **more}
    attempt = 1 if kind is EventKind.DELIVERED else None
    return Event(seq, seq * 1_000, kind, offset=offset, published_ns=0, **{"attempt": attempt, **fields})  # type: ignore[arg-type]


def test_a_session_without_events_and_one_of_a_single_event_have_an_account() -> None:
    for told in ([], *([read(0, 0, kind)] for kind in EventKind)):
        found = table(told)
        messages = pl.col("kind").is_in([kind.value for kind in MESSAGE_KINDS])
        made = InMemory(found.filter(messages), found.filter(~messages), scale_of(1_000)).folded_events
        account = Account()
        for event in told:
            account(event)
        assert as_json(made.account, made.order, []) == as_json(account, Order(), []) and made.broken.is_empty()


def test_nobody_has_less_than_nothing_in_hand_where_time_goes_back() -> None:
    told = [read(0, 0), read(1, 0, EventKind.ACKNOWLEDGED)]
    made, _ = folded(table(told).with_columns(time_ns=pl.Series([2_000, 1_000])), 1)
    assert made.in_flight_time.select(pl.col("in_flight_message_ns", "leased_message_ns", "busy_ns").min()).row(0) == (
        0,
        0,
        0,
    )


def test_events_of_a_kind_that_is_not_known_are_passed_over_and_told() -> None:
    told = table([read(0, 0, EventKind.PUBLISHED), read(1, 0), read(2, 0, EventKind.ACKNOWLEDGED)])
    of_kind = [
        told[:1].with_columns(pl.lit(name).alias("kind"), seq=pl.lit(seq, pl.Int64))
        for seq, name in ((3, "x"), (4, "y"))
    ]
    data = InMemory(pl.concat([told, of_kind[0]]), of_kind[1], scale_of(10_000))
    assert data.folded_events.broken.is_empty() and data.folded_events.account.events == 3
    assert [note.partition(",")[0] for note in data.notes] == ["This version does not know events of the kind x"]


@pytest.mark.parametrize("slices", [1, 4])
def test_what_a_client_fetches_again_is_in_its_hand_once(slices: int) -> None:
    told = [read(0, 0, EventKind.PUBLISHED), read(1, 0), read(2, 0, cause=FETCHED_AGAIN, attempt=None)]
    made, _ = folded(table([*told, read(3, 0, EventKind.ACKNOWLEDGED)]), slices)
    assert made.in_flight_time.drop_nulls("start_ns")["in_flight_message_ns"].sum() == 2_000


def test_a_commit_before_its_delivery_is_not_put_behind_it() -> None:
    done = EventKind.ACKNOWLEDGED
    told = [read(at, at, EventKind.PUBLISHED) for at in range(6)]
    told += [read(6, 0), read(7, 0, done, count=4), read(8, 4), read(9, 4, done), read(10, 5)]
    made, _ = folded(table(told), 1)
    (unsound,) = made.account.unsound
    assert (unsound.committed, unsound.limit) == (4, 1)


def test_a_delivery_after_the_commit_of_its_message_is_not_put_before_it() -> None:
    told = [read(0, 0, EventKind.PUBLISHED), read(1, 0), read(2, 0, EventKind.ACKNOWLEDGED), read(3, 0)]
    made, _ = folded(table(told), 1)
    assert [(again.why, again.messages) for again in made.account.again] == [("acknowledged", 1)]


def test_a_key_out_of_order_is_found_and_one_of_many_partitions_is_looked_at() -> None:
    told = [read(at, at // 2, EventKind.PUBLISHED, partition=at % 2, key=b"k", count=1) for at in range(4)]
    late = [read(4 + at, offset, partition=part) for at, (offset, part) in enumerate([(0, 1), (0, 0), (1, 0), (1, 1)])]
    told += [read(each.seq, each.offset or 0, partition=each.partition) for each in late]
    born = {(0, 0): 0, (0, 1): 1_000, (1, 0): 2_000, (1, 1): 3_000}
    found = table(told).with_columns(
        published_ns=pl.struct("offset", "partition").map_elements(
            lambda at: born[at["offset"], at["partition"]], return_dtype=pl.Int64
        )
    )
    made, _ = folded(found, 1)
    assert made.order is not None and len(made.order.found) == 1
    assert "t/0 @0" in made.order.found[0].what


def test_a_key_whose_times_of_publishing_go_back_in_its_partition_is_looked_at() -> None:
    told = [read(at, at, EventKind.PUBLISHED, key=b"k") for at in range(2)] + [read(2, 0), read(3, 1)]
    born = pl.when(pl.col("offset") == 0).then(2_000).otherwise(1_000)
    made, _ = folded(table(told).with_columns(published_ns=born), 1)
    assert made.order is not None and len(made.order.found) == 1


def test_what_was_given_before_its_group_was_deleted_makes_no_later_commit_sound() -> None:
    done = EventKind.ACKNOWLEDGED
    told = [read(0, 0, EventKind.PUBLISHED, count=2), read(1, 0), read(2, 0, done)]
    told += [Event(3, 3_000, EventKind.GROUP_STATE, group="g", cause="Dead"), read(4, 0, done), read(5, 1)]
    account = Account()
    for event in told:
        account(event)
    made, _ = folded(table(told), 1)
    assert as_json(made.account, None, []) == as_json(account, None, [])
    assert account.unsound or account.again, "else no order of them is wrong"


@pytest.mark.parametrize("name", some(SCENARIOS, {"rolling-deploy", "first-session"}))
def test_the_first_and_last_deliveries_tell_who_read_when(name: str) -> None:
    _, told = keyframes_of(name)
    whole, few = Ownership(keeps_all=True), folded(table(told), 3)[0].owners
    for event in told:
        whole(event)
    assert list(few.all_gaps()) == list(whole.all_gaps())
    assert list(few.owned()) == list(whole.owned())


def test_how_long_a_reader_read_on_that_had_lost_its_partition_is_told_by_its_last_delivery() -> None:
    def moves(seq: int, kind: EventKind, client: str) -> Event:
        detail = {"member_id": client, "partitions": [["t", 0]]}
        return Event(seq, seq * 1_000, kind, group="g", client=client, detail=detail)

    told = [moves(0, EventKind.PARTITIONS_ASSIGNED, "c"), read(1, 0), moves(2, EventKind.PARTITIONS_REVOKED, "c")]
    told += [read(3, 1), read(4, 2), read(5, 3), moves(6, EventKind.PARTITIONS_ASSIGNED, "d")]
    owners = folded(table(told), 1)[0].owners
    ((_, gap),) = owners.all_gaps()
    assert (gap.lost_ns, gap.last_late_read_ns, gap.assigned_ns) == (2_000, 5_000, 6_000)
    ((_, first), *_) = owners.owned()
    assert (first.first_late_read_ns, first.last_late_read_ns) == (3_000, 5_000)
