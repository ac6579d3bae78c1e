"""Consumer groups (KIP-848) in virtual time: members reconcile, nobody reads what another reads, all of it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.groups.assignors import lead
from broker_core.groups.joining import JoinRequest
from broker_core.groups.members import LEAVING, LEAVING_FOR_A_WHILE, ConsumerHeartbeat
from broker_core.groups.protocol import MemberSubscription, decode_assignment, encode_subscription
from broker_core.messages import TopicPartition
from tests.broker_core.groups.group_setup import GROUP, GroupSetup
from tests.long_form import examples

SESSION_S, INTERVAL_S = 45.0, 5.0


@dataclass
class Client:
    """A member as Kafka's own client is one: it gives up what it is told to before its next heartbeat."""

    setup: GroupSetup
    name: str
    topics: tuple[str, ...] = ("commits",)
    instance_id: str = ""
    assignor: str | None = None
    regex: str | None = None
    epoch: int = 0
    owned: tuple[TopicPartition, ...] = ()
    news: list[tuple[TopicPartition, ...]] = field(default_factory=list)

    def beat(self, epoch: int | None = None, **changes: object) -> None:
        joining = self.epoch == 0 and epoch is None
        said = {
            "client_id": self.name,
            "member_id": f"id-of-{self.name}",
            "member_epoch": self.epoch if epoch is None else epoch,
            "instance_id": self.instance_id,
            "rebalance_timeout_ms": 60_000 if joining else None,
            "topics": self.topics if joining else None,
            "topic_regex": self.regex if joining else None,
            "assignor": self.assignor if joining else None,
            "owned": self.owned,
            **changes,
        }
        result = self.setup.coordinator.consumer_heartbeat(self.setup.now_ns, GROUP, ConsumerHeartbeat(**said))  # type: ignore[arg-type]
        self.epoch = max(0, result.member_epoch)
        if result.assignment is not None:
            self.news.append(result.assignment)
            self.owned = result.assignment
        if epoch in {LEAVING, LEAVING_FOR_A_WHILE}:
            self.owned = ()


def settled(setup: GroupSetup, *clients: Client) -> None:
    """Everybody beats until nothing moves any more."""
    for _ in range(8):
        for client in clients:
            client.beat()
    assert setup.state == "Stable"


def numbers(client: Client) -> list[int]:
    return [number for _, number in client.owned]


def test_the_first_member_has_everything_at_once():
    setup = GroupSetup()
    one = Client(setup, "one")
    one.beat()
    assert (one.epoch, numbers(one), setup.state) == (1, [0, 1, 2, 3, 4, 5], "Stable")
    assert [event.kind for event in setup.events] == [
        EventKind.MEMBER_JOINED,
        EventKind.REBALANCE_STARTED,
        EventKind.GROUP_STATE,
        EventKind.PARTITIONS_ASSIGNED,
        EventKind.GROUP_STATE,
        EventKind.REBALANCE_COMPLETED,
    ]


def test_the_second_gets_what_the_first_has_given_up_and_no_more():
    setup = GroupSetup()
    one, two = Client(setup, "one"), Client(setup, "two")
    one.beat()
    two.beat()
    assert numbers(two) == [] and two.epoch == 2
    one.beat()  # told to give up three, still at its epoch
    assert numbers(one) == [0, 1, 2] and one.epoch == 1
    two.beat()
    assert numbers(two) == [], "the first still may read them"
    one.beat()  # they are given up
    assert one.epoch == 2
    two.beat()
    assert numbers(two) == [3, 4, 5] and setup.state == "Stable"
    view = setup.coordinator.view(setup.now_ns, GROUP)
    assert (view.assignor, view.generation, view.leader) == ("uniform", 2, "")


def test_the_same_assignment_is_told_once_and_again_to_who_asks_for_all():
    setup = GroupSetup()
    one = Client(setup, "one")
    one.beat()
    one.beat()
    assert len(one.news) == 1
    one.beat(topics=("commits",))
    assert len(one.news) == 2


def test_what_a_member_leaves_goes_to_the_others():
    setup = GroupSetup()
    one, two = Client(setup, "one"), Client(setup, "two")
    one.beat()
    settled(setup, one, two)
    one.beat(LEAVING)
    settled(setup, two)
    assert numbers(two) == [0, 1, 2, 3, 4, 5]
    two.beat(LEAVING)
    assert setup.state == "Empty"


