"""The laws of the four assignors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.assignors import ASSIGNORS, assign, claims, lead
from broker_core.groups.protocol import MemberSubscription, decode_assignment, encode_subscription

TOPICS = ("a", "b", "c")


def subscriptions(*topics: str, names: str = "xyz") -> dict[str, MemberSubscription]:
    return {name: MemberSubscription(topics or ("a",)) for name in names}


def owning(plan, members, generation: int = 1):
    """The members as they would join again, with what `plan` gave them."""
    return {
        name: MemberSubscription(subscription.topics, owned=tuple(plan.get(name, ())), generation=generation)
        for name, subscription in members.items()
    }


@st.composite
def groups(draw, same_topics: bool = False):
    """Members with some topics each, claims that may contradict each other, and partition counts."""
    partitions = {topic: draw(st.integers(0, 9)) for topic in draw(st.sets(st.sampled_from(TOPICS), min_size=1))}
    common = tuple(draw(st.sets(st.sampled_from(TOPICS), min_size=1)))
    members = {}
    for number in range(draw(st.integers(1, 7))):
        topics = common if same_topics else tuple(draw(st.sets(st.sampled_from(TOPICS))))
        owned = draw(st.sets(st.tuples(st.sampled_from(TOPICS), st.integers(0, 9)), max_size=8))
        members[f"m{number}"] = MemberSubscription(
            topics, owned=tuple(sorted(owned)), generation=draw(st.integers(-1, 2))
        )
    return members, partitions


def check_whole(plan, members, partitions, *, withheld: bool = False):
    """One owner each, subscribed, and every wanted partition owned."""
    given_out = [each for owned in plan.values() for each in owned]
    assert len(given_out) == len(set(given_out))
    assert plan.keys() == members.keys()
    assert all(topic in members[name].topics for name, owned in plan.items() for topic, _ in owned)
    wanted = {topic for subscription in members.values() for topic in subscription.topics}
    everything = {(topic, number) for topic in wanted for number in range(partitions.get(topic, 0))}
    assert set(given_out) <= everything if withheld else set(given_out) == everything


@pytest.mark.promise("A2")
@pytest.mark.parametrize("name", ["range", "roundrobin", "sticky"])
@given(groups())
def test_every_wanted_partition_has_exactly_one_owner_that_wants_it(name, group):
    members, partitions = group
    check_whole(assign(name, members, partitions), members, partitions)


@given(groups())
def test_cooperative_gives_nobody_what_another_still_owns(group):
    members, partitions = group
    plan = assign("cooperative-sticky", members, partitions)
    check_whole(plan, members, partitions, withheld=True)
    claimed = claims(members, partitions)
    for name, owned in plan.items():
        assert all(set(claimed.get(each, [name])) == {name} for each in owned)


@given(groups())
def test_cooperative_rounds_take_nothing_back_and_soon_withhold_nothing(group):
    members, partitions = group
    rejoined = members
    for generation in range(3, 7):
        plan = assign("cooperative-sticky", rejoined, partitions)
        rejoined = owning(plan, members, generation)
    check_whole(plan, members, partitions)
    assert assign("cooperative-sticky", rejoined, partitions) == plan


@given(groups())
def test_sticky_is_as_even_as_the_subscriptions_allow(group):
    members, partitions = group
    plan = assign("sticky", members, partitions)
    for name, owned in plan.items():
        for topic in {topic for topic, _ in owned}:
            for other, subscription in members.items():
                if topic in subscription.topics:
                    assert len(plan[other]) + 1 >= len(owned), f"{other} could take {topic} from {name}"


@given(groups())
def test_sticky_moves_nothing_when_nothing_changed(group):
    members, partitions = group
    plan = assign("sticky", members, partitions)
    assert assign("sticky", owning(plan, members), partitions) == plan


@given(groups(same_topics=True), st.data())
def test_sticky_gives_only_to_a_newcomer(group, data):
    members, partitions = group
    plan = assign("sticky", members, partitions)
    wider = owning(plan, members) | {"new": MemberSubscription(next(iter(members.values())).topics)}
    after = assign("sticky", wider, partitions)
    for name in members:
        assert set(after[name]) <= set(plan[name])
    total = sum(map(len, after.values()))
    assert len(after["new"]) >= total // len(after)
    moved = sum(len(set(plan[name]) - set(after[name])) for name in members)
    assert moved == len(after["new"])


@given(groups(same_topics=True), st.data())
def test_sticky_moves_only_what_a_leaver_had(group, data):
    members, partitions = group
    if len(members) == 1:
        return
    plan = assign("sticky", members, partitions)
    gone = data.draw(st.sampled_from(sorted(members)))
    rest = {name: subscription for name, subscription in owning(plan, members).items() if name != gone}
    after = assign("sticky", rest, partitions)
    for name in rest:
        assert set(after[name]) >= set(plan[name])


@pytest.mark.promise("A2")
@given(groups(same_topics=True))
def test_sticky_moves_the_fewest_possible(group):
    """With equal subscriptions the optimum is known: everybody keeps its share, rounded up for as many as divide so."""
    members, partitions = group
    claimed = claims(members, partitions)
    had = {
        name: {each for each, owners in claimed.items() if owners == [name] and each[0] in members[name].topics}
        for name in members
    }
    plan = assign("sticky", members, partitions)
    each, more = divmod(sum(map(len, plan.values())), len(members))
    sizes = sorted((len(owned) for owned in had.values()), reverse=True)
    best = sum(min(size, each + (place < more)) for place, size in enumerate(sizes))
    assert sum(len(had[name] & set(plan[name])) for name in members) == best


@pytest.mark.promise("A2")
def test_range_gives_runs_of_each_topic_and_round_robin_takes_turns():
    members = subscriptions("a", "b", names="xy")
    assert assign("range", members, {"a": 3, "b": 3}) == {
        "x": [("a", 0), ("a", 1), ("b", 0), ("b", 1)],
        "y": [("a", 2), ("b", 2)],
    }
    assert assign("roundrobin", members, {"a": 3, "b": 3}) == {
        "x": [("a", 0), ("a", 2), ("b", 1)],
        "y": [("a", 1), ("b", 0), ("b", 2)],
    }


def test_static_members_are_ordered_by_their_instance_whatever_their_id():
    early = {"m-1": MemberSubscription(("a",), instance_id="b"), "m-2": MemberSubscription(("a",), instance_id="a")}
    late = {"m-9": MemberSubscription(("a",), instance_id="b"), "m-2": MemberSubscription(("a",), instance_id="a")}
    for members in (early, late):
        assert assign("range", members, {"a": 1})["m-2"] == [("a", 0)]


def test_a_claim_of_an_older_generation_loses_and_equal_claims_cancel_out():
    one = MemberSubscription(("a",), owned=(("a", 0), ("a", 1)), generation=3)
    two = MemberSubscription(("a",), owned=(("a", 0),), generation=2)
    three = MemberSubscription(("a",), owned=(("a", 1),), generation=3)
    assert claims({"x": two, "y": one, "z": three}, {"a": 2}) == {("a", 0): ["y"], ("a", 1): ["y", "z"]}


def test_cooperative_withholds_what_its_owner_no_longer_wants_until_it_has_given_it_up():
    leaving = MemberSubscription(("b",), owned=(("a", 0),), generation=1)
    members = {"x": leaving, "y": MemberSubscription(("a",))}
    assert assign("cooperative-sticky", members, {"a": 1, "b": 1}) == {"x": [("b", 0)], "y": []}
    assert assign("sticky", members, {"a": 1, "b": 1}) == {"x": [("b", 0)], "y": [("a", 0)]}


def test_an_unknown_assignor_is_refused():
    with pytest.raises(BrokerError, match="there is no assignor 'random'") as caught:
        assign("random", subscriptions(), {"a": 1})
    assert caught.value.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_leader_turns_metadata_into_assignments():
    data = encode_subscription(MemberSubscription(("a",)))
    sent = lead("range", [("m-1", "", data), ("m-2", "", data)], {"a": 3}.__getitem__)
    assert {name: decode_assignment(each).partitions for name, each in sent.items()} == {
        "m-1": (("a", 0), ("a", 1)),
        "m-2": (("a", 2),),
    }


SCRIPT = """
from broker_core.groups.assignors import ASSIGNORS, assign
from broker_core.groups.protocol import MemberSubscription
topics = [f"topic-{n}" for n in range(7)]
members = {
    f"m{n}": MemberSubscription(tuple(t for i, t in enumerate(topics) if (n + i) % 3), owned=((topics[n % 7], n %
    4),), generation=n % 2) for n in range(40)
}
members = {name: members[name] for name in set(members)}
for name in ASSIGNORS:
    print(name, sorted(assign(name, members, {t: 5 + len(t) for t in set(topics)}).items()))
"""


def test_the_plan_is_the_same_under_every_hash_seed_and_order_of_members():
    root = Path(__file__).parents[3]
    plans = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(plans) == 1 and plans.pop().count(b"\n") == len(ASSIGNORS)
