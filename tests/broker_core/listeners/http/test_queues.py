"""/v1/queues and /v1/dead-letters."""

import threading

import pytest

from tests.broker_core.listeners.http.raw import until


@pytest.fixture
def jobs(call):
    """A queue whose second failure is the last."""
    call.done("POST", "/v1/queues", {"name": "jobs", "settings": {"max_attempts": 2, "lease_ms": 60_000}})
    return call


def send(call, *values, queue="jobs", **more):
    return call.done("POST", f"/v1/queues/{queue}/messages", {"messages": [{"value": v, **more} for v in values]})


def take(call, queue="jobs", **more):
    return call.done("POST", f"/v1/queues/{queue}/take", more)


def use(call, verb, deliveries, queue="jobs", **more):
    leases = [each["lease"] for each in deliveries]
    return call("POST", f"/v1/queues/{queue}/{verb}", {"leases": leases, **more})


def kill(call, *values):
    """Let messages become dead letters."""
    send(call, *values)
    for _ in range(2):
        found = take(call, max_messages=100)
        assert use(call, "nack", found, cause="broken").status == 200


def test_a_message_that_is_refused_says_nothing_of_those_beside_it(call):
    call.done("POST", "/v1/queues", {"name": "jobs", "settings": {"priorities": 3}})
    records = [{"value": str(priority), "priority": priority} for priority in (2, 0, 7, 2)]
    done = call.done("POST", "/v1/queues/jobs/messages", {"messages": [*records, {"value": "x" * 1_100_000}]})
    assert [each["status"] for each in done["messages"]] == [
        "stored",
        "stored",
        "INVALID_RECORD",
        "stored",
        "MESSAGE_TOO_LARGE",
    ]
    assert (done["failed"], [each["value"] for each in take(call, max_messages=9)]) == (2, ["0", "2", "2"])
    alone = call("POST", "/v1/queues/jobs/messages", {"messages": records[2:3] * 2})
    assert (alone.status, alone.json["error"]) == (409, "INVALID_RECORD")


def test_take_ack_nack_release_and_extend(jobs):
    send(jobs, "a", "b", "c")
    first, second = take(jobs, max_messages=2, holder="w1")
    assert (first["value"], first["attempt"], second["value"]) == ("a", 1, "b")
    assert 0 < first["lease_ms"] <= 60_000
    view = jobs.done("GET", "/v1/queues/jobs")
    assert (view["ready"], view["in_flight"]) == (1, 2)
    assert view["leases"][0]["holder"].startswith("w1@http-")
    assert use(jobs, "extend", [first], lease_ms=5_000).json == {"done": 1, "refused": []}
    assert use(jobs, "ack", [first]).json["done"] == 1
    again = use(jobs, "ack", [first])
    assert (again.status, again.json["error"]) == (409, "INVALID_LEASE")
    mixed = use(jobs, "release", [first, second])
    assert mixed.status == 200
    assert (mixed.json["done"], [each["error"] for each in mixed.json["refused"]]) == (1, ["INVALID_LEASE"])
    retaken = take(jobs, max_messages=5)
    assert [(each["value"], each["attempt"]) for each in retaken] == [("b", 1), ("c", 1)]
    assert use(jobs, "nack", retaken[:1], cause="again").status == 200
    assert [(each["value"], each["attempt"]) for each in take(jobs)] == [("b", 2)]


@pytest.mark.parametrize(
    ("status", "leases"),
    [(409, ["9999.0.1.me", "0.99999999.1.me"]), (422, ["", "1", "a.b.c.d", "0.0.1.", "-1.0.1.me", "0.0.1.me\n"])],
)
def test_a_lease_that_is_none_is_refused(jobs, status, leases):
    send(jobs, "a")
    for lease in leases:
        assert jobs("POST", "/v1/queues/jobs/ack", {"leases": [lease]}).status == status, lease
    assert jobs.done("GET", "/v1/queues/jobs")["ready"] == 1


def test_a_take_waits_for_a_message(jobs, listener, connect):
    other = connect(listener)
    timer = threading.Timer(0.1, lambda: send(other, "late"))
    timer.start()
    assert [each["value"] for each in take(jobs, timeout_ms=10_000)] == ["late"]
    timer.join()
    assert take(jobs, timeout_ms=50) == []


