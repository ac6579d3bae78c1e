"""What the HTTP door promises about clients that are broken, slow, or mean no good."""

import gzip
import json
import logging
import os
import random
import socket
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from broker_core.clients.admin import Admin
from broker_core.doors.guard.access import Access
from broker_core.doors.guard.limits import GuardConfig
from broker_core.doors.http.door import HttpDoor
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from tests.broker_core.doors.http.client import Client

QUICK = GuardConfig(header_timeout_ms=300, body_timeout_ms=300, idle_timeout_ms=1_000, write_timeout_ms=300)


def raw(door, *, timeout_s=10.0):
    found = socket.create_connection(("127.0.0.1", door.port), timeout=timeout_s)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def request(method, path, body=b"", headers=()):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read_all(found):
    pieces = []
    try:
        while piece := found.recv(65_536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


def _has_ipv6():
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


# -- promise 19

JSON = ["Content-Type: application/json"]
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
    with BrokerHost() as host, HttpDoor(host, limits=limits) as door:
        Admin(host).create_topic("orders")
        Admin(host).create_queue("jobs")
        good = Client(door.port)
        with caplog.at_level(logging.ERROR):
            for number in range(count):
                data = mutated(dice, dice.choice(SEEDS))
                found = raw(door)
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


def test_promise_19_malformed_requests_get_an_error_and_never_a_crash_or_a_hang(caplog):
    answers = fuzz(4_000, 19, caplog)
    assert answers[200] > 100 and answers[400] > 100 and answers[422] > 100  # it gets past the first line


@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_promise_19_malformed_requests_in_their_hundred_thousands(caplog):
    fuzz(200_000, time.time_ns(), caplog)


def test_promise_19_malformed_bodies_get_an_error_on_a_connection_that_lives(call, caplog):
    dice = random.Random(91)
    bodies = [(seed.split(b" ")[1].decode(), seed.partition(b"\r\n\r\n")[2]) for seed in SEEDS[3:9]]
    call.done("POST", "/topics/register", {"topic": "orders"})
    with caplog.at_level(logging.ERROR):
        for _ in range(1_500):
            path, body = dice.choice(bodies)
            assert call.post(path, mutated(dice, body)).status < 500
    assert not caplog.records
    assert call.get("/health").status == 200


# -- promise 20


@pytest.mark.parametrize("size_bytes", [17 * 1_048_576, 1 << 40, 10**100])
def test_promise_20_a_declared_length_beyond_the_limit_is_refused_before_anything_is_sent(door, size_bytes):
    with raw(door) as found:
        found.sendall(
            b"POST /produce HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % size_bytes
        )
        answer = found.recv(65_536)
    # A length that no computer has is no length: h11 says 400.
    assert status_of(answer) == (413 if size_bytes < 10**20 else 400), answer
    assert door._budget.bytes == 0


def test_promise_20_an_undeclared_length_is_refused_when_the_limit_is_reached(opened):
    door = opened(limits=GuardConfig(max_body_bytes=100_000))
    with raw(door) as found:
        found.sendall(
            b"POST /produce HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"2710\r\n" + b" " * 10_000 + b"\r\n"
        for _ in range(12):
            found.sendall(chunk)
        assert status_of(found.recv(65_536)) == 413
        assert door._budget.bytes == 0
        with pytest.raises(OSError):  # who goes on and on is cut
            for _ in range(10_000):
                found.sendall(chunk)


def test_promise_20_a_refused_upload_leaves_the_connection_usable(opened):
    door = opened(limits=GuardConfig(max_body_bytes=1_000))
    call = Client(door.port)
    for _ in range(3):
        assert call.post("/produce", b" " * 1_500).status == 413
        assert call.get("/health").status == 200
    call.close()


def test_promise_20_headers_are_bounded(door):
    with raw(door) as found:
        found.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with pytest.raises(OSError):
            for _ in range(1_000):
                found.sendall(b"x" * 10_000)
            assert read_all(found).startswith(b"HTTP/1.1 400")
            raise ConnectionResetError


# -- promise 21


def occupy(door):
    """200 connections that say nothing, a part of a head, or a part of a body, or do not read their answer."""
    starts = [
        b"",
        b"POST /produce HT",
        b"POST /produce HTTP/1.1\r\nHost: localhost\r\nContent-Len",
        request("POST", "/produce", b" " * 1_000, JSON)[:-900],
    ]
    found = [raw(door) for _ in range(200)]
    for number, each in enumerate(found):
        each.sendall(starts[number % 4])
    return found


def test_promise_21_silent_and_partial_connections_cost_nobody_else_and_are_cut(opened, connect):
    door = opened(limits=QUICK)
    silent = occupy(door)
    try:
        call = connect(door)
        for _ in range(5):
            begun_s = time.monotonic()
            assert call.get("/health").status == 200
            assert call.post("/topics/register", {"topic": "orders"}).status == 200
            assert time.monotonic() - begun_s < 1.0
        deadline_s = time.monotonic() + 10
        for each in silent:
            each.settimeout(max(0.1, deadline_s - time.monotonic()))
            assert read_all(each) == b""
        assert door.connections.count("http") <= 1
    finally:
        for each in silent:
            each.close()


@pytest.mark.parametrize("at_once", [0, -1_000], ids=["head", "body"])
def test_promise_21_a_byte_now_and_then_does_not_move_the_deadline(opened, at_once):
    door = opened(limits=QUICK)
    data = request("POST", "/produce", b" " * 1_000, JSON)
    with raw(door) as found:
        found.sendall(data[:at_once])
        begun_s = time.monotonic()
        with pytest.raises(OSError):
            for byte in data[at_once:]:
                found.sendall(bytes([byte]))
                time.sleep(0.01)
        assert time.monotonic() - begun_s < 5


def test_promise_21_who_does_not_read_its_answer_is_cut(opened):
    door = opened(limits=QUICK)
    Admin(door._host).create_topic("orders")
    call = Client(door.port)
    call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "x" * 900_000}] * 8})
    call.close()
    with raw(door) as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        ask = request("GET", "/v1/topics/orders/partitions/0/messages?max_bytes=8000000")
        found.sendall(ask * 10)
        _until(lambda: door.connections.count("http") == 0)


