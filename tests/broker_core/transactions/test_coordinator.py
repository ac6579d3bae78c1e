"""Transactions in virtual time: who may do what in which state, time-outs, fencing, and what a restart finds."""

from unittest.mock import Mock, patch

import msgspec
import pytest

from broker_core.broker.group_offsets import Committer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, reader_by_hand
from broker_core.log.batch import ProducerStamp
from broker_core.log.producers import MAX_EPOCH
from broker_core.messages import Message, OffsetAndMetadata
from broker_core.queues.config import QueueConfig
from broker_core.replies import Reply
from broker_core.transactions.transaction import Identity, PendingOffset, StateLog, TransactionState

from .coordinator_setup import EPOCH_MS, CoordinatorSetup

FENCED = ErrorCode.PRODUCER_FENCED
WRONG_STATE = ErrorCode.INVALID_TXN_STATE


def refused(code: ErrorCode, action, *args, **more) -> None:
    with pytest.raises(BrokerError) as caught:
        action(*args, **more)
    assert caught.value.code is code


def state(setup: CoordinatorSetup) -> TransactionState:
    return setup.transactions.ids()["payments"].state


@pytest.mark.parametrize("durability", ["memory", "file", "fsync"])
@pytest.mark.parametrize("commits", [True, False])
def test_a_transaction_is_seen_whole_or_never(durability, commits):
    setup = CoordinatorSetup(durability)
    identity = setup.init()
    assert (identity, state(setup)) == (Identity(0, 0), TransactionState.EMPTY)
    setup.send(identity, 0, "a", "b")
    setup.send(identity, 1, "c")
    assert state(setup) is TransactionState.ONGOING
    assert (setup.committed(0), setup.committed(1)) == ([], [])
    (view,) = setup.transactions.views()
    assert (view.transactional_id, view.client, view.started_ns) == ("payments", "shop", 0)
    assert setup.end(identity, commits=commits) == identity
    assert state(setup) is (TransactionState.COMPLETE_COMMIT if commits else TransactionState.COMPLETE_ABORT)
    assert (setup.committed(0), setup.committed(1)) == ((["a", "b"], ["c"]) if commits else ([], []))
    assert setup.transactions.views() == ()
    assert setup.told() == [("transaction_started", ""), ("transaction_ended", "committed" if commits else "aborted")]
    detail = setup.events[-1].detail
    assert detail is not None
    assert sorted(detail["markers"]) == [["orders", 0, 2], ["orders", 1, 1]]
    setup.send(identity, 0, "next")  # the same epoch goes on counting
    setup.end(identity, commits=True)
    assert setup.committed(0)[-1] == "next"


def test_with_fsync_nothing_is_done_before_the_decision_is_durable():
    setup = CoordinatorSetup("fsync")
    identity = setup.init()
    setup.send(identity, 0, "a")
    ended = setup.transactions.end(0, "payments", identity, commits=True)
    log = setup.broker.logs.partition("orders", 0)
    assert (ended.done, state(setup), log.end_offset) == (False, TransactionState.PREPARE_COMMIT, 1)
    refused(ErrorCode.CONCURRENT_TRANSACTIONS, setup.transactions.end, 0, "payments", identity, commits=True)
    refused(ErrorCode.CONCURRENT_TRANSACTIONS, setup.init)
    refused(WRONG_STATE, setup.transactions.end, 0, "payments", identity, commits=False)
    setup.sync()
    assert ended.result() == identity
    assert setup.committed() == ["a"]


def test_each_state_takes_what_the_table_says():
    setup = CoordinatorSetup()
    identity = setup.init()
    add, end = setup.transactions.add_partitions, setup.transactions.end
    refused(WRONG_STATE, end, 0, "payments", identity, commits=True)
    refused(WRONG_STATE, end, 0, "payments", identity, commits=False)
    refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, add, 0, "nobody", identity, [("orders", 0)])
    refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, add, 0, "payments", Identity(9, 0), [("orders", 0)])
    refused(FENCED, add, 0, "payments", Identity(0, 7), [("orders", 0)])
    refused(ErrorCode.INVALID_REQUEST, setup.init, "")
    refused(ErrorCode.INVALID_TRANSACTION_TIMEOUT, setup.init, "payments", 0)
    refused(ErrorCode.INVALID_TRANSACTION_TIMEOUT, setup.init, "payments", 900_001)
    setup.send(identity, 0, "a")
    setup.end(identity, commits=True)
    assert setup.end(identity, commits=True) == identity  # its answer was lost
    refused(WRONG_STATE, end, 0, "payments", identity, commits=False)


