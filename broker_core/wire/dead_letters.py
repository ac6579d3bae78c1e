"""Dead letters: look, redrive, purge, undo. `queue` may be a topic whose schema dead-letters, too."""

from __future__ import annotations

from broker_core.messages import Message
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.dead_letters import Redrivable, Redriven, Refused
from broker_core.snapshots import DeadLetterView
from broker_core.wire.body import Body, Int32, Int64, Name
from broker_core.wire.errors import broker_error


class ListDeadLetters(Body, frozen=True):
    """At most `limit` from `offset` of the bin on, the oldest first; fewer where they are large."""

    queue: Name
    only: DeadLetterFilter | None
    offset: Int64
    limit: Int32


class DeadLetters(Body, frozen=True):
    """`next_offset` is where to go on; None where there are no more."""

    letters: tuple[DeadLetterView, ...]
    next_offset: int | None


class DeadLettersByCause(Body, frozen=True):
    """How many died of each cause."""

    queue: Name


class Causes(Body, frozen=True):
    """The most frequent first."""

    counts: dict[str, int]


class RefusedBody(Body, frozen=True):
    """A dead letter that stays as it was."""

    offset: int
    error: int
    about: str

    @classmethod
    def of(cls, refused: Refused) -> RefusedBody:
        """For the wire."""
        return cls(refused.offset, refused.error.code.code, refused.error.about)

    def refused(self) -> Refused:
        """From the wire."""
        return Refused(self.offset, broker_error(self.error, self.about))


def refusals(refused: tuple[Refused, ...]) -> tuple[RefusedBody, ...]:
    """For the wire."""
    return tuple(map(RefusedBody.of, refused))


class Redrive(Body, frozen=True):
    """See `Broker.redrive`. `edits` holds what to send in the place of some."""

    queue: Name
    offsets: tuple[Int64, ...]
    edits: dict[Int64, Message]


class RedriveReply(Body, frozen=True):
    """See `RedriveResult`."""

    redriven: tuple[Redriven, ...]
    refused: tuple[RefusedBody, ...]


class PreviewRedrive(Body, frozen=True):
    """What `Redrive` would do."""

    queue: Name
    offsets: tuple[Int64, ...]
    edits: dict[Int64, Message]


class Preview(Body, frozen=True):
    """See `RedrivePreview`."""

    redrivable: tuple[Redrivable, ...]
    refused: tuple[RefusedBody, ...]


class PurgeDeadLetters(Body, frozen=True):
    """Take out these, or all."""

    queue: Name
    offsets: tuple[Int64, ...] | None


class PurgeReply(Body, frozen=True):
    """See `PurgeResult`."""

    purged: int
    refused: tuple[RefusedBody, ...]


class UndoRedrive(Body, frozen=True):
    """What nobody has taken yet is a dead letter again."""

    queue: Name


class UndoPurgeDeadLetters(Body, frozen=True):
    """Bring back what the last purge took."""

    queue: Name
