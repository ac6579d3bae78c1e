"""Requests of any version, as a client of Kafka 4 would send them."""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import Any

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader

from broker_core import BrokerError, BrokerHost
from broker_core.kafka_messages.writing import Parts, writer
from broker_core.listeners.access.access import ANYBODY, Principal
from broker_core.listeners.kafka import codec
from broker_core.listeners.kafka.call import TABLE, Call, Later, Waiting, WhenDurable, failed
from broker_core.listeners.kafka.listener import KafkaListener

KEYS = {api.name: api.key for api in TABLE.values()}
CLIENT = b"\0\3raw"


def frame_of(key: int, version: int, body: dict[str, Any]) -> bytes:
    """A request without its length; `body` is in the schema's field names."""
    schema = load_request_schema(key, version)
    flexible = schema.__header_schema__.__version__ > 1
    parts: Parts = [struct.pack(">hhi", key, version, 1), CLIENT, b"\0" if flexible else b""]
    writer(schema)(body, parts)
    return b"".join(parts)


class Raw:
    """A connection that asks one request after the other."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._incoming = self._socket.makefile("rb")

    def asked(self, key: int, version: int, body: dict[str, Any]) -> Any:
        """The response to one request, whose `body` is in the schema's field names."""
        self.send(key, version, body)
        (size,) = struct.unpack(">i", self._incoming.read(4))
        data = self._incoming.read(size)
        answer = load_response_schema(key, version)
        start = 4 + (answer.__header_schema__.__version__ > 0)
        return entity_reader(answer)(data[start:], 0)[0]

    def send(self, key: int, version: int, body: dict[str, Any]) -> None:
        frame = frame_of(key, version, body)
        self._socket.sendall(struct.pack(">i", len(frame)) + frame)

    def close(self) -> None:
        """As if the client had died."""
        self._incoming.close()
        self._socket.close()


def asked(port: int, key: int, version: int, body: dict[str, Any]) -> Any:
    """The response to one request by a connection of its own."""
    with contextlib.closing(Raw(port)) as connection:
        return connection.asked(key, version, body)


def served(
    host: BrokerHost,
    listener: KafkaListener,
    key: int,
    version: int,
    body: dict[str, Any],
    principal: Principal = ANYBODY,
) -> Any:
    """The body of the answer to one request of `principal`, without a connection."""
    frame, api = frame_of(key, version, body), TABLE[key]
    seen = listener.connections.open("kafka", "", lambda: None)
    call = Call(listener.context, seen, principal, "shop", version, host.now_ns, "127.0.0.1", listener.port)
    request = codec.request_of(codec.header_of(frame), frame, api.most_elements)[1]

    def run(now_ns: int) -> Any:
        try:
            answer = api.handle(call, request)
        except BrokerError as error:
            return failed(error)
        while isinstance(answer, Waiting) and answer.reply.done:
            answer = answer.answer(answer.reply, now_ns)
        return answer

    answer = host.call(run)
    cancel = answer.cancel if isinstance(answer, Waiting) else None
    if cancel is not None:
        host.call(lambda _now: cancel())
    return answer.work() if isinstance(answer, Later) else answer.body if isinstance(answer, WhenDurable) else answer
