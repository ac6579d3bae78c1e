"""A client of the wire listener that says exactly what a test wants it to."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any

from broker_core.log.batch import ProducerStamp
from broker_core.messages import Message
from broker_core.wire import produce
from broker_core.wire.apis import APIS
from broker_core.wire.batches import encode_messages
from broker_core.wire.body import Body
from broker_core.wire.codec import Answer, ClientCodec
from broker_core.wire.session import Hello

EVERY_API = {api.key: (api.min_version, api.max_version) for api in APIS}


class Talk:
    """One connection. With `hello` it says hello at once."""

    def __init__(self, port: int, *, token: str | None = None, hello: bool = True, name: str = "test") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.codec = ClientCodec(1 << 30)
        self.codec.agree(EVERY_API)
        self.codec.max_request_bytes = 1 << 30
        self._come: dict[int, Answer] = {}
        if hello:
            answer = self.ask(Hello(name, "test", token))
            assert answer.error is None, answer.error

    def say(self, *bodies: Body) -> list[int]:
        """Send requests without waiting; their correlation ids."""
        sent = [self.codec.request(body) for body in bodies]
        self.socket.sendall(b"".join(data for _, data in sent))
        return [number for number, _ in sent]

    def hear(self, correlation: int, within_s: float = 10) -> Answer:
        """The answer to one of them."""
        self.socket.settimeout(within_s)
        while True:
            if correlation in self._come:
                return self._come.pop(correlation)
            data = self.socket.recv(1 << 18)
            if not data:
                raise ConnectionError("closed")
            self._come |= {answer.correlation: answer for answer in self.codec.receive(data)}

    def heard(self, correlation: int) -> Any:
        """The reply to one of them."""
        return self.hear(correlation).body

    def ask(self, body: Body, within_s: float = 10) -> Answer:
        """Say one thing, and hear the answer."""
        [number] = self.say(body)
        return self.hear(number, within_s)

    def get(self, body: Body) -> Any:
        """The reply. Raises the error in its place."""
        answer = self.ask(body)
        if answer.error is not None:
            raise answer.error
        return answer.body

    def closed_within(self, seconds: float) -> bool:
        """Whether the broker ends the connection, whatever it still says."""
        end_s = time.monotonic() + seconds
        with contextlib.suppress(OSError):
            while (left_s := end_s - time.monotonic()) > 0:
                self.socket.settimeout(left_s)
                if not self.socket.recv(1 << 18):
                    return True
            return False
        return time.monotonic() < end_s

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def batch(*values: bytes, stamp: ProducerStamp | None = None, topic: str = "t", partition: int = 0):
    data = encode_messages([Message(value) for value in values], stamp)
    return produce.ProducedBatch(topic, partition, memoryview(data))


def producing(*batches: produce.ProducedBatch, acks="all", timeout_ms: int = 1_000) -> produce.Produce:
    return produce.Produce("p", acks, timeout_ms, batches)


def until(true, within_s: float = 10) -> None:
    end_s = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.005)
