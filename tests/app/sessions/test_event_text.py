"""Events in words."""

import pytest

from app.presenters.lookups import event_facts
from app.sessions.event_text import KINDS, about, details, event_line
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.snapshots import Snapshot
from widgets.formats import Times


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            Event(
                1234,
                int(114.69 * NS_PER_S),
                EventKind.NACKED,
                "builds",
                0,
                4321,
                1,
                group="builds",
                client="builder-1",
                attempt=2,
                cause="poison",
            ),
            "#1,234 01:54.690 Nacked builds/0 at 4,321 builder-1 (attempt 2; poison)",
        ),
        (
            Event(
                *(7, NS_PER_S, EventKind.REBALANCE_COMPLETED, ""),
                group="mailers",
                generation=1,
                cause="mailer-1 joined",
                detail={"before": [], "after": [["mails", 0, "mailer-1"], ["mails", 1, "mailer-1"]], "started_ns": 0},
            ),
            "#7 00:01.000 Rebalance completed mailers (mailer-1 joined; generation 1; "
            "after mails/0 mailer-1, mails/1 mailer-1; started 00:00.000)",
        ),
        (Event(0, 0, EventKind.SESSION_STARTED), "#0 00:00.000 Session started"),
    ],
)
def test_an_event_is_one_line_in_the_words_of_the_window(event: Event, line: str) -> None:
    assert event_line(event) == line


def test_every_kind_of_event_has_its_line_in_the_table() -> None:
    assert set(KINDS) == set(EventKind)


def test_the_detail_of_an_event_is_told_in_words_with_units_and_moments() -> None:
    detail = {
        **{"transactional_id": "shop", "timeout_ms": 60_000, "committed": False, "heard_ns": NS_PER_S, "rack": ""},
        **{"aborted": [["pay", 0, 237, 2], ["pay", 1, 9, 1]], "markers": [["pay", 0, 254]]},
        **{"changes": [["pay", 1, None, 12]], "after": [["pay", 0, "pod-1"]], "positions": [7, 4]},
        "client_fault": {"effect": "bandwidth", "bytes_per_s": 2_048, "for_s": 1.5, "delay_ms": 0, "client": ""},
    }
    told = list(details(detail))
    assert {each.label: each.words for each in told} == {
        "transactional id": ["shop"],
        "timeout": ["1 min 00 s"],
        "committed": ["no"],
        "last heard": ["00:01.000"],
        "aborted": ["pay/0 at 237 to 238", "pay/1 at 9"],
        "markers": ["pay/0 at 254"],
        "changes": ["pay/1 none → 12"],
        "after": ["pay/0 pod-1"],
        "positions": ["7", "4"],
        "requests: effect": ["bandwidth"],
        "requests: bytes": ["2 KiB/s"],
        "requests: for": ["1.5 s"],
    }
    assert [each.time_ns for each in told if each.time_ns is not None] == [NS_PER_S]


def test_the_inspector_has_a_short_heading_and_a_row_for_each_partition() -> None:
    after = [["events", partition, "stranger-1"] for partition in range(60)]
    event = Event(
        *(7, NS_PER_S, EventKind.REBALANCE_COMPLETED, ""),
        group="mailers",
        cause="; ".join(f"mailer-{number} joined" for number in range(9)),
        detail={"after": after, "started_ns": 0},
    )
    facts = event_facts(event, Snapshot(0, 0), Times())
    assert len(facts.name) < 100 and facts.name.endswith("mailer-4 …"), "at the end of a word"
    (_nothing, _facts), (_title, rows) = facts.sections
    assert rows[:2] == (("After", "events/0 stranger-1"), ("", "events/1 stranger-1"))
    assert rows[-2:] == (("", "and 10 more"), ("Started", "00:00.000", "at:0"))


def test_where_a_message_went_is_told_in_the_language_of_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    german = {"{where} at {offset:,}": "{where} bei {offset:,}", "to {place}": "nach {place}"}
    monkeypatch.setattr("app.sessions.event_text.tr", lambda text, **values: german[text].format(**values))
    event = Event(*(1, 0, EventKind.DEAD_LETTERED, "t", 0, 7), to_topic="dlq", to_partition=0, to_offset=1_234)
    assert about(event) == "nach dlq/0 bei 1,234"
