"""What is delivered again, fetched again, or for the first time: the law, and each case by its name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.deliveries import Deliveries, GivenPart
from broker_core.events import FETCHED_AGAIN
from resources.account import ACKNOWLEDGED, BESIDE, MEMBER_LEFT, MOVED

END = 12
OFFSET = st.integers(0, END)
MEMBER = st.sampled_from(["a-1", "b-2"])
STEPS = st.lists(
    st.tuples(st.just("give"), OFFSET, st.integers(1, END), MEMBER)
    | st.tuples(st.just("acknowledge"), OFFSET, st.just(0), st.just(""))
    | st.tuples(st.just("lose"), st.just(0), st.just(0), MEMBER),
    max_size=14,
)


@given(steps=STEPS, from_before=st.none() | OFFSET)
def test_each_offset_is_first_again_or_fetched_again_by_who_had_it_last(
    steps: list[tuple[str, int, int, str]], from_before: int | None
):
    deliveries = Deliveries.of_group(from_before)
    holder: dict[int, str] = {}
    given_back, acknowledged = set[int](), set(range(from_before or 0))
    done = from_before or 0
    for what, offset, count, member in steps:
        if what == "lose":
            deliveries.lose(member, MOVED)
            given_back |= {at for at, who in holder.items() if who == member}
            holder = {at: who for at, who in holder.items() if who != member}
        elif what == "acknowledge" and offset > done:
            deliveries.acknowledge(done, offset)
            handed = {at for at in range(done, offset) if at in holder or at in given_back}
            acknowledged, done = acknowledged | handed, offset
            holder = {at: who for at, who in holder.items() if at >= done}
            given_back = {at for at in given_back if at >= done}
        elif what == "give":
            expected = []
            for at in range(offset, offset + count):
                again = ACKNOWLEDGED if at in acknowledged else MOVED if at in given_back else ""
                beside = FETCHED_AGAIN if holder.get(at) == member else BESIDE
                expected.append(again or (beside if at in holder else ""))
                given_back.discard(at)
                if at < done:
                    acknowledged.add(at)
                else:
                    holder[at] = member
            parts = deliveries.give(offset, offset + count, member, member)
            assert [part.again for part in parts for _ in range(part.first, part.end)] == expected
            assert [part.first for part in parts] == [offset, *(part.end for part in parts[:-1])]


def test_what_a_paused_client_discards_it_fetches_again():
    deliveries = Deliveries()
    deliveries.give(0, 6, "a", "a-1")
    deliveries.acknowledge(0, 1)
    assert deliveries.give(1, 6, "a", "a-1") == [GivenPart(1, 6, FETCHED_AGAIN, "a")]


def test_what_moves_between_members_that_live_on_is_delivered_again():
    deliveries = Deliveries()
    deliveries.give(0, 6, "a", "a-1")
    assert deliveries.give(2, 4, "b", "b-2") == [GivenPart(2, 4, BESIDE, "a")], "nobody has lost it"
    deliveries.lose("a-1", MEMBER_LEFT)
    assert deliveries.give(0, 6, "c", "c-3") == [
        GivenPart(0, 2, MEMBER_LEFT, "a"),
        GivenPart(2, 4, BESIDE, "b"),
        GivenPart(4, 6, MEMBER_LEFT, "a"),
    ]


def test_what_a_member_gets_that_is_no_owner_any_more_is_given_back_at_once():
    deliveries = Deliveries()
    deliveries.give(0, 6, "a", "a-1", lost=MOVED)
    assert deliveries.give(0, 6, "b", "b-2") == [GivenPart(0, 6, MOVED, "a")]


def test_below_what_was_acknowledged_everything_is_delivered_again():
    deliveries = Deliveries.of_group(4)
    assert deliveries.give(2, 6, "a", "a-1") == [GivenPart(2, 4, ACKNOWLEDGED), GivenPart(4, 6)]