def test_a_take_ends_in_the_clients_time_where_the_session_stands_still(jobs, listener, monkeypatch):
    broker = listener.host.broker
    take_at = broker.queues.take

    def never(now_ns, *arguments, deadline_ns=None, **named):
        return take_at(now_ns, *arguments, deadline_ns=now_ns + 3_600 * 10**9, **named)

    monkeypatch.setattr(broker.queues, "take", never)
    assert take(jobs, timeout_ms=100) == []
    assert broker.queues.queue("jobs").waiting_takers == 0


def test_each_lease_is_acknowledged_by_itself_however_they_lie(jobs):
    send(jobs, *"abcdefg")
    found = take(jobs, max_messages=6)
    (other,) = take(jobs, holder="another")
    assert use(jobs, "ack", [found[0], found[1], found[3]]).json == {"done": 3, "refused": []}
    assert [each["offset"] for each in jobs.done("GET", "/v1/queues/jobs")["leases"]] == [2, 4, 5, 6]
    again = use(jobs, "ack", found[2:]).json
    assert (again["done"], [each["lease"] for each in again["refused"]]) == (3, [found[3]["lease"]])
    forged = other["lease"].replace("another", found[0]["lease"].rpartition(".")[2])
    assert jobs("POST", "/v1/queues/jobs/ack", {"leases": [forged]}).json["error"] == "INVALID_LEASE"
    assert jobs.done("GET", "/v1/queues/jobs")["acknowledged"] == 6


def test_what_is_taken_for_a_client_that_is_gone_is_given_back(jobs, listener, connect):
    gone = connect(listener)
    gone._connection.request(
        "POST", "/v1/queues/jobs/take", b'{"timeout_ms":30000}', {"Content-Type": "application/json"}
    )
    queue = listener.host.broker.queues.queue("jobs")
    until(lambda: queue.waiting_takers == 1)
    gone.close()
    until(lambda: queue.waiting_takers == 0)
    send(jobs, "a")
    assert [(each["value"], each["attempt"]) for each in take(jobs)] == [("a", 1)]


def test_priorities_the_most_urgent_first(call):
    call.done("POST", "/v1/queues", {"name": "jobs", "settings": {"priorities": 3}})
    for priority in (2, 0, 1):
        send(call, priority, priority=priority)
    assert [each["value"] for each in take(call, max_messages=3)] == [0, 1, 2]


@pytest.mark.parametrize("path", ["/v1/queues/jobs/messages", "/v1/topics/jobs/messages"])
def test_a_priority_that_the_queue_has_no_level_for_is_refused(call, path):
    call.done("POST", "/v1/queues", {"name": "jobs", "settings": {"priorities": 3}})
    answer = call.post(path, {"messages": [{"value": "v", "priority": 3}]})
    assert (answer.status, answer.json["error"]) == (409, "INVALID_RECORD")
    assert "jobs has priorities from 0, the most urgent, to 2, and none of 3" in answer.json["message"]
    mixed = [{"value": "v", "priority": 0}, {"value": "v", "priority": 7}]
    done = call.done("POST", path, {"messages": mixed})
    assert [each["status"] for each in done["messages"]] == ["stored", "INVALID_RECORD"]
    assert call.done("GET", "/v1/queues/jobs")["ready"] == 1


def test_a_queue_is_peeked_into_without_taking_anything(jobs):
    send(jobs, "a", "b", "c")
    found = jobs.done("GET", "/v1/queues/jobs/messages?max_messages=2")
    assert [each["value"] for each in found] == ["a", "b"]
    assert jobs.done("GET", "/v1/queues/jobs")["ready"] == 3
    assert jobs.get("/v1/queues/nowhere/messages").status == 404


def test_a_subscription_gets_every_message_of_its_topic(call):
    call.done("POST", "/v1/topics", {"name": "news"})
    for name in ("anna", "ben"):
        assert call("POST", "/v1/subscriptions", {"name": name, "topic": "news"}).status == 201
    call.done("POST", "/produce", {"topic": "news", "value": "rain"})
    for name in ("anna", "ben"):
        found = take(call, queue=name)
        assert [each["value"] for each in found] == ["rain"]
        assert use(call, "ack", found, queue=name).status == 200
    assert call("POST", "/v1/subscriptions", {"name": "carl", "topic": "nowhere"}).status == 404


