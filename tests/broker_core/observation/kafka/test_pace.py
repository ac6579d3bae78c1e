"""When a cluster is looked at again, in virtual time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.observation.kafka.pace import LONGEST_PERIODS, MOST_SHARE, Pace, Silence
from tests.long_form import examples

_NODES = st.frozensets(st.sampled_from([1, 2, 3]))
_LOOKS = st.lists(st.tuples(st.floats(0, 30), st.floats(0, 3), st.integers(0, 500), _NODES, st.booleans()), max_size=40)


@given(every_s=st.sampled_from([0.2, 1.0, 5.0]), looks=_LOOKS)
@settings(max_examples=examples(100), deadline=None)
def test_no_silence_of_more_than_five_periods_is_without_a_gap(every_s: float, looks: list[tuple]):
    """Whatever looks take and cost, and whoever answers: of the cluster, and of each node."""
    now_s = 100.0
    heard: dict[int | None, float] = dict.fromkeys((None, 1, 2, 3), 100.0)
    pace, told, was_cheap = Pace(every_s, now_s), [], True
    for known in (1, 2, 3):
        assert pace.heard(known, now_s) == []
    for took_s, cpu_s, requests, nodes, fails in looks:
        began_s = max(now_s, pace.due_s)
        waited_s, now_s = began_s - now_s, began_s + took_s
        if fails:
            continue
        for node in (None, *nodes):
            silent_s = now_s - heard[node]
            ended = pace.heard(node, now_s)
            assert bool(ended) is (silent_s > pace.limit_s)
            assert all(each == Silence(node, heard[node], now_s, True) for each in ended)
            heard[node] = now_s
        told += pace.silences(now_s)
        for node, since_s in heard.items():
            assert (now_s - since_s <= pace.limit_s) or any(each[:2] == (node, since_s) for each in told)
        cost_s = cpu_s + 0.001 * requests
        if was_cheap:  # the look before, after which it waited
            assert waited_s <= LONGEST_PERIODS * every_s + 1e-6
        was_cheap = took_s + 2 * cost_s <= every_s
        pace.looked(began_s, now_s, cpu_s, requests)
        assert pace.due_s - began_s >= min(cost_s / MOST_SHARE, 2 * cost_s) - 1e-6, "never more than half of the time"
        if 2 * took_s + 2 * cost_s <= pace.limit_s:
            assert pace.due_s + took_s - now_s <= pace.limit_s + 1e-6, "the next look ends within five periods"


def test_what_is_waited_for_does_not_count():
    """As a node was killed, a look took 4.5 s, and the next came 45 s later."""
    pace = Pace(1.0, 0.0)
    pace.looked(10.0, 14.5, cpu_s=0.02, requests=8)
    assert pace.due_s == 11.0
    pace.looked(20.0, 20.3, cpu_s=0.25, requests=30)
    assert 22.7 < pace.due_s < 22.9, "a tenth of the time"
    pace.looked(30.0, 30.1, cpu_s=0.01, requests=8, soon_s=0.25)
    assert pace.due_s == 30.25


def test_a_silence_is_told_as_it_becomes_too_long_and_as_it_ends():
    pace = Pace(1.0, 0.0)
    pace.heard(3, 0.0)
    pace.heard(None, 5.0)
    assert pace.silences(5.0) == []
    assert pace.silences(5.5) == [Silence(3, 0.0, 5.5, False)]
    assert pace.silences(6.5) == []
    assert pace.heard(3, 24.0) == [Silence(3, 0.0, 24.0, True)]
    assert pace.heard(3, 25.0) == []
