"""A broker observed over HTTP: what comes over is what it holds, whatever happens to it and to the connection."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.environment.paths import find_scenario
from broker_core import Admin, BrokerHost, GroupConsumer, Producer, QueueConsumer
from broker_core.broker import views
from broker_core.engine.engine_host import EngineHost
from broker_core.engine.runner import Engine
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpListener
from broker_core.observation.moments import moved
from broker_core.observation.peer import Look
from broker_core.observation.serve_peer import ServePeer
from broker_core.operations.browse import BrowsePartition, CountKeys, FindOffsets, ListDeadOffsets, ListLogs
from broker_core.operations.dead_letters import DeadLettersByCause
from broker_core.operations.faults import ListFaults
from broker_core.operations.groups import ListGroups
from broker_core.operations.queues import ListQueues, Peek
from broker_core.operations.topics import ListTopics
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario
from broker_core.simulation.simulation import Simulation
from tests.broker_core.recording.folded import fold
from tests.broker_core.recording.test_fold import differences, times_of, told


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        yield host


@pytest.fixture
def listener(host: BrokerHost) -> Iterator[HttpListener]:
    with HttpListener(host, port=0) as listener:
        yield listener


@pytest.fixture
def peer(listener: HttpListener) -> Iterator[ServePeer]:
    with contextlib.closing(ServePeer(listener.url)) as peer:
        yield peer


def looked(peer: ServePeer) -> Look:
    """The next look, at once."""
    peer._due_s = 0
    look = peer.look()
    assert look is not None
    return look


def worked(host: BrokerHost, number: int) -> None:
    """Messages come, are read by a group and taken from a queue, and one of them dies."""
    admin = Admin(host)
    if not number:
        admin.create_topic("orders", 3)
        admin.create_queue("jobs")
    with Producer(host, client_id="shop") as producer:
        for place in range(20):
            producer.publish("orders", b"order", str(place % 7).encode())
            producer.publish("jobs", b"job")
    with QueueConsumer(host, "jobs", client_id="worker") as worker:
        for place, delivery in enumerate(worker.take_many(20)):
            if place % 5:
                delivery.ack()
            else:
                delivery.nack("spoiled", requeue=place > 5)
    with GroupConsumer(host, "billing", ["orders"], client_id="reader") as consumer:
        read = 0
        while read < 20:
            read += len(consumer.poll(1))
        consumer.commit()


def test_a_keyframe_and_the_events_after_it_are_the_state_of_the_broker(host: BrokerHost, peer: ServePeer) -> None:
    worked(host, 0)
    before, events = peer.open(), list[Event]()
    assert (before.time_ns, before.events, before.totals.published) == (0, 0, 0)
    for number in (1, 2, 3):
        worked(host, number)
        look = looked(peer)
        events += look.events
        folded = fold(before, look.events, time_ns=look.snapshot.time_ns, published_before=times_of(events))
        assert look.gap == "" and look.events
        assert differences({**told(folded), "events": 0}, told(look.snapshot)) == []
        assert told(look.snapshot)["topics"] == told(host.call(host.broker.snapshot))["topics"]
        before = look.snapshot
    assert [event.seq for event in events] == list(range(events[0].seq, events[0].seq + len(events)))
    assert before.totals.published == 120 and before.totals.acknowledged >= 60


def test_times_are_those_of_the_session(host: BrokerHost, peer: ServePeer) -> None:
    worked(host, 0)
    before = peer.open()
    worked(host, 1)
    look = looked(peer)
    assert all(0 < event.time_ns <= look.snapshot.time_ns for event in look.events)
    group = look.snapshot.groups[0]
    assert 0 < group.state_since_ns <= look.snapshot.time_ns and before.totals.published == 0
    page = peer.ask(BrowsePartition(topic="jobs", partition=0, first=0, end=40))
    assert page.rows[0].published_ns < 0 < page.rows[-1].published_ns < look.snapshot.time_ns


def test_what_was_missed_is_a_gap(
    host: BrokerHost, listener: HttpListener, peer: ServePeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "MOST_EVENTS", 10)
    peer.open()
    worked(host, 0)
    look = looked(peer)
    assert len(look.events) == 10 and look.gap.endswith("more events happened than the broker keeps")
    assert look.snapshot.topics[0].published == 20
    with Producer(host) as producer:
        producer.publish("orders", b"one more")
    again = looked(peer)
    assert again.gap == "" and EventKind.PUBLISHED in [event.kind for event in again.events]


def test_after_a_break_it_goes_on_where_it_was(host: BrokerHost) -> None:
    with HttpListener(host, port=0) as listener:
        peer = ServePeer(listener.url)
        peer.open()
        worked(host, 0)
        first = looked(peer)
    with pytest.raises(BrokerError) as caught:
        looked(peer)
    assert caught.value.code is ErrorCode.CONNECTION_LOST
    worked(host, 1)
    with HttpListener(host, port=listener.port):
        second = looked(peer)
    assert second.gap == "" and second.events[0].seq == first.events[-1].seq + 1
    assert second.snapshot.totals.published == 80
    peer.close()


def test_another_broker_at_the_address_is_a_gap_and_time_goes_on(host: BrokerHost) -> None:
    with HttpListener(host, port=0) as listener:
        peer = ServePeer(listener.url)
        peer.open()
        worked(host, 0)
        first = looked(peer).snapshot
    with BrokerHost() as other, HttpListener(other, port=listener.port):
        look = looked(peer)
        assert look.gap == "the broker was restarted; what it did in the meantime is not known"
        assert not look.events and not look.snapshot.topics and look.snapshot.time_ns >= first.time_ns
        worked(other, 0)
        again = looked(peer)
    assert again.gap == "" and again.snapshot.totals.published == first.totals.published + 40
    assert all(event.time_ns >= look.snapshot.time_ns for event in again.events)
    peer.close()


def test_a_token_without_the_right_gets_a_sentence(host: BrokerHost, tmp_path: Path) -> None:
    rules = tmp_path / "access.toml"
    rules.write_text(
        '[[principals]]\nname = "reader"\ntoken = "sixteen letters!"\n'
        '[[rules]]\nprincipal = "reader"\noperations = ["read"]\nbroker = true\n',
        encoding="utf-8",
    )
    with HttpListener(host, port=0, access=Access.of_file(rules)) as listener:
        for token, code in (("sixteen letters!", ErrorCode.FORBIDDEN), ("wrong-token-12345", ErrorCode.UNAUTHORIZED)):
            with contextlib.closing(ServePeer(listener.url, token=token)) as peer, pytest.raises(BrokerError) as caught:
                peer.open()
            assert caught.value.code is code


@pytest.mark.parametrize(
    "request_",
    [
        ListLogs(),
        ListTopics(),
        ListQueues(),
        ListGroups(),
        ListFaults(),
        FindOffsets(topic="orders"),
        CountKeys(topic="orders", partition=0, batches=[(0, 1)]),
        ListDeadOffsets(queue="jobs"),
        DeadLettersByCause(queue="jobs"),
        Peek(queue="jobs"),
    ],
    ids=lambda request: type(request).__name__,
)
def test_lists_are_answered_as_the_broker_answers_them(host: BrokerHost, peer: ServePeer, request_: Any) -> None:
    worked(host, 0)
    peer.open()
    found = peer.ask(request_)
    answered, later_ns = host.ask(request_), peer._later_ns
    assert later_ns < 0
    assert found == ([moved(each, later_ns) for each in answered] if isinstance(answered, list) else answered)
    assert found or isinstance(request_, ListFaults | CountKeys)  # keys are counted of what is durable


def test_a_session_of_a_window_is_observed_with_its_clients() -> None:
    path = find_scenario("first-session")
    simulation = Simulation(load_scenario(path)[0], find_file=DataFiles(path), seed=7)
    simulation.start()
    engine = Engine(simulation, shared=False)
    try:
        with contextlib.closing(EngineHost(engine, simulation)) as host, HttpListener(host, port=0) as listener:
            with contextlib.closing(ServePeer(listener.url)) as peer:
                before = peer.open()
                assert {actor.name for actor in before.actors} == set(simulation.actors)
                engine.post(lambda: simulation.run(5)).result()
                look = looked(peer)
        folded = fold(before, look.events, time_ns=look.snapshot.time_ns)
        assert differences({**told(folded), "events": 0}, told(look.snapshot)) == []
    finally:
        engine.close()
        simulation.close()
