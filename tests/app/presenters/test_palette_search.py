"""What the palette finds beside names: moments, events, messages by their places, keys."""

import pytest

from app.presenters.palette_search import PaletteSearch
from app.sessions.history.event_ring import EventRing
from app.sessions.history.keys import PlacedKey, Published, published
from app.sessions.history.past import History
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.filters import Field, Fields, parse, quoted
from broker_core.snapshots import PartitionView, Snapshot, TopicView
from widgets.palette import CommandPalette, PaletteEntry, matching


def topic(name, *bounds):
    parts = tuple(PartitionView(number, start, end, 0) for number, (start, end) in enumerate(bounds))
    return TopicView(name, parts, sum(end - start for start, end in bounds), 0, None)


def key(name, count, at="orders", partition=0):
    return PlacedKey(at, partition, name.encode(), count, name.casefold())


SNAPSHOT = Snapshot(40 * NS_PER_S, 5_000, topics=(topic("orders", (0, 30), (10, 40)), topic("orders-2", (0, 25))))
PUBLISHED = Published((key("Anna", 9), key("Joanna", 12), key("1017", 3, "orders-2")), {("builds", 0): 20})


@pytest.fixture
def search(qapp):
    made = PaletteSearch(SNAPSHOT, 60 * NS_PER_S)
    made.know(PUBLISHED)
    return made


def targets(search, text):
    return [
        each.id for each in matching(search.found(text), text) if not each.id.startswith("filter:") or "key" in each.id
    ]


@pytest.mark.parametrize(
    "text", ["orders/1/17", "orders/1 at 17", "orders/1@17", "Orders 1 17", "message orders/1 offset 17"]
)
def test_a_message_is_found_by_its_id_however_it_is_written(search, text):
    assert targets(search, text)[0] == "browse:orders/1/17"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", {"orders/0/12", "orders/1/12", "orders-2/0/12", "builds/0/12"}),
        ("5", {"orders/0/5", "orders-2/0/5", "builds/0/5"}),  # the first ten of orders/1 are deleted
        ("1/12", {"orders/1/12"}),
        ("orders 28", {"orders/0/28", "orders/1/28"}),
        ("builds/0/20", set()),
        ("orders/7/1", set()),
        ("a b c 4", set()),
        ("99,999,999,999,999,999,999", set()),
    ],
)
def test_an_offset_is_found_in_every_partition_that_has_it(search, text, expected):
    found = {each for each in targets(search, text) if each.startswith("browse:")}
    assert found == {f"browse:{each}" for each in expected}


def test_the_topic_that_is_named_goes_before_one_whose_name_begins_so(search):
    assert targets(search, "orders/0/12") == ["browse:orders/0/12", "browse:orders-2/0/12"]


def test_moments_of_the_session_and_events_are_found(search):
    assert targets(search, "00:31")[0] == f"moment:{31 * NS_PER_S}"
    assert targets(search, "31.5 s") == [f"moment:{31_500_000_000}"]
    assert targets(search, "01:01") == []
    assert targets(search, "#4,999") == ["event:4999"]
    assert targets(search, "#5000") == []


def test_keys_are_found_in_any_case_the_name_itself_first(search):
    found = matching(search.found("anna"), "anna")
    assert [each.title for each in found][:2] == ["Anna", "Joanna"]
    assert found[0].id == 'filter:orders/0/key = "Anna"'
    assert found[0].category == "Key in orders/0, messages: 9"


def test_without_what_was_published_names_are_still_found(qapp):
    assert targets(PaletteSearch(SNAPSHOT, NS_PER_S), "anna") == []


def test_the_payloads_are_offered_last_for_whatever_was_typed(search):
    found = matching([*search.found("anna"), PaletteEntry("x", "Annas", "View")], "anna")
    assert [each.title for each in found[:3]] == ["Anna", "Annas", "Joanna"]
    assert found[-2:] == [each for each in found if each.title.startswith("Search the messages of")]


@pytest.mark.parametrize("text", ['a "b" c', "back\\slash", "~dlq", "key = 1"])
def test_any_text_is_a_value_of_the_filter_language(text):
    wanted = parse(f"key = {quoted(text)}", Fields((Field("key", "text", "The key."),)))
    test = wanted.tester({"key": lambda row: row}, lambda row: row)
    assert test(text) and not test(text + "x")


def test_a_hundred_thousand_messages_are_searched_by_their_keys(qtbot):
    """Every key is found, and no more entries are made than are listed."""
    ring = EventRing()
    for number in range(100_000):
        partition, offset = number % 4, number // 4
        ring(
            Event(
                number, number, EventKind.PUBLISHED, "orders", partition, offset, 1, key=f"customer-{number}".encode()
            )
        )
    history = History()
    history.attach(ring, None)
    answers: list = []
    history.ask(lambda past: published(past, 100_000), answers.append)
    qtbot.waitUntil(lambda: bool(answers), timeout=20_000)
    history.close()
    palette = CommandPalette()
    qtbot.addWidget(palette)
    search = PaletteSearch(Snapshot(0, 100_000), 0)
    palette.show_entries([], search.found)
    qtbot.keyClicks(palette.field, "customer-7654")
    assert palette.shown() == []
    search.know(answers[0])
    palette.search_again()
    shown = [each.title for each in palette.shown()]
    assert shown[0] == "customer-7654" and len(shown) == 11  # and those from 76540 to 76549
    palette.field.setText("3/24,999")
    assert [each.id for each in palette.shown()] == ["browse:orders/3/24999"]
