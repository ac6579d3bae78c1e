"""Checklist B: the HTTP mini broker, row by row, with its paths, bodies and codes; and its wish list."""

import threading
import time

import pytest

from broker_core.broker.group_offsets import Committer
from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.flow.config import FlowConfig
from broker_core.groups.config import GroupConfig
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.http.members import MANUAL_MARK
from broker_core.log.config import LogConfig
from broker_core.messages import OffsetAndMetadata
from broker_core.operations.topics import CreateTopic
from tests.broker_core.listeners.http.raw import until


def test_b_root_answers_a_message(call):
    answer = call.get("/")
    assert answer.status == 200
    assert set(answer.json) == {"message"}


def test_b_health_is_ok(call):
    answer = call.get("/health")
    assert (answer.status, answer.json) == (200, {"status": "ok"})


def test_b_registering_a_topic_is_idempotent(call):
    for _ in range(2):
        answer = call.post("/topics/register", {"topic": "orders"})
        assert answer.status == 200
        assert set(answer.json) == {"status", "topic"}
        assert answer.json["topic"] == "orders"
    assert call.get("/stats").json["topics"] == {"orders": 0}


def test_b_registering_a_producer_creates_the_topic_and_makes_up_an_id(call):
    named = call.post("/producers/register", {"topic": "orders", "producer_id": "till-1"})
    assert named.status == 200
    assert set(named.json) == {"status", "topic", "producer_id"}
    assert (named.json["topic"], named.json["producer_id"]) == ("orders", "till-1")
    made_up = [call.post("/producers/register", {"topic": "orders"}).json["producer_id"] for _ in range(2)]
    assert all(made_up) and made_up[0] != made_up[1]
    assert "orders" in call.get("/stats").json["topics"]


def test_b_registering_a_consumer_creates_the_topic_and_starts_at_offset_0(call):
    call.post("/topics/register", {"topic": "orders"})
    call.post("/produce", {"topic": "orders", "value": "before"})
    answer = call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    assert answer.status == 200
    assert set(answer.json) == {"status", "topic", "consumer_id"}
    assert call.get("/stats").json["consumers"] == {"c1": {"topic": "orders", "offset": 0}}
    assert call.post("/consume", {"consumer_id": "c1"}).json["value"] == "before"
    assert call.post("/consumers/register", {"topic": "fresh"}).json["consumer_id"]
    assert "fresh" in call.get("/stats").json["topics"]


def test_b_registering_a_consumer_again_keeps_its_offset_unless_asked_to_reset(call):
    call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    for value in "abc":
        call.post("/produce", {"topic": "orders", "value": value})
    assert call.post("/consume", {"consumer_id": "c1"}).json["value"] == "a"
    call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    assert call.post("/consume", {"consumer_id": "c1"}).json["value"] == "b"
    call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1", "reset": True})
    assert call.get("/stats").json["consumers"]["c1"]["offset"] == 0
    assert call.post("/consume", {"consumer_id": "c1"}).json["value"] == "a"


def test_b_produce_answers_the_offset(call):
    call.post("/topics/register", {"topic": "orders"})
    for offset in range(3):
        answer = call.post("/produce", {"topic": "orders", "value": "v", "key": "k"})
        assert answer.status == 200
        assert answer.json["offset"] == offset
        assert set(answer.json) == {"status", "offset", "partition"}


def test_b_produce_to_an_unknown_topic_is_404(call):
    answer = call.post("/produce", {"topic": "nowhere", "value": "v"})
    assert answer.status == 404
    assert answer.json["error"] == "UNKNOWN_TOPIC_OR_PARTITION"
    assert "nowhere" in answer.json["message"]


