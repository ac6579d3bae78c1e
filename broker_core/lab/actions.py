"""What is done to a running session, as plain values: recorded with their session time, and played again the same.

A person does them, or the schedule of a scenario. What takes `for_s` ends by itself; without it, it lasts until
`EndFaults` or, for a crash, until `Restart`.
"""

from __future__ import annotations

import msgspec

from broker_core.schemas.compatibility import SchemaKind


def _lasting(for_s: float | None) -> str:
    return "" if for_s is None else f" for {for_s:g} s"


class _Action(msgspec.Struct, frozen=True, tag_field="action", forbid_unknown_fields=True):
    """An action names itself in a field `action`."""


class MoveConsumer(_Action, frozen=True, tag="move_consumer"):
    """Take `consumer` out of its group and put it into `group`; "" is the bench, and a new group is made."""

    consumer: str
    group: str

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"moved {self.consumer} to {self.group}" if self.group else f"moved {self.consumer} to the bench"


class Redrive(_Action, frozen=True, tag="redrive"):
    """Append dead letters to their origin again; `offsets` are places in the queue's bin."""

    queue: str
    offsets: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        count = len(self.offsets)
        return f"redrove {count} dead letter{'s' if count != 1 else ''} of {self.queue}"


class RegisterSchema(_Action, frozen=True, tag="register_schema"):
    """A new version of `subject`, where its compatibility allows one; `text` is JSON Schema or Avro."""

    subject: str
    text: str
    kind: SchemaKind = SchemaKind.JSON

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"registered a version of {self.subject}"


class _Lasting(_Action, frozen=True):
    """A fault that may end by itself."""

    def __post_init__(self) -> None:
        for_s = getattr(self, "for_s", None)
        if for_s is not None and not 0 < for_s < float("inf"):
            raise ValueError("for_s must be above 0")


class Crash(_Lasting, frozen=True, tag="crash"):
    """`client` dies without a word: its leases expire, its group misses it. It restarts after `for_s`."""

    client: str
    for_s: float | None = None

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"crashed {self.client}{_lasting(self.for_s)}"


class Restart(_Action, frozen=True, tag="restart"):
    """`client`, which has crashed, comes back with nothing in memory."""

    client: str

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"restarted {self.client}"


class Pause(_Lasting, frozen=True, tag="pause"):
    """`client` stands still, heartbeats included, as in a long garbage collection; then it goes on where it stood."""

    client: str
    for_s: float | None = None

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"paused {self.client}{_lasting(self.for_s)}"


class SlowDown(_Lasting, frozen=True, tag="slow_down"):
    """`client` needs `factor` times as long for whatever it processes."""

    client: str
    factor: float
    for_s: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.factor <= 1_000_000:
            raise ValueError("factor must lie between 0 and 1000000")

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"slowed {self.client} down {self.factor:g} times{_lasting(self.for_s)}"


class DropHeartbeats(_Lasting, frozen=True, tag="drop_heartbeats"):
    """The heartbeats of consumer `client` get lost on their way, all else arrives."""

    client: str
    for_s: float | None = None

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"dropped the heartbeats of {self.client}{_lasting(self.for_s)}"


class FillDisk(_Lasting, frozen=True, tag="fill_disk"):
    """The disk of the broker takes nothing more."""

    for_s: float | None = None

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"filled the disk{_lasting(self.for_s)}"


class JumpClock(_Action, frozen=True, tag="jump_clock"):
    """The wall clock of the machine is set by `by_s` seconds; session time does not notice."""

    by_s: float

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"set the wall clock by {self.by_s:+g} s"


class EndFaults(_Action, frozen=True, tag="end_faults"):
    """Whatever still lasts on `client` is over; "" is the disk."""

    client: str = ""

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"ended the faults of {self.client or 'the disk'}"


Fault = Crash | Restart | Pause | SlowDown | DropHeartbeats | FillDisk | JumpClock | EndFaults
UserAction = MoveConsumer | Redrive | RegisterSchema | Fault
