"""Promise 40: what may not be read is not named. Every API and every route stands in a table, or is asked as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from broker_core import Admin, BrokerHost, GroupConsumer, Producer
from broker_core.events import Event
from broker_core.groups.members import JOINING, ConsumerHeartbeat
from broker_core.listeners.access.access import Access, Principal, PrincipalEntry, Rule
from broker_core.listeners.http.catalogue_routes import catalogue_routes
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.http.routes import connections, mini_broker, registry
from broker_core.listeners.kafka.apis import APIS
from broker_core.listeners.kafka.codec import Header, response
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.operations.entry import Operation
from tests.broker_core.listeners.kafka.conftest import QUICK
from tests.broker_core.listeners.kafka.raw import served

LOW, TOKEN = Principal("low"), "low-token-of-sixteen"
SECRET, OPEN = "secret-topic", "low-open"
RULES = (
    Rule(
        "low",
        tuple(Operation),
        topics=("low-*",),
        queues=("low-queue",),
        groups=("low-*",),
        subjects=("low-*",),
        transactional_ids=("low-*",),
    ),
)
GROUPS = ["low-committed", "low-classic", "low-consumer", "low-share"]
Body = dict[str, Any]


class Opened(NamedTuple):
    """A broker whose groups and transactions that `low` may read are about topics that it may not."""

    host: BrokerHost
    kafka: KafkaListener
    http: HttpListener


@pytest.fixture(scope="module")
def opened() -> Iterator[Opened]:
    access = Access((PrincipalEntry("low", TOKEN),), RULES)
    with (
        BrokerHost(config=QUICK) as host,
        KafkaListener(host, port=0, access=access) as kafka,
        HttpListener(host, access=access) as http,
        GroupConsumer(host, "low-classic", [SECRET]) as classic,
    ):
        admin = Admin(host)
        for name in (SECRET, OPEN):
            admin.create_topic(name)
            Producer(host).publish(name, b"value")
        admin.create_queue("secret-queue")
        admin.create_queue("low-queue")
        assert classic.poll(5)
        host.call(_set_up(host))
        yield Opened(host, kafka, http)


def _set_up(host: BrokerHost) -> Callable[[int], None]:
    broker = host.broker

    def act(now_ns: int) -> None:
        broker.groups.commit(now_ns, "low-committed", "", -1, {(SECRET, 0): 1, (OPEN, 0): 1})
        said = ConsumerHeartbeat(client_id="c", member_id="m", member_epoch=JOINING, topics=(SECRET, OPEN))
        broker.groups.consumer_heartbeat(now_ns, "low-consumer", said)
        for topic in (SECRET, OPEN):
            broker.share_groups.subscribe(now_ns, "low-share", topic)
        broker.share_groups.heartbeat(now_ns, "low-share", "m", 0, "holder", (SECRET, OPEN))
        identity = broker.transactions.begin_session(now_ns, "low-tx", 60_000, client="c").result()
        broker.transactions.add_partitions(now_ns, "low-tx", identity, [(SECRET, 0), (OPEN, 0)])
        broker.transactions.begin_session(now_ns, "secret-tx", 60_000, client="c")

    return act


# -- Kafka: (API, bodies of requests that name nothing secret) or (API, why there is nothing to try)

_ECHO = "answers with what the request names"
_NOTHING = "names neither topics nor groups nor transactions"
_MEMBERS = "members of a classic group tell each other what they read, by bytes that the broker does not read"
KAFKA: dict[str, list[Body] | str] = {
    "Produce": _ECHO,
    "Fetch": _ECHO,
    "ListOffsets": _ECHO,
    "Metadata": [{"topics": None}, {"topics": [{"name": OPEN}]}],
    "OffsetCommit": _ECHO,
    "OffsetFetch": [{"groups": [{"group_id": group, "topics": None} for group in GROUPS]}],
    "FindCoordinator": _ECHO,
    "JoinGroup": _MEMBERS,
    "Heartbeat": _NOTHING,
    "LeaveGroup": _ECHO,
    "SyncGroup": _MEMBERS,
    "DescribeGroups": [{"groups": GROUPS}],
    "ListGroups": [{}],
    "SaslHandshake": _NOTHING,
    "ApiVersions": _NOTHING,
    "CreateTopics": _ECHO,
    "DeleteTopics": _ECHO,
    "DeleteRecords": _ECHO,
    "InitProducerId": _ECHO,
    "AddPartitionsToTxn": _ECHO,
    "AddOffsetsToTxn": _ECHO,
    "EndTxn": _ECHO,
    "TxnOffsetCommit": _ECHO,
    "DescribeAcls": [{"resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1, "permission_type": 1}],
    "CreateAcls": _ECHO,
    "DeleteAcls": _ECHO,
    "OffsetForLeaderEpoch": _ECHO,
    "DescribeConfigs": [{"resources": [{"resource_type": kind, "resource_name": ""} for kind in (2, 4, 32)]}],
    "AlterConfigs": _ECHO,
    "DescribeLogDirs": [{"topics": None}],
    "SaslAuthenticate": _NOTHING,
    "CreatePartitions": _ECHO,
    "DeleteGroups": _ECHO,
    "IncrementalAlterConfigs": _ECHO,
    "OffsetDelete": _ECHO,
    "DescribeClientQuotas": _NOTHING,
    "AlterClientQuotas": _NOTHING,
    "DescribeUserScramCredentials": _NOTHING,
    "AlterUserScramCredentials": _NOTHING,
    "DescribeCluster": _NOTHING,
    "ConsumerGroupHeartbeat": [
        {"group_id": "low-pattern", "member_id": "p", "rebalance_timeout": 60_000, "subscribed_topic_regex": pattern}
        for pattern in (".*", ".*-topic|low.*")
    ],
    "ConsumerGroupDescribe": [{"group_ids": [*GROUPS, "low-pattern"]}],
    "DescribeProducers": _ECHO,
    "DescribeTransactions": [{"transactional_ids": ["low-tx"]}],
    "ListTransactions": [{"duration_filter": -1}],
    "DescribeTopicPartitions": [{"response_partition_limit": 2_000}],
    "ShareGroupHeartbeat": _ECHO,
    "ShareGroupDescribe": [{"group_ids": GROUPS}],
    "ShareFetch": _ECHO,
    "ShareAcknowledge": _ECHO,
    "DescribeShareGroupOffsets": [{"groups": [{"group_id": "low-share", "topics": None}]}],
    "AlterShareGroupOffsets": _ECHO,
    "DeleteShareGroupOffsets": _ECHO,
    "AlterReplicaLogDirs": _ECHO,
    "CreateDelegationToken": _NOTHING,
    "RenewDelegationToken": _NOTHING,
    "ExpireDelegationToken": _NOTHING,
    "DescribeDelegationToken": _NOTHING,
    "ElectLeaders": [{"election_type": 0, "topic_partitions": None, "timeout": 0}],
    "AlterPartitionReassignments": _ECHO,
    "ListPartitionReassignments": [{"topics": None, "timeout": 0}],
    "DescribeQuorum": [{"topics": ()}],
    "UpdateFeatures": _NOTHING,
    "UnregisterBroker": _NOTHING,
    "ListConfigResources": [{"resource_types": ()}],
}
TELLS_THE_OPEN_TOPIC = {"Metadata", "OffsetFetch", "DescribeTransactions", "DescribeShareGroupOffsets"}


@pytest.mark.promise("40")
def test_every_api_stands_in_the_table():
    assert set(KAFKA) == {api.name for api in APIS}


@pytest.mark.promise("40")
@pytest.mark.parametrize("api", [api for api in APIS if not isinstance(KAFKA[api.name], str)], ids=lambda api: api.name)
def test_no_api_names_what_may_not_be_read(opened: Opened, api: Any):
    topic_id = opened.host.broker.logs.topic(SECRET).id
    told = b""
    for body in KAFKA[api.name]:
        assert isinstance(body, dict)
        answer = served(opened.host, opened.kafka, api.key, api.newest, body, LOW)
        frame = response(Header(api.key, api.newest, 1), answer)
        assert b"secret" not in frame
        assert topic_id not in frame
        told += frame
    if api.name in TELLS_THE_OPEN_TOPIC:
        open_id = opened.host.broker.logs.topic(OPEN).id  # OffsetFetch names topics by their ids, since v10
        assert (open_id if api.name == "OffsetFetch" else OPEN.encode()) in told


BY_ID: dict[str, Body] = {
    "Metadata": {"topics": [{}]},
    "DeleteTopics": {"topics": [{"name": None}]},
    "Fetch": {"topics": [{"partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}]}]},
    "Produce": {"acks": -1, "topic_data": [{"partition_data": [{"index": 0, "records": b"x"}]}]},
}


@pytest.mark.promise("40")
@pytest.mark.parametrize("name", BY_ID)
def test_the_id_of_what_may_not_be_read_tells_no_name(opened: Opened, name: str):
    api = next(api for api in APIS if api.name == name)
    topic_id = UUID(bytes=opened.host.broker.logs.topic(SECRET).id)
    body = dict(BY_ID[name])
    (rows,) = (field for field, value in body.items() if isinstance(value, list))
    body[rows] = [{**row, "topic_id": topic_id} for row in body[rows]]
    answer = served(opened.host, opened.kafka, api.key, api.newest, body, LOW)
    frame = response(Header(api.key, api.newest, 1), answer)
    assert topic_id.bytes in frame
    assert b"secret" not in frame


# -- HTTP

ROUTES = [*mini_broker.routes.found, *catalogue_routes(), *connections.metrics_routes.found, *registry.routes.found]
# Requests whose answer may name more than they do; of the others every GET is made, and a POST answers what it names.
BODIES: dict[str, list[Body]] = {
    "POST /v1/groups/{group}/offsets/reset": [{"to": "earliest", "dry_run": True}, {"to": "latest"}],
    "POST /v1/groups/{group}/members": [{"prefix": "low-"}, {"prefix": ""}, {"topics": [OPEN]}],
    "POST /v1/groups/{group}/members/{member}/poll": [{}],
    "POST /v1/groups/{group}/members/{member}/commit": [{}, {"offsets": [{"topic": SECRET, "partition": 0}]}],
    "POST /v1/wait": [{"condition": "kind = topic", "timeout_ms": 0}],
    "POST /v1/faults": [{"effect": "drop"}],
}
NAMES = {"topic": OPEN, "queue": "low-queue", "subject": "low-subject", "member": "m"}


def asked(opened: Opened, method: str, path: str, body: Body | None = None) -> str:
    connection = HTTPConnection("127.0.0.1", opened.http.port, timeout=20)
    try:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def filled(path: str, group: str) -> str:
    parts = [
        NAMES.get(part.strip("{}"), group if part == "{group}" else "1") if "{" in part else part
        for part in path.split("/")
    ]
    return "/".join(parts)


@pytest.mark.promise("40")
@pytest.mark.parametrize("route", [f"{route.method} {route.path}" for route in ROUTES if route.method == "GET"])
def test_no_route_names_what_may_not_be_read(opened: Opened, route: str):
    method, path = route.split()
    for group in GROUPS if "{group}" in path else GROUPS[:1]:
        assert "secret" not in asked(opened, method, filled(path, group))


@pytest.mark.promise("40")
@pytest.mark.parametrize("route", BODIES)
def test_no_request_names_what_may_not_be_read(opened: Opened, route: str):
    assert route in {f"{each.method} {each.path}" for each in ROUTES}
    method, path = route.split()
    for group in GROUPS if "{group}" in path else GROUPS[:1]:
        for body in BODIES[route]:
            found = asked(opened, method, filled(path, group), body)
            assert "secret" not in found.replace("may not read topic secret-topic", "")


def test_who_may_read_a_group_is_told_of_its_topics_that_it_may_read(opened: Opened):
    groups = {group["name"]: group for group in json.loads(asked(opened, "GET", "/v1/groups"))}
    assert [at["topic"] for at in groups["low-committed"]["offsets"]] == [OPEN]
    assert groups["low-consumer"]["topics"] == [OPEN]
    assert groups["low-consumer"]["members"][0]["partitions"] == [[OPEN, 0]]


def test_a_member_with_a_prefix_is_not_told_of_a_topic_that_a_rule_denies():
    access = Access(
        (PrincipalEntry("low", TOKEN),), (*RULES, Rule("low", tuple(Operation), topics=("low-secret",), deny=True))
    )
    with BrokerHost(config=QUICK) as host, HttpListener(host, access=access) as http:
        for name in ("low-secret", OPEN):
            Admin(host).create_topic(name)
            Producer(host).publish(name, b"value")
        here = Opened(host, None, http)  # type: ignore[arg-type]
        member = json.loads(asked(here, "POST", "/v1/groups/low-g/members", {"prefix": "low-"}))["member"]
        path = f"/v1/groups/low-g/members/{member}/poll"
        found = json.loads(asked(here, "POST", path, {"timeout_ms": 5_000}))
        assert [message["topic"] for message in found["messages"]] == [OPEN]
        assert [at["topic"] for at in found["assignment"]] == [OPEN]


def test_events_of_a_group_come_without_what_they_say_of_its_topics(opened: Opened):
    connection = HTTPConnection("127.0.0.1", opened.http.port, timeout=20)
    connection.request("GET", "/v1/events?group=low-committed&limit=1", headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    assert b"events" in answer.readline()
    seen: list[Event] = []
    opened.host.call(lambda _now: opened.host.events.attach(seen.append))
    opened.host.call(
        lambda now_ns: opened.host.broker.groups.commit(
            now_ns, "low-committed", "", -1, {(SECRET, 0): 0}, backwards=True
        )
    )
    text = answer.read()
    connection.close()
    assert "secret" in str(seen)
    assert b"low-committed" in text
    assert b"secret" not in text
