"""What was delivered to a reader more than once, told from the events alone."""

from collections import Counter
from functools import partial

from app.environment.paths import find_scenario
from app.sessions.history.event_ring import EventRing
from app.sessions.history.past import History
from app.sessions.history.redeliveries import redeliveries, redeliveries_of
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.recording.live_session import LiveSession
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario


def happens(*told):
    """Events, numbered and a second apart: (kind, reader, partition, offset, count, client, attempt, cause)."""
    for seq, (kind, group, partition, offset, count, client, attempt, cause) in enumerate(told):
        topic = "orders" if partition is not None else ""
        yield Event(
            seq,
            seq * NS_PER_S,
            kind,
            topic,
            partition,
            offset,
            count,
            client=client,
            group=group,
            attempt=attempt,
            cause=cause,
        )


def delivered(reader, offset, count, client, attempt=1, partition=0):
    return EventKind.DELIVERED, reader, partition, offset, count, client, attempt, ""


def short(found):
    return [
        (
            row.offset,
            row.messages,
            row.delivered.client,
            row.before and row.before.client,
            row.why and row.why.kind,
            row.times,
        )
        for row in found
    ]


def test_a_run_is_told_in_parts_where_they_came_back_for_different_reasons():
    found = redeliveries_of(
        happens(
            delivered("q", 0, 4, "anna"),
            (EventKind.NACKED, "q", 0, 1, 1, "anna", 1, "timeout"),
            (EventKind.LEASE_EXPIRED, "q", 0, 2, 2, "anna", 1, "lease expired"),
            delivered("q", 1, 3, "bert", 2),
            (EventKind.NACKED, "q", 0, 1, 3, "bert", 2, "no"),
            delivered("q", 1, 3, "carl", 3),
        )
    )
    assert short(found) == [
        (1, 1, "bert", "anna", EventKind.NACKED, 2),
        (2, 2, "bert", "anna", EventKind.LEASE_EXPIRED, 2),
        (1, 3, "carl", "bert", EventKind.NACKED, 3),
    ]


def test_a_group_is_told_of_its_rebalance_or_of_the_reset_only_where_it_lay_between():
    found = redeliveries_of(
        happens(
            delivered("g", 0, 5, "anna"),
            delivered("other", 0, 5, "dora"),
            (EventKind.REBALANCE_COMPLETED, "g", None, None, 0, "", None, "anna left"),
            delivered("g", 3, 2, "bert", 2),
            delivered("g", 4, 1, "bert", 2),
            (EventKind.OFFSETS_RESET, "g", None, None, 1, "", None, "earliest"),
            delivered("g", 0, 5, "bert", 2),
        )
    )
    assert short(found) == [
        (3, 2, "bert", "anna", EventKind.REBALANCE_COMPLETED, 2),
        (4, 1, "bert", "bert", None, 3),
        (0, 3, "bert", "anna", EventKind.OFFSETS_RESET, 2),
        (3, 1, "bert", "bert", EventKind.OFFSETS_RESET, 3),
        (4, 1, "bert", "bert", EventKind.OFFSETS_RESET, 4),
    ]


def test_a_delivery_whose_first_is_forgotten_is_told_without_it():
    assert short(redeliveries_of(happens(delivered("q", 7, 1, "anna", 3)))) == [(7, 1, "anna", None, None, 3)]


def test_memory_and_recording_tell_the_same_and_as_many_as_the_broker_counts(tmp_path, qtbot):
    path = find_scenario("first-session")
    scenario, text = load_scenario(path)
    whole, small = EventRing(), EventRing(1)
    live = LiveSession(scenario, text, folder=tmp_path / "one", find_file=DataFiles(path), sinks=(whole, small))
    live.simulation.loop.run_until(200 * NS_PER_S)
    assert live.recorder is not None and small.first_seq > 0
    live.recorder.flush()
    counted: dict = {}
    for ring, folder in ((whole, None), (small, tmp_path / "one")):
        for until_ns in (60 * NS_PER_S, 200 * NS_PER_S):
            history = History()
            history.attach(ring, folder)
            answers: list = []
            history.ask(partial(redeliveries, until_ns=until_ns), answers.append)
            qtbot.waitUntil(lambda answers=answers: bool(answers), timeout=20_000)
            history.close()
            counted.setdefault(until_ns, []).append(answers[0])
    for first, second in counted.values():
        assert first == second and first
        assert [row.delivered.time_ns for row in first] == sorted(
            (row.delivered.time_ns for row in first), reverse=True
        )
    rows = counted[200 * NS_PER_S][0]
    assert sum(row.messages for row in rows) == live.simulation.totals().redelivered
    assert {row.why.kind for row in rows if row.why} >= {EventKind.NACKED}
    # Each row agrees with a plain count of the deliveries of its first message.
    given: Counter = Counter()
    for event in whole.since(0):
        if event.kind is EventKind.DELIVERED:
            first_offset = event.offset or 0
            for offset in range(first_offset, first_offset + event.count):
                given[event.group, event.topic, event.partition, offset] += 1
    last = {
        (row.delivered.group, row.delivered.topic, row.delivered.partition, row.offset): row.times
        for row in reversed(rows)
    }
    assert all(given[place] == times for place, times in last.items())
    live.close(finished=False)