def test_promise_21_answers_that_nobody_reads_are_bounded_together(opened, connect):
    door = opened(limits=GuardConfig(max_buffered_bytes=20_000_000))
    call = connect(door)
    call.done("POST", "/v1/topics", {"name": "orders"})
    call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "x" * 900_000}] * 8})
    ask = request("GET", "/v1/topics/orders/partitions/0/messages?max_bytes=8000000")
    greedy = []
    for _ in range(3):
        found = socket.socket()
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        found.connect(("127.0.0.1", door.port))
        found.sendall(ask)
        greedy.append(found)
    _until(lambda: door._budget.bytes > 14_000_000)
    assert door._budget.bytes <= 20_000_000
    path = "/v1/topics/orders/partitions/0/messages?max_bytes=8000000"
    assert call.get(path).status == 429
    assert call.get("/health").status == 200
    for found in greedy:
        found.close()
    _until(lambda: door._budget.bytes == 0)
    assert call.get(path).status == 200


def test_promise_21_a_connection_between_requests_may_be_idle_for_as_long_as_is_allowed(opened, connect):
    door = opened(limits=GuardConfig(header_timeout_ms=100, body_timeout_ms=100, idle_timeout_ms=1_500))
    call = connect(door)
    assert call.get("/health").status == 200
    time.sleep(0.5)
    assert call.get("/health").status == 200  # on the same connection: http.client does not reconnect silently
    assert door.connections.count("http") == 1
    _until(lambda: door.connections.count("http") == 0)


def test_more_connections_than_are_allowed_are_told_so(opened, connect):
    door = opened(limits=GuardConfig(max_connections=5))
    held = [raw(door) for _ in range(5)]
    _until(lambda: door.connections.count("http") == 5)
    with raw(door) as late:
        answer = read_all(late)
    assert status_of(answer) == 503
    assert b"retry-after" in answer
    held.pop().close()
    _until(lambda: door.connections.count("http") == 4)
    assert connect(door).get("/health").status == 200
    for each in held:
        each.close()


