"""What each panel's model makes of a snapshot."""

from typing import Any

import msgspec
import pytest
from PySide6.QtCore import Qt

from app.environment.language import install_language
from app.presenters.assignments import AssignmentsModel
from app.presenters.dead_letter_facts import dead_letter_sections
from app.presenters.dead_letter_models import DeadLettersModel
from app.presenters.in_flight import InFlightModel
from app.presenters.inspector import inspector_facts
from app.presenters.offsets import OffsetsModel
from app.presenters.owners import Owners
from app.sessions.history.lag_trend import LagTrend, trend_of
from app.sessions.history.series import SessionSeries
from broker_core.events import Event, EventKind, EventStream
from broker_core.recording.ownership import Ownership
from tests.app.presenters import made_up
from widgets.formats import Times
from widgets.panels.cell_painter import ChipDelegate
from widgets.roles import ColumnLook, Role
from widgets.row_table import RowTable

S, MS = made_up.S, made_up.MS


@pytest.fixture
def owners():
    made = Owners()
    made.update_all(made_up.living())
    return made


def cell(model, row, title, role=Qt.ItemDataRole.DisplayRole):
    titles = [column.title for column in model.columns]
    return model.index(row, titles.index(title)).data(role)


def rows_where(model, **wanted):
    return [row for row in model.rows if all(getattr(row, name) == value for name, value in wanted.items())]


def test_a_column_says_how_it_is_drawn(qapp, owners):
    model = InFlightModel(owners, Times())
    looks = [model.headerData(at, Qt.Orientation.Horizontal, Role.LOOK) for at in range(model.columnCount())]
    assert looks[4] == ColumnLook("chip", 130, 2)
    for column, look in zip(model.columns, looks, strict=True):
        assert column.numeric == (look.kind in ("number", "countdown")), column.title
    table = RowTable(model)
    assert isinstance(table.itemDelegateForColumn(4), ChipDelegate)


def test_assignments_say_owner_since_and_state(qapp, owners):
    model = AssignmentsModel(owners, Times())
    ownership = Ownership()
    detail = {"partitions": [["commits", 2]], "member_id": "x"}
    ownership(Event(0, 3_120 * MS, EventKind.PARTITIONS_ASSIGNED, group="indexers", client="indexer-2", detail=detail))
    model.attach(ownership)
    model.set_snapshot(made_up.living())
    row = model.place_of(("indexers", "commits", 2))
    assert cell(model, row, "Owner") == "indexer-2"
    assert cell(model, row, "Owner", Role.BADGE) == "B"
    assert cell(model, row, "Owner", Role.HUE) == 1
    assert cell(model, row, "Since (session time)") == "00:03.120"
    assert cell(model, row, "State", Role.STATE) == "Stable"


def test_while_a_group_rebalances_nobody_owns(qapp, owners):
    model = AssignmentsModel(owners, Times())
    model.set_snapshot(made_up.rebalancing())
    row = model.place_of(("indexers", "commits", 0))
    assert cell(model, row, "Owner") == "nobody"
    assert cell(model, row, "Owner", Role.HUE) is None
    assert cell(model, row, "State", Role.STATE) == "Preparing rebalance"


def test_a_topic_that_no_group_reads_is_listed(qapp, owners):
    model = AssignmentsModel(owners, Times())
    snapshot = made_up.living()
    model.set_snapshot(msgspec.structs.replace(snapshot, groups=snapshot.groups[:1]))
    row = model.place_of(("", "alerts", 0))
    assert cell(model, row, "Group") == "no group"


def test_assignments_say_in_german_too_that_nobody_reads(qapp, owners):
    assert install_language(qapp, "de") == "de"
    try:
        model = AssignmentsModel(owners, Times())
        model.set_snapshot(msgspec.structs.replace(made_up.living(), groups=()))
        row = model.place_of(("", "alerts", 0))
        assert [model.index(row, at).data() for at in (2, 3)] == ["keine Gruppe", "niemand"]
    finally:
        install_language(qapp, "en")


