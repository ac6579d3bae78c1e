"""What a connection keeps alive while it lasts, and what is left when it is closed (promise 30)."""

from __future__ import annotations

import gc
import os
import threading
import time
from pathlib import Path

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.clients.remote.broker import RemoteBroker
from broker_core.clients.remote.config import RemoteConfig
from broker_core.engine.host import BrokerHost
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.wire.listener import WireListener
from tests.broker_core.clients.remote.place import Place, until
from tests.broker_core.clients.remote.wobbly import WobblyNetwork

IMPATIENT = RemoteConfig(request_timeout_ms=400, reconnect_backoff_ms=10, reconnect_backoff_max_ms=50)
QUICK = ConsumerConfig(heartbeat_interval_ms=20, session_timeout_ms=2_000, rebalance_timeout_ms=2_000)
TOKEN = "a token of at least sixteen"


def test_a_quiet_connection_is_kept_by_pings(place: Place):
    limits = GuardConfig(idle_timeout_ms=400)
    with BrokerHost() as host, WireListener(host, port=0, limits=limits) as listener:
        with RemoteBroker(port=listener.port, config=RemoteConfig(ping_ms=100)) as remote:
            time.sleep(1.5)
            assert remote.connects == 1 and remote.connected


def test_the_heartbeats_of_a_member_go_on_while_its_application_works(place: Place):
    config = ConsumerConfig(heartbeat_interval_ms=50, session_timeout_ms=400, rebalance_timeout_ms=2_000)
    with place.remote() as remote, GroupConsumer(remote, "g", ["t"], config) as consumer:
        while not consumer.assignment:
            consumer.poll(0.05)
        generation = Admin(remote).describe_group("g").generation
        time.sleep(1.2)
        view = Admin(remote).describe_group("g")
        assert (view.generation, len(view.members)) == (generation, 1)


def test_session_time_is_the_brokers_also_after_its_restart(tmp_path: Path):
    with WobblyNetwork(0) as network:
        host = BrokerHost(tmp_path)
        Admin(host).create_topic("t", 1)
        Admin(host).create_queue("jobs")
        time.sleep(0.5)
        network.target = WireListener(host, port=0).start().port
        with RemoteBroker(port=network.port, config=RemoteConfig(reconnect_backoff_ms=10)) as remote:
            assert abs(remote.now_ns - host.now_ns) < 400_000_000
            host.close()
            host = BrokerHost(tmp_path)
            network.target = WireListener(host, port=0).start().port
            with Producer(remote) as producer, QueueConsumer(remote, "jobs") as worker:
                producer.publish("jobs", b"x")
                delivery = worker.take(10)
                assert delivery is not None
                # The broker's time began anew, the client's did not: what it gets is told in its own.
                assert abs(delivery.message.published_ns - remote.now_ns) < 400_000_000
                assert abs(delivery.lease.deadline_ns - remote.now_ns - 30_000_000_000) < 400_000_000
                delivery.ack()
        host.close()


def test_names_of_clients_in_two_processes_differ(place: Place):
    with place.remote() as one, place.remote() as other:
        assert one.client != other.client
        assert Producer(one).client_id.startswith(one.client)


def open_and_close(port: int) -> None:
    with RemoteBroker(port=port) as remote, Producer(remote) as producer:
        with GroupConsumer(remote, "g", ["t"], QUICK) as reader:
            producer.publish("t", b"x")
            reader.poll(0.05)


def check_nothing_is_left(place: Place, seconds: float, least: int) -> None:
    def left() -> tuple[int, int, int]:
        gc.collect()
        # The listener's workers are made as they are needed, up to a few.
        threads = [thread for thread in threading.enumerate() if not thread.name.startswith("wire-worker")]
        return len(os.listdir("/proc/self/fd")), len(threads), len(place.listener._open)

    open_and_close(place.listener.port)
    until(lambda: place.listener.connections.count() == 0)
    time.sleep(0.3)
    before = left()
    done, end_s = 0, time.monotonic() + seconds
    while done < least or time.monotonic() < end_s:
        open_and_close(place.listener.port)
        done += 1
    until(lambda: place.listener.connections.count() == 0)
    until(lambda: all(now <= then for now, then in zip(left(), before, strict=True)), 5)
    assert (place.listener.budget.requests, place.listener.budget.bytes) == (0, 0)


def test_nothing_is_left_of_closed_connections(place: Place):
    """Promise 30, the short form."""
    check_nothing_is_left(place, 0, 12)


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_nothing_is_left_after_five_minutes_of_opening_and_closing(place: Place):
    """Promise 30."""
    check_nothing_is_left(place, 300, 100)