@pytest.mark.parametrize(
    "body",
    [
        {"topic": "orders"},
        {"value": "v"},
        {"topic": 3, "value": "v"},
        {"topic": "orders", "value": "v", "key": 7},
        {"topic": "../orders", "value": "v"},
        {"topic": "orders", "value": "not base64!", "encoding": "base64"},
        [],
        "orders",
        b"{",
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_b_produce_with_a_bad_body_is_422_in_one_sentence(call, body):
    call.post("/topics/register", {"topic": "orders"})
    answer = call.post("/produce", body)
    assert answer.status == 422, answer.body
    assert set(answer.json) == {"error", "message", "retriable"}
    assert "\n" not in answer.json["message"]
    assert call.get("/stats").json["topics"] == {"orders": 0}


def test_b_what_is_not_known_in_a_body_is_passed_over(call):
    call.post("/topics/register", {"topic": "orders", "colour": "red"})
    assert call.post("/produce", {"topic": "orders", "value": "v", "colour": "red"}).status == 200


def test_b_produce_under_backpressure_is_429_with_retry_after(listener, call):
    Admin(listener.host).create_topic("full", flow=FlowConfig(rate_per_s=0.5, burst=1, policy="reject"))
    assert call.post("/produce", {"topic": "full", "value": "first"}).status == 200
    answer = call.post("/produce", {"topic": "full", "value": "second"})
    assert answer.status == 429
    assert answer.json["retriable"] is True
    assert 1 <= int(answer.headers["Retry-After"]) <= 2


def test_b_produce_waits_for_room_and_says_429_when_none_comes(opened, connect):
    listener = opened()
    Admin(listener.host).create_topic("full", flow=FlowConfig(max_messages=1, policy="block", block_timeout_ms=100))
    call = connect(listener)
    call.done("POST", "/consumers/register", {"topic": "full", "consumer_id": "c"})
    assert call.post("/produce", {"topic": "full", "value": "first"}).status == 200
    assert call.post("/produce", {"topic": "full", "value": "second"}).status == 429
    assert call.post("/consume", {"consumer_id": "c"}).json["value"] == "first"
    assert call.post("/produce", {"topic": "full", "value": "third"}).status == 200
    assert call.post("/consume", {"consumer_id": "c"}).json["value"] == "third"


def test_b_produce_to_a_topic_that_is_full_is_answered_before_a_client_gives_up(opened, connect):
    listener = opened()
    Admin(listener.host).create_topic("full", flow=FlowConfig(max_messages=1, policy="block"))
    call = connect(listener, timeout_s=5)
    call.done("POST", "/consumers/register", {"topic": "full", "consumer_id": "c"})
    call.done("POST", "/produce", {"topic": "full", "value": "first"})
    for asked, most_s in (({}, 4.5), ({"timeout_ms": 100}, 1.9), ({"timeout_ms": 0}, 1.9)):
        begun_s = time.monotonic()
        answer = call.post("/produce", {"topic": "full", "value": "second", **asked})
        assert (answer.status, answer.json["error"]) == (429, "THROTTLED")
        assert int(answer.headers["Retry-After"]) >= 1
        assert time.monotonic() - begun_s < most_s
    assert call.get("/stats").json["topics"] == {"full": 1}, "what was refused does not come later"


def test_b_consume_answers_the_message_and_204_with_an_empty_body_when_nothing_is_there(call):
    call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    nothing = call.post("/consume", {"consumer_id": "c1"})
    assert (nothing.status, nothing.body) == (204, b"")
    call.post("/produce", {"topic": "orders", "value": "v", "key": "k"})
    answer = call.post("/consume", {"consumer_id": "c1"})
    assert (answer.status, answer.json) == (200, {"topic": "orders", "offset": 0, "value": "v", "key": "k"})
    assert call.post("/consume", {"consumer_id": "c1"}).status == 204


def test_b_consume_by_an_unknown_consumer_is_404(call):
    answer = call.post("/consume", {"consumer_id": "nobody"})
    assert (answer.status, answer.json["error"]) == (404, "UNKNOWN_CONSUMER")


def test_b_consumers_do_not_disturb_each_other(call):
    for name in ("c1", "c2"):
        call.post("/consumers/register", {"topic": "orders", "consumer_id": name})
    for value in "ab":
        call.post("/produce", {"topic": "orders", "value": value})
    assert [call.post("/consume", {"consumer_id": "c1"}).json["value"] for _ in "ab"] == ["a", "b"]
    assert [call.post("/consume", {"consumer_id": "c2"}).json["value"] for _ in "ab"] == ["a", "b"]


def test_b_stats(call):
    call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    call.post("/topics/register", {"topic": "empty"})
    for _ in range(3):
        call.post("/produce", {"topic": "orders", "value": "v"})
    call.post("/consume", {"consumer_id": "c1"})
    answer = call.get("/stats")
    assert answer.status == 200
    assert answer.json == {"topics": {"orders": 3, "empty": 0}, "consumers": {"c1": {"topic": "orders", "offset": 1}}}


def test_b_docs_is_a_swagger_page_that_needs_no_net(call):
    page = call.get("/docs")
    assert page.status == 200
    assert b"SwaggerUIBundle" in page.body
    assert b"http://" not in page.body and b"https://" not in page.body
    for file in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"):
        assert f"/docs/{file}".encode() in page.body
        assert call.get(f"/docs/{file}").status == 200
    assert call.get("/docs/swagger-ui.LICENSE.txt").status == 404


# -- values


@pytest.mark.parametrize(
    "value", ["", "hello", "grüß dich", "\x00\x1f", 0, -1.5, True, None, [], {"a": [1, None]}, [1, "2"]]
)
def test_values_come_back_as_they_were(call, value):
    call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    assert call.post("/produce", {"topic": "orders", "value": value}).status == 200
    assert call.post("/consume", {"consumer_id": "c1"}).json == {
        "topic": "orders",
        "offset": 0,
        "value": value,
        "key": None,
    }


def test_bytes_come_back_as_base64(listener, call):
    call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    call.done("POST", "/produce", {"topic": "orders", "value": "/wD+", "key": "AAE=", "encoding": "base64"})
    stored = listener.host.call(lambda _now: listener.host.broker.logs.partition("orders", 0).message(0))
    assert (stored.value, stored.key) == (b"\xff\x00\xfe", b"\x00\x01")
    found = call.post("/consume", {"consumer_id": "c1"}).json
    assert (found["value"], found["key"], found["encoding"]) == ("/wD+", "AAE=", "base64")


def test_text_comes_back_as_base64_where_that_is_asked_for(call):
    call.post("/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    call.done("POST", "/produce", {"topic": "orders", "value": "hello"})
    found = call.post("/consume", {"consumer_id": "c1", "encoding": "base64"}).json
    assert (found["value"], found["encoding"]) == ("aGVsbG8=", "base64")


# -- the wish list


def test_b_wish_partitions(call):
    call.done("POST", "/topics/register", {"topic": "wide", "partitions": 3})
    call.done("POST", "/consumers/register", {"topic": "wide", "consumer_id": "c1"})
    places = {key: call.done("POST", "/produce", {"topic": "wide", "value": "v", "key": key}) for key in "abcdefgh"}
    assert len({place["partition"] for place in places.values()}) > 1
    again = call.done("POST", "/produce", {"topic": "wide", "value": "v", "key": "a"})
    assert again["partition"] == places["a"]["partition"]
    assert call.done("POST", "/produce", {"topic": "wide", "value": "v", "partition": 2})["partition"] == 2
    assert call.post("/produce", {"topic": "wide", "value": "v", "partition": 3}).status == 409
    found = [call.done("POST", "/consume", {"consumer_id": "c1"}) for _ in range(10)]
    assert {each["partition"] for each in found} == {0, 1, 2}
    assert call.post("/consume", {"consumer_id": "c1"}).status == 204
    assert call.get("/stats").json["consumers"]["c1"]["offset"] == 10


def test_b_wish_batch_consume(call):
    call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    for number in range(5):
        call.done("POST", "/produce", {"topic": "orders", "value": number})
    found = call.done("POST", "/consume", {"consumer_id": "c1", "max_messages": 3})["messages"]
    assert [each["value"] for each in found] == [0, 1, 2]
    assert call.done("POST", "/consume", {"consumer_id": "c1"})["value"] == 3
    assert len(call.done("POST", "/consume", {"consumer_id": "c1", "max_messages": 3})["messages"]) == 1
    assert call.post("/consume", {"consumer_id": "c1", "max_messages": 3}).status == 204


def test_b_wish_long_polling_answers_when_a_message_comes(listener, call, connect):
    call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    other = connect(listener)
    timer = threading.Timer(0.2, lambda: other.post("/produce", {"topic": "orders", "value": "late"}))
    timer.start()
    begun_s = time.monotonic()
    assert call.done("POST", "/consume", {"consumer_id": "c1", "timeout_ms": 15_000})["value"] == "late"
    assert time.monotonic() - begun_s < 10
    timer.join()


def test_b_wish_long_polling_ends_with_204(call):
    call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    begun_s = time.monotonic()
    assert call.post("/consume", {"consumer_id": "c1", "timeout_ms": 150}).status == 204
    assert time.monotonic() - begun_s >= 0.14


def test_what_a_client_that_hung_up_was_waiting_for_is_for_the_next_one(listener, call, connect):
    call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    gone = connect(listener)
    gone._connection.request(
        "POST", "/consume", b'{"consumer_id":"c1","timeout_ms":30000}', {"Content-Type": "application/json"}
    )
    until(listener._context.consumers.find("c1").busy.locked)
    gone.close()
    until(lambda: not listener._context.consumers.find("c1").busy.locked())
    call.done("POST", "/produce", {"topic": "orders", "value": "kept"})
    assert call.done("POST", "/consume", {"consumer_id": "c1", "timeout_ms": 5_000})["value"] == "kept"


def test_b_wish_durability_topics_messages_and_consumers_survive_a_restart(tmp_path, connect):
    config = HostConfig(log=LogConfig(durability="fsync"))
    with BrokerHost(tmp_path, config) as host, HttpListener(host) as listener:
        call = connect(listener)
        call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1"})
        call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "by-hand"})
        call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "by-hand", "auto_commit": False})
        for value in "abc":
            call.done("POST", "/produce", {"topic": "orders", "value": value})
        assert call.done("POST", "/consume", {"consumer_id": "c1"})["value"] == "a"
        assert call.done("POST", "/consume", {"consumer_id": "by-hand"})["value"] == "a"
        call.close()
    with BrokerHost(tmp_path, config) as host, HttpListener(host) as listener:
        call = connect(listener)
        assert call.get("/stats").json == {
            "topics": {"orders": 3},
            "consumers": {"by-hand": {"topic": "orders", "offset": 0}, "c1": {"topic": "orders", "offset": 1}},
        }
        assert call.done("POST", "/consume", {"consumer_id": "c1"})["value"] == "b"
        assert call.done("POST", "/consume", {"consumer_id": "by-hand"})["value"] == "a"
        assert call.get("/stats").json["consumers"]["by-hand"]["offset"] == 1
        assert call.done("GET", "/v1/groups/by-hand")["offsets"][0]["committed"] == 0
        call.close()


