"""Hues and letters for good; times, counts and bytes in words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.presenters.owners import Owners
from app.sessions.collectors.hues import HueCollector
from broker_core.events import Event, EventKind
from resources.units import byte_size, per_second
from tests.app.presenters import made_up
from widgets.formats import Times, count, duration, plain_text, sentence, session_time

S = made_up.S


def test_an_owner_keeps_its_letter_whatever_comes_and_goes():
    owners = Owners()
    owners.update_all(made_up.living())
    before = {name: (owners.hue(name), owners.letter(name)) for name in ("indexer-1", "indexer-4", "builder-2")}
    owners.update_all(made_up.rebalancing())
    owners.update(("somebody-else",))
    owners.update_all(made_up.living())
    assert {name: (owners.hue(name), owners.letter(name)) for name in before} == before
    assert before["indexer-1"] == (0, "A")


def test_another_session_begins_with_the_first_letter():
    owners = Owners()
    owners.update(("somebody-else", "indexer-1"))
    owners.attach(HueCollector())
    owners.update_all(made_up.living())
    assert (owners.hue("indexer-1"), owners.letter("indexer-1")) == (0, "A")


def test_nobody_has_no_letter():
    owners = Owners()
    assert (owners.hue(""), owners.letter("")) == (-1, "")


@given(st.lists(st.text(min_size=1), unique=True, max_size=800))
def test_letters_are_never_shared(names):
    owners = Owners()
    assert len({owners.letter(name) for name in names}) == len(names)


def test_letters_go_on_after_z():
    owners = Owners()
    owners.update(str(number) for number in range(703))
    assert [owners.letter(str(number)) for number in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [(0, "00:00.000"), (61_234_999_999, "01:01.234"), (3_600 * S + 5, "1:00:00.000"), (-5, "00:00.000")],
)
def test_session_time(time_ns, text):
    assert session_time(time_ns) == text


@pytest.mark.parametrize(
    ("length_ns", "text"),
    [
        (0, "0 ms"), (500_000, "0.5 ms"), (850 * 10**6, "850 ms"), (1_200 * 10**6, "1.2 s"),
        (59_940 * 10**6, "59.9 s"), (59_950 * 10**6, "1 min 00 s"), (124_700 * 10**6, "2 min 05 s"),
        (185 * S, "3 min 05 s"), (7_800 * S, "2 h 10 min"), (-1, "0 ms"),
    ],
)  # fmt: skip
def test_duration(length_ns, text):
    assert duration(length_ns) == text


def test_counts_rates_and_bytes():
    assert (count(None), count(1_234_567)) == ("n/a", "1,234,567")
    assert (per_second(0), per_second(0.44), per_second(12.3), per_second(1250)) == ("0", "0.4", "12", "1,250")
    assert (byte_size(512), byte_size(3_480), byte_size(12 * 2**20)) == ("512 B", "3.40 KiB", "12 MiB")


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode()))
def test_any_payload_is_one_printable_line(data):
    text = plain_text(data, 80)
    assert text.isprintable()
    assert len(text) <= 80


def test_payloads_show_what_is_there():
    assert plain_text(None) == "null"
    assert plain_text(b"<b>&amp;</b>") == "<b>&amp;</b>"
    assert plain_text(b"a\nb\x00\xff") == "a\\nb\\x00\\xff"
    assert plain_text("h\u00e9 \u202e".encode()) == "h\u00e9 \\u202e"
    assert plain_text(b"x" * 100, 10) == "x" * 9 + "…"


def test_wall_time_is_said_once_it_is_known():
    times = Times()
    assert times.hint(S) == "Session time 00:01.000"
    assert times.hint(None) == ""
    times.wall_start = datetime(2026, 11, 21, 23, 59, 59, 500_000, UTC)
    assert times.hint(S) == "Session time 00:01.000\nWall time 2026-11-22 00:00:00.500 UTC"


def test_hues_go_by_the_order_of_control_events_whoever_asks_first():
    def told(kind, detail=None, **fields):
        return Event(0, 0, kind, detail=detail, **fields)

    feed, owners = HueCollector(), Owners()
    owners.attach(feed)
    for event in (
        told(EventKind.QUEUE_CREATED, topic="builds"),
        told(EventKind.TOPIC_CREATED, topic="commits"),
        told(EventKind.CLIENT_STARTED, {"role": "producer"}, client="forge"),
        told(EventKind.CLIENT_STARTED, {"role": "worker"}, client="builder-1"),
        told(EventKind.MEMBER_JOINED, group="indexers", client="from-outside"),
        told(EventKind.MEMBER_JOINED, group="indexers", client="builder-1"),
    ):
        feed(event)
    assert [owners.letter(name) for name in ("nobody-knows", "from-outside", "builder-1")] == ["C", "B", "A"]
    assert [feed.flows.of(name) for name in ("indexers", "commits", "builds")] == [2, 1, 0]


@pytest.mark.parametrize(
    ("text", "names", "said"),
    [
        ("crashed indexer-1", (), "Crashed indexer-1."),
        ("indexer-1 has not crashed", (), "indexer-1 has not crashed."),
        ("orders holds 10 messages", {"orders"}, "orders holds 10 messages."),
        ("orders: is it full?", {"orders"}, "orders: is it full?"),
        ("can't be done now.", (), "Can't be done now."),
        ("", (), ""),
    ],
)
def test_a_sentence_begins_with_a_capital_but_no_name_gets_one(text: str, names: set[str], said: str) -> None:
    assert sentence(text, names) == said
