"""Pages and merges of messages, straight from a broker: nothing is missed, nothing comes twice, gaps are said."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.presenters.message_facts import message_facts, request_of
from app.presenters.messages_presenter import MessagesModel, message_key
from app.sessions.history.life import Place
from broker_core.broker import browsing
from broker_core.errors import BrokerError
from broker_core.messages import Message
from broker_core.operations.browse import BrowseMessages, BrowsePartition, FindOffsets
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.registry import frame
from broker_core.simulation.scenario import parse_scenario
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot
from tests.long_form import examples
from widgets.formats import Times

S = 1_000_000_000


def topic(partitions=3, **log):
    simulation = Simulation(parse_scenario("{title: T, about: t, until_s: 60}"))
    simulation.start()
    simulation.broker.topics.create(0, "t", partitions)
    return simulation


def publish(simulation, now_ns, partition, value, key=None, headers=()):
    simulation.broker.publishing.publish_batch(now_ns, "t", partition, [Message(value, key, headers)], client="test")


def page_of(simulation, first, end):
    return simulation.ask(BrowsePartition(topic="t", partition=0, first=first, end=end))


def bounds(simulation, until_ns=None):
    return [(at.start, at.end) for at in simulation.ask(FindOffsets(topic="t", until_ns=until_ns))]


def walk(simulation, cursors, *, back, text="", until_ns=None, ends=None, most=7):
    found: list = []
    looked = 0
    for _ in range(10_000):
        step = simulation.ask(
            BrowseMessages(
                topic="t", cursors=cursors, back=back, filter=text, until_ns=until_ns, ends=ends or {}, most=most
            )
        )
        found += step.rows
        looked += step.looked
        cursors = step.cursors
        if step.done:
            return found, looked
    raise AssertionError("a walk must come to its end")


SENT = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=60)


@settings(max_examples=examples(40))
@given(SENT, st.booleans(), st.integers(1, 9))
def test_a_merge_gives_every_message_once_in_order_of_time(sent, back, most):
    simulation, now_ns = topic(), 0
    for partition, gap in sent:
        now_ns += gap * S
        publish(simulation, now_ns, partition, b"x")
    ends = dict(enumerate(end for _, end in bounds(simulation)))
    cursors = ends if back else dict.fromkeys(range(3), 0)
    rows, looked = walk(simulation, cursors, back=back, most=most)
    assert looked == len(sent)
    assert sorted((row.partition, row.offset) for row in rows) == [(n, at) for n in range(3) for at in range(ends[n])]
    times = [row.published_ns for row in rows]
    assert times == sorted(times, reverse=back)
    for number in range(3):
        offsets = [row.offset for row in rows if row.partition == number]
        assert offsets == sorted(offsets, reverse=back)


def test_a_page_has_a_row_for_every_offset():
    simulation = topic(1)
    for number in range(250):
        publish(simulation, number, 0, b"%d" % number)
    page = page_of(simulation, 100, 200)
    assert (page.first, page.end) == (100, 200)
    assert [row.offset for row in page.rows] == list(range(100, 200))
    assert page.rows[7].preview == b"107"
    assert message_key(page.rows[7]) == Place("t", 0, 107)
    assert page_of(simulation, 240, 400).end == 250


def test_compacted_offsets_are_rows_that_say_so(monkeypatch):
    simulation = topic(1)
    for number in range(6):
        publish(simulation, number, 0, b"v", b"k")
    log = simulation.broker.logs.partition("t", 0)
    whole = log.read(0, max_messages=10)
    kept = [message for message in whole if message.offset in {0, 3}]
    monkeypatch.setattr(log, "read", lambda at, **_more: [one for one in kept if one.offset >= at])
    page = page_of(simulation, 0, 6)
    assert [row.gap for row in page.rows] == ["", "compacted", "compacted", "", "compacted", "compacted"]
    assert [message_key(row) is None for row in page.rows] == [False, True, True, False, True, True]
    page = page_of(simulation, 1, 3)
    assert [(row.offset, row.gap) for row in page.rows] == [(1, "compacted"), (2, "compacted")]
    for back in (False, True):
        rows, _ = walk(simulation, {0: 6 if back else 0}, back=back)
        assert [row.offset for row in rows] == ([3, 0] if back else [0, 3])


def test_large_payloads_come_a_few_at_a_time_and_are_previewed():
    simulation = topic(1)
    for number in range(8):
        publish(simulation, number, 0, bytes([65 + number]) * 900_000)
    page = page_of(simulation, 0, 8)
    assert all(len(row.preview or b"") == browsing.PREVIEW_BYTES and row.size_bytes == 900_000 for row in page.rows)
    rows, looked = walk(simulation, {0: 8}, back=True)
    assert [row.offset for row in rows] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert looked == 8


def test_values_that_name_a_schema_are_shown_as_json():
    simulation = topic(1)
    text = 'syntax = "proto3"; message Order { string book = 1; repeated int32 copies = 2; }'
    known = simulation.broker.schemas.registry.register("orders", text, SchemaKind.PROTOBUF)
    publish(simulation, 1, 0, frame(known.id, b"\0\x0a\x04Emma\x12\x02\x01\x02"))
    publish(simulation, 2, 0, frame(known.id, b"\0\xff"))
    first, second = page_of(simulation, 0, 2).rows
    assert (first.preview, first.size_bytes) == (b'{"book":"Emma","copies":[1,2]}', 16)
    assert second.preview == frame(known.id, b"\0\xff"), "as it is, where it does not match"
    assert walk(simulation, {0: 2}, back=True)[0] == [second, first]
    present = simulation.ask(request_of(Place("t", 0, 0)))
    facts = message_facts(Place("t", 0, 0), Snapshot(3, 0), Times(), None, present)
    assert facts.payload == first.preview
    assert ("Schema", "PROTOBUF, id 1; shown as JSON") in facts.sections[0][1]


def test_in_the_past_nothing_is_seen_that_came_later():
    simulation = topic(2)
    for number in range(10):
        publish(simulation, number * S, number % 2, b"x")
    assert bounds(simulation, 4 * S) == [(0, 3), (0, 2)]
    rows, _ = walk(simulation, {0: 99, 1: 99}, back=True, until_ns=4 * S)
    assert [row.published_ns // S for row in rows] == [4, 3, 2, 1, 0]
    rows, _ = walk(simulation, {0: 99, 1: 99}, back=True, until_ns=4 * S, ends={0: 2})
    assert [row.published_ns // S for row in rows] == [3, 2, 1, 0], "events share the moment"


def test_a_time_leads_to_the_first_message_that_is_not_older():
    simulation = topic(1)
    for number in range(4):
        publish(simulation, number * S, 0, b"x")
    (at,) = simulation.ask(FindOffsets(topic="t", partition=0, from_ns=2 * S - 1))
    assert (at.partition, at.start, at.end, at.found) == (0, 0, 4, 2)


def test_the_broker_knows_every_field_of_the_panels_filter():
    shown = {(field.name, field.kind) for field in MessagesModel(Times()).fields}
    assert {(field.name, field.kind) for field in browsing.FIELDS} == shown


def test_a_filter_that_cannot_be_read_is_refused():
    with pytest.raises(BrokerError, match=r"the filter .* There is no field keyy here; did you mean key\?"):
        walk(topic(1), {0: 0}, back=False, text="keyy = 3")


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("needle", [3]),
        ("key = k1", [1]),
        ("value contains NEEDLE", [3]),
        ('header = "trace: 7"', [2]),
        ("~tombstone", [4]),
        ("size > 1 KiB", [3]),
        ("published >= 00:03 not ~tombstone", [3]),
    ],
)
def test_a_filter_looks_at_whole_messages(text, offsets):
    simulation = topic(1)
    publish(simulation, 0, 0, b"plain")
    publish(simulation, S, 0, b"plain", b"k1")
    publish(simulation, 2 * S, 0, b"plain", None, (("trace", b"7"),))
    publish(simulation, 3 * S, 0, b"x" * 3_000 + b" needle")
    publish(simulation, 4 * S, 0, None)
    rows, looked = walk(simulation, {0: 0}, back=False, text=text)
    assert [row.offset for row in rows] == offsets
    assert looked == 5
