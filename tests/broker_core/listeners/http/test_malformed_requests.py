"""Promise 19 at the HTTP listener: malformed requests get an error, never a crash or a hang."""

import gzip
import logging
import random
import socket
import time
from collections import Counter

import pytest

from broker_core.clients.admin import Admin
from broker_core.engine.broker_host import BrokerHost
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.http.listener import HttpListener
from tests.broker_core.listeners.http.client import Client
from tests.broker_core.listeners.http.raw import JSON, raw, read_all, request, status_of
from tests.long_form import both, form

SEEDS = [
    request("GET", "/health"),
    request("GET", "/stats"),
    request("GET", "/v1/topics/orders/partitions/0/messages?offset=0&max_messages=3"),
    request("POST", "/produce", b'{"topic":"orders","value":"v","key":"k"}', JSON),
    request("POST", "/consume", b'{"consumer_id":"c1","max_messages":2}', JSON),
    request("POST", "/consumers/register", b'{"topic":"orders","consumer_id":"c1"}', JSON),
    request("POST", "/v1/topics/orders/messages", b'{"messages":[{"value":"a","key":"b","headers":{"c":"d"}}]}', JSON),
    request("POST", "/v1/queues/jobs/take", b'{"max_messages":1}', JSON),
    request("POST", "/v1/queues/jobs/ack", b'{"leases":["0.0.1.http-1"]}', JSON),
    request("POST", "/produce", gzip.compress(b'{"topic":"orders","value":"v"}'), [*JSON, "Content-Encoding: gzip"]),
    b"POST /produce HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"
    b'1e\r\n{"topic":"orders","value":"v"}\r\n0\r\n\r\n',
]


def mutated(dice, data):
    """`data` with one to four small faults."""
    found = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 4])):
        head = 0 if dice.random() < 0.5 else found.find(b"\r\n\r\n") + 4  # what lies behind a whole head goes deeper
        at = dice.randint(min(head, len(found)), len(found))
        match dice.randrange(6):
            case 0:
                found[at : at + 1] = bytes([dice.randrange(256)])
            case 1:
                del found[at : at + dice.randint(1, 20)]
            case 2:
                found[at:at] = bytes(dice.randrange(256) for _ in range(dice.randint(1, 20)))
            case 3:
                found[at:at] = found[dice.randrange(len(found) + 1) :][: dice.randint(1, 60)]
            case 4:
                found[at:at] = dice.choice(
                    [b"\r\n", b"\r\n\r\n", b": ", b"99999999999999999999", b"{", b"\\u0000", b"-"]
                )
            case 5:
                if at < len(found):
                    found[at] ^= 1 << dice.randrange(8)
    return bytes(found)


def fuzz(count, seed, caplog):
    """How many mutations had each status; None is no answer at all, as half a request gets none."""
    dice = random.Random(seed)
    answers: Counter = Counter()
    limits = GuardConfig(header_timeout_ms=2_000, body_timeout_ms=2_000, max_wait_ms=50)
    with BrokerHost() as host, HttpListener(host, limits=limits) as listener:
        Admin(host).create_topic("orders")
        Admin(host).create_queue("jobs")
        good = Client(listener.port)
        with caplog.at_level(logging.ERROR):
            for number in range(count):
                data = mutated(dice, dice.choice(SEEDS))
                found = raw(listener)
                found.sendall(data)
                found.shutdown(socket.SHUT_WR)
                status = status_of(read_all(found))
                found.close()
                assert status is None or status < 500, data
                answers[status] += 1
                if number % 200 == 0:
                    assert good.get("/health").status == 200
        assert not caplog.records, caplog.records[0].getMessage()
        assert good.get("/health").status == 200
        good.close()
    return answers


@pytest.mark.promise("19")
@both
def test_promise_19_malformed_requests_get_an_error_never_a_crash_or_hang(caplog):
    count = form(500, 4_000)
    answers = fuzz(count, 19, caplog)
    assert all(answers[status] > count // 40 for status in (200, 400, 422))  # it gets past the first line


@pytest.mark.promise("19")
@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_promise_19_malformed_requests_in_their_hundred_thousands(caplog):
    fuzz(200_000, time.time_ns(), caplog)


def test_a_body_without_a_type_changes_nothing(listener, call):
    with raw(listener) as connection:
        connection.sendall(request("POST", "/v1/topics", b'{"name":"orders"}'))
        assert status_of(connection.recv(65_536)) == 415
    assert call.get("/v1/topics").json == []


def test_a_request_with_two_ends_is_refused_and_its_connection_closed(listener):
    two = ["Transfer-Encoding: chunked", *JSON]
    with raw(listener) as connection:
        connection.sendall(request("POST", "/v1/topics", b"0\r\n\r\n", two) + request("GET", "/v1/broker"))
        found = read_all(connection)
    assert status_of(found) == 400
    assert found.count(b"HTTP/1.1 ") == 1


@pytest.mark.promise("19")
@both
def test_promise_19_malformed_bodies_get_an_error_and_connections_live(call, caplog):
    dice = random.Random(91)
    bodies = [(seed.split(b" ")[1].decode(), seed.partition(b"\r\n\r\n")[2]) for seed in SEEDS[3:9]]
    call.done("POST", "/topics/register", {"topic": "orders"})
    with caplog.at_level(logging.ERROR):
        for _ in range(form(300, 1_500)):
            path, body = dice.choice(bodies)
            assert call.post(path, mutated(dice, body)).status < 500
    assert not caplog.records
    assert call.get("/health").status == 200