def test_more_requests_in_flight_than_are_allowed_are_told_so(opened, connect):
    door = opened(limits=GuardConfig(max_in_flight=2))
    call = connect(door)
    Admin(door._host).create_queue("jobs")
    waiting = [raw(door) for _ in range(2)]
    for each in waiting:
        each.sendall(request("POST", "/v1/queues/jobs/take", b'{"timeout_ms":30000}', JSON))
    _until(lambda: door._budget.requests == 2)
    answer = call.get("/health")
    assert (answer.status, answer.json["error"]) == (429, "THROTTLED")
    assert answer.headers["Retry-After"]
    for each in waiting:
        each.close()
    _until(lambda: door._budget.requests == 0)
    assert call.get("/health").status == 200


# -- promise 22


def test_promise_22_the_door_is_on_loopback_unless_told_otherwise(door):
    assert door.address == "127.0.0.1"
    other = _own_address()
    if other is not None:
        with pytest.raises(OSError):
            socket.create_connection((other, door.port), timeout=2)


def test_promise_22_another_address_needs_a_token(opened, connect):
    with BrokerHost() as host:
        with pytest.raises(BrokerError) as caught:
            HttpDoor(host, address="0.0.0.0")
        assert caught.value.code is ErrorCode.INVALID_CONFIG
        token = "a token of some length"
        with HttpDoor(host, address="0.0.0.0", access=Access.of_token(token)) as door:
            assert connect(door).get("/stats").status == 401
            assert connect(door, token="another token, as long").get("/stats").status == 401
            assert connect(door, token=token).get("/stats").status == 200
            assert connect(door).get("/health").status == 200
            answer = connect(door).post("/produce", {"topic": "a", "value": 1})
            assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6 loopback")
def test_promise_22_the_loopback_of_ipv6_is_one_too(opened):
    door = opened(address="::1")
    assert door.url == f"http://[::1]:{door.port}"
    with socket.create_connection(("::1", door.port), timeout=10) as found:
        found.sendall(f"GET /stats HTTP/1.1\r\nHost: [::1]:{door.port}\r\nConnection: close\r\n\r\n".encode())
        assert status_of(read_all(found)) == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (["Host: evil.example"], 403),
        (["Host: evil.example:80"], 403),
        (["Host: localhost", "Origin: http://evil.example"], 403),
        (["Host: localhost", "Origin: null"], 403),
        (["Host: localhost"], 200),
        (["Host: localhost", "Origin: http://localhost"], 200),
        (["Host: localhost", "Origin: http://localhost", "Origin: http://evil.example"], 403),
    ],
)
def test_promise_22_rebinding_host_and_origin_are_checked(door, headers, status):
    with raw(door) as found:
        found.sendall("\r\n".join(["GET /stats HTTP/1.1", *headers, "Connection: close", "", ""]).encode())
        assert status_of(read_all(found)) == status


def test_promise_22_a_page_of_another_site_cannot_publish_with_a_simple_request(call):
    call.done("POST", "/topics/register", {"topic": "orders"})
    body = json.dumps({"topic": "orders", "value": "x"}).encode()
    assert call.post("/produce", body, headers={"Content-Type": "text/plain"}).status == 415
    assert call.get("/stats").json["topics"] == {"orders": 0}


# -- promise 27


@pytest.mark.parametrize("unpacked_bytes", [1_000_000, 200_000_000])
def test_promise_27_a_compression_bomb_is_refused(opened, connect, unpacked_bytes):
    door = opened(limits=GuardConfig(max_decompressed_bytes=2_000_000, max_decompression_ratio=100))
    bomb = gzip.compress(b" " * unpacked_bytes)
    answer = connect(door).post("/produce", bomb, headers={"Content-Encoding": "gzip"})
    assert (answer.status, answer.json["error"]) == (413, "REQUEST_TOO_LARGE")
    assert door._budget.bytes == 0


def test_promise_27_a_packed_body_that_is_none_is_served(call):
    call.done("POST", "/topics/register", {"topic": "orders"})
    body = gzip.compress(json.dumps({"topic": "orders", "value": "x" * 10_000}).encode())
    assert call.post("/produce", body, headers={"Content-Encoding": "gzip"}).status == 200
    assert call.post("/produce", body[:-5], headers={"Content-Encoding": "gzip"}).status == 422
    assert call.post("/produce", body, headers={"Content-Encoding": "br"}).status == 422


# -- promise 30


