"""/v1/topics: settings, batches, reading."""

import base64

import pytest

from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig


def test_topics_are_created_described_listed_and_deleted(call):
    made = call("POST", "/v1/topics", {"name": "orders", "partitions": 3, "partitioner": "murmur2"})
    assert made.status == 201
    assert [each["partition"] for each in made.json["partitions"]] == [0, 1, 2]
    assert call("POST", "/v1/topics", {"name": "orders"}).status == 409
    assert call.done("GET", "/v1/topics/orders") == made.json
    assert [each["name"] for each in call.done("GET", "/v1/topics")] == ["orders"]
    assert call("DELETE", "/v1/topics/orders").status == 204
    assert call.get("/v1/topics/orders").status == 404
    assert call("DELETE", "/v1/topics/orders").status == 404


@pytest.mark.parametrize("name", ["..", "a/b", "con", "a b", "x" * 250, "ä"])
def test_names_that_are_not_allowed_are_refused(call, name):
    assert call("POST", "/v1/topics", {"name": name}).status == 422


def test_settings_are_changed_and_the_rest_stays(call):
    call.done("POST", "/v1/topics", {"name": "orders", "log": {"retention_ms": 60_000, "max_message_bytes": 1_000}})
    before = call.done("GET", "/v1/topics/orders/config")["log"]
    assert (before["retention_ms"], before["max_message_bytes"], before["cleanup"]) == (60_000, 1_000, "delete")
    after = call.done("PATCH", "/v1/topics/orders/config", {"log": {"retention_ms": None, "cleanup": "compact"}})["log"]
    assert after == {**before, "retention_ms": None, "cleanup": "compact"}
    assert call.post("/produce", {"topic": "orders", "value": "x" * 2_000, "key": "k"}).status == 413
    call.done("PATCH", "/v1/topics/orders/config", {"flow": {"max_messages": 10, "policy": "reject"}})
    assert call.done("GET", "/v1/topics/orders")["gate"]["limit"] == 10


def test_partitions_are_added(call):
    call.done("POST", "/v1/topics", {"name": "orders"})
    assert len(call.done("POST", "/v1/topics/orders/partitions", {"total": 4})["partitions"]) == 4
    assert call("POST", "/v1/topics/orders/partitions", {"total": 2}).status == 409


def test_a_batch_is_published_in_its_order_and_each_message_is_told_its_place(call):
    call.done("POST", "/v1/topics", {"name": "orders", "partitions": 3})
    records = [{"value": number, "key": f"k{number % 5}"} for number in range(50)]
    done = call.done("POST", "/v1/topics/orders/messages", {"messages": records, "producer_id": "till"})
    assert (done["count"], done["failed"]) == (50, 0)
    found = {}
    for partition in range(3):
        path = f"/v1/topics/orders/partitions/{partition}/messages?max_messages=1000"
        for each in call.done("GET", path)["messages"]:
            found[partition, each["offset"]] = (each["value"], each["key"])
    places = [(each["partition"], each["offset"]) for each in done["messages"]]
    assert [found[place] for place in places] == [(record["value"], record["key"]) for record in records]
    assert len({place for place, _ in places}) > 1


def test_messages_without_a_key_are_spread_and_a_partition_may_be_chosen(call):
    call.done("POST", "/v1/topics", {"name": "orders", "partitions": 4})
    done = call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "v"}] * 200})
    counts = [each["end_offset"] for each in call.done("GET", "/v1/topics/orders")["partitions"]]
    assert sum(counts) == 200 and min(counts) >= 32
    done = call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "v", "partition": 3}]})
    assert done["messages"][0]["partition"] == 3


def test_a_batch_may_fail_in_part(call):
    call.done("POST", "/v1/topics", {"name": "orders", "log": {"max_message_bytes": 500}, "partitions": 2})
    mixed = [{"value": "ok", "partition": 0}, {"value": "x" * 900, "partition": 1}, {"value": "v", "partition": 7}]
    done = call.done("POST", "/v1/topics/orders/messages", {"messages": mixed})
    assert [each["status"] for each in done["messages"]] == ["stored", "MESSAGE_TOO_LARGE", "INVALID_REQUEST"]
    assert done["failed"] == 2
    all_bad = call("POST", "/v1/topics/orders/messages", {"messages": [{"value": "x" * 900}] * 2})
    assert (all_bad.status, all_bad.json["error"]) == (413, "MESSAGE_TOO_LARGE")
    assert call("POST", "/v1/topics/nowhere/messages", {"messages": [{"value": "v"}] * 2}).status == 404
    of_two_lines = {"messages": [{"value": "v"}], "producer_id": "till\n"}
    assert call("POST", "/v1/topics/orders/messages", of_two_lines).status == 422


def test_under_backpressure_a_batch_says_what_was_stored(call):
    call.done("POST", "/v1/topics", {"name": "full", "flow": {"max_messages": 3, "policy": "reject"}})
    call.done("POST", "/consumers/register", {"topic": "full", "consumer_id": "c"})
    done = call.done("POST", "/v1/topics/full/messages", {"messages": [{"value": "v"}] * 5})
    assert [each["status"] for each in done["messages"]] == ["stored"] * 3 + ["THROTTLED"] * 2
    answer = call("POST", "/v1/topics/full/messages", {"messages": [{"value": "v"}] * 2})
    assert answer.status == 429 and answer.headers["Retry-After"]