def test_a_member_that_says_nothing_is_out_after_its_session():
    setup = GroupSetup()
    one, two = Client(setup, "one"), Client(setup, "two")
    one.beat()
    settled(setup, one, two)
    for _ in range(10):
        setup.run(INTERVAL_S)
        two.beat()
    (left,) = setup.kinds(EventKind.MEMBER_LEFT)
    assert left.client == "one" and "missed its heartbeats for 45.0 s" in left.cause
    settled(setup, two)
    assert numbers(two) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(BrokerError) as unknown:
        one.beat()
    assert unknown.value.code is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_does_not_give_up_is_out_after_its_rebalance_timeout():
    setup = GroupSetup(consumer_session_timeout_ms=300_000)
    one, two = Client(setup, "one"), Client(setup, "two")
    one.beat()
    two.beat()
    one.beat()
    for _ in range(13):
        setup.run(INTERVAL_S)
        two.beat()
        if setup.now_ns < 60 * 10**9:
            one.beat(owned=tuple(("commits", number) for number in range(6)))
    assert [event.client for event in setup.kinds(EventKind.MEMBER_LEFT)] == ["one"]
    assert "did not give up its partitions within 60.0 s" in setup.kinds(EventKind.MEMBER_LEFT)[0].cause
    settled(setup, two)
    assert numbers(two) == [0, 1, 2, 3, 4, 5]


def test_a_static_member_keeps_its_partitions_while_it_is_away():
    setup = GroupSetup()
    one, two = Client(setup, "one", instance_id="rack-1"), Client(setup, "two")
    one.beat()
    settled(setup, one, two)
    kept, generation = one.owned, setup.coordinator.view(0, GROUP).generation
    one.beat(LEAVING_FOR_A_WHILE)
    two.beat()
    back = Client(setup, "one again", instance_id="rack-1")
    back.beat()
    assert back.owned == kept
    assert setup.coordinator.view(0, GROUP).generation == generation, "nobody else has noticed"
    thief = Client(setup, "thief", instance_id="rack-1")
    with pytest.raises(BrokerError) as taken:
        thief.beat()
    assert taken.value.code is ErrorCode.UNRELEASED_INSTANCE_ID


def test_old_and_new_epochs_are_fenced_and_a_lost_answer_is_not():
    setup = GroupSetup()
    one, two = Client(setup, "one"), Client(setup, "two")
    one.beat()
    settled(setup, one, two)
    at = one.epoch
    one.beat(at - 1)  # the answer that told the new epoch was lost
    assert one.epoch == at
    for wrong in (at + 1, at + 7):
        with pytest.raises(BrokerError) as fenced:
            one.beat(wrong)
        assert fenced.value.code is ErrorCode.FENCED_MEMBER_EPOCH


def test_commits_go_by_the_members_epoch():
    setup = GroupSetup()
    one = Client(setup, "one")
    one.beat()
    setup.coordinator.commit(0, GROUP, "id-of-one", one.epoch, {("commits", 0): 5})
    with pytest.raises(BrokerError) as stale:
        setup.coordinator.commit(0, GROUP, "id-of-one", one.epoch + 1, {("commits", 0): 6})
    assert stale.value.code is ErrorCode.STALE_MEMBER_EPOCH