def test_offsets_say_lag_in_messages_and_seconds_and_na(qapp, owners):
    model = OffsetsModel(owners, SessionSeries())
    model.set_snapshot(made_up.living())
    row = model.place_of(("indexers", "commits", 2))
    assert (cell(model, row, "End"), cell(model, row, "Committed"), cell(model, row, "Lag (messages)")) == (
        "902",
        "878",
        "24",
    )
    assert cell(model, row, "Lag (s)") == "0.8"
    none = model.place_of(("indexers", "commits", 5))
    shown = [cell(model, none, title) for title in ("Position", "Committed", "Lag (messages)", "Lag (s)", "Trend")]
    assert shown == ["n/a"] * 5
    assert cell(model, none, "Trend", Role.STATE) is None


@pytest.mark.parametrize("deliveries", [True, False])
def test_a_position_is_known_only_where_deliveries_are(qapp, owners, deliveries):
    series, snapshot = SessionSeries(deliveries=deliveries), made_up.living()
    model = OffsetsModel(owners, series)
    model.set_snapshot(snapshot)
    assert (cell(model, model.place_of(("indexers", "commits", 2)), "Position") != "n/a") is deliveries
    facts = inspector_facts(snapshot, "lane:commits/2", series)
    assert facts is not None
    assert ("Position" in [row[0] for _title, rows in facts.sections for row in rows]) is deliveries


def test_offsets_without_a_lag_sort_below_all_others(qapp, owners):
    model = OffsetsModel(owners, SessionSeries())
    model.set_snapshot(made_up.living())
    model.sort(8, Qt.SortOrder.AscendingOrder)
    assert cell(model, 0, "Lag (messages)") == "n/a"


def test_a_growing_lag_is_rising_and_warns(qapp, owners):
    model = OffsetsModel(owners, series := SessionSeries())
    stream = EventStream()
    stream.attach(series)
    stream.emit(0, EventKind.TOPIC_CREATED, topic="commits", count=6)
    for tick in range(10):
        place = {"topic": "commits", "partition": 3, "offset": 8 * tick}
        stream.emit(12 * S + tick * 300 * MS, EventKind.PUBLISHED, count=8, size_bytes=80, **place)
        if not tick:
            stream.emit(12 * S, EventKind.ACKNOWLEDGED, group="indexers", count=1, **place)
    snapshot = made_up.living(12 * S + 9 * 300 * MS)
    group = made_up.group(snapshot.time_ns, lag=79)
    model.set_snapshot(msgspec.structs.replace(snapshot, groups=(group, snapshot.groups[1])))
    row = model.place_of(("indexers", "commits", 3))
    assert cell(model, row, "Trend", Role.STATE) == "Rising"
    assert cell(model, row, "Lag (messages)", Role.WARN) == "lag_up"


def test_what_is_never_drained_sorts_behind_all_that_is(qapp, owners, monkeypatch):
    drains_s = {0: 70, 1: None, 2: 5, 3: 0}

    def trend(_rates, _time_ns, _group, _topic="", partition=0):
        return LagTrend("falling", -1.0, S, drains_s.get(partition))

    monkeypatch.setattr("app.presenters.offsets.lag_trend", trend)
    model = OffsetsModel(owners, SessionSeries())
    model.set_snapshot(msgspec.structs.replace(made_up.living(), groups=made_up.living().groups[:1]))
    model.sort([column.title for column in model.columns].index("Drained in"), Qt.SortOrder.AscendingOrder)
    assert [cell(model, row, "Partition") for row in range(3)] == ["3", "2", "0"]


def sawtooth(per_s, every_s, tick):
    """The lag of a reader that commits now and then, at a quarter of a second."""
    return 500 + per_s * (tick / 4 % every_s)


