"""Transactions in virtual time: who may do what in which state, time-outs, fencing, and what a restart finds."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.groups.offsets import OffsetAndMetadata
from broker_core.log.batch import ProducerStamp
from broker_core.log.producer_ids import MAX_EPOCH
from broker_core.queues.config import QueueConfig
from broker_core.transactions.states import TransactionState
from broker_core.transactions.transaction import Identity, PendingOffset, Place

from .world import World

FENCED = ErrorCode.PRODUCER_FENCED
WRONG_STATE = ErrorCode.INVALID_TXN_STATE


def refused(code: ErrorCode, action, *args, **more) -> None:
    with pytest.raises(BrokerError) as caught:
        action(*args, **more)
    assert caught.value.code is code


def state(world: World) -> TransactionState:
    return world.transactions.ids()["payments"].state


@pytest.mark.parametrize("durability", ["memory", "file", "fsync"])
@pytest.mark.parametrize("commits", [True, False])
def test_a_transaction_is_seen_whole_or_never(durability, commits):
    world = World(durability)
    identity = world.init()
    assert (identity, state(world)) == (Identity(0, 0), TransactionState.EMPTY)
    world.send(identity, 0, "a", "b")
    world.send(identity, 1, "c")
    assert state(world) is TransactionState.ONGOING
    assert (world.committed(0), world.committed(1)) == ([], [])
    (view,) = world.transactions.views()
    assert (view.transactional_id, view.client, view.started_ns) == ("payments", "shop", 0)
    assert world.end(identity, commits=commits) == identity
    assert state(world) is (TransactionState.COMPLETE_COMMIT if commits else TransactionState.COMPLETE_ABORT)
    assert (world.committed(0), world.committed(1)) == ((["a", "b"], ["c"]) if commits else ([], []))
    assert world.transactions.views() == ()
    assert world.told() == [("transaction_started", ""), ("transaction_ended", "committed" if commits else "aborted")]
    detail = world.events[-1].detail
    assert detail is not None
    assert sorted(detail["markers"]) == [["orders", 0, 2], ["orders", 1, 1]]
    world.send(identity, 0, "next")  # the same epoch goes on counting
    world.end(identity, commits=True)
    assert world.committed(0)[-1] == "next"


def test_with_fsync_nothing_is_done_before_the_decision_is_durable():
    world = World("fsync")
    identity = world.init()
    world.send(identity, 0, "a")
    ended = world.transactions.end(0, "payments", identity, commits=True)
    log = world.broker.logs.partition("orders", 0)
    assert (ended.done, state(world), log.end_offset) == (False, TransactionState.PREPARE_COMMIT, 1)
    refused(ErrorCode.CONCURRENT_TRANSACTIONS, world.transactions.end, 0, "payments", identity, commits=True)
    refused(ErrorCode.CONCURRENT_TRANSACTIONS, world.init)
    refused(WRONG_STATE, world.transactions.end, 0, "payments", identity, commits=False)
    world.sync()
    assert ended.result() == identity
    assert world.committed() == ["a"]


def test_each_state_takes_what_the_table_says():
    world = World()
    identity = world.init()
    add, end = world.transactions.add_partitions, world.transactions.end
    refused(WRONG_STATE, end, 0, "payments", identity, commits=True)
    refused(WRONG_STATE, end, 0, "payments", identity, commits=False)
    refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, add, 0, "nobody", identity, [Place("orders", 0)])
    refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, add, 0, "payments", Identity(9, 0), [Place("orders", 0)])
    refused(FENCED, add, 0, "payments", Identity(0, 7), [Place("orders", 0)])
    refused(ErrorCode.INVALID_REQUEST, world.init, "")
    refused(ErrorCode.INVALID_TRANSACTION_TIMEOUT, world.init, "payments", 0)
    refused(ErrorCode.INVALID_TRANSACTION_TIMEOUT, world.init, "payments", 900_001)
    world.send(identity, 0, "a")
    world.end(identity, commits=True)
    assert world.end(identity, commits=True) == identity  # its answer was lost
    refused(WRONG_STATE, end, 0, "payments", identity, commits=False)


def test_a_batch_is_taken_where_its_partition_belongs_to_the_transaction():
    world = World()
    identity = world.init()
    refused(WRONG_STATE, world.publish, identity, 0, ["a"])
    world.send(identity, 0, "a")
    refused(WRONG_STATE, world.publish, identity, 1, ["b"])
    refused(ErrorCode.INVALID_PRODUCER_EPOCH, world.publish, Identity(0, 5), 0, ["c"])
    refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, world.publish, Identity(77, 0), 0, ["d"])
    plain = ProducerStamp(0, 0, 1)
    refused(WRONG_STATE, world.transactions.check_append, plain, "orders", 0)  # outside of the transaction it has open
    world.end(identity, commits=True)
    refused(WRONG_STATE, world.publish, identity, 0, ["late"])
    assert world.committed() == ["a"]


def test_a_transaction_times_out():
    world = World()
    identity = world.init(timeout_ms=1_000)
    world.send(identity, 0, "a")
    world.run(999)
    assert state(world) is TransactionState.ONGOING
    world.run(1)
    assert state(world) is TransactionState.COMPLETE_ABORT
    assert world.told()[-1] == ("transaction_ended", "timed out")
    assert world.committed() == []
    refused(FENCED, world.transactions.end, world.now_ns, "payments", identity, commits=True)
    refused(ErrorCode.INVALID_PRODUCER_EPOCH, world.publish, identity, 0, ["late"])
    known = world.transactions.begin_session(world.now_ns, "payments", 1_000, client="shop", known=identity)
    again = known.result()  # it goes on with the epoch that its time-out has brought (KIP-588)
    world.send(again, 0, "b")
    world.end(again, commits=True)
    assert world.committed() == ["b"]


def test_a_second_producer_fences_the_first_and_aborts_what_it_has_open():
    world = World()
    first = world.init()
    world.send(first, 0, "a")
    second = world.init()
    assert second.producer_id == first.producer_id
    assert second.epoch > first.epoch
    assert world.told()[-1] == ("transaction_ended", "another producer came")
    refused(FENCED, world.transactions.end, 0, "payments", first, commits=True)
    refused(ErrorCode.INVALID_PRODUCER_EPOCH, world.publish, first, 0, ["late"])
    begin = world.transactions.begin_session
    refused(FENCED, begin, 0, "payments", 1_000, client="shop", known=first)
    world.send(second, 0, "b")
    world.end(second, commits=True)
    assert world.committed() == ["b"]


def test_epochs_that_run_out_give_another_producer_id():
    world = World()
    identity = world.init()
    world.transactions.ids()["payments"].epoch = MAX_EPOCH - 1
    last = Identity(identity.producer_id, MAX_EPOCH - 1)
    world.send(last, 0, "a")
    new = world.end(last, commits=True, bumps=True)
    assert new.producer_id != identity.producer_id
    assert new.epoch == 0
    assert world.end(last, commits=True, bumps=True) == new  # its answer was lost
    world.send(new, 0, "b")
    world.end(new, commits=True, bumps=True)
    assert world.committed() == ["a", "b"]


def test_with_kip_890_the_epoch_goes_up_with_each_transaction():
    world = World()
    first = world.init()
    world.send(first, 0, "a")
    second = world.end(first, commits=True, bumps=True)
    assert second == Identity(first.producer_id, first.epoch + 1)
    assert world.end(first, commits=True, bumps=True) == second
    refused(ErrorCode.INVALID_PRODUCER_EPOCH, world.publish, first, 0, ["late"])
    third = world.end(second, commits=False, bumps=True)  # nothing was begun, and nothing is left behind
    assert third.epoch == second.epoch + 1
    refused(WRONG_STATE, world.transactions.end, 0, "payments", third, commits=True, bumps=True)
    world.send(third, 0, "b")
    world.end(third, commits=True, bumps=True)
    assert world.committed() == ["a", "b"]


@pytest.mark.parametrize("commits", [True, False])
def test_offsets_wait_for_the_end(commits):
    world = World()
    identity = world.init()
    world.send(identity, 0, "a", "b")
    offset = PendingOffset("billing", "orders", 0, 2, "note")
    refused(WRONG_STATE, world.transactions.put_offsets, 0, "payments", identity, [offset])
    world.transactions.add_group(0, "payments", identity, "billing")
    world.transactions.put_offsets(0, "payments", identity, [offset])
    assert world.offsets.fetch("billing", "orders", 0) is None
    assert world.transactions.unstable_offsets("billing") == {("orders", 0)}
    world.end(identity, commits=commits)
    assert world.offsets.fetch("billing", "orders", 0) == (OffsetAndMetadata(2, "note") if commits else None)
    assert world.transactions.unstable_offsets("billing") == set()


def test_what_was_open_goes_on_after_a_restart_or_times_out():
    world = World()
    identity, other = world.init(timeout_ms=1_000), world.init("other", 60_000)
    world.send(identity, 0, "a")
    world.send(other, 1, "b", transactional_id="other")
    world.run(600)
    world.kill()
    assert {each.transactional_id for each in world.transactions.views()} == {"payments", "other"}
    world.send(other, 1, "c", transactional_id="other")
    world.run(400)  # of its second, 0.6 were over
    assert state(world) is TransactionState.COMPLETE_ABORT
    world.done(world.transactions.end(world.now_ns, "other", other, commits=True))
    assert (world.committed(0), world.committed(1)) == ([], ["b", "c"])


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("markers", [0, 1, 2])
def test_what_was_decided_is_completed_after_a_restart(commits, markers, monkeypatch):
    world = World()
    identity = world.init()
    world.send(identity, 0, "a")
    world.send(identity, 1, "b")
    world.transactions.add_group(0, "payments", identity, "billing")
    world.transactions.put_offsets(0, "payments", identity, [PendingOffset("billing", "orders", 0, 1)])
    left = [markers]

    def fails(*args, **more):
        if not left[0]:
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        left[0] -= 1
        return writes(*args, **more)

    ports = world.transactions._ports
    writes = ports.write_marker
    monkeypatch.setattr(ports, "write_marker", fails)
    monkeypatch.setattr(ports, "commit_offsets", fails)
    ended = world.transactions.end(0, "payments", identity, commits=commits)
    assert ended.done is (markers == 2 and not commits)
    world.kill()
    assert state(world) is (TransactionState.COMPLETE_COMMIT if commits else TransactionState.COMPLETE_ABORT)
    assert (world.committed(0), world.committed(1)) == ((["a"], ["b"]) if commits else ([], []))
    assert world.offsets.fetch("billing", "orders", 0) == (OffsetAndMetadata(1) if commits else None)
    assert [world.broker.logs.partition("orders", number).end_offset for number in range(2)] == [2, 2]
    world.send(identity, 0, "c")
    world.end(identity, commits=True)


def test_a_disk_that_refuses_is_asked_again(monkeypatch):
    world = World()
    identity = world.init()
    world.send(identity, 0, "a")
    ports = world.transactions._ports
    writes = ports.write_marker

    def fails(*_args, **_more):
        raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")

    monkeypatch.setattr(ports, "write_marker", fails)
    ended = world.transactions.end(0, "payments", identity, commits=True)
    world.run(2_000)
    assert not ended.done
    monkeypatch.setattr(ports, "write_marker", writes)
    world.run(500)
    assert ended.done
    assert world.committed() == ["a"]


def test_what_logs_have_open_and_nobody_knows_is_aborted():
    world = World()
    identity = world.init()
    world.send(identity, 0, "a")
    for name in world.files.listdir("transaction-state"):
        world.files.remove(f"transaction-state/{name}")
    world.kill()
    log = world.broker.logs.partition("orders", 0)
    assert (dict(log.open_transactions), log.last_stable_offset, world.committed()) == ({}, 2, [])


def test_ids_that_nobody_uses_are_forgotten():
    world = World()
    identity, _other = world.init(), world.init("other")
    world.send(identity, 0, "a")
    world.now_ns += 604_800_001 * 1_000_000
    world.transactions.expire(world.now_ns)
    assert list(world.transactions.ids()) == ["payments"]  # it has a transaction open
    world.kill()
    assert list(world.transactions.ids()) == ["payments"]


def test_a_topic_that_was_deleted_holds_up_no_transaction():
    world = World()
    identity = world.init()
    world.send(identity, 0, "a")
    world.broker.topics.delete(0, "orders")
    world.end(identity, commits=True)
    assert state(world) is TransactionState.COMPLETE_COMMIT


@pytest.mark.parametrize("priorities", [1, 3])
def test_a_subscription_gets_no_marker(priorities):
    world = World()
    queues, identity = world.broker.queues, world.init()
    queues.subscribe(0, "audit", "orders", QueueConfig(priorities=priorities), from_end=False)
    for name in "abc":
        world.send(identity, 0, name)
        world.end(identity, commits=name != "b")
    queue = queues.queue("audit")
    assert queue.ready == 3
    leases = queues.take(0, "audit", "worker", max_messages=10).result()
    assert [lease.message.value for lease in leases] == [b"a", b"b", b"c"]
    world.send(identity, 0, "d")
    world.end(identity, commits=True)
    assert (queue.ready, queue.in_flight) == (1, 3)
    assert not [event for event in world.events if event.kind is EventKind.DAMAGE]
