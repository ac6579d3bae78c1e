from __future__ import annotations

import os
import re
import shlex
import shutil
import zlib
from pathlib import Path
from typing import Protocol

from broker_core.recording.schema import SESSION_FILE

MAX_NAME = 100


def as_typed(path: Path) -> str:
    """`path` from the working directory; the whole path if that is on another drive."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return str(path)


class Recorded(Protocol):
    """A broker with its last events."""

    @property
    def now_s(self) -> float:
        """The broker's session time in seconds."""

    def timeline(self) -> str:
        """The last events, in a few lines."""

    def save(self, folder: Path | str, *, title: str, about: str) -> Path:
        """Write a session to `folder`, which must be empty or not there."""


class ItemBrokers:
    """The brokers that the test `nodeid` has used, in the order of their start."""

    def __init__(self, folder: Path, nodeid: str) -> None:
        """`folder` holds the recordings of all tests."""
        self._folder = folder
        self._nodeid = nodeid
        self._brokers: list[Recorded] = []
        self._saved: dict[Path, float] = {}  # up to which second

    def add(self, broker: Recorded) -> None:
        """One more. The recording of an earlier run goes."""
        self._brokers.append(broker)
        earlier = self._path(len(self._brokers))
        if (earlier / SESSION_FILE).is_file():
            shutil.rmtree(earlier, ignore_errors=True)

    def _path(self, number: int) -> Path:
        name = re.sub(r"\.py::|::|/", ".", self._nodeid)
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
        if plain != name or len(plain) > MAX_NAME:  # so that two tests do not share a folder
            plain = f"{plain[:MAX_NAME]}-{zlib.crc32(self._nodeid.encode()):08x}"
        return self._folder / (plain if number == 1 else f"{plain}-{number}")

    def save(self, about: str) -> list[Path]:
        """Write the recordings that were not written yet, with `about` in them. Raises BrokerError, OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        ignored = self._folder / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="utf-8")
        fresh: list[Path] = []
        for number, broker in enumerate(self._brokers, start=1):
            path = self._path(number)
            if path not in self._saved:
                at_s = int(broker.now_s * 100) / 100  # not after the end: a broker in real time goes on
                broker.save(path, title=self._nodeid, about=about)
                self._saved[path] = at_s
                fresh.append(path)
        return fresh

    def describe(self) -> str:
        """Describes the events in each broker, and the command that opens its recording."""
        parts = []
        for number, broker in enumerate(self._brokers, start=1):
            path = self._path(number)
            told = [f"Broker {number}:"] if len(self._brokers) > 1 else []
            told.append(broker.timeline())
            if path in self._saved:
                told += ["", f"brokerscope open {shlex.quote(str(path.absolute()))} --at {self._saved[path]:.2f}"]
            parts.append("\n".join(told))
        return "\n\n".join(parts)