def test_a_publish_that_waits_for_room_ends_in_the_clients_time_where_the_session_stands_still(
    listener, call, monkeypatch
):
    call.done("POST", "/v1/topics", {"name": "full", "flow": {"max_messages": 1, "policy": "block"}})
    call.done("POST", "/consumers/register", {"topic": "full", "consumer_id": "c"})
    call.done("POST", "/produce", {"topic": "full", "value": "first"})
    broker = listener.host.broker
    publish = broker.publishing.publish_batch

    def never(now_ns, *arguments, deadline_ns=None, **named):
        return publish(now_ns, *arguments, deadline_ns=now_ns + 3_600 * 10**9, **named)

    monkeypatch.setattr(broker.publishing, "publish_batch", never)
    answer = call("POST", "/v1/topics/full/messages", {"messages": [{"value": "v"}], "timeout_ms": 100})
    assert (answer.status, answer.json["error"]) == (503, "REQUEST_TIMED_OUT")


def test_headers_bytes_and_tombstones_survive(call):
    call.done("POST", "/v1/topics", {"name": "orders"})
    raw = base64.b64encode(bytes(range(256))).decode()
    records = [
        {"value": raw, "key": "AP8=", "encoding": "base64", "headers": {"trace": "ä"}},
        {"value": None, "key": "gone"},
        {"value": "short", "ttl_ms": 60_000, "priority": 3},
    ]
    call.done("POST", "/v1/topics/orders/messages", {"messages": records})
    found = call.done("GET", "/v1/topics/orders/partitions/0/messages")
    assert found["next_offset"] == found["end_offset"] == 3
    first, second, third = found["messages"]
    assert (first["value"], first["key"], first["encoding"], first["headers"]) == (
        raw,
        "AP8=",
        "base64",
        {"trace": "ä"},
    )
    assert (second["value"], second["key"], second["encoding"]) == (None, "gone", "text")
    assert (third["value"], third["headers"]) == ("short", {})


def test_records_are_deleted_and_reading_goes_on_behind_them(call):
    call.done("POST", "/v1/topics", {"name": "orders"})
    call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": n} for n in range(10)]})
    assert call.done("POST", "/v1/topics/orders/delete-records", {"before": {"0": 4}}) == {"0": 4}
    found = call.done("GET", "/v1/topics/orders/partitions/0/messages?offset=0&max_messages=2")
    assert [each["value"] for each in found["messages"]] == [4, 5]
    assert found["next_offset"] == 6
    assert call("POST", "/v1/topics/orders/delete-records", {"before": {"0": 99}}).status == 409
    assert call.get("/v1/topics/orders/partitions/1/messages").status == 404
    assert call.get("/v1/topics/orders/partitions/0/messages?offset=99").status == 409
    assert call.get("/v1/topics/orders/partitions/0/messages?offset=x").status == 422
    assert call.get("/v1/topics/orders/partitions/0/messages?colour=red").status == 422
    assert call.get("/v1/topics/orders/partitions/zero/messages").status == 422
    assert call.done("POST", "/v1/topics/orders/delete-records", {"before": {"0": 10}}) == {"0": 10}
    found = call.done("GET", "/v1/topics/orders/partitions/0/messages?offset=0")
    assert (found["messages"], found["next_offset"], found["end_offset"]) == ([], 10, 10), "nothing is left to read"


def test_records_of_all_partitions_are_deleted_or_of_none(call):
    call.done("POST", "/v1/topics", {"name": "orders", "partitions": 2})
    call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "v", "partition": 0}] * 10})
    for other, status in (("1", 409), ("2", 404), ("00", 422), ("0\n", 422)):
        assert call("POST", "/v1/topics/orders/delete-records", {"before": {"0": 5, other: 6}}).status == status
        assert call.done("GET", "/v1/topics/orders")["partitions"][0]["start_offset"] == 0


def test_a_schema_rule_refuses_or_dead_letters(call):
    call.done("POST", "/v1/topics", {"name": "orders"})
    assert call("PUT", "/v1/topics/orders/schema-rule", {"subject": "order"}).json["error"] == "UNKNOWN_SUBJECT"
    schema = {"type": "object", "required": ["book"]}
    call.done("POST", "/v1/schemas/order/versions", {"schema": schema})
    call.done("PUT", "/v1/topics/orders/schema-rule", {"subject": "order"})
    refused = call.post("/produce", {"topic": "orders", "value": {"pen": 1}})
    assert (refused.status, refused.json["error"]) == (409, "INVALID_RECORD")
    assert "book" in refused.json["message"]
    call.done("PUT", "/v1/topics/orders/schema-rule", {"subject": "order", "mode": "dead_letter"})
    assert call.done("POST", "/produce", {"topic": "orders", "value": {"pen": 1}})["status"] == "dead-lettered"
    assert call.done("GET", "/v1/dead-letters/orders")["count"] == 1
    call.done("DELETE", "/v1/topics/orders/schema-rule")
    assert call.done("POST", "/produce", {"topic": "orders", "value": {"pen": 1}})["status"] == "ok"


def test_a_host_that_creates_topics_by_itself_does_so_here_too(opened, connect):
    with BrokerHost(config=HostConfig(auto_create_partitions=2)) as host:
        listener = opened(host)
        assert connect(listener).post("/produce", {"topic": "fresh", "value": "v"}).status == 200
        listener.close()
