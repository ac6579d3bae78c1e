"""Given for the first time, fetched again, or delivered again: the law, and each case by its name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.fetches import Deliveries
from broker_core.events import reader_by_hand

END = 12
BY_HAND = reader_by_hand(7)
OFFSET = st.integers(0, END)
STEPS = st.lists(
    st.tuples(st.just("take"), OFFSET, st.integers(1, END), st.sampled_from(["a-1", "b-2", BY_HAND]))
    | st.tuples(st.just("acknowledge"), OFFSET, st.just(0), st.just(""))
    | st.tuples(st.just("leave"), st.just(0), st.just(0), st.sampled_from(["a-1", "b-2", BY_HAND])),
    max_size=14,
)


@given(steps=STEPS, from_before=st.none() | OFFSET)
def test_each_offset_is_first_again_or_fetched_again_by_who_had_it_last(
    steps: list[tuple[str, int, int, str]], from_before: int | None
):
    deliveries, gone = Deliveries(from_before), set[str]()
    last: dict[int, str] = {}
    done = from_before
    for what, offset, count, reader in steps:
        if what == "leave":
            gone.add(reader)
        elif what == "acknowledge":
            deliveries.acknowledge(offset)
            done = max(done or 0, offset)
        else:
            gone.discard(reader)
            expected: list[int | None] = []
            for at in range(offset, offset + count):
                before = last.get(at)
                lost = before in gone and before != reader and (done is not None or before != BY_HAND)
                expected.append(2 if at < (done or 0) or lost else 1 if before is None else None)
                last[at] = reader
            parts = deliveries.take(offset, offset + count, reader, gone.__contains__)
            assert [attempt for start, end, attempt in parts for _ in range(start, end)] == expected
            assert [start for start, _, _ in parts] == [offset, *(end for _, end, _ in parts[:-1])]


def test_what_a_paused_client_discards_it_fetches_again():
    deliveries = Deliveries(None)
    deliveries.take(0, 6, "a-1", lambda _reader: False)
    deliveries.acknowledge(1)
    assert deliveries.take(1, 6, "a-1", lambda _reader: False) == [(1, 6, None)]


def test_what_moves_between_members_that_live_on_is_fetched_again_and_of_one_that_left_delivered_again():
    deliveries = Deliveries(None)
    deliveries.take(0, 6, "a-1", lambda _reader: False)
    assert deliveries.take(2, 4, "b-2", lambda _reader: False) == [(2, 4, None)]
    assert deliveries.take(0, 6, "c-3", {"a-1"}.__contains__) == [(0, 2, 2), (2, 4, None), (4, 6, 2)]


def test_below_what_was_acknowledged_everything_is_delivered_again_even_after_it_went_back():
    deliveries = Deliveries(4)
    assert deliveries.take(2, 6, "a-1", lambda _reader: False) == [(2, 4, 2), (4, 6, 1)]


def test_a_reader_by_hand_that_commits_nothing_begins_anew_as_it_likes():
    deliveries = Deliveries(None)
    deliveries.take(0, 6, BY_HAND, lambda _reader: True)
    assert deliveries.take(0, 6, reader_by_hand(8), lambda _reader: True) == [(0, 6, None)]