def test_a_batch_is_taken_where_its_partition_belongs_to_the_transaction():
    setup = CoordinatorSetup()
    identity = setup.init()
    refused(WRONG_STATE, setup.publish, identity, 0, ["a"])
    setup.send(identity, 0, "a")
    refused(WRONG_STATE, setup.publish, identity, 1, ["b"])
    refused(ErrorCode.INVALID_PRODUCER_EPOCH, setup.publish, Identity(0, 5), 0, ["c"])
    refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, setup.publish, Identity(77, 0), 0, ["d"])
    plain = ProducerStamp(0, 0, 1)
    refused(WRONG_STATE, setup.transactions.check_append, plain, "orders", 0)  # outside of the transaction it has open
    setup.end(identity, commits=True)
    refused(WRONG_STATE, setup.publish, identity, 0, ["late"])
    assert setup.committed() == ["a"]


def test_a_transaction_times_out():
    setup = CoordinatorSetup()
    identity = setup.init(timeout_ms=1_000)
    setup.send(identity, 0, "a")
    setup.run(999)
    assert state(setup) is TransactionState.ONGOING
    setup.run(1)
    assert state(setup) is TransactionState.COMPLETE_ABORT
    assert setup.told()[-1] == ("transaction_ended", "timed out")
    assert setup.committed() == []
    refused(FENCED, setup.transactions.end, setup.now_ns, "payments", identity, commits=True)
    refused(ErrorCode.INVALID_PRODUCER_EPOCH, setup.publish, identity, 0, ["late"])
    known = setup.transactions.begin_session(setup.now_ns, "payments", 1_000, client="shop", previous=identity)
    again = known.result()  # it goes on with the epoch that its time-out has brought (KIP-588)
    setup.send(again, 0, "b")
    setup.end(again, commits=True)
    assert setup.committed() == ["b"]


def test_what_a_producer_knows_is_passed_over_where_nobody_has_its_transactional_id():
    """As in Kafka; @platformatic/kafka names producer 0 in epoch 0 when it begins."""
    setup = CoordinatorSetup()
    known = Identity(7, 3)
    begun = setup.transactions.begin_session(0, "payments", 1_000, client="shop", previous=known).result()
    assert begun.producer_id != known.producer_id and begun.epoch == 0
    refused(FENCED, setup.transactions.begin_session, 0, "payments", 1_000, client="shop", previous=known)


def test_a_second_producer_fences_the_first_and_aborts_what_it_has_open():
    setup = CoordinatorSetup()
    first = setup.init()
    setup.send(first, 0, "a")
    second = setup.init()
    assert second.producer_id == first.producer_id
    assert second.epoch > first.epoch
    assert setup.told()[-1] == ("transaction_ended", "another producer came")
    refused(FENCED, setup.transactions.end, 0, "payments", first, commits=True)
    refused(ErrorCode.INVALID_PRODUCER_EPOCH, setup.publish, first, 0, ["late"])
    begin = setup.transactions.begin_session
    refused(FENCED, begin, 0, "payments", 1_000, client="shop", previous=first)
    setup.send(second, 0, "b")
    setup.end(second, commits=True)
    assert setup.committed() == ["b"]


def test_epochs_that_run_out_give_another_producer_id():
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.transactions.ids()["payments"].epoch = MAX_EPOCH - 1
    last = Identity(identity.producer_id, MAX_EPOCH - 1)
    setup.send(last, 0, "a")
    new = setup.end(last, commits=True, bumps_epoch=True)
    assert new.producer_id != identity.producer_id
    assert new.epoch == 0
    assert setup.end(last, commits=True, bumps_epoch=True) == new  # its answer was lost
    setup.send(new, 0, "b")
    setup.end(new, commits=True, bumps_epoch=True)
    assert setup.committed() == ["a", "b"]


