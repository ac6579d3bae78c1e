"""Queues and subscriptions, message by message: who waits, who is held by whom, what is dead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Place = tuple[int, int]  # partition, offset
Row = dict[str, Any]


@dataclass
class Message:
    """One that is not finished. `due_ns` is when it can be taken again; None where no event and no setting says so."""

    published_ns: int
    holder: str = ""
    attempt: int = 0
    acquired_ns: int = 0
    deadline_ns: int = 0
    key: bytes | None = None
    due_ns: int | None = 0
    is_alone: bool = True


@dataclass
class Attempt:
    holder: str
    delivered_ns: int
    ended_ns: int
    outcome: str


@dataclass
class Letter:
    """A dead letter in the bin."""

    row: Row
    redrives: int = 0
    attempts: tuple[Attempt, ...] = ()


@dataclass
class Queue:
    """`settings` are those of the scenario. `bin` is where its dead letters lie."""

    name: str
    topic: str
    settings: dict[str, Any]
    open: dict[Place, Message] = field(default_factory=dict)
    letters: dict[int, Letter] = field(default_factory=dict)
    gone: dict[int, Letter] = field(default_factory=dict)  # letters that were redriven or purged
    purged: dict[Place, Message] = field(default_factory=dict)
    history: dict[Place, list[Attempt]] = field(default_factory=dict)
    redrives: dict[Place, int] = field(default_factory=dict)
    bin: str = ""
    acknowledged: int = 0
    redelivered: int = 0
    dead_lettered: int = 0
    redriven: int = 0
    delivered: int = 0
    out: int = 0  # evicted, expired, purged or damaged

    @property
    def is_subscription(self) -> bool:
        return self.topic != self.name

    @property
    def lease_ns(self) -> int:
        return round(float(self.settings.get("lease_ms", 30_000)) * 1_000_000)

    @property
    def max_attempts(self) -> int:
        return int(self.settings.get("max_attempts", 5))

    def held(self) -> dict[Place, Message]:
        """Messages under a lease."""
        return {place: message for place, message in self.open.items() if message.holder}

    def waiting(self) -> int:
        """Messages that nobody holds and that are not finished."""
        return sum(not message.holder for message in self.open.values())

    def delayed(self, now_ns: int) -> int | None:
        """How many of them wait for their next attempt; None where nobody can tell."""
        found = 0
        for message in self.open.values():
            if not message.holder:
                if message.due_ns is None:
                    return None
                found += message.due_ns > now_ns
        return found

    # -- events

    def published(self, row: Row) -> None:
        for offset in range(row["offset"], row["offset"] + row["count"]):
            # An event has one key: those of a batch are not told.
            self.open[row["partition"], offset] = Message(row["time_ns"], key=row["key"], is_alone=row["count"] == 1)

    def places(self, row: Row) -> list[Place]:
        """Of the messages of an event."""
        return [(row["partition"], offset) for offset in range(row["offset"], row["offset"] + row["count"])]

    def handed_out(self, row: Row) -> None:
        self.delivered += row["count"]
        if row["attempt"] > 1:
            self.redelivered += row["count"]
        for place in self.places(row):
            message = self.open.setdefault(place, Message(row["published_ns"]))
            message.holder, message.attempt = row["client"], row["attempt"]
            message.key = row["key"] or message.key
            message.acquired_ns = row["time_ns"]
            message.deadline_ns = row["time_ns"] + self.lease_ns

    def acked(self, row: Row) -> None:
        self.acknowledged += row["count"]
        for place in self.places(row):
            del self.open[place]
            self.history.pop(place, None)

    def given_back(self, row: Row) -> None:
        """Nacked, released, or its lease has expired."""
        for place in self.places(row):
            message = self.open[place]
            if row["kind"] != "released":
                attempt = Attempt(message.holder, message.acquired_ns, row["time_ns"], row["cause"])
                self.history.setdefault(place, []).append(attempt)
            message.holder = ""
            message.due_ns = row["time_ns"]
            if row["kind"] != "released" and row["attempt"] >= self.max_attempts:
                message.due_ns = 1 << 62  # it waits for its bin, which is full now and then
            elif row["kind"] == "nacked":
                delay_ns = self._delay_ns(row["attempt"])
                message.due_ns = None if delay_ns is None else row["time_ns"] + delay_ns

    def _delay_ns(self, attempt: int) -> int | None:
        retry = self.settings.get("retry", {})
        kind, base_ms = retry.get("kind", "none"), float(retry.get("base_ms", 1_000))
        if kind == "none":
            return 0
        if kind == "exponential_jitter":
            return None
        times = float(retry.get("factor", 2)) ** (attempt - 1) if kind == "exponential" else 1
        return int(min(base_ms * times, float(retry.get("max_ms", 60_000))) * 1_000_000)

    def extended(self, row: Row) -> None:
        for place in self.places(row):
            self.open[place].deadline_ns = row["time_ns"] + self.lease_ns

    def died(self, row: Row) -> None:
        self.dead_lettered += row["count"]
        self.bin = row["to_topic"]
        letter = self.letters[row["to_offset"]] = Letter(row)
        for place in self.places(row) if row["offset"] is not None else ():
            self.open.pop(place, None)
            letter.redrives = self.redrives.get(place, 0)
            letter.attempts = tuple(self.history.pop(place, ()))

    def letter_gone(self, row: Row) -> None:
        for offset in range(row["offset"], row["offset"] + row["count"]):
            letter = self.letters.pop(offset, None)
            if letter is not None:
                self.gone[offset] = letter

    def redrove(self, row: Row) -> None:
        self.redriven += row["count"]
        letter = self.letters.get(row["offset"])
        self.letter_gone(row)
        place = (row["to_partition"], row["to_offset"])
        self.redrives[place] = 1 + (letter.redrives if letter is not None else 0)
        if not self.is_subscription:
            self.open[place] = Message(row["time_ns"], key=row["key"])

    def taken_out(self, row: Row) -> None:
        for place in self.places(row):
            message = self.open.pop(place, None)
            self.out += message is not None
            if message is not None and row["kind"] == "purged":
                self.purged[place] = message

    def undone(self, row: Row) -> None:
        """A user has taken back a purge or a redrive."""
        for offset in row["detail"].get("offsets", ()):
            if offset in self.gone:
                self.letters[offset] = self.gone.pop(offset)
        for partition, first, end in row["detail"].get("runs", ()):
            for offset in range(first, end):
                self.open[partition, offset] = self.purged.pop((partition, offset))
                self.out -= 1
