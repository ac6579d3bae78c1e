"""Promise 30 at the HTTP listener: nothing leaks; listeners that open and close."""

import gc
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from broker_core.clients.admin import Admin
from broker_core.engine.broker_host import BrokerHost
from broker_core.listeners.http.listener import HttpListener
from tests.broker_core.listeners.http.raw import JSON, raw, read_all, request, status_of, until


def come_and_go(listener, count=60):
    """Clients that ask, that say half of something, and that say nothing, and hang up."""
    others = listener.connections.count()
    for number in range(count):
        found = raw(listener)
        if number % 3 == 0:
            found.sendall(request("GET", "/health"))
            found.recv(4_096)
        elif number % 3 == 1:
            found.sendall(b"POST /produce HTTP/1.1\r\n")
        found.close()
    until(lambda: listener.connections.count() == others)


def things():
    """Threads and descriptors of this process."""
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


@pytest.mark.promise("30")
def test_promise_30_nothing_leaks_while_connections_come_and_go(listener):
    come_and_go(listener)
    before = things()
    for _ in range(3):
        come_and_go(listener)
    until(lambda: things() <= before)


@pytest.mark.promise("30")
@pytest.mark.soak
@pytest.mark.timeout(900)
def test_promise_30_nothing_leaks_over_five_minutes(listener, call):
    call.done("POST", "/v1/topics", {"name": "orders", "log": {"retention_bytes": 1_000_000, "segment_bytes": 100_000}})
    resident = Path("/proc/self/statm")
    before, sizes, end_s = None, [], time.monotonic() + 300
    while time.monotonic() < end_s:
        come_and_go(listener)
        for _ in range(20):
            call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "x" * 100}] * 100})
        before = before or things()
        assert things() == before
        sizes.append(int(resident.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    third = len(sizes) // 3
    assert max(sizes[-third:]) < 1.1 * max(sizes[third : 2 * third])


def test_promise_30_listeners_that_were_closed_leave_nothing(connect):
    with BrokerHost() as host:
        sinks = [*host.events._sinks]  # the broker's own

        def once():
            with HttpListener(host) as listener:
                call = connect(listener)
                call.done("POST", "/topics/register", {"topic": "orders"})
                call.done("POST", "/v1/groups/g/members", {"topics": ["orders"]})
                held = raw(listener)
            call.close()
            held.close()
            return things()

        gc.collect()  # what tests before this one have left is not counted
        first = once()
        assert [once() for _ in range(3)] == [first] * 3
        assert host.events._sinks == sinks


def test_closing_the_listener_ends_long_polls_and_cuts_silent_clients(opened):
    listener = opened()
    Admin(listener.host).create_queue("jobs")
    waiting, silent = raw(listener), raw(listener)
    waiting.sendall(request("POST", "/v1/queues/jobs/take", b'{"timeout_ms":60000}', JSON))
    silent.sendall(b"POST /produce HTTP/1.1\r\n")
    until(lambda: listener.budget.requests == 1)
    begun_s = time.monotonic()
    listener.close()
    assert time.monotonic() - begun_s < 20
    answer = read_all(waiting)
    assert status_of(answer) == 503
    assert b"retry-after" not in answer.lower(), "nobody will be here"
    assert read_all(silent) == b""
    assert listener.host.call(lambda _now: listener.host.broker.queues.queue("jobs").waiting_takers) == 0
    waiting.close()
    silent.close()


def test_closing_the_listener_cuts_a_client_that_does_not_read_its_events(opened, connect):
    listener = opened()
    call = connect(listener)
    call.done("POST", "/v1/topics", {"name": "orders"})
    with socket.socket() as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        found.connect(("127.0.0.1", listener.port))
        found.sendall(request("GET", "/v1/events"))
        assert found.recv(100)
        for _ in range(20):
            call.done("POST", "/produce", {"topic": "orders", "value": "v", "key": "x" * 500_000})
        call.close()
        time.sleep(0.2)
        begun_s = time.monotonic()
        listener.close()
        assert 1 < time.monotonic() - begun_s < 20  # it was given a while, and no more
        assert listener.connections.count() == 0
