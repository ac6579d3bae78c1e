"""The broker as a whole: metrics, events, connections, access rules."""

import http.client
import json
import socket
import threading
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.listeners.http.routes.connections import Subscriber
from broker_core.operations.entry import Operation
from tests.broker_core.listeners.http.client import Client
from tests.broker_core.listeners.http.raw import until


def samples(call):
    """(name, labels) and value of everything at /metrics."""
    text = call.get("/metrics").body.decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value_of(found, name, **labels):
    return sum(value for (each, given), value in found.items() if each == name and set(labels.items()) <= set(given))


def test_a22_metrics_have_the_names_of_opentelemetry(call):
    call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "v"}] * 5})
    call.done("POST", "/consume", {"consumer_id": "c1", "max_messages": 3})
    call.done("POST", "/v1/queues", {"name": "jobs", "settings": {"max_attempts": 1}, "flow": {"max_messages": 9}})
    call.done("POST", "/v1/queues/jobs/messages", {"messages": [{"value": "v"}] * 4})
    taken = call.done("POST", "/v1/queues/jobs/take", {"max_messages": 2})
    call.done("POST", "/v1/queues/jobs/nack", {"leases": [taken[0]["lease"]]})
    answer = call.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    told = [line for line in lines if line.startswith("# HELP") and "_messages_total" in line]
    assert len(told) == 8 and all("since the listener was opened" in line for line in told)
    found = samples(call)
    orders = {"messaging_destination_name": "orders", "messaging_system": "brokerscope"}
    assert value_of(found, "messaging_client_sent_messages_total", messaging_operation_name="publish", **orders) == 5
    assert (
        value_of(found, "messaging_client_consumed_messages_total", messaging_consumer_group_name="c1", **orders) == 3
    )
    assert value_of(found, "brokerscope_consumer_lag_messages", messaging_consumer_group_name="c1") == 2
    assert value_of(found, "brokerscope_queue_in_flight_messages", queue="jobs") == 1
    assert value_of(found, "brokerscope_queue_ready_messages", queue="jobs") == 2
    assert value_of(found, "brokerscope_queue_dead_letters", queue="jobs") == 1
    assert value_of(found, "brokerscope_dead_lettered_messages_total", messaging_destination_name="jobs") == 1
    assert value_of(found, "brokerscope_depth_messages", messaging_destination_name="jobs") == 3
    assert value_of(found, "brokerscope_depth_limit_messages", messaging_destination_name="jobs") == 9
    assert value_of(found, "brokerscope_partition_end_offset", messaging_destination_name="orders") == 5
    assert value_of(found, "brokerscope_connections", listener="http") == 1
    consumed = {"http_route": "/consume", "http_response_status_code": "200", "http_request_method": "POST"}
    assert value_of(found, "http_server_request_duration_seconds_count", **consumed) == 1


def test_paths_that_nobody_knows_are_no_labels(call):
    for number in range(20):
        call.get(f"/nowhere/{number}")
        call("DELETE", f"/v1/topics/topic-{number}")
    routes = {dict(labels).get("http_route") for _name, labels in samples(call)} - {None}
    assert routes <= {"", "/v1/topics/{topic}", "/metrics"}


# -- events


class Events:
    """Reads server-sent events."""

    def __init__(self, listener, query="", token=None):
        self._connection = http.client.HTTPConnection("127.0.0.1", listener.port, timeout=10)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._connection.request("GET", f"/v1/events{query}", headers=headers)
        self.answer = self._connection.getresponse()
        assert self.answer.readline().startswith(b":")

    def next(self):
        """The next one as (name, data)."""
        name = None
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                return name, json.loads(line[6:])

    def close(self):
        self._connection.close()


def test_events_come_as_they_happen(listener, call):
    events = Events(listener)
    assert events.answer.headers["Content-Type"].startswith("text/event-stream")
    call.done("POST", "/v1/topics", {"name": "orders"})
    call.done("POST", "/produce", {"topic": "orders", "value": "v", "key": "k"})
    assert events.next()[0] == "topic_created"
    name, data = events.next()
    assert name == "published"
    assert (data["topic"], data["partition"], data["offset"], data["count"], data["key"]) == ("orders", 0, 0, 1, "k")
    events.close()


def test_events_are_chosen_by_kind_topic_and_group_and_end_at_a_limit(listener, call):
    call.done("POST", "/v1/topics", {"name": "orders"})
    call.done("POST", "/v1/topics", {"name": "other"})
    events = Events(listener, "?kinds=published,topic_deleted&topic=orders&limit=2")
    for topic in ("other", "orders"):
        call.done("POST", "/produce", {"topic": topic, "value": "v"})
    call.done("DELETE", "/v1/topics/orders")
    assert [events.next()[0], events.next()[0]] == ["published", "topic_deleted"]
    assert events.answer.read().strip() == b""
    assert call.get("/v1/events?kinds=colour").status == 422
    events.close()


