"""The table of states: every pair, and every call in every state."""

from collections.abc import Callable
from itertools import product

import pytest

from broker_core.errors import BrokerError
from broker_core.groups.group import Group
from broker_core.groups.states import VALID_PREVIOUS, GroupState
from tests.broker_core.groups.group_setup import GROUP, Client, GroupSetup

ALLOWED = {
    ("Empty", "Preparing rebalance"),
    ("Preparing rebalance", "Completing rebalance"),
    ("Preparing rebalance", "Empty"),
    ("Completing rebalance", "Preparing rebalance"),
    ("Completing rebalance", "Stable"),
    ("Stable", "Preparing rebalance"),
    ("Empty", "Dead"),
    ("Empty", "Stable"),  # its members are those of before a restart
    # consumer groups
    ("Empty", "Reconciling"),
    ("Stable", "Reconciling"),
    ("Preparing rebalance", "Reconciling"),
    ("Completing rebalance", "Reconciling"),
    ("Reconciling", "Reconciling"),  # another member came: another generation
    ("Reconciling", "Stable"),
    ("Reconciling", "Empty"),
    ("Reconciling", "Preparing rebalance"),
    ("Stable", "Empty"),
}


@pytest.mark.parametrize(("old", "new"), list(product(GroupState, GroupState)))
def test_only_the_transitions_of_the_table_are_possible(old: GroupState, new: GroupState):
    group = Group(GROUP)
    group.state = old
    if (str(old), str(new)) in ALLOWED:
        assert group.move_to(new, 5) is old and group.state is new and group.state_since_ns == 5
    else:
        with pytest.raises(AssertionError, match="cannot be followed by"):
            group.move_to(new, 5)


@pytest.mark.promise("A3")
def test_the_words_are_those_of_the_window():
    assert set(VALID_PREVIOUS) == set(GroupState)
    assert {str(state) for state in GroupState} == {
        "Stable",
        "Preparing rebalance",
        "Completing rebalance",
        "Reconciling",
        "Empty",
        "Dead",
    }


def in_state(state: str) -> tuple[GroupSetup, Client]:
    """A setup whose group is in `state`, and a member of its last generation (gone, where nobody can be one)."""
    setup = GroupSetup()
    if state == "Dead":
        return setup, setup.member("indexer-1")
    client, other = setup.group_of(2)
    if state == "Empty":
        client.leave()
        other.leave()
    elif state == "Preparing rebalance":
        setup.member("indexer-3").join()
    elif state == "Completing rebalance":
        other.leave()
        reply = client.raw_join()
        client.generation = reply.result().generation
    assert setup.state == state
    return setup, client


def outcome(call: Callable[[], object]) -> str:
    try:
        result = call()
    except BrokerError as error:
        return error.code.name
    failure = getattr(result, "error", None)
    if isinstance(failure, BrokerError):
        return failure.code.name
    done = getattr(result, "done", True)
    return "ok" if done else "waits"


def join_for_issues(setup: GroupSetup, client: Client) -> object:
    client.topics = ("issues",)
    return client.raw_join()


def late_sync(setup: GroupSetup, client: Client) -> object:
    client.generation = 0
    return client.sync()


def add_a_partition(setup: GroupSetup, client: Client) -> None:
    setup.partitions["commits"] += 1
    setup.coordinator.topic_changed(setup.now_ns, "commits")


