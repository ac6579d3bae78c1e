"""Members come, go, crash and change their minds in any order: promise 14 holds at every moment."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from broker_core.errors import BrokerError, ErrorCode
from tests.broker_core.groups.group_setup import GROUP, Client, GroupSetup
from tests.broker_core.groups.ownership import Ownership
from tests.long_form import examples

FENCED = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
}


class GroupMachine(RuleBasedStateMachine):
    """Clients heartbeat once a second, so that whoever is alive is never late."""

    @initialize(assignor=st.sampled_from(["range", "roundrobin", "sticky", "cooperative-sticky"]))
    def begin(self, assignor: str) -> None:
        self.setup = GroupSetup()
        self.ownership = Ownership()
        self.setup.stream.attach(self.ownership)
        self.assignor = assignor
        self.clients: list[Client] = []
        self.stale: list[tuple[str, int]] = []
        self.committed: dict[int, int] = {}
        self.born = 0

    def _start(self, name: str, instance_id: str, topics: tuple[str, ...]) -> None:
        client = self.setup.member(name, *topics, assignor=self.assignor, instance_id=instance_id, on_owned=self._owns)
        self.clients.append(client)
        client.beat().join()

    def _owns(self, client: Client) -> None:
        for other in self.clients:
            if other is not client and other.alive:
                both = set(other.owned) & set(client.owned)
                assert not both, f"{client.client} and {other.client} both own {both}"

    def _living(self) -> list[Client]:
        return [client for client in self.clients if client.alive and client.settled and client.member_id]

    def _gone(self, client: Client) -> None:
        self.stale.append((client.member_id, client.generation))

    @rule(static=st.booleans(), topics=st.sampled_from([("commits",), ("commits", "issues"), ("issues",)]))
    def start(self, static: bool, topics: tuple[str, ...]) -> None:
        self.born += 1
        self._start(f"m{self.born}", f"rack-{self.born}" if static else "", topics)

    @precondition(lambda self: self._living())
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        client = data.draw(st.sampled_from(self._living()))
        self._gone(client)
        client.leave()

    @precondition(lambda self: self._living())
    @rule(data=st.data(), restart=st.booleans())
    def crash(self, data: st.DataObject, restart: bool) -> None:
        client = data.draw(st.sampled_from(self._living()))
        client.crash()
        if restart and client.instance_id:
            self._gone(client)
            self._start(client.client, client.instance_id, client.topics)

    @precondition(lambda self: self._living())
    @rule(data=st.data(), topics=st.sampled_from([("commits",), ("issues",)]))
    def change_subscription(self, data: st.DataObject, topics: tuple[str, ...]) -> None:
        client = data.draw(st.sampled_from(self._living()))
        client.topics = topics
        client.join()

    @rule(topic=st.sampled_from(["commits", "issues"]))
    def add_partition(self, topic: str) -> None:
        self.setup.partitions[topic] += 1
        self.setup.coordinator.topic_changed(self.setup.now_ns, topic)

    @rule(seconds=st.sampled_from([0.0, 0.001, 0.3, 1.0, 5.0, 12.0]))
    def wait(self, seconds: float) -> None:
        self.setup.run(seconds)

    @precondition(lambda self: self._living())
    @rule(data=st.data(), partition=st.integers(0, 1), offset=st.integers(0, 1_000))
    def commit(self, data: st.DataObject, partition: int, offset: int) -> None:
        client = data.draw(st.sampled_from(self._living()))
        old = self.committed.get(partition)
        try:
            advances = client.commit(offset, partition)
        except BrokerError as error:
            assert error.code in FENCED
            assert self.setup.state != "Stable"
            return
        assert advances == ([("commits", partition, old, offset)] if old is None or offset > old else [])
        self.committed[partition] = max(offset, old or 0)

    @precondition(lambda self: self.stale)
    @rule(data=st.data())
    def commit_from_the_grave(self, data: st.DataObject) -> None:
        member_id, generation = data.draw(st.sampled_from(self.stale))
        with pytest.raises(BrokerError) as caught:
            self.setup.coordinator.commit(0, GROUP, member_id, generation, {("commits", 0): 1_000})
        assert caught.value.code in FENCED

    @precondition(lambda self: self._living())
    @rule(data=st.data(), back=st.integers(1, 3))
    def commit_of_an_old_generation(self, data: st.DataObject, back: int) -> None:
        client = data.draw(st.sampled_from(self._living()))
        if client.generation < back:
            return
        with pytest.raises(BrokerError) as caught:
            self.setup.coordinator.commit(0, GROUP, client.member_id, client.generation - back, {("commits", 0): 1_000})
        assert caught.value.code in FENCED

    @rule()
    def come_to_rest(self) -> None:
        self.setup.run(60)
        alive = [client for client in self.clients if client.alive]
        assert self.setup.state == ("Stable" if alive else "Empty" if self.born else "Dead")
        wanted = {topic for client in alive for topic in client.topics}
        everything = {(topic, n) for topic in wanted for n in range(self.setup.partitions[topic])}
        assert sorted(each for client in alive for each in client.owned) == sorted(everything)
        assert self.ownership.owner == {each: client.client for client in alive for each in client.owned}

    @invariant()
    def what_is_committed_never_goes_back(self) -> None:
        for partition, offset in self.committed.items():
            assert self.setup.coordinator.committed(GROUP, "commits", partition) == offset

    @invariant()
    def nobody_shares_a_partition(self) -> None:
        if self.setup.state != "Dead":
            view = self.setup.coordinator.view(self.setup.now_ns, GROUP)
            owned = [each for member in view.members for each in member.partitions]
            assert len(owned) == len(set(owned))

    def teardown(self) -> None:
        if self.clients:
            self.come_to_rest()


TestGroupModel = pytest.mark.promise("14")(GroupMachine.TestCase)
TestGroupModel.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)


@pytest.mark.soak
def test_a_long_run_of_the_model():
    run_state_machine_as_test(
        GroupMachine, settings=settings(max_examples=3_000, stateful_step_count=60, deadline=None)
    )