def come_and_go(door, count=60):
    """Clients that ask, that say half of something, and that say nothing, and hang up."""
    others = door.connections.count()
    for number in range(count):
        found = raw(door)
        if number % 3 == 0:
            found.sendall(request("GET", "/health"))
            found.recv(4_096)
        elif number % 3 == 1:
            found.sendall(b"POST /produce HTTP/1.1\r\n")
        found.close()
    _until(lambda: door.connections.count() == others)


def things():
    """Threads and descriptors of this process."""
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


def test_promise_30_threads_and_descriptors_are_flat_while_connections_come_and_go(door):
    come_and_go(door)
    before = things()
    for _ in range(3):
        come_and_go(door)
    _until(lambda: things() <= before)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_promise_30_threads_and_descriptors_and_memory_are_flat_over_five_minutes(door, call):
    call.done("POST", "/v1/topics", {"name": "orders", "log": {"retention_bytes": 1_000_000, "segment_bytes": 100_000}})
    resident = Path("/proc/self/statm")
    before, sizes, end_s = None, [], time.monotonic() + 300
    while time.monotonic() < end_s:
        come_and_go(door)
        for _ in range(20):
            call.done("POST", "/v1/topics/orders/messages", {"messages": [{"value": "x" * 100}] * 100})
        before = before or things()
        assert things() == before
        sizes.append(int(resident.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    third = len(sizes) // 3
    assert max(sizes[-third:]) < 1.1 * max(sizes[third : 2 * third])


def test_promise_30_doors_that_were_closed_leave_nothing(connect):
    with BrokerHost() as host:

        def once():
            with HttpDoor(host) as door:
                call = connect(door)
                call.done("POST", "/topics/register", {"topic": "orders"})
                call.done("POST", "/v1/groups/g/members", {"topics": ["orders"]})
                held = raw(door)
            call.close()
            held.close()
            return things()

        first = once()
        assert [once() for _ in range(3)] == [first] * 3
        assert host.events._sinks == []


def test_closing_the_door_ends_long_polls_and_cuts_silent_clients(opened):
    door = opened()
    Admin(door._host).create_queue("jobs")
    waiting, silent = raw(door), raw(door)
    waiting.sendall(request("POST", "/v1/queues/jobs/take", b'{"timeout_ms":60000}', JSON))
    silent.sendall(b"POST /produce HTTP/1.1\r\n")
    _until(lambda: door._budget.requests == 1)
    begun_s = time.monotonic()
    door.close()
    assert time.monotonic() - begun_s < 3
    assert status_of(read_all(waiting)) == 503
    assert read_all(silent) == b""
    assert door._host.call(lambda _now: door._host.broker.queue("jobs").waiting_takers) == 0
    waiting.close()
    silent.close()


def test_closing_the_door_cuts_a_client_that_does_not_read_its_events(opened, connect):
    door = opened()
    call = connect(door)
    call.done("POST", "/v1/topics", {"name": "orders"})
    with socket.socket() as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        found.connect(("127.0.0.1", door.port))
        found.sendall(request("GET", "/v1/events"))
        assert found.recv(100)
        for _ in range(20):
            call.done("POST", "/produce", {"topic": "orders", "value": "v", "key": "x" * 500_000})
        call.close()
        time.sleep(0.2)
        begun_s = time.monotonic()
        door.close()
        assert 1 < time.monotonic() - begun_s < 8  # it was given a while, and no more
        assert door.connections.count() == 0


def test_a_port_that_is_taken_is_an_error_in_one_sentence(door):
    with BrokerHost() as host:
        for bad in (
            {"port": door.port},
            {"port": 70_000},
            {"address": "192.0.2.1", "access": Access.of_token("x" * 20)},
        ):
            with pytest.raises(BrokerError) as caught:
                HttpDoor(host, **bad).start()
            assert caught.value.code is ErrorCode.INVALID_CONFIG


def test_a_host_that_closes_closes_its_door_first(connect):
    host = BrokerHost()
    door = HttpDoor(host)
    door.start()
    assert connect(door).get("/health").status == 200
    host.close()
    assert not door.is_open


def _own_address():
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("192.0.2.1", 9))  # sends nothing
        found = probe.getsockname()[0]
    except OSError:
        return None
    finally:
        probe.close()
    return None if found.startswith("127.") or found == "0.0.0.0" else found


def _until(condition, timeout_s=10.0):
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "it did not happen"
        time.sleep(0.005)