def test_a_pattern_takes_in_topics_as_they_come_and_go():
    setup = GroupSetup()
    one = Client(setup, "one", topics=(), regex="(commits|issues).*")
    one.beat()
    assert {topic for topic, _ in one.owned} == {"commits", "issues"}
    setup.partitions["commits-2"] = 2
    setup.coordinator.topic_changed(setup.now_ns, "commits-2")
    settled(setup, one)
    assert {topic for topic, _ in one.owned} == {"commits", "issues", "commits-2"}
    del setup.partitions["issues"]
    setup.coordinator.topic_changed(setup.now_ns, "issues")
    settled(setup, one)
    assert {topic for topic, _ in one.owned} == {"commits", "commits-2"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"assignor": "mine"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"topic_regex": "(a"}, ErrorCode.INVALID_REGULAR_EXPRESSION),
        ({"topics": None}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": -3}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], code: ErrorCode):
    with pytest.raises(BrokerError) as refused:
        Client(GroupSetup(), "one").beat(**changes)
    assert refused.value.code is code


def test_range_gives_neighbours_and_most_votes_decide():
    setup = GroupSetup()
    one, two, three = (Client(setup, name, ("commits", "issues"), assignor="range") for name in ("a", "b", "c"))
    three.assignor = "uniform"
    one.beat()
    settled(setup, one, two, three)
    assert setup.coordinator.view(0, GROUP).assignor == "range"
    assert one.owned == (("commits", 0), ("commits", 1), ("issues", 0))


# -- classic members in the same group


class Classic:
    """A cooperative member of the classic protocol, as clients are: it gives up what it is not given, and rejoins."""

    def __init__(self, setup: GroupSetup, name: str) -> None:
        self.setup, self.name, self.member_id, self.generation = setup, name, "", -1
        self.owned: tuple[TopicPartition, ...] = ()

    def join(self) -> None:
        metadata = encode_subscription(MemberSubscription(("commits",), owned=self.owned, generation=self.generation))
        joined = self.setup.coordinator.join(
            self.setup.now_ns,
            GROUP,
            JoinRequest(
                client_id=self.name,
                member_id=self.member_id,
                session_timeout_ms=45_000,
                rebalance_timeout_ms=60_000,
                protocol_type="consumer",
                protocols={"cooperative-sticky": metadata},
            ),
        )
        if not joined.done:
            self.setup.run(2)
        result = joined.result()
        self.member_id, self.generation = result.member_id, result.generation
        assignments = {}
        if result.leader == self.member_id:
            assignments = lead(result.protocol, result.members, lambda topic: self.setup.partitions[topic])
        synced = self.setup.coordinator.sync(
            self.setup.now_ns, GROUP, self.member_id, self.generation, assignments
        ).result()
        given = decode_assignment(synced.assignment).partitions
        lost = set(self.owned) - set(given)
        self.owned = given
        if lost:
            self.join()

    def beat(self) -> None:
        try:
            self.setup.coordinator.heartbeat(self.setup.now_ns, GROUP, self.member_id, self.generation)
        except BrokerError as error:
            if error.code not in {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION}:
                raise
            self.join()


def test_a_running_group_is_upgraded_and_downgraded_member_by_member():
    setup = GroupSetup()
    old = Classic(setup, "old")
    old.join()
    assert len(old.owned) == 6 and setup.coordinator.type(GROUP) == "classic"
    new = Client(setup, "new")
    new.beat()
    assert setup.coordinator.type(GROUP) == "consumer"
    for _ in range(6):
        old.beat()
        new.beat()
    assert (len(old.owned), len(new.owned), setup.state) == (3, 3, "Stable")
    assert not set(old.owned) & set(new.owned)
    setup.coordinator.commit(setup.now_ns, GROUP, old.member_id, old.generation, {old.owned[0]: 1})
    late = Classic(setup, "late")
    late.join()
    for _ in range(6):
        for member in (old, new, late):
            member.beat()
    assert sorted(len(each.owned) for each in (old, new, late)) == [2, 2, 2]
    new.beat(LEAVING)
    assert setup.coordinator.type(GROUP) == "classic"


@given(st.lists(st.sampled_from(["join", "leave", "beat", "beat", "beat", "grow"]), max_size=40), st.randoms())
@settings(max_examples=examples(60), deadline=None)
def test_two_never_read_the_same_whatever_happens(steps: list[str], chance: Random) -> None:
    setup = GroupSetup()
    clients: list[Client] = []
    for number, step in enumerate(steps):
        if step == "join" and len(clients) < 5:
            clients.append(Client(setup, f"c{number}"))
            clients[-1].beat()
        elif step == "leave" and clients:
            clients.pop(chance.randrange(len(clients))).beat(LEAVING)
        elif step == "grow" and setup.partitions["commits"] < 9:
            setup.partitions["commits"] += 1
            setup.coordinator.topic_changed(setup.now_ns, "commits")
        elif step == "beat" and clients:
            clients[chance.randrange(len(clients))].beat()
        read = [place for client in clients for place in client.owned]
        assert len(read) == len(set(read))
    if clients:
        settled(setup, *clients)
        read = [place for client in clients for place in client.owned]
        assert sorted(read) == [("commits", partition) for partition in range(setup.partitions["commits"])]
        counts = [len(client.owned) for client in clients]
        assert max(counts) - min(counts) <= 1


@pytest.mark.promise("39")
def test_promise_39_a_large_group_gathers_its_changes_and_then_everybody_reads():
    setup = GroupSetup()
    setup.partitions["commits"] = 400
    clients = [Client(setup, f"member-{number}") for number in range(150)]
    for client in clients[:100]:
        client.beat()
    generation = setup.coordinator.view(setup.now_ns, GROUP).generation
    assert generation == 100, "up to here each is assigned at once"
    for client in clients[100:]:
        client.beat()
        assert client.owned == ()
    assert setup.coordinator.view(setup.now_ns, GROUP).generation == generation
    setup.run(1.1)
    assert setup.coordinator.view(setup.now_ns, GROUP).generation == generation + 1
    settled(setup, *clients)
    assert sorted(place for client in clients for place in client.owned) == [("commits", n) for n in range(400)]
    assert {len(client.owned) for client in clients} == {2, 3}
    for client in clients[120:]:
        client.beat(LEAVING)
    setup.run(1.1)
    settled(setup, *clients[:120])
    assert sum(len(client.owned) for client in clients[:120]) == 400


def test_an_invalid_pattern_writes_nothing(capfd: pytest.CaptureFixture[str]):
    setup = GroupSetup()
    with pytest.raises(BrokerError, match="regular expression"):
        Client(setup, "one", regex="(a").beat()
    assert capfd.readouterr() == ("", "")
