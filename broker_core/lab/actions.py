"""What a person does to a running session, as plain values: recorded with their session time, and played again the same."""

from __future__ import annotations

import msgspec


class MoveConsumer(msgspec.Struct, frozen=True, tag="move_consumer", tag_field="action"):
    """Take `consumer` out of its group and put it into `group`; "" is the bench. A group that is not there yet is made."""

    consumer: str
    group: str

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"moved {self.consumer} to {self.group}" if self.group else f"moved {self.consumer} to the bench"


class Redrive(msgspec.Struct, frozen=True, tag="redrive", tag_field="action"):
    """Append dead letters to their origin again; `offsets` are places in the queue's bin."""

    queue: str
    offsets: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        count = len(self.offsets)
        return f"redrove {count} dead letter{'s' if count != 1 else ''} of {self.queue}"


UserAction = MoveConsumer | Redrive
