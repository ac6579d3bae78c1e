"""/v1/groups: members that poll by HTTP, offsets, resets."""

import threading
import time

import pytest


@pytest.fixture
def orders(call):
    """A topic of four partitions with a message in each, of its own number."""
    call.done("POST", "/v1/topics", {"name": "orders", "partitions": 4})
    records = [{"value": number, "partition": number} for number in range(4)]
    call.done("POST", "/v1/topics/orders/messages", {"messages": records})
    return call


def join(call, group="billing", **settings):
    return call.done("POST", f"/v1/groups/{group}/members", {"topics": ["orders"], **settings})["member"]


def poll(call, member, group="billing", timeout_ms=1_000, **more):
    return call.done("POST", f"/v1/groups/{group}/members/{member}/poll", {"timeout_ms": timeout_ms, **more})


def poll_until(call, member, count, **more):
    found: list = []
    deadline_s = time.monotonic() + 15
    while len(found) < count and time.monotonic() < deadline_s:
        found += poll(call, member, **more)["messages"]
    return found


def test_a_member_joins_polls_commits_and_leaves(orders):
    member = join(orders, client_id="worker")
    assert sorted(each["value"] for each in poll_until(orders, member, 4)) == [0, 1, 2, 3]
    described = orders.done("GET", "/v1/groups/billing")
    assert (described["state"], len(described["members"])) == ("Stable", 1)
    assert described["members"][0]["client"].startswith("worker@http-")
    assert len(described["members"][0]["partitions"]) == 4
    orders.done("POST", f"/v1/groups/billing/members/{member}/commit", {})
    offsets = orders.done("GET", "/v1/groups/billing")["offsets"]
    assert [(each["committed"], each["lag"]) for each in offsets] == [(1, 0)] * 4
    orders.done("DELETE", f"/v1/groups/billing/members/{member}")
    assert orders.done("GET", "/v1/groups/billing")["state"] == "Empty"
    assert orders("POST", f"/v1/groups/billing/members/{member}/poll", {}).status == 404
    assert [each["name"] for each in orders.done("GET", "/v1/groups")] == ["billing"]
    orders.done("DELETE", "/v1/groups/billing")
    assert orders.get("/v1/groups/billing").status == 404


def test_two_members_share_the_partitions_and_what_was_not_committed_comes_again(orders, listener, connect):
    first = join(orders)
    assert len(poll_until(orders, first, 4)) == 4
    orders.done(
        "POST",
        f"/v1/groups/billing/members/{first}/commit",
        {"offsets": [{"topic": "orders", "partition": 0, "offset": 1}]},
    )
    other = connect(listener)
    second = join(other)
    stop = threading.Event()
    got = []

    def keep_polling():
        while not stop.is_set():
            got.extend(poll(other, second, timeout_ms=50)["messages"])

    thread = threading.Thread(target=keep_polling)
    thread.start()
    deadline_s = time.monotonic() + 15
    while time.monotonic() < deadline_s:
        owned = [poll(orders, first, timeout_ms=50)["assignment"]]
        members = orders.done("GET", "/v1/groups/billing")["members"]
        if len(members) == 2 and sorted(len(each["partitions"]) for each in members) == [2, 2] and got:
            break
    stop.set()
    thread.join()
    assert len(owned[0]) == 2
    assert {each["value"] for each in got} <= {2, 3}  # what the first one had handed out but not committed


def test_a_long_poll_answers_when_a_message_comes(orders, listener, connect):
    member = join(orders, auto_offset_reset="latest")
    poll(orders, member, timeout_ms=300)
    other = connect(listener)
    timer = threading.Timer(0.1, lambda: other.post("/produce", {"topic": "orders", "value": "new"}))
    timer.start()
    assert [each["value"] for each in poll_until(orders, member, 1, timeout_ms=10_000)] == ["new"]
    timer.join()


def test_a_member_that_is_not_heard_of_is_gone(orders):
    member = join(orders, session_timeout_ms=1_000)
    assert poll_until(orders, member, 4)
    deadline_s = time.monotonic() + 10
    while orders.done("GET", "/v1/groups/billing")["members"]:
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    assert orders("POST", f"/v1/groups/billing/members/{member}/poll", {}).status == 404


def test_a_member_may_seek(orders):
    member = join(orders)
    poll_until(orders, member, 4)
    place = {"topic": "orders", "partition": 2, "offset": 0}
    orders.done("POST", f"/v1/groups/billing/members/{member}/seek", place)
    assert [each["value"] for each in poll_until(orders, member, 1)] == [2]
    assert orders("POST", f"/v1/groups/billing/members/{member}/seek", {**place, "partition": 9}).status == 409


def test_a_prefix_takes_topics_in_that_come_later(orders):
    member = orders.done("POST", "/v1/groups/all/members", {"prefix": "ord"})["member"]
    assert len(poll_until(orders, member, 4, group="all")) == 4
    orders.done("POST", f"/v1/groups/all/members/{member}/commit", {})
    orders.done("POST", "/v1/topics", {"name": "ordinary"})
    orders.done("POST", "/v1/topics", {"name": "x.ordinary"})
    orders.done("POST", "/produce", {"topic": "ordinary", "value": "late"})
    orders.done("POST", "/produce", {"topic": "x.ordinary", "value": "other"})
    assert [each["value"] for each in poll_until(orders, member, 1, group="all")] == ["late"]


def test_a_member_reads_something(call):
    assert call("POST", "/v1/groups/g/members", {}).status == 422
    assert call("POST", "/v1/groups/g/members/nobody/poll", {}).status == 404


@pytest.mark.parametrize(
    ("group", "wanted"), [("a%0A", {"topics": ["orders"]}), ("a", {"topics": ["orders\n"]}), ("a", {"prefix": "o\n"})]
)
def test_names_do_not_end_with_a_line_break(orders, group, wanted):
    assert orders("POST", f"/v1/groups/{group}/members", wanted).status == 422


def test_offsets_are_reset_after_a_look_at_what_would_change(orders):
    member = join(orders)
    poll_until(orders, member, 4)
    orders.done("POST", f"/v1/groups/billing/members/{member}/commit", {})
    path = "/v1/groups/billing/offsets/reset"
    assert orders("POST", path, {"form": "earliest"}).status == 409
    orders.done("DELETE", f"/v1/groups/billing/members/{member}")
    preview = orders.done("POST", path, {"form": "earliest", "dry_run": True})
    assert preview["applied"] is False
    assert [(each["partition"], each["from_offset"], each["to_offset"]) for each in preview["changes"]] == [
        (number, 1, 0) for number in range(4)
    ]
    assert [each["committed"] for each in orders.done("GET", "/v1/groups/billing")["offsets"]] == [1] * 4
    one = {"form": "shift-by", "offset": -1, "partitions": [{"topic": "orders", "partition": 2}]}
    assert len(orders.done("POST", path, one)["changes"]) == 1
    assert [each["committed"] for each in orders.done("GET", "/v1/groups/billing")["offsets"]] == [1, 1, 0, 1]
    whole = {"form": "latest", "partitions": [{"topic": "orders"}]}
    assert len(orders.done("POST", path, whole)["changes"]) == 4
    assert orders("POST", "/v1/groups/nobody/offsets/reset", {"form": "latest"}).status == 404
    assert orders("POST", path, {"form": "sideways"}).status == 422
