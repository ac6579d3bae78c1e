"""Brokers in a process of their own, until its standard input ends: the wire listener, and what it is measured against.

The first line of output is the port. `wire <durability>` is ours; `json` is what one writes first: a thread for each
connection, JSON behind a length, one message a request, and the broker's lock taken anew for each.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

from broker_core import Admin, BrokerHost, HostConfig, LogConfig
from broker_core.listeners.wire.listener import WireListener
from broker_core.log.config import Durability

LENGTH = struct.Struct(">I")


def serve_wire(durability: Durability, directory: str) -> None:
    """A topic of six partitions, kept as `durability` says."""
    with ExitStack() as stack:
        path: str | None = directory
        if durability == "memory":
            path = None
        elif not directory:
            path = stack.enter_context(tempfile.TemporaryDirectory())
        config = HostConfig(log=LogConfig(durability=durability))
        host = stack.enter_context(BrokerHost(None if path is None else Path(path), config))
        if "bench" not in host.broker.topic_names():
            Admin(host).create_topic("bench", partitions=6)
        listener = stack.enter_context(WireListener(host, port=0))
        print(listener.port, flush=True)
        sys.stdin.read()


def serve_json() -> None:
    """The baseline."""
    lock = threading.Lock()
    topics: dict[str, list[str]] = {"bench": []}

    def serve(sock: socket.socket) -> None:
        stream = sock.makefile("rb")
        while head := stream.read(LENGTH.size):
            request = json.loads(stream.read(LENGTH.unpack(head)[0]))
            with lock:
                log = topics[request["topic"]]
                log.append(request["value"])
                offset = len(log) - 1
            answer = json.dumps({"status": "ok", "offset": offset}).encode()
            sock.sendall(LENGTH.pack(len(answer)) + answer)

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def accept() -> None:
        while True:
            sock = listener.accept()[0]
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    if sys.argv[1] == "json":
        serve_json()
    else:
        serve_wire(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")  # type: ignore[arg-type]
