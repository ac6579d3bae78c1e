"""The wire listener against silent, slow, greedy and too many clients, and its end (promises 19 to 22)."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from broker_core.clients.admin import Admin
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.wire.listener import WireListener
from broker_core.wire import fetch, session, topics
from broker_core.wire.frames import encode_frame
from tests.broker_core.listeners.wire.talk import Talk, batch, producing, until

TOKEN = "a token of at least sixteen"


STRICT = GuardConfig(header_timeout_ms=300, body_timeout_ms=300, idle_timeout_ms=900, write_timeout_ms=300)


def test_silent_partial_and_idle_connections_are_cut(host: BrokerHost):
    with WireListener(host, port=0, limits=STRICT) as listener:
        silent = Talk(listener.port, hello=False)
        partial = Talk(listener.port)
        partial.socket.sendall(encode_frame(1, 0, 5, b"\x90")[:7])
        idle = Talk(listener.port)
        busy = Talk(listener.port)
        end_s = time.monotonic() + 10
        while listener.connections.count() > 1 and time.monotonic() < end_s:
            busy.get(session.Ping())
            time.sleep(0.01)
        reasons = {view.last_error for view in listener.connections.gone()}
        assert {
            "cut: it did not say hello for 0.3 s",
            "cut: it did not end a frame for 0.3 s",
            "cut: it said nothing for 0.9 s",
        } == reasons
        for talk in (silent, partial, idle):
            assert talk.closed_within(1)
            talk.close()
        assert busy.get(session.Ping())
        busy.close()


def test_two_hundred_silent_or_partial_connections_cost_a_good_one_nothing(listener: WireListener):
    """Promise 21."""
    Admin(listener.host).create_topic("t", 1)
    crowd = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(200)]
    for number, sock in enumerate(crowd):
        if number % 2:
            sock.sendall(encode_frame(21, 0, 1, bytes(1_000))[: number % 100 + 1])
    started_s = time.monotonic()
    with Talk(listener.port) as talk:
        for _ in range(20):
            assert talk.get(producing(batch(b"x"))).results[0].error == 0
    assert time.monotonic() - started_s < 5
    for sock in crowd:
        sock.close()
    until(lambda: listener.connections.count() == 0)


def test_who_does_not_read_is_cut_and_others_go_on(host: BrokerHost):
    Admin(host).create_topic("t", 1)
    limits = GuardConfig(write_timeout_ms=300)
    with WireListener(host, port=0, limits=limits) as listener, Talk(listener.port) as good:
        for _ in range(8):
            good.get(producing(batch(*[bytes(100_000)] * 10)))
        with Talk(listener.port) as slow:
            slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            with pytest.raises(OSError):
                for _ in range(3_000):
                    slow.say(fetch.ReadRecords("t", 0, 0, 1_000))
                    assert good.get(session.Ping())
                    time.sleep(0.001)
        until(lambda: listener.connections.count() == 1)


def test_one_connection_too_many_is_told_so(host: BrokerHost):
    with WireListener(host, port=0, limits=GuardConfig(max_connections=2)) as listener:
        with Talk(listener.port), Talk(listener.port) as second:
            with pytest.raises(Exception, match="as many connections as are allowed"):
                Talk(listener.port)
            assert second.get(session.Ping())
        until(lambda: listener.connections.count() == 0)
        with Talk(listener.port) as talk:
            assert talk.get(session.Ping())


def test_requests_of_all_connections_hold_bounded_memory(host: BrokerHost):
    limits = GuardConfig(max_frame_bytes=600_000, max_buffered_bytes=1_000_000)
    with WireListener(host, port=0, limits=limits) as listener:
        talks = [Talk(listener.port) for _ in range(3)]
        part = encode_frame(21, 0, 5, bytes(500_000))[:-1]
        for talk in talks[:2]:
            talk.socket.sendall(part[:450_000])
        until(lambda: listener.budget.bytes == 900_000)
        talks[2].socket.sendall(part)
        assert talks[2].closed_within(5)
        for talk in talks:
            talk.close()
        until(lambda: listener.budget.bytes == 0 and listener.budget.requests == 0)


def test_a_connection_is_seen_and_can_be_cut(listener: WireListener):
    Admin(listener.host).create_topic("t", 1)
    with Talk(listener.port, name="shop") as talk:
        talk.get(producing(batch(b"x", b"y")))
        talk.get(fetch.ReadRecords("t", 0, 0, 9))
        talk.ask(topics.DeleteTopic("nowhere"))
        [view] = listener.connections.views()
        assert (view.listener, view.client, view.principal) == ("wire", "shop", "anybody")
        assert (view.requests, view.messages_in, view.messages_out) == (4, 2, 2)
        assert view.peer == ":".join(map(str, talk.socket.getsockname()))
        assert view.bytes_in > 100 and view.bytes_out > 100 and "no such topic" in view.last_error
        assert listener.connections.cut(view.id)
        assert talk.closed_within(5)
    until(lambda: listener.connections.views() == ())


# -- opening and closing


def test_a_closed_listener_answers_what_it_serves_lets_nobody_in_and_leaves_no_thread(host: BrokerHost):
    before = set(threading.enumerate())
    Admin(host).create_topic("t", 1)
    listener = WireListener(host, port=0).start()
    with Talk(listener.port) as talk:
        [waits] = talk.say(fetch.Fetch("g", "c", (("t", 0, 0),), 10, 60_000))
        until(lambda: listener.connections.views()[0].requests == 2)
        listener.close()
        listener.close()
        assert talk.heard(waits).parts == ()
        assert talk.closed_within(5)
    with pytest.raises(OSError):
        Talk(listener.port)
    assert set(threading.enumerate()) == before


def test_a_port_in_use_is_a_sentence(host: BrokerHost, listener: WireListener):
    other = WireListener(host, port=listener.port)
    with pytest.raises(BrokerError) as caught:
        other.start()
    assert caught.value.code is ErrorCode.INVALID_CONFIG and str(listener.port) in str(caught.value)
    other.close()


def test_closing_the_host_closes_its_listener_first():
    host = BrokerHost()
    listener = WireListener(host, port=0).start()
    with Talk(listener.port) as talk:
        host.close()
        assert talk.closed_within(5)


# -- anything at all
