"""Connecting: a socket, and the first words on it."""

from __future__ import annotations

import socket
from typing import NamedTuple

from broker_core.wire.codec import Answer, ClientCodec
from broker_core.wire.errors import RemoteProtocolError
from broker_core.wire.session import Hello, HelloReply

_READ_BYTES = 1 << 16
MAX_ANSWER_BYTES = (1 << 31) - 1  # the broker bounds what it gives, but a message is as large as its topic allows


class Greeted(NamedTuple):
    """An open connection, and what the broker has said of itself. The socket does not block."""

    socket: socket.socket
    codec: ClientCodec
    hello: HelloReply


def connect(address: str, port: int, hello: Hello, timeout_s: float) -> Greeted:
    """Raises OSError, RemoteProtocolError, and what the broker says where it does not let us in."""
    sock = socket.create_connection((address, port), timeout_s)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        codec = ClientCodec(MAX_ANSWER_BYTES)
        sock.sendall(codec.request(hello)[1])
        answers: list[Answer] = []
        while not answers:
            data = sock.recv(_READ_BYTES)
            if not data:
                raise ConnectionError("the broker has closed the connection")
            answers = codec.receive(data)
        if answers[0].error is not None:
            raise answers[0].error
        reply = answers[0].body
        if not isinstance(reply, HelloReply):
            raise RemoteProtocolError(f"{type(reply).__name__} in answer to hello")
        codec.agree({api.key: (api.min_version, api.max_version) for api in reply.apis})
        codec.max_request_bytes = reply.max_frame_bytes
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return Greeted(sock, codec, reply)