def test_a_listener_that_is_gone_is_forgotten(listener, call):
    before = len(listener.host.events._sinks)
    events = Events(listener)
    until(lambda: len(listener.host.events._sinks) == before + 1)
    events.close()
    until(
        lambda: (
            call.done("POST", "/topics/register", {"topic": f"t{time.time_ns()}"}),
            len(listener.host.events._sinks) == before,
        )[1]
    )


def test_a_listener_that_is_too_slow_is_told_how_much_it_missed(listener):
    import asyncio

    host = listener.host

    async def listen():
        listener = Subscriber(host, lambda _event: True, most=3)
        stream = listener.stream(asyncio.Event())
        await anext(stream)
        host.call(lambda now_ns: host.broker.topics.create(now_ns, "orders", 1))
        for _ in range(9):
            host.call(lambda now_ns: host.broker.topics.create(now_ns, f"t{host.events.count}", 1))
        text = await anext(stream) + await anext(stream)
        await stream.aclose()
        return text

    text = asyncio.run(listen())
    assert text.count(b"event: topic_created") == 3
    assert b'event: missed\ndata: {"count":7}' in text


def test_closing_the_listener_ends_the_events(opened):
    listener = opened()
    events = Events(listener)
    begun_s = time.monotonic()
    listener.close()
    assert time.monotonic() - begun_s < 20
    assert events.answer.read().strip() == b""
    events.close()


# -- connections


def test_connections_are_seen_and_cut(listener, call):
    other = socket.create_connection(("127.0.0.1", listener.port))
    other.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = b""
    while not answer.endswith(b"}"):
        answer += other.recv(4_096)
    call.done("POST", "/producers/register", {"topic": "orders", "producer_id": "till"})
    call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "v"}] * 7, "producer_id": "till"})
    call.get("/v1/topics/nowhere")
    found = {each["client"]: each for each in call.done("GET", "/v1/connections")}
    mine, its = found["till"], found[""]
    assert (mine["listener"], mine["messages_in"], mine["errors"]) == ("http", 7, 1)
    assert "nowhere" in mine["last_error"]
    assert mine["requests"] == 4 and mine["bytes_in"] > 300 and mine["bytes_out"] > 300
    assert its["requests"] == 1
    assert call("DELETE", f"/v1/connections/{its['id']}").status == 204
    assert other.recv(4_096) == b""
    other.close()
    until(lambda: len(call.done("GET", "/v1/connections")) == 1)
    assert call("DELETE", f"/v1/connections/{its['id']}").status == 404


def test_the_broker_describes_itself(call):
    call.done("POST", "/topics/register", {"topic": "orders"})
    call.done("POST", "/produce", {"topic": "orders", "value": "v"})
    found = call.done("GET", "/v1/broker")
    assert (found["durability"], found["totals"]["published"], found["connections"]) == ("memory", 1, 1)
    assert found["damage"] == []


def test_slow_readers_are_named(call):
    call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "v"}] * 5})
    assert call.done("GET", "/v1/slow-readers?max_lag=5") == []
    found = call.done("GET", "/v1/slow-readers?max_lag=4")
    assert [(each["reader"], each["lag"]) for each in found] == [("c1", 5)]


# -- who may do what

SHOP, BOSS = "the token of the shop", "the token of the boss"
ACCESS = Access(
    (PrincipalEntry("shop", SHOP), PrincipalEntry("boss", BOSS)),
    (
        Rule("boss", tuple(Operation), ("*",), ("*",), ("*",), ("*",), broker=True),
        Rule("shop", (Operation.READ, Operation.WRITE), ("orders", "mail-*"), ("jobs",), ("shop",)),
        Rule("shop", (Operation.WRITE,), ("mail-secret",), deny=True),
    ),
)