def test_queues_are_listed_purged_and_deleted(jobs):
    send(jobs, "a", "b")
    assert [each["name"] for each in jobs.done("GET", "/v1/queues")] == ["jobs"]
    assert jobs.done("POST", "/v1/queues/jobs/purge") == {"messages": 2}
    assert jobs.done("POST", "/v1/queues/jobs/undo-purge") == {"messages": 2}
    assert jobs.done("GET", "/v1/queues/jobs")["ready"] == 2
    assert jobs("DELETE", "/v1/queues/jobs").status == 204
    assert jobs.get("/v1/queues/jobs").status == 404
    assert jobs("POST", "/v1/queues/jobs/take", {}).status == 404


def test_dead_letters_are_listed_and_counted_by_cause(jobs):
    kill(jobs, "a", {"b": 1})
    found = jobs.done("GET", "/v1/dead-letters/jobs")
    assert found["count"] == 2
    first = found["dead_letters"][0]
    assert (first["value"], first["cause"], first["origin_topic"], len(first["attempts"])) == ("a", "broken", "jobs", 2)
    assert found["dead_letters"][1]["value"] == {"b": 1}
    assert jobs.done("GET", "/v1/dead-letters/jobs/causes") == {"broken": 2}
    assert jobs.done("GET", "/v1/dead-letters/jobs?cause=other")["dead_letters"] == []
    assert len(jobs.done("GET", "/v1/dead-letters/jobs?limit=1")["dead_letters"]) == 1
    assert jobs.get("/v1/dead-letters/nowhere").status == 404


def test_a_redrive_is_looked_at_done_and_undone(jobs):
    kill(jobs, "a", "b")
    look = jobs.done("POST", "/v1/dead-letters/jobs/redrive", {"dry_run": True})
    assert (look["applied"], look["total"], len(look["redriven"])) == (False, 2, 2)
    assert jobs.done("GET", "/v1/dead-letters/jobs")["count"] == 2
    done = jobs.done("POST", "/v1/dead-letters/jobs/redrive", {"offsets": [0, 77]})
    assert (done["applied"], done["done"], [each["offset"] for each in done["redriven"]]) == (True, 2, [0])
    assert [(each["offset"], each["error"]) for each in done["refused"]] == [(77, "UNKNOWN_DEAD_LETTER")]
    assert jobs.done("GET", "/v1/dead-letters/jobs")["count"] == 1
    assert jobs.done("POST", "/v1/dead-letters/jobs/undo-redrive") == {"messages": 1}
    assert jobs.done("GET", "/v1/dead-letters/jobs")["count"] == 2
    assert take(jobs) == []


def test_a_redrive_may_change_what_it_sends(jobs):
    kill(jobs, "bad")
    edit = {"offset": 0, "value": "good", "key": "k", "headers": {"fixed": "yes"}}
    jobs.done("POST", "/v1/dead-letters/jobs/redrive", {"edits": [edit]})
    found = take(jobs)[0]
    assert (found["value"], found["key"], found["headers"]["fixed"]) == ("good", "k", "yes")


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        ({}, {}),
        ({"value": "good"}, {"value": "good"}),
        ({"value": {"a": 1}}, {"value": {"a": 1}, "headers": {"h": "v", "i": "w", "content-type": "application/json"}}),
        ({"value": None}, {"value": None}),
        ({"key": "other"}, {"key": "other"}),
        ({"key": None}, {"key": None}),
        ({"headers": {"h": None, "n": "new"}}, {"headers": {"i": "w", "n": "new"}}),
        ({"headers": None}, {"headers": {}}),
        ({"priority": 1}, {"partition": 1}),
    ],
)
def test_what_an_edit_does_not_name_stays_as_it_was(call, edit, changed):
    call.done("POST", "/v1/queues", {"name": "jobs", "settings": {"max_attempts": 1, "priorities": 3}})
    whole = {"value": "bad", "key": "k", "headers": {"h": "v", "i": "w"}}
    send(call, "bad", key="k", headers=whole["headers"], priority=2)
    use(call, "nack", take(call), cause="broken")
    done = call.done("POST", "/v1/dead-letters/jobs/redrive", {"edits": [{"offset": 0, **edit}]})
    assert done["refused"] == []
    (found,) = call.done("GET", "/v1/queues/jobs/messages")
    assert {name: found[name] for name in ("partition", *whole)} == {"partition": 2, **whole, **changed}


