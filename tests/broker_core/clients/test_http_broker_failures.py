"""A client of a broker elsewhere whose line fails, or who meets something else than a broker."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from broker_core import BrokerError, BrokerHost, ErrorCode, HttpBroker, HttpPublisher
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.operations.queues import PurgeQueue
from broker_core.operations.request import Request
from broker_core.operations.topics import CreateTopic, ListTopics


@contextmanager
def answering(*answers: bytes | None, then_s: float = 0.0) -> Iterator[tuple[str, list[bytes]]]:
    """A server that gives one answer after the other, a connection each, and hangs up `then_s` later; None hangs up
    at once. Its URL, and what it was asked.
    """
    asked: list[bytes] = []
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for answer in answers:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with closing(connection):
                    asked.append(connection.recv(65_536))
                    if answer is not None:
                        connection.sendall(answer)
                        over.wait(then_s)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            over.set()
            server.close()


def response(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


NONE = response("200 OK", b"[]")
BUSY = response("429 Too Many Requests", b'{"error":"THROTTLED","message":"Later.","retriable":true}', "Retry-After: 0")
CLOSING = response("503 Service Unavailable", b'{"error":"CLOSED","message":"It is closed."}', "Retry-After: 0")
FULL = response(
    "503 Service Unavailable",
    b'{"error":"REQUEST_TIMED_OUT","message":"x.","retriable":true,"possibly_stored":true}',
    "Retry-After: 0",
)


def told(url: str, request: Request[Any], timeout_s: float = 10.0) -> BrokerError:
    with HttpBroker(url, timeout_s=timeout_s) as broker, pytest.raises(BrokerError) as refused:
        broker.ask(request)
    return refused.value


def test_what_only_looks_is_asked_again_where_the_line_breaks():
    with answering(None, NONE[:30], NONE) as (url, asked), HttpBroker(url) as broker:
        assert broker.ask(ListTopics()) == []
        assert len(asked) == 3
    with answering(*[None] * 9) as (url, asked):
        assert "broke off its reply" in str(told(url, ListTopics()))
        assert len(asked) == 4


def test_what_changes_something_is_asked_once_and_may_be_done():
    for answer in (None, NONE[:30]):
        with answering(answer, NONE) as (url, asked):
            error = told(url, PurgeQueue(queue="mail"))
            assert (error.code, error.possibly_stored) == (ErrorCode.CONNECTION_LOST, True)
            assert "it may have been done all the same" in str(error)
            assert len(asked) == 1


def test_a_broker_that_asks_for_a_wait_is_given_it():
    waits: list[tuple[ErrorCode, float]] = []
    done = response("200 OK", b'{"messages":3}')
    with answering(BUSY, BUSY, done) as (url, _asked):
        with HttpBroker(url, on_wait=lambda error, wait_s: waits.append((error.code, wait_s))) as broker:
            assert broker.ask(PurgeQueue(queue="mail")).messages == 3
    assert waits == [(ErrorCode.THROTTLED, 0.0)] * 2
    late = response("429 Too Many Requests", b'{"error":"THROTTLED","message":"Later."}', "Retry-After: 60")
    with answering(late) as (url, asked):
        assert told(url, ListTopics()).code is ErrorCode.THROTTLED
        assert len(asked) == 1, "who has no such time does not begin to wait"


def test_what_is_stored_behind_a_message_that_may_be_is_told_too():
    lost = '{"status":"REQUEST_TIMED_OUT","partition":null,"offset":null,"possibly_stored":true}'
    stored = '{"status":"stored","partition":0,"offset":4}'
    answer = response("200 OK", f'{{"count":2,"failed":1,"messages":[{lost},{stored}]}}'.encode())
    offsets: list[int | None] = []
    with answering(answer) as (url, _asked), HttpBroker(url) as broker:
        publisher = HttpPublisher(broker, "orders", on_placed=lambda placed: offsets.append(placed.offset))
        publisher.send(b"one")
        publisher.send(b"two")
        with pytest.raises(BrokerError) as failed:
            publisher.flush()
    assert failed.value.possibly_stored and offsets == [4]


def test_what_may_be_done_already_is_not_repeated_after_a_wait_either():
    with answering(FULL, NONE) as (url, asked):
        error = told(url, PurgeQueue(queue="mail"))
        assert (error.code, error.possibly_stored, len(asked)) == (ErrorCode.REQUEST_TIMED_OUT, True, 1)
    with answering(CLOSING) as (url, asked):
        assert told(url, ListTopics()).code is ErrorCode.CLOSED
        assert len(asked) == 1


def test_an_answer_that_is_too_large_is_asked_for_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("broker_core.clients.http_broker._MOST_BYTES", 1_000)
    with answering(*[response("200 OK", b" " * 2_000)] * 4) as (url, asked):
        error = told(url, ListTopics())
    assert (error.code, len(asked)) == (ErrorCode.REQUEST_TOO_LARGE, 1)
    assert "its reply has more than 1,000 bytes" in str(error)


def test_an_answer_that_does_not_come_or_not_whole_is_not_waited_for_longer():
    for answer in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{"):
        with answering(answer, then_s=30) as (url, _asked):
            began_s = time.monotonic()
            error = told(url, ListTopics(), timeout_s=0.3)
            assert error.code is ErrorCode.REQUEST_TIMED_OUT
            assert "GET /v1/topics got no reply" in str(error)
            assert time.monotonic() - began_s < 20


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (response("200 OK", b"<html>hello</html>"), "its reply is not a broker's"),
        (response("404 Not Found", b"<html>hello</html>"), "replies 404, but not as a broker does"),
        (response("302 Found", b"", "Location: https://elsewhere/"), "redirects to https://elsewhere/"),
        (b"HTTP/1.1 301 Moved\r\nConnection: close\r\nLocation: https://elsewhere/\r\n\r\n", "redirects to https://"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "its reply is not a broker's"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP"),
        (b"\0\0\0\1x", "does not speak HTTP"),
    ],
)
def test_what_is_no_broker_is_said_to_be_none(answer: bytes, why: str):
    with answering(*[answer] * 4) as (url, _asked):
        error = told(url, ListTopics())
    assert error.code is ErrorCode.CONNECTION_LOST
    assert why in str(error)


def test_where_nothing_listens_that_is_said():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    error = told(f"http://127.0.0.1:{port}", CreateTopic(name="t"))
    assert (error.code, error.possibly_stored) == (ErrorCode.CONNECTION_LOST, False)
    assert "nothing listens at" in str(error)
    assert error.code is told("http://no-such-host.invalid", ListTopics()).code


def test_the_port_of_another_protocol_is_told():
    with BrokerHost() as host, KafkaListener(host, port=0) as listener:
        error = told(f"http://127.0.0.1:{listener.port}", ListTopics())
    assert error.code is ErrorCode.CONNECTION_LOST


def test_a_closed_client_says_so():
    broker = HttpBroker("http://127.0.0.1:1")
    broker.close()
    broker.close()
    with pytest.raises(BrokerError) as refused:
        broker.ask(ListTopics())
    assert refused.value.code is ErrorCode.CLOSED


def test_a_token_that_http_cannot_carry_is_refused():
    for token in ("ä" * 20, "a\nb"):
        with pytest.raises(BrokerError) as refused:
            HttpBroker("http://127.0.0.1:1", token=token)
        assert refused.value.code is ErrorCode.INVALID_CONFIG