# (method, path, body, status for the shop)
RIGHTS: list = [
    ("GET", "/health", None, 200),
    ("GET", "/stats", None, 200),
    ("POST", "/produce", {"topic": "orders", "value": 1}, 200),
    ("POST", "/produce", {"topic": "mail-out", "value": 1}, 200),
    ("POST", "/produce", {"topic": "mail-secret", "value": 1}, 403),
    ("POST", "/produce", {"topic": "other", "value": 1}, 403),
    ("POST", "/topics/register", {"topic": "mail-new"}, 200),
    ("POST", "/topics/register", {"topic": "new"}, 403),
    ("POST", "/consumers/register", {"topic": "orders", "consumer_id": "shop"}, 200),
    ("POST", "/consumers/register", {"topic": "other", "consumer_id": "shop"}, 403),
    ("POST", "/consumers/register", {"topic": "orders", "consumer_id": "boss"}, 403),
    ("POST", "/consume", {"consumer_id": "shop"}, 200),
    ("POST", "/consume", {"consumer_id": "boss"}, 403),
    ("GET", "/v1/topics/orders", None, 200),
    ("GET", "/v1/topics/other", None, 403),
    ("DELETE", "/v1/topics/orders", None, 403),
    ("PATCH", "/v1/topics/orders/config", {}, 403),
    ("POST", "/v1/topics/other/messages", {"messages": [{"value": 1}]}, 403),
    ("GET", "/v1/topics/other/partitions/0/messages", None, 403),
    ("POST", "/v1/queues/jobs/messages", {"messages": [{"value": 1}]}, 200),
    ("POST", "/v1/topics/jobs/messages", {"messages": [{"value": 1}]}, 200),
    ("POST", "/v1/queues/jobs/take", {}, 200),
    ("POST", "/v1/queues/jobs/purge", None, 403),
    ("POST", "/v1/queues/private/take", {}, 403),
    ("GET", "/v1/dead-letters/jobs", None, 200),
    ("POST", "/v1/dead-letters/jobs/redrive", {}, 403),
    ("POST", "/v1/dead-letters/jobs/redrive", {"dry_run": True}, 200),
    ("POST", "/v1/groups/shop/members", {"topics": ["orders"]}, 201),
    ("POST", "/v1/groups/shop/members", {"topics": ["other"]}, 403),
    ("POST", "/v1/groups/shop/members", {"prefix": ""}, 422),
    ("POST", "/v1/groups/shop/members", {"prefix": "o"}, 403),
    ("POST", "/v1/groups/boss/members", {"topics": ["orders"]}, 403),
    ("POST", "/v1/groups/shop/offsets/reset", {"form": "latest"}, 403),
    ("POST", "/v1/schemas/order/versions", {"schema": {}}, 403),
    ("GET", "/metrics", None, 403),
    ("GET", "/v1/connections", None, 403),
    ("DELETE", "/v1/connections/1", None, 403),
]


@pytest.fixture
def guarded(opened, connect):
    listener = opened(access=ACCESS)
    boss = connect(listener, token=BOSS)
    for topic in ("orders", "mail-out", "mail-secret", "other"):
        boss.done("POST", "/v1/topics", {"name": topic})
    for queue in ("jobs", "private"):
        boss.done("POST", "/v1/queues", {"name": queue})
    boss.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "boss"})
    return listener


def test_access_rules_say_who_may_do_what(guarded, connect):
    shop = connect(guarded, token=SHOP)
    found = [(method, path, body, shop(method, path, body).status) for method, path, body, _status in RIGHTS]
    assert found == RIGHTS
    assert connect(guarded).post("/produce", {"topic": "orders", "value": 1}).status == 401


def test_what_may_not_be_read_is_not_listed(guarded, connect):
    shop, boss = connect(guarded, token=SHOP), connect(guarded, token=BOSS)
    assert set(shop.done("GET", "/stats")["topics"]) == {"orders", "mail-out", "mail-secret"}
    assert shop.done("GET", "/stats")["consumers"] == {}
    assert {each["name"] for each in shop.done("GET", "/v1/topics")} == {"orders", "mail-out", "mail-secret"}
    assert [each["name"] for each in shop.done("GET", "/v1/queues")] == ["jobs"]
    assert len(boss.done("GET", "/v1/topics")) == 4


def test_events_of_what_may_not_be_read_are_not_sent(guarded, connect):
    boss = connect(guarded, token=BOSS)
    events = Events(guarded, token=SHOP)
    boss.done("POST", "/produce", {"topic": "other", "value": "hidden"})
    boss.done("POST", "/produce", {"topic": "orders", "value": "seen"})
    assert events.next()[1]["topic"] == "orders"
    events.close()


def test_connections_show_the_principal(guarded, connect):
    boss = connect(guarded, token=BOSS)
    assert "boss" in {each["principal"] for each in boss.done("GET", "/v1/connections")}


# -- many at once


def test_twenty_clients_at_once_lose_and_repeat_nothing(listener):
    setup = Client(listener.port)
    setup.done("POST", "/v1/topics", {"name": "orders", "partitions": 4})
    setup.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c"})
    failures: list = []
    got: list = []

    def produce(number):
        call = Client(listener.port)
        try:
            for index in range(25):
                call.done("POST", "/produce", {"topic": "orders", "value": [number, index], "key": str(number)})
        except Exception as error:
            failures.append(error)
        call.close()

    def consume():
        call = Client(listener.port)
        while len(got) < 500:
            answer = call.post("/consume", {"consumer_id": "c", "max_messages": 20, "timeout_ms": 500})
            if answer.status == 200:
                got.extend(tuple(each["value"]) for each in answer.json["messages"])
            elif answer.status != 204:
                failures.append(answer.body)
                break
        call.close()

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(20)]
    threads += [threading.Thread(target=consume) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    setup.close()
    assert not failures
    assert sorted(got) == [(number, index) for number in range(20) for index in range(25)]
