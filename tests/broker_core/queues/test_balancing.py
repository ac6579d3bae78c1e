"""C6: who gets the next message of a queue, in round-robin, by weight, or the least loaded."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.lease import Lease
from broker_core.queues.waiting_acquires import POLICIES, Balance, Candidate, pick
from broker_core.replies import Reply
from tests.broker_core.clients.virtual_broker import VirtualBroker


def picks(policy: str, candidates: list[Candidate], count: int) -> list[str]:
    balance, names = Balance(), []
    for _ in range(count):
        name, balance = pick(policy, candidates, balance)
        names.append(name)
    return names


def test_round_robin_takes_turns_and_lets_newcomers_in():
    candidates = [Candidate("c"), Candidate("a"), Candidate("b")]
    assert picks("round-robin", candidates, 4) == ["a", "b", "c", "a"]
    assert pick("round-robin", [*candidates, Candidate("bb")], Balance("b"))[0] == "bb"
    assert pick("round-robin", [Candidate("a")], Balance("z"))[0] == "a"


def test_weights_are_shares_without_bursts():
    assert picks("weighted", [Candidate("a", 5), Candidate("b", 1), Candidate("c", 1)], 7) == [
        "a",
        "a",
        "b",
        "a",
        "c",
        "a",
        "a",
    ]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any), st.integers(1, 5))
def test_after_each_full_round_everybody_has_had_exactly_its_weight(weights, rounds):
    candidates = [Candidate(f"t{number}", weight) for number, weight in enumerate(weights)]
    had = Counter(picks("weighted", candidates, sum(weights) * rounds))
    assert had == {taker.name: taker.weight * rounds for taker in candidates if taker.weight}


def test_without_any_weight_the_takers_take_turns():
    assert picks("weighted", [Candidate("a", 0), Candidate("b", 0)], 3) == ["a", "b", "a"]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_least_loaded_never_picks_somebody_with_more(loads):
    candidates = [Candidate(f"t{number}", in_flight=load) for number, load in enumerate(loads)]
    name, _ = pick("least-loaded", candidates, Balance())
    assert loads[int(name[1:])] == min(loads)


def test_least_loaded_takes_turns_among_equals():
    candidates = [Candidate("a", in_flight=1), Candidate("b", in_flight=1), Candidate("c", in_flight=2)]
    assert picks("least-loaded", candidates, 3) == ["a", "b", "a"]


@pytest.mark.parametrize("policy", list(POLICIES))
def test_a_choice_leaves_its_memory_alone(policy):
    balance = Balance("a", {"a": 3})
    pick(policy, [Candidate("a"), Candidate("b")], balance)
    assert balance == Balance("a", {"a": 3})


# -- in a queue


def served(balancing: str, takes: list[tuple[str, int]], messages: int, *, holding: str = "") -> list[str]:
    """Who gets the messages, in order; `takes` are (holder, weight) of those who wait, `holding` has two already."""
    broker = VirtualBroker().broker
    broker.queues.create(0, "jobs", QueueConfig(balancing=balancing))  # type: ignore[arg-type]
    got: list[str] = []

    def again(holder: str, weight: int) -> None:
        def take(reply: Reply[list[Lease]]) -> None:
            got.extend(lease.holder for lease in reply.result())
            again(holder, weight)

        broker.queues.take(0, "jobs", holder, max_messages=5, deadline_ns=10**9, weight=weight).then(take)

    for _ in range(2 if holding else 0):
        broker.publishing.publish(0, "jobs", Message(b"x"), client="p")
        assert broker.queues.take(0, "jobs", holding).result()
    for holder, weight in takes:
        again(holder, weight)
    for _ in range(messages):
        broker.publishing.publish(0, "jobs", Message(b"x"), client="p")
    return got


@pytest.mark.promise("C6")
def test_c6_a_queue_gives_its_messages_to_those_who_wait_as_it_was_told():
    three = [("b", 1), ("a", 3), ("c", 0)]
    assert served("first-come", three, 4) == ["b", "a", "c", "b"]
    assert served("round-robin", three, 4) == ["a", "b", "c", "a"]
    assert Counter(served("weighted", three, 8)) == {"a": 6, "b": 2}
    assert served("least-loaded", three, 5, holding="a") == ["b", "c", "b", "c", "a"]


def test_c6_an_unknown_balancing_is_refused():
    with pytest.raises(BrokerError, match="must be one of first-come, round-robin, weighted, least-loaded"):
        QueueConfig(balancing="random")  # type: ignore[arg-type]


def test_c6_a_choice_that_had_nothing_to_give_is_not_remembered():
    virtual = VirtualBroker()
    virtual.broker.queues.create(0, "jobs", QueueConfig(balancing="round-robin"))
    replies = {name: virtual.broker.queues.take(0, "jobs", name, deadline_ns=10**12) for name in "ab"}
    virtual.broker.publishing.publish(
        0, "jobs", Message(b"x", ttl_ms=0), client="p"
    )  # it is too old when somebody looks
    virtual.broker.publishing.publish(0, "jobs", Message(b"y"), client="p")
    assert [name for name, reply in replies.items() if reply.done] == ["a"]