def test_with_kip_890_the_epoch_goes_up_with_each_transaction():
    setup = CoordinatorSetup()
    first = setup.init()
    setup.send(first, 0, "a")
    second = setup.end(first, commits=True, bumps_epoch=True)
    assert second == Identity(first.producer_id, first.epoch + 1)
    assert setup.end(first, commits=True, bumps_epoch=True) == second
    refused(ErrorCode.INVALID_PRODUCER_EPOCH, setup.publish, first, 0, ["late"])
    third = setup.end(second, commits=False, bumps_epoch=True)  # nothing was begun, and nothing is left behind
    assert third.epoch == second.epoch + 1
    refused(WRONG_STATE, setup.transactions.end, 0, "payments", third, commits=True, bumps_epoch=True)
    setup.send(third, 0, "b")
    setup.end(third, commits=True, bumps_epoch=True)
    assert setup.committed() == ["a", "b"]


def test_an_end_that_is_repeated_before_it_is_durable_is_told_to_come_again():
    setup = CoordinatorSetup("fsync")
    identity = setup.init()
    setup.send(identity, 0, "a")
    ended = setup.transactions.end(0, "payments", identity, commits=True, bumps_epoch=True)
    again = ErrorCode.CONCURRENT_TRANSACTIONS
    refused(again, setup.transactions.end, 0, "payments", identity, commits=True, bumps_epoch=True)
    setup.sync()
    assert setup.end(identity, commits=True, bumps_epoch=True) == ended.result()


@pytest.mark.parametrize("commits", [True, False])
def test_offsets_wait_for_the_end(commits):
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a", "b")
    offset = PendingOffset("billing", "orders", 0, 2, "note")
    refused(WRONG_STATE, setup.transactions.put_offsets, 0, "payments", identity, [offset])
    setup.transactions.add_group(0, "payments", identity, "billing")
    setup.transactions.put_offsets(0, "payments", identity, [offset])
    assert setup.offsets.fetch("billing", "orders", 0) is None
    assert setup.transactions.unstable_offsets("billing") == {("orders", 0)}
    setup.end(identity, commits=commits)
    assert setup.offsets.fetch("billing", "orders", 0) == (OffsetAndMetadata(2, "note") if commits else None)
    assert setup.transactions.unstable_offsets("billing") == set()


def test_what_was_open_goes_on_after_a_restart_or_times_out():
    setup = CoordinatorSetup()
    identity, other = setup.init(timeout_ms=1_000), setup.init("other", 60_000)
    setup.send(identity, 0, "a")
    setup.send(other, 1, "b", transactional_id="other")
    setup.run(600)
    setup.kill()
    assert {each.transactional_id for each in setup.transactions.views()} == {"payments", "other"}
    setup.send(other, 1, "c", transactional_id="other")
    setup.run(400)  # of its second, 0.6 were over
    assert state(setup) is TransactionState.COMPLETE_ABORT
    setup.done(setup.transactions.end(setup.now_ns, "other", other, commits=True))
    assert (setup.committed(0), setup.committed(1)) == ([], ["b", "c"])


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("markers", [0, 1, 2])
def test_what_was_decided_is_completed_after_a_restart(commits, markers, monkeypatch):
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a")
    setup.send(identity, 1, "b")
    setup.transactions.add_group(0, "payments", identity, "billing")
    setup.transactions.put_offsets(0, "payments", identity, [PendingOffset("billing", "orders", 0, 1)])
    left = [markers]

    def fails(*args, **more):
        if not left[0]:
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        left[0] -= 1
        return writes(*args, **more)

    ports = setup.transactions._ports
    writes = ports.write_marker
    monkeypatch.setattr(ports, "write_marker", fails)
    monkeypatch.setattr(ports, "commit_offsets", fails)
    ended = setup.transactions.end(0, "payments", identity, commits=commits)
    assert ended.done is (markers == 2 and not commits)
    setup.kill()
    assert state(setup) is (TransactionState.COMPLETE_COMMIT if commits else TransactionState.COMPLETE_ABORT)
    assert (setup.committed(0), setup.committed(1)) == ((["a"], ["b"]) if commits else ([], []))
    assert setup.offsets.fetch("billing", "orders", 0) == (OffsetAndMetadata(1) if commits else None)
    assert [setup.broker.logs.partition("orders", number).end_offset for number in range(2)] == [2, 2]
    setup.send(identity, 0, "c")
    setup.end(identity, commits=True)


