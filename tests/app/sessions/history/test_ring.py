"""The last events in memory: all of them up to the bound, found by number."""

from app.sessions.history.event_ring import CHUNK, EventRing
from broker_core.events import EventKind, EventStream


def filled(count, most=3 * CHUNK):
    stream, ring = EventStream(), EventRing(most)
    stream.attach(ring)
    for number in range(count):
        stream.emit(number * 10, EventKind.PUBLISHED, topic="t", partition=0, offset=number, count=1)
    return ring


def test_an_empty_ring_has_nothing():
    ring = EventRing()
    assert (ring.first_seq, ring.end_seq, ring.between(0, 10), list(ring.since(0))) == (0, 0, [], [])


def test_events_are_found_by_number_across_chunks():
    ring = filled(2 * CHUNK + 5)
    assert (ring.first_seq, ring.end_seq) == (0, 2 * CHUNK + 5)
    for first, end in ((0, 3), (CHUNK - 2, CHUNK + 2), (2 * CHUNK + 3, 2 * CHUNK + 50), (7, 7), (-5, 2)):
        assert [event.seq for event in ring.between(first, end)] == list(range(max(first, 0), min(end, ring.end_seq)))
    assert [event.seq for event in ring.since(2 * CHUNK + 1)] == list(range(2 * CHUNK + 1, 2 * CHUNK + 5))


def test_the_oldest_go_when_it_is_full_and_the_last_are_all_there():
    ring = filled(20 * CHUNK)
    assert ring.end_seq == 20 * CHUNK
    assert ring.end_seq - ring.first_seq >= 3 * CHUNK
    assert ring.end_seq - ring.first_seq <= 5 * CHUNK
    assert [event.seq for event in ring.since(0)] == list(range(ring.first_seq, ring.end_seq))
    assert ring.between(0, ring.first_seq) == []
