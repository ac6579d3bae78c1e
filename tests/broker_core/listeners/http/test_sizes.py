"""Promises 20 and 27 at the HTTP listener: sizes, and compression bombs."""

import gzip
import json

import pytest

from broker_core.listeners.access.limits import GuardConfig
from tests.broker_core.listeners.http.client import Client
from tests.broker_core.listeners.http.raw import raw, read_all, status_of


@pytest.mark.promise("20")
@pytest.mark.parametrize("size_bytes", [17 * 1_048_576, 1 << 40, 10**100])
def test_promise_20_a_declared_length_beyond_the_limit_is_refused_unsent(listener, size_bytes):
    with raw(listener) as found:
        found.sendall(
            b"POST /produce HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % size_bytes
        )
        answer = found.recv(65_536)
    # A length that no computer has is no length: h11 says 400.
    assert status_of(answer) == (413 if size_bytes < 10**20 else 400), answer
    assert listener.budget.bytes == 0


def test_promise_20_an_undeclared_length_is_refused_when_the_limit_is_reached(opened):
    listener = opened(limits=GuardConfig(max_body_bytes=100_000))
    with raw(listener) as found:
        found.sendall(
            b"POST /produce HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"2710\r\n" + b" " * 10_000 + b"\r\n"
        for _ in range(12):
            found.sendall(chunk)
        assert status_of(found.recv(65_536)) == 413
        assert listener.budget.bytes == 0
        with pytest.raises(OSError):  # who goes on and on is cut
            for _ in range(10_000):
                found.sendall(chunk)


def test_promise_20_a_refused_upload_leaves_the_connection_usable(opened):
    listener = opened(limits=GuardConfig(max_body_bytes=1_000))
    call = Client(listener.port)
    for _ in range(3):
        assert call.post("/produce", b" " * 1_500).status == 413
        assert call.get("/health").status == 200
    call.close()


def test_promise_20_headers_are_bounded(listener):
    with raw(listener) as found:
        found.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with pytest.raises(OSError):
            for _ in range(1_000):
                found.sendall(b"x" * 10_000)
            assert read_all(found).startswith(b"HTTP/1.1 400")
            raise ConnectionResetError


@pytest.mark.promise("27")
@pytest.mark.parametrize("unpacked_bytes", [1_000_000, 200_000_000])
def test_promise_27_a_compression_bomb_is_refused(opened, connect, unpacked_bytes):
    listener = opened(limits=GuardConfig(max_decompressed_bytes=2_000_000, max_decompression_ratio=100))
    bomb = gzip.compress(b" " * unpacked_bytes)
    answer = connect(listener).post("/produce", bomb, headers={"Content-Encoding": "gzip"})
    assert (answer.status, answer.json["error"]) == (413, "REQUEST_TOO_LARGE")
    assert listener.budget.bytes == 0


def test_promise_27_a_packed_body_that_is_none_is_served(call):
    call.done("POST", "/topics/register", {"topic": "orders"})
    body = gzip.compress(json.dumps({"topic": "orders", "value": "x" * 10_000}).encode())
    assert call.post("/produce", body, headers={"Content-Encoding": "gzip"}).status == 200
    assert call.post("/produce", body[:-5], headers={"Content-Encoding": "gzip"}).status == 422
    assert call.post("/produce", body, headers={"Content-Encoding": "br"}).status == 422