class Undone:
    """Decided transactions whose offsets nobody writes before the process dies."""

    def __init__(self, monkeypatch, *offsets: tuple[str, int]) -> None:
        self.setup = CoordinatorSetup()
        self.setup.broker.publishing.publish_batch(0, "orders", 0, [Message(b"")] * 9, client="shop")
        self.commit(5)
        fails = BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        monkeypatch.setattr(self.setup.transactions._ports, "commit_offsets", Mock(side_effect=fails))
        for transactional_id, offset in offsets:
            identity = self.setup.init(transactional_id)
            self.setup.transactions.add_group(0, transactional_id, identity, "billing")
            pending = PendingOffset("billing", "orders", 0, offset)
            self.setup.transactions.put_offsets(0, transactional_id, identity, [pending])
            assert not self.setup.transactions.end(0, transactional_id, identity, commits=True).done

    def commit(self, offset: int) -> None:
        wanted = {("orders", 0): OffsetAndMetadata(offset)}
        committer = Committer.checked("shop", reader_by_hand("shop"))
        self.setup.broker.offsets.commit(0, "billing", committer, wanted, backwards=True)

    def after_restart(self) -> int:
        self.setup.kill()
        committed = self.setup.offsets.fetch("billing", "orders", 0)
        assert committed is not None
        return committed.offset


def test_a_lower_offset_that_was_decided_is_committed_after_a_restart(monkeypatch):
    assert Undone(monkeypatch, ("payments", 3)).after_restart() == 3


@pytest.mark.parametrize("since", [2, 9])
def test_an_offset_committed_since_the_decision_is_kept_after_a_restart(since, monkeypatch):
    undone = Undone(monkeypatch, ("payments", 3))
    undone.commit(since)
    assert undone.after_restart() == since


@pytest.mark.parametrize("first", ["a", "b"])
def test_after_a_restart_the_offset_decided_last_stands(first, monkeypatch):
    second = "b" if first == "a" else "a"
    assert Undone(monkeypatch, (first, 8), (second, 4)).after_restart() == 4


def test_a_disk_that_refuses_is_asked_again(monkeypatch):
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a")
    ports = setup.transactions._ports
    writes = ports.write_marker

    def fails(*_args, **_more):
        raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")

    monkeypatch.setattr(ports, "write_marker", fails)
    ended = setup.transactions.end(0, "payments", identity, commits=True)
    setup.run(2_000)
    assert not ended.done
    monkeypatch.setattr(ports, "write_marker", writes)
    setup.run(500)
    assert ended.done
    assert setup.committed() == ["a"]


