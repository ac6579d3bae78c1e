"""A program's dead letters are redriven on our own broker as on a cluster: planned, at a rate, remembered."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from broker_core.broker.group_offsets import Committer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.guarded.deeds import deed_of
from broker_core.guarded.redrive import HEADER, RedrivePlan, RedriveRun, progress_group
from broker_core.messages import Message, OffsetAndMetadata, StoredMessage
from broker_core.operations import guarded
from broker_core.operations.groups import PartitionPlace
from broker_core.recording.fold import Fold
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.clients.virtual_broker import VirtualBroker

LETTERS = 10


@pytest.fixture
def virtual() -> VirtualBroker:
    made = VirtualBroker(2)
    made.broker.topics.create(0, "orders", 2)
    made.broker.topics.create(0, "orders-dlt", 1)
    for number in range(LETTERS):
        headers = (
            ("kafka_dlt-original-topic", b"orders"),
            ("kafka_dlt-original-partition", (number % 2).to_bytes(4, "big")),
            ("n", b"%d" % number),
        )
        message = Message(b"v%d" % number, b"k%d" % number, headers)
        made.broker.publishing.publish_batch(0, "orders-dlt", 0, (message,), client="spring")
    return made


def ask(virtual: VirtualBroker, request: Any) -> Any:
    return virtual.broker.handle(virtual.now_ns, request, "me").result()


def planned(virtual: VirtualBroker, **asked: Any) -> Any:
    return ask(virtual, guarded.PlanTopicRedrive(topic="orders-dlt", **asked))


def begun(virtual: VirtualBroker, **asked: Any) -> RedriveRun:
    found: RedriveRun = ask(virtual, guarded.RedriveTopic(topic="orders-dlt", plan=planned(virtual, **asked)))
    return found


def copies(virtual: VirtualBroker) -> list[StoredMessage]:
    logs = [virtual.broker.logs.partition("orders", number) for number in (0, 1)]
    return [each for log in logs for each in log.read(0, max_messages=100, max_bytes=1 << 20)]


def test_a_preview_is_the_plan_that_is_carried_out_at_its_rate(virtual: VirtualBroker):
    plan = planned(virtual, rate_per_s=8)
    assert (plan.letters, plan.targets[0].letters) == (LETTERS, {0: 5, 1: 5})
    assert not copies(virtual)
    run = ask(virtual, guarded.RedriveTopic(topic="orders-dlt", plan=plan))
    assert (run.running, run.done) == (True, 2)
    virtual.run(0.5)
    run = ask(virtual, guarded.TopicRedriveProgress(topic="orders-dlt"))
    assert run.running and run.done == 6
    virtual.run(1)
    run = ask(virtual, guarded.TopicRedriveProgress(topic="orders-dlt"))
    assert (run.running, run.done, run.moved) == (False, LETTERS, {"orders": {0: 5, 1: 5}})
    for copy in copies(virtual):
        number = int((copy.value or b"")[1:])
        assert (copy.key, copy.partition) == (b"k%d" % number, number % 2)
        assert copy.headers[-1] == (HEADER, b"1 orders-dlt/0@%d" % number)
    assert planned(virtual).stays == {"redriven": LETTERS}
    deeds = [deed for event in virtual.kinds(EventKind.USER_ACTION) if (deed := deed_of(event.detail))]
    assert [(deed.outcome, deed.who) for deed in deeds] == [("begun", "me"), ("done", "me")]
    # Who looks from now on is told what happened, and nothing else.
    fold = Fold(VirtualBroker(2).broker.snapshot(0))
    for event in virtual.events:
        fold.add(event)
    there = {group.name: group for group in fold.snapshot(virtual.now_ns).groups}
    (offset,) = there[progress_group("orders-dlt")].offsets
    assert offset.committed == LETTERS


def test_stopped_it_goes_on_where_it_was(virtual: VirtualBroker):
    begun(virtual, rate_per_s=4)
    with pytest.raises(BrokerError, match="in progress"):
        begun(virtual)
    stopped = ask(virtual, guarded.StopTopicRedrive(topic="orders-dlt"))
    assert (stopped.running, stopped.stopped, stopped.done) == (False, True, 1)
    virtual.run(10)
    assert len(copies(virtual)) == 1
    begun(virtual, rate_per_s=1_000, where="offset > 4")
    assert planned(virtual).letters == 4
    begun(virtual, rate_per_s=1_000)
    assert sorted(each.value or b"" for each in copies(virtual)) == [b"v%d" % n for n in range(LETTERS)]


def test_where_a_letter_cannot_be_read_it_ends_and_says_so(virtual: VirtualBroker, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("broker_core.broker.topic_redrives._READ_MESSAGES", 2)
    begun(virtual, rate_per_s=4)
    letters = virtual.broker.logs.partition("orders-dlt", 0)
    monkeypatch.setattr(letters, "read", Mock(side_effect=BrokerError(ErrorCode.DAMAGED, "orders-dlt/0@2")))
    virtual.run(10)
    run = ask(virtual, guarded.TopicRedriveProgress(topic="orders-dlt"))
    assert (run.running, run.done, run.error) == (False, 2, "The stored data are damaged: orders-dlt/0@2.")


def test_what_the_schema_of_the_origin_refuses_stays_and_is_named(virtual: VirtualBroker):
    virtual.broker.schemas.register(0, "number", '{"type": "integer"}')
    virtual.broker.schemas.set_rule(0, "orders", SchemaRule("number", "refuse"))
    plan = planned(virtual, rate_per_s=1_000)
    assert plan.targets[0].schema == "number version 1"
    run = ask(virtual, guarded.RedriveTopic(topic="orders-dlt", plan=plan))
    assert (run.running, run.done, len(run.refused)) == (False, 0, LETTERS)
    assert run.refused[0].startswith("orders-dlt/0@0: The message was refused")
    assert planned(virtual).letters == LETTERS


def test_a_stale_plan_is_refused(virtual: VirtualBroker):
    plan = planned(virtual)
    virtual.broker.topics.add_partitions(0, "orders", 3)
    with pytest.raises(BrokerError) as failed:
        ask(virtual, guarded.RedriveTopic(topic="orders-dlt", plan=plan))
    assert failed.value.code is ErrorCode.STALE_PLAN
    assert failed.value.about == "orders has 3 partitions, it had 2"
    with pytest.raises(BrokerError, match="the plan is of orders-dlt"):
        ask(virtual, guarded.RedriveTopic(topic="orders", plan=plan))


def test_offsets_are_planned_set_and_put_back_exactly(virtual: VirtualBroker):
    store = virtual.broker.offsets
    store.commit(0, "shop", Committer.checked("me", "@me"), {("orders-dlt", 0): OffsetAndMetadata(4, "mine", 2)})
    before = store.state("shop")
    asked = guarded.PlanOffsets(
        group="shop",
        form="offset",
        offset=1,
        partitions=[PartitionPlace(topic=name) for name in ("orders-dlt", "orders")],
    )
    plan = ask(virtual, asked)
    assert [(each.topic, each.partition, each.messages) for each in plan.changes] == [
        ("orders", 0, None),
        ("orders", 1, None),
        ("orders-dlt", 0, -3),
    ]
    ask(virtual, guarded.SetOffsets(group="shop", plan=plan))
    assert store.state("shop")["orders-dlt", 0].offset == 1
    with pytest.raises(BrokerError, match="shop is at 1 in orders-dlt/0, it was at 4"):
        ask(virtual, guarded.SetOffsets(group="shop", plan=plan))
    undo = ask(virtual, guarded.PlanOffsets(group="shop", form="undo"))
    ask(virtual, guarded.SetOffsets(group="shop", plan=undo))
    assert store.state("shop") == before
    with pytest.raises(BrokerError, match="no planned reset of other"):
        ask(virtual, guarded.PlanOffsets(group="other", form="undo"))


@pytest.mark.parametrize("rate_per_s", [0.0, -1.0, float("inf"), float("nan")])
def test_a_plan_with_a_rate_that_is_none_is_refused(virtual: VirtualBroker, rate_per_s: float):
    plan = msgspec.structs.replace(planned(virtual), rate_per_s=rate_per_s)
    with pytest.raises(BrokerError) as refused:
        ask(virtual, guarded.RedriveTopic(topic="orders-dlt", plan=plan))
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(plan), type=RedrivePlan)


def test_the_undo_of_a_reset_names_the_members_that_are_in_its_way(virtual: VirtualBroker):
    reader = virtual.consumer("till", "shop", "orders-dlt")
    virtual.do(reader.poll())
    reader.commit_handed()
    reader.close()
    asked = guarded.PlanOffsets(group="shop", form="earliest", partitions=[PartitionPlace(topic="orders-dlt")])
    ask(virtual, guarded.SetOffsets(group="shop", plan=ask(virtual, asked)))
    again = virtual.consumer("till", "shop", "orders-dlt")
    virtual.do(again.poll())
    undo = ask(virtual, guarded.PlanOffsets(group="shop", form="undo"))
    assert undo.members and undo.members == ask(virtual, asked).members