def test_another_auto_commit_moves_no_offset_and_is_taken_while_the_group_has_members(opened, connect):
    host = BrokerHost(config=HostConfig(groups=GroupConfig(initial_rebalance_delay_ms=0)))
    call = connect(opened(host))
    for name in ("orders", "other"):
        host.ask(CreateTopic(name=name, partitions=1))
    call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1"})
    for value in "abc":
        call.done("POST", "/produce", {"topic": "orders", "value": value})
        call.done("POST", "/consume", {"consumer_id": "c1"})
    call.done("POST", "/produce", {"topic": "other", "value": "d"})
    offsets = host.broker.offsets
    host.call(lambda now_ns: offsets.commit(now_ns, "c1", Committer.of("tool"), {("other", 0): 1}))
    with host, GroupConsumer(host, "c1", ["orders"]) as member:
        until(lambda: member.poll(timeout_s=0.01) or member.assignment)
        call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1", "auto_commit": False})
        state = host.call(lambda _now: offsets.state("c1"))
    assert state == {("orders", 0): OffsetAndMetadata(3, MANUAL_MARK), ("other", 0): OffsetAndMetadata(1)}


def test_b_wish_offset_commits(call):
    call.done("POST", "/consumers/register", {"topic": "orders", "consumer_id": "c1", "auto_commit": False})
    for value in "abc":
        call.done("POST", "/produce", {"topic": "orders", "value": value})
    call.done("POST", "/consume", {"consumer_id": "c1"})
    call.done("POST", "/consume", {"consumer_id": "c1"})
    assert call.done("GET", "/v1/groups/c1")["offsets"][0]["committed"] == 0
    answer = call.done("POST", "/commit", {"consumer_id": "c1", "offset": 1})
    assert answer == {"status": "ok", "consumer_id": "c1", "offsets": {"0": 1}}
    assert call.done("POST", "/commit", {"consumer_id": "c1"})["offsets"] == {"0": 2}
    assert call.done("GET", "/v1/groups/c1")["offsets"][0]["lag"] == 1
    assert call.post("/commit", {"consumer_id": "c1", "offset": 4}).status == 409
    assert call.post("/commit", {"consumer_id": "nobody"}).status == 404


def test_b_wish_maximum_topic_size_and_retention(call):
    call.done("POST", "/v1/topics", {"name": "small", "flow": {"max_messages": 2, "policy": "reject"}})
    call.done("POST", "/consumers/register", {"topic": "small", "consumer_id": "c1"})
    codes = [call.post("/produce", {"topic": "small", "value": "v"}).status for _ in range(3)]
    assert codes == [200, 200, 429]
    changed = call.done("PATCH", "/v1/topics/small/config", {"log": {"retention_bytes": 1_000, "retention_ms": None}})
    assert (changed["log"]["retention_bytes"], changed["log"]["retention_ms"]) == (1_000, None)
    assert call.done("GET", "/v1/topics/small/config") == changed


def test_a_consumer_whose_name_a_group_uses_is_told_so(call):
    call.done("POST", "/topics/register", {"topic": "orders"})
    member = call.done("POST", "/v1/groups/billing/members", {"topics": ["orders"]})["member"]
    call.done("POST", f"/v1/groups/billing/members/{member}/poll", {"timeout_ms": 300})
    answer = call.post("/consumers/register", {"topic": "orders", "consumer_id": "billing"})
    assert (answer.status, answer.json["error"]) == (409, "NON_EMPTY_GROUP")