def disk_full(what=StateLog, write="write"):
    """Nothing is written to the log of states, or by another call of `what`."""
    return patch.object(what, write, side_effect=BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full"))


def test_a_transaction_times_out_as_soon_as_the_disk_lets_it():
    setup = CoordinatorSetup()
    identity = setup.init(timeout_ms=1_000)
    setup.send(identity, 0, "a")
    with disk_full():
        setup.run(2_000)
    assert state(setup) is TransactionState.ONGOING
    setup.run(500)
    assert state(setup) is TransactionState.COMPLETE_ABORT
    assert setup.broker.logs.partition("orders", 0).last_stable_offset == 2


@pytest.mark.parametrize("durability", ["file", "fsync"])
def test_a_producer_hears_where_its_session_cannot_be_written_once_the_older_one_is_ended(durability):
    setup = CoordinatorSetup(durability)
    setup.send(setup.init(), 0, "a")
    with disk_full(setup.transactions._ports, "write_marker"):
        begun = setup.transactions.begin_session(0, "payments", 60_000, client="shop")
        setup.sync()
    with disk_full():
        setup.run(500)
        setup.sync()
    refused(ErrorCode.STORAGE_ERROR, begun.result)


def test_a_defect_while_a_transaction_ends_is_raised_and_not_the_error_of_a_reply():
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a")
    defect = patch.object(setup.transactions._ports, "ended", side_effect=AssertionError("a check"))
    with defect, pytest.raises(AssertionError, match="a check"):
        setup.run(60_000)


@pytest.mark.parametrize(("adds", "added"), [("add_partitions", [("orders", 0)]), ("add_group", "billing")])
def test_what_the_disk_refused_to_add_is_written_when_it_is_added_again(adds, added):
    setup = CoordinatorSetup()
    identity = setup.init()
    with disk_full():
        for _ in range(2):
            refused(ErrorCode.STORAGE_ERROR, getattr(setup.transactions, adds), 0, "payments", identity, added)
    assert getattr(setup.transactions, adds)(0, "payments", identity, added).done
    setup.kill()
    assert state(setup) is TransactionState.ONGOING


@pytest.mark.parametrize("at_once", [True, False])
def test_offsets_that_cannot_be_stored_are_stored_later(monkeypatch, at_once):
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a")
    setup.transactions.add_group(0, "payments", identity, "billing")
    setup.transactions.put_offsets(0, "payments", identity, [PendingOffset("billing", "orders", 0, 1, "")])
    ports = setup.transactions._ports
    with monkeypatch.context() as patch:
        refusal, refused_later = BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full"), Reply[None]()
        refused_later.fail(refusal)
        patch.setattr(ports, "commit_offsets", Mock(side_effect=refusal if at_once else [refused_later] * 5))
        ended = setup.transactions.end(0, "payments", identity, commits=True)
        setup.run(2_000)
        assert not ended.done
    setup.run(500)
    assert ended.done
    assert setup.offsets.fetch("billing", "orders", 0) == OffsetAndMetadata(1, "")


def test_what_logs_have_open_and_nobody_knows_is_aborted():
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a")
    for name in setup.files.listdir("transaction-state"):
        setup.files.remove(f"transaction-state/{name}")
    setup.kill()
    log = setup.broker.logs.partition("orders", 0)
    assert (dict(log.segments.open_transactions), log.last_stable_offset, setup.committed()) == ({}, 2, [])


def test_a_producer_is_told_to_come_again_where_the_end_of_the_older_one_cannot_be_synced():
    setup = CoordinatorSetup("fsync")
    setup.send(setup.init(), 0, "a")
    begun = setup.transactions.begin_session(0, "payments", 60_000, client="shop")
    setup.sync(failing="orders-0")
    refused(ErrorCode.CONCURRENT_TRANSACTIONS, begun.result)
    assert state(setup) is TransactionState.PREPARE_ABORT
    setup.kill()
    assert state(setup) is TransactionState.COMPLETE_ABORT


def test_offsets_that_the_disk_refused_are_not_committed():
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a", "b")
    setup.transactions.add_group(0, "payments", identity, "billing")
    setup.transactions.put_offsets(0, "payments", identity, [PendingOffset("billing", "orders", 0, 1)])
    with disk_full():
        second = [PendingOffset("billing", "orders", 0, 2)]
        refused(ErrorCode.STORAGE_ERROR, setup.transactions.put_offsets, 0, "payments", identity, second)
    setup.end(identity, commits=True)
    assert setup.offsets.fetch("billing", "orders", 0) == OffsetAndMetadata(1, "")


def test_a_transaction_whose_beginning_the_disk_refused_has_not_begun():
    setup = CoordinatorSetup()
    identity = setup.init()
    with disk_full():
        refused(ErrorCode.STORAGE_ERROR, setup.send, identity, 0, "a")
    assert (state(setup), setup.told(), setup.transactions.views()) == (TransactionState.EMPTY, [], ())
    refused(WRONG_STATE, setup.end, identity, commits=True)


@pytest.mark.parametrize("aborts", [False, True])
def test_a_session_that_the_disk_refused_to_begin_leaves_what_was_there(aborts):
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a")
    setup.end(identity, commits=not aborts)
    before = setup.transactions.ids()["payments"].stored()
    with disk_full():
        begin = setup.transactions.begin_session
        refused(ErrorCode.STORAGE_ERROR, begin, 5_000_000_000, "payments", 1_000, client="other")
    after = setup.transactions.ids()["payments"].stored()
    assert after == msgspec.structs.replace(before, epoch=before.epoch + 1)  # what was fenced stays so


def test_what_happens_behind_a_sync_has_the_time_of_the_sync():
    setup = CoordinatorSetup("fsync")
    setup.send(setup.init(), 0, "a")
    begun = setup.transactions.begin_session(0, "payments", 60_000, client="shop")
    setup.now_ns = 1_000_000_000
    setup.broker.topics.create(setup.now_ns, "late", 1)
    setup.sync()
    assert begun.done
    assert [event.time_ns for event in setup.events[-2:]] == [1_000_000_000] * 2
    assert setup.transactions.ids()["payments"].updated_ms == EPOCH_MS + 1_000


def test_an_abort_without_a_transaction_has_no_age():
    setup = CoordinatorSetup("fsync")
    identity = setup.init()
    setup.transactions.end(0, "payments", identity, commits=False, bumps_epoch=True)
    assert state(setup) is TransactionState.PREPARE_ABORT
    assert setup.transactions.age_ms(5_000_000_000, setup.transactions.ids()["payments"]) == 0


def test_ids_that_nobody_uses_are_forgotten():
    setup = CoordinatorSetup()
    setup.send(setup.init(), 0, "a")
    setup.init("other")
    setup.now_ns += 604_800_001 * 1_000_000
    setup.init("new")
    setup.transactions.expire(setup.now_ns)
    assert list(setup.transactions.ids()) == ["payments", "new"]  # the first has a transaction open
    setup.kill()
    assert list(setup.transactions.ids()) == ["payments", "new"]


def test_a_topic_that_was_deleted_holds_up_no_transaction():
    setup = CoordinatorSetup()
    identity = setup.init()
    setup.send(identity, 0, "a")
    setup.broker.topics.delete(0, "orders")
    setup.end(identity, commits=True)
    assert state(setup) is TransactionState.COMPLETE_COMMIT


@pytest.mark.parametrize("priorities", [1, 3])
def test_a_subscription_gets_no_marker(priorities):
    setup = CoordinatorSetup()
    queues, identity = setup.broker.queues, setup.init()
    queues.subscribe(0, "audit", "orders", QueueConfig(priorities=priorities), from_end=False)
    for name in "abc":
        setup.send(identity, 0, name)
        setup.end(identity, commits=name != "b")
    queue = queues.queue("audit")
    assert queue.ready == 3
    leases = queues.take(0, "audit", "worker", max_messages=10).result()
    assert [lease.message.value for lease in leases] == [b"a", b"b", b"c"]
    setup.send(identity, 0, "d")
    setup.end(identity, commits=True)
    assert (queue.ready, queue.in_flight) == (1, 3)
    assert not [event for event in setup.events if event.kind is EventKind.DAMAGE]


class LookedUp(dict):
    """A dict that nobody may go through."""

    def __iter__(self):
        raise AssertionError("all transactional ids are gone through")

    items = keys = values = __iter__


@pytest.mark.promise("39")
def test_promise_39_an_id_costs_the_same_however_many_there_are():
    setup = CoordinatorSetup()
    transactions = setup.transactions
    transactions._by_id = LookedUp()
    transactions._by_producer = LookedUp()
    for name in ("payments", "refunds"):
        identity = transactions.begin_session(0, name, 60_000, client="shop").result()
        transactions.add_partitions(0, name, identity, [("orders", 0)])
        transactions.add_group(0, name, identity, "billing")
        transactions.put_offsets(0, name, identity, [PendingOffset("billing", "orders", 0, 0)])
        assert transactions.unstable_offsets("billing") == {("orders", 0)}
        assert [view.transactional_id for view in transactions.views()] == [name]
        transactions.end(0, name, identity, commits=True, bumps_epoch=True).result()
        assert not transactions.unstable_offsets("billing")
