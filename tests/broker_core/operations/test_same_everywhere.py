"""What is told of messages, commits and dead letters is the same in process and by HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import msgspec

from broker_core import BrokerError, BrokerHost, GroupConsumer, Producer, QueueConsumer, Request, StoredMessage
from broker_core.access import Acl, ClientQuota
from broker_core.clients.http_broker import HttpBroker
from broker_core.flow.config import FlowConfig
from broker_core.listeners.http.listener import HttpListener
from broker_core.operations.access import (
    CreateAcls,
    DeleteAcls,
    DeleteUser,
    ListQuotas,
    ListUsers,
    RemoveQuota,
    SetQuota,
    SetUser,
)
from broker_core.operations.browse import (
    BrowseMessages,
    BrowsePartition,
    CountKeys,
    DescribeLogs,
    DescribeMessage,
    FindOffsets,
    ListDeadOffsets,
    ListLeases,
    ListLogs,
    ReadDeadLetters,
)
from broker_core.operations.dead_letters import (
    DeadLettersByCause,
    Edit,
    ListDeadLetters,
    PurgeLetters,
    Redrive,
    RedriveProgress,
    StopRedrive,
    UndoPurgeDeadLetters,
    UndoRedrive,
)
from broker_core.operations.groups import DeleteGroup, DescribeGroup, ListGroups, ResetOffsets
from broker_core.operations.messages import ReadMessages
from broker_core.operations.observe import ListSlowReaders
from broker_core.operations.queues import (
    CreateQueue,
    CreateSubscription,
    DeleteQueue,
    DescribeQueue,
    Peek,
    PurgeQueue,
    UndoPurgeQueue,
)
from broker_core.operations.topics import CreateTopic, DeleteRecords, DeleteTopic
from broker_core.queues.config import QueueConfig

Ask = Callable[[Request[Any]], Any]


# Where it is what time it is, two runs differ.
def _is_time(name: str) -> bool:
    return name == "timestamp_ms" or name.endswith("_ns")


SETTING: list[Request[Any]] = [
    CreateTopic(name="orders", partitions=2, flow=FlowConfig(max_messages=50)),
    CreateQueue(name="mail", settings=QueueConfig(max_attempts=1, priorities=2)),
    CreateSubscription(name="audit", topic="orders", max_messages=100),
]
ACL = Acl("ann", "read", "topic", "orders")
# One after the other, each in the state that those before it have left.
REQUESTS: list[Request[Any]] = [
    ReadMessages(topic="orders", partition=0, max_messages=2),
    ReadMessages(topic="orders", partition=0, offset=1, encoding="base64"),
    ReadMessages(topic="orders", partition=9),
    ListLogs(),
    DescribeLogs(first=1, most=2),
    FindOffsets(topic="orders", from_ns=1),
    FindOffsets(topic="mail", partition=1),
    BrowsePartition(topic="orders", partition=0, first=1, end=9),
    BrowseMessages(topic="orders", cursors={0: 4, 1: 0}, back=True, filter="offset > 1", ends={0: 3}, most=9),
    BrowseMessages(topic="orders", cursors={0: 0}, filter="offset >"),
    DescribeMessage(topic="mail", partition=0, offset=0),
    DescribeMessage(topic="orders", partition=0, offset=99),
    CountKeys(topic="orders", partition=0, batches=[(0, 4), (7, 1)]),
    ListLeases(queue="mail"),
    ListDeadOffsets(queue="mail"),
    ReadDeadLetters(queue="mail", offsets=[0, 7], most_bytes=3),
    DeleteRecords(topic="orders", before={"0": 1}),
    DeleteRecords(topic="orders", before={"0": 1_000}),
    ListGroups(),
    DescribeGroup(group="billing"),
    ListSlowReaders(max_lag=1),
    ListSlowReaders(max_lag_ms=3_600_000),
    ResetOffsets(group="billing", form="earliest", dry_run=True),
    ResetOffsets(group="billing", form="shift-by", offset=-1),
    ResetOffsets(group="audits", form="group", from_group="billing"),
    DeleteGroup(group="billing"),
    DescribeQueue(queue="mail"),
    Peek(queue="mail"),
    PurgeQueue(queue="mail"),
    UndoPurgeQueue(queue="mail"),
    ListDeadLetters(queue="mail"),
    ListDeadLetters(queue="mail", cause="no such", limit=1),
    DeadLettersByCause(queue="mail"),
    RedriveProgress(queue="mail"),
    StopRedrive(queue="mail"),
    Redrive(queue="mail", dry_run=True),
    Redrive(queue="mail", dry_run=True, text="b", max_redrives=0),
    PurgeLetters(queue="mail", min_redrives=5),
    Redrive(queue="mail", offsets=[0], edits=(Edit(offset=0, value={"to": "b"}, headers={"x": "y"}),)),
    Redrive(queue="mail", offsets=[7]),
    UndoRedrive(queue="mail"),
    UndoRedrive(queue="audit"),
    PurgeLetters(queue="mail", offsets=[1, 7]),
    UndoPurgeDeadLetters(queue="mail"),
    Redrive(queue="mail", rate_per_s=0.001),
    RedriveProgress(queue="mail"),
    Redrive(queue="mail", rate_per_s=1.0),
    StopRedrive(queue="mail"),
    DeleteTopic(topic="orders"),
    DeleteQueue(queue="audit"),
    DeleteQueue(queue="mail"),
    DeleteTopic(topic="orders"),
    CreateAcls(acls=(ACL, Acl("ann", "admin", "subject", "x", prefixed=True, deny=True))),
    CreateAcls(acls=(ACL,)),
    DeleteAcls(acls=(ACL, Acl("nobody", "read", "topic", "orders"))),
    DeleteAcls(acls=(ACL,)),
    SetQuota(quota=ClientQuota("producer_byte_rate", 1_000.0, "ann")),
    SetQuota(quota=ClientQuota("consumer_byte_rate", 2_000.0, "*", "app")),
    RemoveQuota(key="producer_byte_rate", user="ann"),
    RemoveQuota(key="producer_byte_rate", user="ann"),
    RemoveQuota(key="producer_byte_rate"),
    ListQuotas(),
    SetUser(user="ann", password="secret").salted(b"salt"),
    SetUser(user="ann", mechanism="SCRAM-SHA-512", salt=b"salt", salted_password=b"short"),
    SetUser(user="bob", iterations=8_192, password="secret").salted(b"salt"),
    ListUsers(),
    DeleteUser(user="ann", mechanism="SCRAM-SHA-512"),
    DeleteUser(user="ann"),
    DeleteUser(user="ann"),
    ListUsers(),
]


def told(ask: Ask, request: Request[Any]) -> Any:
    """What `ask` gives, without times; or the error."""
    try:
        return timeless(msgspec.to_builtins(ask(request)))
    except BrokerError as error:
        return error.code, str(error), error.retriable, error.possibly_stored


def timeless(value: Any) -> Any:
    """`value` without what tells the time."""
    if isinstance(value, dict):
        return {name: timeless(each) for name, each in value.items() if not _is_time(str(name))}
    return [timeless(each) for each in value] if isinstance(value, list | tuple) else value


def fill(host: BrokerHost) -> None:
    """Messages in every place, dead letters of a queue, commits of a group."""
    with Producer(host) as producer:
        for number in range(4):
            producer.publish("orders", b'{"n": %d}' % number, key=b"\xff%d" % number, partition=0)
            producer.publish("mail", b"letter %d" % number, priority=number % 2)
    with GroupConsumer(host, "billing", ["orders"]) as consumer:
        taken: list[StoredMessage] = []
        while len(taken) < 4:
            taken += consumer.poll(5)
        consumer.commit()
    with QueueConsumer(host, "mail", client_id="worker") as worker:
        for _ in range(2):
            delivery = worker.take(5)
            assert delivery is not None
            delivery.nack("it broke")


def test_every_reply_is_the_same_here_and_there():
    with contextlib.ExitStack() as stack:
        here, there = stack.enter_context(BrokerHost()), stack.enter_context(BrokerHost())
        elsewhere = stack.enter_context(HttpBroker(stack.enter_context(HttpListener(there)).url))
        for host in (here, there):
            for request in SETTING:
                host.ask(request)
            fill(host)
        for request in REQUESTS:
            assert told(elsewhere.ask, request) == told(here.ask, request), request
