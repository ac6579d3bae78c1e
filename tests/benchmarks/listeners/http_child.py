"""A broker with an HTTP listener in a process of its own, until its standard input ends; prints its port."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack

from broker_core import Admin, BrokerHost, HostConfig, LogConfig
from broker_core.listeners.http.listener import HttpListener
from broker_core.log.config import Durability


def serve(durability: Durability) -> None:
    """A topic of six partitions, kept as `durability` says."""
    with ExitStack() as stack:
        directory = None if durability == "memory" else stack.enter_context(tempfile.TemporaryDirectory())
        host = stack.enter_context(BrokerHost(directory, HostConfig(log=LogConfig(durability=durability))))
        Admin(host).create_topic("bench", partitions=6)
        listener = stack.enter_context(HttpListener(host))
        print(listener.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])  # type: ignore[arg-type]
