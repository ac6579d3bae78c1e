"""Members that came over the network are members still after a restart of the broker, in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.groups.members import ConsumerHeartbeat, ConsumerHeartbeatResult
from broker_core.groups.offsets import OffsetStore
from tests.broker_core.groups.group_setup import GROUP, Client, GroupSetup

HOST = "/10.0.0.7"


class Remote(Client):
    """A classic member of another machine."""

    def raw_join(self, cause: str = "", **changes: object):
        return super().raw_join(cause, host=HOST, **changes)


def joined(setup: GroupSetup, *clients: Client) -> None:
    for client in clients:
        client.join()
    setup.run(3)
    assert setup.state == "Stable"


def restarted(store: OffsetStore, path: Path) -> GroupSetup:
    """A coordinator of a new process, which begins its time at 0."""
    store.flush()
    store.abandon()
    setup = GroupSetup(OffsetStore(path))
    setup.coordinator.restore(0)
    return setup


@pytest.mark.parametrize("lost", ["nothing", "the database"])
def test_classic_members_go_on_in_their_generation(tmp_path: Path, lost: str):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    setup = GroupSetup(store)
    members = [Remote(setup, name, ("commits",)) for name in ("one", "two")]
    joined(setup, *members)
    had = {client.member_id: client.owned for client in members}
    store.flush()
    if lost == "the database":
        for name in ("offsets.sqlite", "offsets.sqlite-wal", "offsets.sqlite-shm"):
            (tmp_path / name).unlink(missing_ok=True)
    setup = restarted(store, path)
    coordinator = setup.coordinator
    assert (setup.state, coordinator.history.started) == ("Stable", 0)
    view = coordinator.view(0, GROUP)
    assert {member.member_id: member.partitions for member in view.members} == had
    assert {key: member.host for key, member in coordinator.members(GROUP).items()} == dict.fromkeys(had, HOST)
    assert len(setup.kinds(EventKind.MEMBER_JOINED)) == len(setup.kinds(EventKind.PARTITIONS_ASSIGNED)) == 2
    for client in members:
        coordinator.heartbeat(0, GROUP, client.member_id, client.generation)
    coordinator.commit(0, GROUP, members[0].member_id, members[0].generation, {("commits", 0): 5})
    setup.run(9)
    coordinator.heartbeat(setup.now_ns, GROUP, members[0].member_id, members[0].generation)
    setup.run(2)
    assert coordinator.history.started == 1, "the other one has not come back in time"


def test_members_of_the_process_itself_end_with_it(tmp_path: Path):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    setup = GroupSetup(store)
    here, there = setup.member("here"), Remote(setup, "there", ("commits",))
    joined(setup, here, there)
    setup = restarted(store, path)
    assert (setup.state, list(setup.coordinator.clients(GROUP).values())) == ("Preparing rebalance", ["there"])
    with pytest.raises(BrokerError) as told:
        setup.coordinator.heartbeat(0, GROUP, there.member_id, there.generation)
    assert told.value.code is ErrorCode.REBALANCE_IN_PROGRESS


def test_who_has_left_is_not_kept(tmp_path: Path):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    setup = GroupSetup(store)
    member = Remote(setup, "one", ("commits",))
    joined(setup, member)
    setup.coordinator.leave(setup.now_ns, GROUP, member.member_id)
    setup = restarted(store, path)
    assert (setup.state, setup.coordinator.clients(GROUP)) == ("Empty", {})


def beat(setup: GroupSetup, name: str, epoch: int, **said: object) -> ConsumerHeartbeatResult:
    heartbeat = ConsumerHeartbeat(client_id=name, member_id=name, member_epoch=epoch, host=HOST, **said)  # type: ignore[arg-type]
    return setup.coordinator.consumer_heartbeat(setup.now_ns, GROUP, heartbeat)


def test_members_of_the_new_protocol_go_on_in_their_epoch_and_are_told_once_more(tmp_path: Path):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    setup = GroupSetup(store)
    epochs = {name: beat(setup, name, 0, topics=("commits",), owned=()).member_epoch for name in ("one", "two")}
    owned: dict[str, tuple[tuple[str, int], ...]] = {}
    for _ in range(4):
        for name, epoch in epochs.items():
            told = beat(setup, name, epoch, owned=owned.get(name, ()))
            epochs[name], owned[name] = told.member_epoch, told.assignment or owned.get(name, ())
    assert setup.state == "Stable" and {len(each) for each in owned.values()} == {3}
    setup = restarted(store, path)
    assert setup.state == "Stable"
    for name, epoch in epochs.items():
        first, second = beat(setup, name, epoch), beat(setup, name, epoch)
        assert (first.member_epoch, first.assignment, second.assignment) == (epoch, owned[name], None)
    assert setup.coordinator.history.started == 0


def test_a_group_that_was_reconciling_gets_a_new_epoch(tmp_path: Path):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    setup = GroupSetup(store)
    epoch = beat(setup, "one", 0, topics=("commits",), owned=()).member_epoch
    beat(setup, "two", 0, topics=("commits",), owned=())
    setup = restarted(store, path)
    assert setup.state == "Reconciling"
    assert beat(setup, "one", epoch).member_epoch >= epoch
