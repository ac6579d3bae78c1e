"""Sockets, for what no HTTP client would send; and waiting in tests."""

import socket
import time

JSON = ["Content-Type: application/json"]


def raw(listener, *, timeout_s=10.0):
    """A connection to the listener."""
    found = socket.create_connection(("127.0.0.1", listener.port), timeout=timeout_s)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def request(method, path, body=b"", headers=()):
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read_all(found):
    """Everything that comes until the other side hangs up."""
    pieces = []
    try:
        while piece := found.recv(65_536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def status_of(answer):
    """The status of an answer; None for none."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


def until(condition, timeout_s=10.0):
    """Wait until `condition()` holds."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "it did not happen"
        time.sleep(0.005)
