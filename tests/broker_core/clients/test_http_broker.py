"""A broker elsewhere answers as one in process does: the same results, the same errors; and lines that fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core import BrokerError, BrokerHost, ErrorCode, HttpBroker
from broker_core.access import Acl, ClientQuota
from broker_core.clients.http_broker import checked_url, error_of
from broker_core.flow.config import FlowConfig
from broker_core.guarded.offsets import OffsetsPlan
from broker_core.guarded.redrive import Choice, RedrivePlan
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpListener
from broker_core.operations.access import (
    CreateAcls,
    DeleteAcls,
    DeleteUser,
    ListAcls,
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
from broker_core.operations.catalogue import CATALOGUE
from broker_core.operations.clock import AdvanceClock, ClockAnswer, DescribeClock, JumpClock, StartClock, StopClock
from broker_core.operations.dead_letters import (
    DeadLettersByCause,
    ListDeadLetters,
    PurgeLetters,
    Redrive,
    RedriveProgress,
    StopRedrive,
    UndoPurgeDeadLetters,
    UndoRedrive,
)
from broker_core.operations.faults import BeginFault, EndFault, ListFaults
from broker_core.operations.groups import (
    CommitOffsets,
    CommitPlace,
    ConfigureGroup,
    DeleteGroup,
    DescribeGroup,
    DescribeShareGroup,
    ForgetOffsets,
    ForgetShareOffsets,
    GroupChanges,
    GroupConfiguration,
    HoldMember,
    Join,
    KickMember,
    Leave,
    ListGroups,
    ListShareGroups,
    PartitionPlace,
    Poll,
    ReleaseMember,
    ResetOffsets,
    ResetShareOffsets,
    SubscribeShareGroup,
)
from broker_core.operations.guarded import (
    PlanOffsets,
    PlanTopicRedrive,
    RedriveTopic,
    SetOffsets,
    StopTopicRedrive,
    TopicRedriveProgress,
)
from broker_core.operations.messages import PublishBatch, PublishMessages, ReadMessages, Record, SendMessages
from broker_core.operations.observe import (
    AuditBroker,
    CutConnection,
    DescribeBroker,
    ListConnections,
    ListDamage,
    ListSlowReaders,
    ObserveBroker,
    Observed,
    WaitUntil,
)
from broker_core.operations.queues import (
    CreateQueue,
    CreateSubscription,
    DeleteQueue,
    DescribeQueue,
    ListQueues,
    Nack,
    Peek,
    PurgeQueue,
    QueueConfiguration,
    SettleLease,
    Take,
    UndoPurgeQueue,
)
from broker_core.operations.request import Problem, Request, Status
from broker_core.operations.schemas import (
    CheckSchema,
    DeleteSubject,
    DeleteVersion,
    DescribeSubject,
    DescribeVersion,
    DiffSchemas,
    ListSubjects,
    RegisterSchema,
    SchemaText,
    SetCompatibility,
    SetDefaultCompatibility,
)
from broker_core.operations.topics import (
    AddPartitions,
    ConfigureTopic,
    CreateTopic,
    DeleteRecords,
    DeleteTopic,
    DescribeTopic,
    ListTopics,
    LogSettings,
    RemoveSchemaRule,
    SetSchemaRule,
    TopicConfiguration,
)
from broker_core.queues.config import QueueConfig
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.listeners.certificates import make

TOKEN = "correct-horse-battery"
TEXT = SchemaText(schema={"type": "object"})
MORE = SchemaText(schema={"type": "object", "title": "more"})

# Each operation that a host takes, in an order in which each finds what it needs; most of them fail, too.
ACL = Acl("shop", "read", "topic", "orders")
QUOTA = ClientQuota("producer_byte_rate", 1_000, user="shop")
LETTERS = RedrivePlan(
    cluster="", choice=Choice(topic="nothing"), rate_per_s=1.0, transactional=False, parts=(), targets=(), stays={}
)
ASKED: list[Request[Any]] = [
    CreateTopic(name="orders", partitions=2, log=LogSettings(retention_ms=60_000), flow=FlowConfig(max_messages=9)),
    CreateTopic(name="orders"),
    CreateTopic(name="Orders"),
    CreateTopic(name="compacted", log=LogSettings(cleanup="compact"), rule=SchemaRule(subject="nothing")),
    ListTopics(),
    DescribeTopic(topic="orders"),
    DescribeTopic(topic="nothing"),
    TopicConfiguration(topic="orders"),
    TopicConfiguration(topic="nothing"),
    ConfigureTopic(topic="orders", log=LogSettings(retention_ms=None)),
    ConfigureTopic(topic="nothing"),
    AddPartitions(topic="orders", total=3),
    AddPartitions(topic="orders", total=1),
    ReadMessages(topic="orders", partition=0),
    ReadMessages(topic="orders", partition=7),
    ReadMessages(topic="orders", partition=0, offset=99),
    DeleteRecords(topic="orders", before={"0": 0}),
    CreateQueue(name="mail", settings=QueueConfig(priorities=2)),
    CreateQueue(name="mail"),
    CreateSubscription(name="copy", topic="orders", max_messages=5, policy="block"),
    CreateSubscription(name="copy2", topic="nothing"),
    ListQueues(),
    DescribeQueue(queue="mail"),
    DescribeQueue(queue="nothing"),
    QueueConfiguration(queue="mail"),
    QueueConfiguration(queue="copy"),
    TopicConfiguration(topic="mail"),
    Peek(queue="mail"),
    PurgeQueue(queue="mail"),
    UndoPurgeQueue(queue="mail"),
    ListDeadLetters(queue="mail", text="ä & b"),
    ListDeadLetters(queue="nothing"),
    DeadLettersByCause(queue="mail"),
    Redrive(queue="mail", offsets=[3]),
    Redrive(queue="mail", dry_run=True),
    RedriveProgress(queue="mail"),
    StopRedrive(queue="mail"),
    PurgeLetters(queue="mail"),
    UndoRedrive(queue="mail"),
    UndoPurgeDeadLetters(queue="mail"),
    RegisterSchema(subject="order", text=TEXT),
    RegisterSchema(subject="order", text=SchemaText(schema="{")),
    RegisterSchema(subject="order", text=MORE),
    CheckSchema(subject="order", text=TEXT),
    ListSubjects(),
    DescribeSubject(subject="order"),
    DescribeSubject(subject="nothing"),
    DescribeVersion(subject="order", version=1),
    DescribeVersion(subject="order", version=9),
    DiffSchemas(subject="order", before=1),
    SetDefaultCompatibility(mode="FULL"),
    SetCompatibility(subject="order", mode="NONE"),
    SetSchemaRule(topic="orders", rule=SchemaRule(subject="order")),
    RemoveSchemaRule(topic="orders"),
    DeleteVersion(subject="order", version=1),
    DeleteSubject(subject="order"),
    ListGroups(),
    DescribeGroup(group="nobody"),
    ResetOffsets(group="nobody", form="earliest"),
    DeleteGroup(group="nobody"),
    ListShareGroups(),
    DescribeShareGroup(group="nobody"),
    ListSlowReaders(max_lag=1),
    ListDamage(),
    ObserveBroker(),
    ListFaults(),
    EndFault(fault="none"),
    DescribeClock(),
    StopClock(),
    StartClock(),
    AdvanceClock(by_ms=1),
    JumpClock(unix_ms=0),
    WaitUntil(condition="kind = topic and name = orders", timeout_ms=0),
    WaitUntil(condition="no such field = 1"),
    AuditBroker(),
    KickMember(group="nobody", client="none"),
    HoldMember(group="nobody", client="none"),
    ReleaseMember(group="nobody", client="none"),
    BeginFault(effect="drop", name="a b"),
    ListLogs(),
    DescribeLogs(first=1, most=2),
    FindOffsets(topic="orders", from_ns=1),
    FindOffsets(topic="nothing"),
    BrowsePartition(topic="orders", partition=0, first=0, end=3),
    BrowsePartition(topic="orders", partition=7, first=0, end=3),
    BrowseMessages(topic="orders", cursors={0: 0}, back=True, filter="size > 1"),
    BrowseMessages(topic="orders", cursors={0: 0}, filter="("),
    DescribeMessage(topic="orders", partition=0, offset=0),
    CountKeys(topic="orders", partition=0, batches=[(0, 2)]),
    ListLeases(queue="mail"),
    ListLeases(queue="nothing"),
    ListDeadOffsets(queue="mail"),
    ReadDeadLetters(queue="mail", offsets=[0], most_bytes=10),
    DeleteAcls(acls=(ACL,)),
    CreateAcls(acls=(ACL,)),
    ListAcls(),
    DeleteAcls(acls=(ACL,)),
    ListAcls(),
    SetQuota(quota=QUOTA),
    ListQuotas(),
    RemoveQuota(key=QUOTA.key, user="shop"),
    RemoveQuota(key=QUOTA.key, user="shop"),
    SetUser(user="shop"),
    SetUser(user="shop", password="secret").salted(bytes(16)),
    ListUsers(),
    DeleteUser(user="shop"),
    DeleteUser(user="shop"),
    GroupConfiguration(group="workers"),
    ConfigureGroup(group="workers", settings=GroupChanges(delivery_count_limit=3)),
    GroupConfiguration(group="workers"),
    ForgetOffsets(group="nothing", partitions=[PartitionPlace(topic="orders", partition=0)]),
    SubscribeShareGroup(group="workers", topic="orders"),
    ResetShareOffsets(group="workers", topic="orders", partition=0, offset=0),
    ForgetShareOffsets(group="workers", topic="orders"),
    SettleLease(queue="mail", partition=0, offset=7, holder="nobody", attempt=1, act="ack"),
    DeleteQueue(queue="mail"),
    DeleteQueue(queue="nothing"),
    DeleteTopic(topic="orders"),
    DeleteTopic(topic="compacted"),
    PlanTopicRedrive(topic="orders"),
    PlanTopicRedrive(topic="nothing"),
    RedriveTopic(topic="nothing", plan=LETTERS),
    TopicRedriveProgress(topic="orders"),
    StopTopicRedrive(topic="orders"),
    PlanOffsets(group="nobody", form="earliest"),
    SetOffsets(group="nobody", plan=OffsetsPlan(cluster="", group="nobody", says="", changes=())),
]


@pytest.fixture
def elsewhere() -> Iterator[tuple[HttpBroker, BrokerHost]]:
    """With a token: a broker that everybody may use begins no faults."""
    access = Access.of_token(TOKEN)
    with BrokerHost() as host, HttpListener(host, access=access) as listener:
        with HttpBroker(listener.url, token=TOKEN) as broker:
            yield broker, host


def outcome(ask: Callable[[Request[Any]], Any], request: Request[Any]) -> Any:
    try:
        result = ask(request)
        if isinstance(request, ListAcls):
            return [acl for acl in result if acl == ACL]  # a listener lists the rules of its access file as well
        if isinstance(result, Observed):
            return [topic.name for topic in result.snapshot.topics]
        return result.stopped if isinstance(result, ClockAnswer) else result  # time passes between two questions
    except BrokerError as error:
        return error.code, str(error), error.retriable, error.possibly_stored


def test_every_operation_has_the_same_outcome_in_process_and_elsewhere(elsewhere: tuple[HttpBroker, BrokerHost]):
    broker, _ = elsewhere
    asked = {type(request) for request in ASKED}
    assert asked == {entry.request for entry in CATALOGUE if entry.served_by == "broker"}
    with BrokerHost() as here:
        for request in ASKED:
            assert outcome(broker.ask, request) == outcome(here.ask, request), request


def test_what_a_listener_serves_is_asked_for_as_well(elsewhere: tuple[HttpBroker, BrokerHost]):
    broker, _ = elsewhere
    broker.ask(CreateTopic(name="orders"))
    records = [Record(value="a", key="k"), Record(value={"n": 1}), Record(value="/wA=", encoding="base64")]
    assert broker.ask(PublishMessages(topic="orders", batch=PublishBatch(messages=records))).failed == 0
    member = broker.ask(Join(group="billing", topics=("orders",), client_id="me"))
    polled = broker.ask(Poll(group="billing", member=member.member, timeout_ms=5_000))
    assert [(each.value, each.encoding) for each in polled.messages] == [
        ("a", "text"),
        ({"n": 1}, "text"),
        ("/wA=", "base64"),
    ]
    place = CommitPlace(topic="orders", partition=0, offset=3)
    assert broker.ask(CommitOffsets(group="billing", member=member.member, offsets=[place])) == Status()
    assert broker.ask(Leave(group="billing", member=member.member)) is None
    assert broker.ask(DescribeGroup(group="billing")).offsets[0].committed == 3
    broker.ask(CreateQueue(name="mail", settings=QueueConfig(max_attempts=1)))
    broker.ask(SendMessages(queue="mail", batch=PublishBatch(messages=[Record(value="x")])))
    [delivery] = broker.ask(Take(queue="mail", timeout_ms=1_000))
    assert broker.ask(Nack(queue="mail", leases=[delivery.lease], cause="bad")).done == 1
    assert broker.ask(DeadLettersByCause(queue="mail")) == {"bad": 1}
    [connection] = broker.ask(ListConnections())
    assert broker.ask(DescribeBroker()).totals.published == 4
    assert connection.listener == "http"
    with pytest.raises(BrokerError):
        broker.ask(CutConnection(connection=10_000))


def test_what_a_path_cannot_hold_is_refused_before_it_is_sent(elsewhere: tuple[HttpBroker, BrokerHost]):
    for name in ("..", ".", "", "a/b", "a b", "x" * 300):
        with pytest.raises(BrokerError, match="topic in the path") as refused:
            elsewhere[0].ask(DescribeTopic(topic=name))
        assert refused.value.code is ErrorCode.MALFORMED_REQUEST


def test_what_http_cannot_carry_is_refused_before_it_is_sent(elsewhere: tuple[HttpBroker, BrokerHost]):
    half = "\ud800"
    requests: list[Request[Any]] = [ListDeadLetters(queue="mail", text=half), PurgeLetters(queue="mail", cause=half)]
    for request in requests:
        with pytest.raises(BrokerError, match="cannot be sent") as refused:
            elsewhere[0].ask(request)
        assert refused.value.code is ErrorCode.MALFORMED_REQUEST


@pytest.mark.parametrize("code", ErrorCode)
def test_any_error_arrives_as_it_was_raised(code: ErrorCode):
    for about in ("", "orders", "it ended with a dot.", "one: two"):
        error = BrokerError(code, about, possibly_stored=True)
        arrived = error_of(Problem(error=code.name, message=str(error), possibly_stored=True), 500)
        assert (arrived.code, str(arrived), arrived.possibly_stored) == (code, str(error), True)


def test_one_connection_is_kept_for_many_requests(elsewhere: tuple[HttpBroker, BrokerHost]):
    broker, _ = elsewhere
    for _ in range(20):
        broker.ask(ListTopics())
    assert len(broker.ask(ListConnections())) == 1


def test_many_threads_ask_at_once(elsewhere: tuple[HttpBroker, BrokerHost]):
    broker, host = elsewhere
    failed: list[BaseException] = []

    def ask(number: int) -> None:
        try:
            broker.ask(CreateTopic(name=f"t{number}"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failed
    assert len(host.ask(ListTopics())) == 20


def test_a_token_is_asked_for():
    with BrokerHost() as host, HttpListener(host, access=Access.of_token(TOKEN)) as listener:
        with HttpBroker(listener.url, token=TOKEN) as broker:
            assert broker.ask(ListTopics()) == []
        for token in (None, "x" * 20):
            with HttpBroker(listener.url, token=token) as broker, pytest.raises(BrokerError) as refused:
                broker.ask(ListTopics())
            assert refused.value.code is ErrorCode.UNAUTHORIZED


def test_tls_is_spoken_and_a_certificate_must_be_trusted(tmp_path: Path):
    tls = make(tmp_path)
    with BrokerHost() as host, HttpListener(host, tls=tls) as listener:
        with HttpBroker(listener.url, ca_file=tls.certificate) as broker:
            assert broker.ask(ListTopics()) == []
        with HttpBroker(listener.url) as broker, pytest.raises(BrokerError, match=r"TLS fails: .*self.signed"):
            broker.ask(ListTopics())
        plain = listener.url.replace("https", "http")
        with HttpBroker(plain) as broker, pytest.raises(BrokerError) as refused:
            broker.ask(ListTopics())
        assert refused.value.code is ErrorCode.CONNECTION_LOST
    with pytest.raises(BrokerError, match="contains no certificates"):
        HttpBroker("https://127.0.0.1:1", ca_file=tls.key)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("127.0.0.1:9330", "http://127.0.0.1:9330"),
        ("localhost", "http://localhost:8080"),
        ("http://localhost", "http://localhost"),
        ("https://broker.example:443/", "https://broker.example:443"),
        ("[::1]:80", "http://[::1]:80"),
    ],
)
def test_urls(text: str, url: str):
    assert checked_url(text) == url


@pytest.mark.parametrize("text", ["", ":", "host:abc", "host:70000", "ftp://a", "http://a/v1", "http://u:p@a", "a?b"])
def test_what_is_no_url(text: str):
    with pytest.raises(BrokerError) as refused:
        checked_url(text)
    assert refused.value.code is ErrorCode.INVALID_CONFIG