def test_an_edit_sets_how_long_it_lives_and_a_text_is_no_json_any_more(jobs):
    send(jobs, {"a": 1}, ttl_ms=60_000)
    for _ in range(2):
        use(jobs, "nack", take(jobs))
    jobs.done("POST", "/v1/dead-letters/jobs/redrive", {"edits": [{"offset": 0, "value": "5", "ttl_ms": None}]})
    (found,) = jobs.done("GET", "/v1/queues/jobs/messages")
    assert (found["value"], found["headers"]) == ("5", {})


def test_an_edit_to_a_priority_that_the_queue_lacks_leaves_the_dead_letter_where_it_is(jobs):
    kill(jobs, "a")
    refused = jobs.done("POST", "/v1/dead-letters/jobs/redrive", {"edits": [{"offset": 0, "priority": 9}]})["refused"]
    assert [each["error"] for each in refused] == ["INVALID_RECORD"]
    assert jobs.done("GET", "/v1/dead-letters/jobs")["count"] == 1


def test_an_edit_of_what_is_not_redriven_is_refused(jobs):
    kill(jobs, "a", "b")
    refused = jobs("POST", "/v1/dead-letters/jobs/redrive", {"offsets": [0], "edits": [{"offset": 1, "value": "c"}]})
    assert refused.status == 409 and b"the edit of dead letter 1 is for none that is redriven" in refused.body
    assert jobs.done("GET", "/v1/dead-letters/jobs")["count"] == 2


def test_a_redrive_at_a_rate_is_watched_and_stopped(jobs):
    kill(jobs, *range(5))
    assert jobs.get("/v1/dead-letters/jobs/redrive").status == 404
    begun = jobs.done("POST", "/v1/dead-letters/jobs/redrive", {"rate_per_s": 0.5})
    assert (begun["running"], begun["total"], begun["done"]) == (True, 5, 1)
    refused = jobs("POST", "/v1/dead-letters/jobs/redrive", {"rate_per_s": 1})
    assert refused.status == 409 and b"a redrive of jobs is in progress; stop it, or let it finish" in refused.body
    stopped = jobs.done("DELETE", "/v1/dead-letters/jobs/redrive")
    assert (stopped["running"], stopped["done"]) == (False, 1)
    jobs.done("POST", "/v1/dead-letters/jobs/redrive", {"rate_per_s": 100_000})
    until(lambda: not jobs.done("GET", "/v1/dead-letters/jobs/redrive")["running"])
    assert jobs.done("GET", "/v1/dead-letters/jobs")["count"] == 0


def test_dead_letters_are_purged_and_brought_back(jobs):
    kill(jobs, "a", "b")
    assert jobs.done("POST", "/v1/dead-letters/jobs/purge", {"cause": "other"})["purged"] == 0
    assert jobs.done("POST", "/v1/dead-letters/jobs/purge", {})["purged"] == 2
    assert jobs.done("GET", "/v1/dead-letters/jobs")["count"] == 0
    assert jobs.done("POST", "/v1/dead-letters/jobs/undo-purge") == {"messages": 2}
    assert jobs.done("GET", "/v1/dead-letters/jobs")["count"] == 2


@pytest.mark.promise("32")
def test_promise_32_what_was_refused_or_given_up_is_never_stored(opened, connect):
    listener = opened()
    call = connect(listener)
    call.done("POST", "/v1/queues", {"name": "jobs", "flow": {"max_messages": 1, "policy": "block"}})
    send(call, "held")
    body = {"messages": [{"value": "late"}], "timeout_ms": 50}
    answer = call("POST", "/v1/queues/jobs/messages", body)
    assert answer.status in {429, 503} and "possibly_stored" not in answer.json
    gone = connect(listener)
    gone._connection.request(
        "POST",
        "/v1/queues/jobs/messages",
        b'{"messages": [{"value": "gone"}], "timeout_ms": 60000}',
        {"Content-Type": "application/json"},
    )
    broker, host = listener.host.broker, listener.host
    until(lambda: host.call(lambda now_ns: broker.views.queue(now_ns, "jobs", 0, 0).gate.blocked))
    gone.close()
    until(lambda: not host.call(lambda now_ns: broker.views.queue(now_ns, "jobs", 0, 0).gate.blocked))
    assert use(call, "ack", take(call)).status == 200
    assert take(call) == []
