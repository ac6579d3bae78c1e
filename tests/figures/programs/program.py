"""What all programs share: their logs, and doing what they are told."""

from __future__ import annotations

import json
import os
import sys
from io import FileIO
from typing import Any


class Log:
    """The file in which a program writes what reached it; `client` is its name."""

    def __init__(self, path: str, client: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._client = client
        self.polled: list[tuple[str, int, int]] = []

    def write(self, did: str, topic: str, partition: int, offset: int) -> None:
        """A line. `did` is polled, committed, sought, got or gave (a partition), or how a message was given back."""
        line = {"client": self._client, "did": did, "topic": topic, "partition": partition, "offset": offset}
        os.write(self._file, json.dumps(line).encode() + b"\n")
        if did == "polled":
            self.polled.append((topic, partition, offset))


def obey(program: Any, log: Log) -> None:
    """Do what comes by the standard input until it ends: [name of a method, words]."""
    told = FileIO(sys.stdin.fileno(), closefd=False)  # which reads no line ahead: `serve` waits for the next
    for line in iter(told.readline, b""):
        name, *words = json.loads(line)
        getattr(program, name)(*words)
        polled, log.polled = log.polled, []
        print(json.dumps(polled), flush=True)
