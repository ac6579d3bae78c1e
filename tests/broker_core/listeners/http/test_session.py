"""The listener in front of a session that an engine runs, as the window opens it."""

import threading
import time

import pytest

from broker_core.clock import NS_PER_S
from broker_core.engine.engine_host import EngineHost
from broker_core.engine.runner import Engine
from broker_core.listeners.http.listener import HttpListener
from broker_core.simulation import Simulation, parse_scenario

SCENARIO = "{title: Home, about: One room, until_s: 600, topics: [{name: readings}], queues: [{name: jobs}]}"


@pytest.fixture
def session():
    """An engine on its own, its host and an open listener."""
    simulation = Simulation(parse_scenario(SCENARIO))
    simulation.start()
    engine = Engine(simulation, until_ns=600 * NS_PER_S, shared=False)
    host = EngineHost(engine, simulation, auto_create_partitions=2)
    listener = HttpListener(host)
    listener.start()
    yield engine, host, listener
    host.close()
    engine.close()
    simulation.close()


def test_messages_go_in_and_out_while_the_session_runs(session, connect):
    engine, _host, listener = session
    engine.run()
    call = connect(listener)
    call.done("POST", "/consumers/register", {"topic": "readings", "consumer_id": "c"})
    call.done("POST", "/produce", {"topic": "readings", "value": 20})
    assert call.done("POST", "/consume", {"consumer_id": "c", "timeout_ms": 5_000})["value"] == 20
    assert call.done("POST", "/produce", {"topic": "fresh", "value": 1})["status"] == "ok"
    call.done("POST", "/v1/queues/jobs/messages", {"messages": [{"value": "job"}]})
    taken = call.done("POST", "/v1/queues/jobs/take", {"timeout_ms": 5_000})
    assert call.done("POST", "/v1/queues/jobs/ack", {"leases": [taken[0]["lease"]]})["done"] == 1
    member = call.done("POST", "/v1/groups/g/members", {"topics": ["readings"]})["member"]
    found: list = []
    deadline_s = time.monotonic() + 20
    while not found and time.monotonic() < deadline_s:
        found = call.done("POST", f"/v1/groups/g/members/{member}/poll", {"timeout_ms": 500})["messages"]
    assert [each["value"] for each in found] == [20]
    assert b"messaging_client_sent_messages_total" in call.get("/metrics").body


@pytest.mark.filterwarnings("ignore:coroutine 'Consumer.poll' was never awaited")  # the session ends while it is paused
def test_while_the_session_is_paused_waits_end_in_the_clients_time(session, connect):
    _engine, _host, listener = session
    call = connect(listener)
    call.done("POST", "/consumers/register", {"topic": "readings", "consumer_id": "c"})
    begun_s = time.monotonic()
    assert call.done("POST", "/v1/queues/jobs/take", {"timeout_ms": 100}) == []
    assert call.post("/consume", {"consumer_id": "c", "timeout_ms": 100}).status == 204
    assert time.monotonic() - begun_s < 10
    assert call.done("POST", "/produce", {"topic": "readings", "value": 1})["status"] == "ok"


def test_closing_the_host_closes_the_listener_and_leaves_nothing(connect):
    before = threading.active_count()
    simulation = Simulation(parse_scenario(SCENARIO))
    simulation.start()
    engine = Engine(simulation, until_ns=600 * NS_PER_S, shared=False)
    host = EngineHost(engine, simulation)
    listener = HttpListener(host)
    listener.start()
    engine.run()
    call = connect(listener)
    call.done("POST", "/v1/groups/g/members", {"topics": ["readings"]})
    host.close()
    assert not listener.is_open
    engine.close()
    simulation.close()
    assert threading.active_count() == before