@pytest.mark.parametrize(
    ("lags", "word", "per_s"),
    [
        ([0, 5, 10, 15], "rising", 20.0),
        ([302 + 80 * tick / 68 for tick in range(41)], "rising", 4.7),  # 302 to 382 in 17 s
        ([9_000 - 3 * tick for tick in range(41)], "falling", -12.0),
        ([100, 60, 20, 0], "falling", -136.0),
        ([9_000 + 200 * (tick % 2) for tick in range(41)], "steady", 0.0),
        ([sawtooth(20, 1, tick) for tick in range(21)], "steady", 0.0),
        ([100, 101, 99, 100, 101], "steady", 0.0), ([0, 0, 1, 1], "steady", 0.0),
        ([90, 300, 800], "steady", 0.0), ([], "steady", 0.0),
    ],
)  # fmt: skip
def test_the_trend_is_a_slope_in_messages_a_second(lags, word, per_s):
    trend = trend_of([(tick * S // 4, lag) for tick, lag in enumerate(lags)])
    assert (trend.word, round(trend.per_s, 1)) == (word, per_s)
    assert trend.over_ns == max(0, len(lags) - 1) * S // 4


@pytest.mark.parametrize(("last", "drains_s"), [(60, 15), (0, 0)])
def test_what_falls_is_drained_at_the_slope(last, drains_s):
    assert trend_of([(tick * S, last + 4 * (10 - tick)) for tick in range(11)]).drains_s == drains_s


def test_leases_run_out_by_the_clock_alone(qapp, owners):
    model = InFlightModel(owners, Times())
    snapshot = made_up.living()
    model.set_snapshot(snapshot)
    assert model.whole == 7
    assert [row.deadline_ns for row in model.rows] == sorted(row.deadline_ns for row in model.rows)
    row = model.row_at(0)
    assert cell(model, 0, "Time left (s)") == f"{(row.deadline_ns - snapshot.time_ns) / 1e9:.1f}"
    told = []
    model.dataChanged.connect(lambda a, b: told.append((a.column(), b.column())))
    model.set_snapshot(msgspec.structs.replace(snapshot, time_ns=snapshot.time_ns + S))
    assert told == [(7, 7)]
    assert cell(model, 0, "Time left (s)") == f"{(row.deadline_ns - snapshot.time_ns - S) / 1e9:.1f}"
    model.set_snapshot(msgspec.structs.replace(snapshot, time_ns=snapshot.time_ns + 60 * S))
    assert cell(model, 0, "Time left (s)") == "0.0"
    assert cell(model, 0, "Time left (s)", Role.COUNTDOWN) == 0.0


def test_a_session_that_begins_as_the_one_before_was_shows_the_same_leases(qapp, owners):
    model = InFlightModel(owners, Times())
    for _ in range(2):
        model.set_snapshot(made_up.living())
        assert model.rowCount() == 7
        model.restart()
        assert model.rowCount() == 0


def test_a_last_attempt_warns(qapp, owners):
    model = InFlightModel(owners, Times())
    model.set_snapshot(made_up.living())
    row = next(place for place in range(7) if model.row_at(place).attempt == 3)
    assert cell(model, row, "Attempt") == "3 of 3"
    assert cell(model, row, "Attempt", Role.WARN) == "failure"


def test_dead_letters_are_counted_by_cause_and_filtered_by_it(qapp):
    model = DeadLettersModel(Times())
    heard: list[list[tuple[str, int]]] = []
    model.causes_changed.connect(heard.append)
    model.set_snapshot(made_up.living())
    assert sum(number for _cause, number in heard[-1]) == 23 == model.whole
    cause, number = heard[-1][0]
    model.set_cause(cause)
    assert model.rowCount() == number
    model.set_cause(None)
    assert model.rowCount() == 23
    model.set_snapshot(made_up.living())
    assert len(heard) == 1


def test_the_latest_dead_letter_is_on_top_and_payloads_are_escaped(qapp):
    model = DeadLettersModel(Times())
    model.set_snapshot(made_up.living())
    died = [row.dead_ns for row in model.rows]
    assert died == sorted(died, reverse=True)
    shown = {cell(model, row, "Payload") for row in range(5)}
    assert "<img src=x onerror=alert(1)><b>not bold</b> &amp; plain" in shown
    assert "null" in shown
    assert all(text.isprintable() for text in shown)


def test_details_tell_every_attempt(qapp):
    model = DeadLettersModel(Times())
    model.set_snapshot(made_up.living())
    letter = model.row_of(("builds", 1))
    assert letter is not None and letter.value == b"<img src=x onerror=alert(1)><b>not bold</b> &amp; plain"
    sections: Any = dead_letter_sections(letter, Times())
    (title, attempts, hints), (_facts, facts), (_headers, headers) = sections
    assert title == "Attempts (3)" and len(hints) == 3
    assert [told.partition("\n")[0] for _number, told in attempts] == [
        "nacked: build broke",
        "lease expired",
        "nacked: build broke",
    ]
    assert dict(facts)["Origin"] == "builds/1 at offset 901"
    assert dict(headers)["content-type"] == "application/json"
    assert model.row_of(("builds", 999)) is None
    letter = model.row_of(("builds", 3))
    assert letter is not None
    assert ("Size", "no value") in dead_letter_sections(letter, Times())[1][1]