CALLS: dict[str, Callable[[GroupSetup, Client], object]] = {
    "join as a newcomer": lambda w, c: w.member("new").raw_join(),
    "join again": lambda w, c: c.raw_join(),
    "join with another subscription": join_for_issues,
    "sync": lambda w, c: c.sync(),
    "sync of an old generation": late_sync,
    "heartbeat": lambda w, c: w.coordinator.heartbeat(w.now_ns, GROUP, c.member_id, c.generation),
    "heartbeat of an old generation": lambda w, c: w.coordinator.heartbeat(w.now_ns, GROUP, c.member_id, 0),
    "poll": lambda w, c: w.coordinator.polled(w.now_ns, GROUP, c.member_id),
    "leave": lambda w, c: w.coordinator.leave(w.now_ns, GROUP, c.member_id),
    "commit": lambda w, c: c.commit(5),
    "commit of an old generation": lambda w, c: w.coordinator.commit(0, GROUP, c.member_id, 0, {("commits", 0): 1}),
    "commit by an admin": lambda w, c: w.coordinator.commit(0, GROUP, "", -1, {("commits", 0): 1}),
    "reset": lambda w, c: w.coordinator.reset(0, GROUP, [], "to the end"),
    "delete": lambda w, c: w.coordinator.delete(0, GROUP),
    "more partitions": add_a_partition,
    "view": lambda w, c: w.coordinator.view(0, GROUP),
}
REBALANCE, UNKNOWN, ILLEGAL = "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"
NON_EMPTY, NOT_FOUND = "NON_EMPTY_GROUP", "GROUP_ID_NOT_FOUND"
P, C, S, E = "Preparing rebalance", "Completing rebalance", "Stable", "Empty"

# call: (answer, state after) in Stable, Preparing, Completing, Empty, Dead
TABLE = {
    "join as a newcomer": [("waits", P), ("waits", P), ("waits", P), ("waits", P), ("waits", P)],
    "join again": [("waits", P), ("waits", P), ("ok", C), (UNKNOWN, E), ("waits", P)],
    "join with another subscription": [("waits", P), ("waits", P), ("ok", C), (UNKNOWN, E), ("waits", P)],
    "sync": [("ok", S), (REBALANCE, P), ("ok", S), (UNKNOWN, E), (UNKNOWN, "Dead")],
    "sync of an old generation": [(ILLEGAL, S), (ILLEGAL, P), (ILLEGAL, C), (UNKNOWN, E), (UNKNOWN, "Dead")],
    "heartbeat": [("ok", S), (REBALANCE, P), ("ok", C), (UNKNOWN, E), (UNKNOWN, "Dead")],
    "heartbeat of an old generation": [(ILLEGAL, S), (ILLEGAL, P), (ILLEGAL, C), (UNKNOWN, E), (UNKNOWN, "Dead")],
    "poll": [("ok", S), ("ok", P), ("ok", C), (UNKNOWN, E), (UNKNOWN, "Dead")],
    "leave": [("ok", P), ("ok", P), ("ok", E), (UNKNOWN, E), (UNKNOWN, "Dead")],
    "commit": [("ok", S), ("ok", P), (REBALANCE, C), (UNKNOWN, E), ("ok", E)],
    "commit of an old generation": [(ILLEGAL, S), (ILLEGAL, P), (ILLEGAL, C), (UNKNOWN, E), (UNKNOWN, "Dead")],
    "commit by an admin": [(NON_EMPTY, S), (NON_EMPTY, P), (NON_EMPTY, C), ("ok", E), ("ok", E)],
    "reset": [(NON_EMPTY, S), (NON_EMPTY, P), (NON_EMPTY, C), ("ok", E), (NOT_FOUND, "Dead")],
    "delete": [(NON_EMPTY, S), (NON_EMPTY, P), (NON_EMPTY, C), ("ok", "Dead"), (NOT_FOUND, "Dead")],
    "more partitions": [("ok", P), ("ok", P), ("ok", P), ("ok", E), ("ok", "Dead")],
    "view": [("ok", S), ("ok", P), ("ok", C), ("ok", E), (NOT_FOUND, "Dead")],
}
STATES = ["Stable", "Preparing rebalance", "Completing rebalance", "Empty", "Dead"]


def test_the_table_below_is_whole():
    assert TABLE.keys() == CALLS.keys() and all(len(row) == len(STATES) for row in TABLE.values())


@pytest.mark.promise("A3")
@pytest.mark.parametrize(("call", "state"), list(product(CALLS, STATES)))
def test_every_call_in_every_state(call: str, state: str):
    setup, client = in_state(state)
    expected = TABLE[call][STATES.index(state)]
    assert (outcome(lambda: CALLS[call](setup, client)), setup.state) == expected
