from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from broker_core.messages import Headers, Message
from broker_core.operations.entry import ADMIN, READ, Entry, Right, declaring
from broker_core.operations.fields import Cause, Encoding, JsonValue, Name, Offset, TtlMs
from broker_core.operations.queues import Messages
from broker_core.operations.request import Input, Request, Result
from broker_core.operations.values import bytes_of, retyped, shown, stored_value
from broker_core.queues.dead_letter_record import DeadLetterEdit
from broker_core.queues.dead_letters import PurgeResult, RedrivePreview, RedriveResult, Refused
from broker_core.queues.paced_redrive import PacedRedrive
from broker_core.settings import about
from broker_core.snapshots import AttemptView, DeadLetterView


class Letter(Result, frozen=True, kw_only=True):
    """A dead letter: the original message, the cause, and the outcome of each attempt; times in nanoseconds since the
    broker was opened.
    """

    offset: int
    queue: str
    origin_topic: str
    origin_partition: int
    origin_offset: int
    cause: str
    redrives: int
    published_ns: int
    dead_ns: int
    key: str | None
    value: JsonValue
    headers: dict[str, str]
    encoding: Encoding
    attempts: tuple[AttemptView, ...]

    @classmethod
    def of(cls, view: DeadLetterView, wanted: Encoding = "text") -> Letter:
        return cls(**{**msgspec.structs.asdict(view), **shown(view, wanted)})


class Letters(Result, frozen=True, kw_only=True):
    """Dead letters, the oldest first; `count` is the number of all that the queue has."""

    count: int
    dead_letters: list[Letter]


class Edit(Input, frozen=True, kw_only=True):
    """Changes of the dead letter at `offset`: a merge patch (RFC 7396).

    A field that is left out stays; null removes it. Of `headers`, null removes one by its name, or all.
    """

    offset: Offset
    value: JsonValue | UnsetType = UNSET
    key: str | UnsetType | None = UNSET
    headers: Annotated[dict[str, str | None], Meta(max_length=1000)] | UnsetType | None = UNSET
    ttl_ms: TtlMs | UnsetType | None = UNSET
    priority: Annotated[int, Meta(ge=0, le=255)] | UnsetType = UNSET
    encoding: Encoding = "text"

    def on(self, headers: Headers) -> Message | DeadLetterEdit:
        """The same as the core's type, for a dead letter with these `headers`. Raises MALFORMED_REQUEST."""
        value: bytes | UnsetType | None = UNSET
        if self.value is not UNSET:
            value, kind = stored_value(self.value, self.encoding, ())
            headers = retyped(headers, kind, self.encoding)
        if self.headers is None:
            headers = ()
        elif self.headers is not UNSET:
            changed = self.headers
            named = {name: text.encode() for name, text in changed.items() if text is not None}
            headers = (*(header for header in headers if header[0] not in changed), *named.items())
        key = UNSET if self.key is UNSET else bytes_of(self.key, self.encoding)
        return DeadLetterEdit(value, key, headers, self.ttl_ms, self.priority)


class StoredEdit(Edit, frozen=True, kw_only=True):
    """Changes in bytes, or a message in place of the dead letter, from a program in the broker's own process."""

    edit: Message | DeadLetterEdit

    def on(self, headers: Headers) -> Message | DeadLetterEdit:
        return self.edit


class RedrivenLetter(Result, frozen=True, kw_only=True):
    """Where a dead letter went; of a dry run its key and the size of its value in place of partition and offset."""

    offset: int
    to_topic: str
    to_partition: int | None = None
    to_offset: int | None = None
    key: bytes | None = None
    size_bytes: int | UnsetType = UNSET


class RedriveAnswer(Result, frozen=True, kw_only=True):
    """The outcome. While `running`, the redrive goes on; its progress is at the same path."""

    applied: bool = True
    running: bool = False
    total: int
    done: int
    redriven: tuple[RedrivenLetter, ...] = ()
    refused: tuple[Refused, ...] = ()

    def result(self) -> RedriveResult:
        """The outcome of one that is done."""
        return msgspec.convert(self, RedriveResult, from_attributes=True)

    @classmethod
    def of(cls, paced: PacedRedrive) -> RedriveAnswer:
        if paced.reply.done:
            return cls.done_with(paced.reply.result(), paced.letter_count)
        return cls(running=True, total=paced.letter_count, done=paced.handled_count)

    @classmethod
    def planned(cls, preview: RedrivePreview, total: int) -> RedriveAnswer:
        """The plan of a redrive of `total` messages."""
        rows = tuple(
            RedrivenLetter(
                offset=each.offset,
                to_topic=each.origin_topic,
                key=each.message.key,
                size_bytes=len(each.message.value or b""),
            )
            for each in preview.redrivable
        )
        done = len(rows) + len(preview.refused)
        return cls(applied=False, total=total, done=done, redriven=rows, refused=preview.refused)

    @classmethod
    def done_with(cls, result: RedriveResult, total: int) -> RedriveAnswer:
        """The result of a redrive of `total` messages."""
        rows = msgspec.convert(result.redriven, tuple[RedrivenLetter, ...], from_attributes=True)
        return cls(total=total, done=len(rows) + len(result.refused), redriven=rows, refused=result.refused)


class Conditions(Input, frozen=True, kw_only=True):
    """All of which hold for the dead letters of `queue` that are meant."""

    queue: Name
    cause: Annotated[Cause, about("only those of exactly this cause")] = ""
    text: Annotated[
        str, Meta(max_length=1_000), about("only those with this text in the key, the value or a header")
    ] = ""
    min_redrives: Annotated[int, Meta(ge=0, le=1_000_000), about("only those redriven at least this many times")] = 0
    max_redrives: Annotated[
        Annotated[int, Meta(ge=0, le=1_000_000)] | None, about("only those redriven at most this many times")
    ] = None

    def accepts(self, dead_letter: DeadLetterView) -> bool:
        wanted, most = self.text.encode(), self.max_redrives
        return (
            dead_letter.queue == self.queue
            and self.cause in {"", dead_letter.cause}
            and self.min_redrives <= dead_letter.redrives <= (dead_letter.redrives if most is None else most)
            and any(wanted in part for part in _parts(dead_letter))
        )


def _parts(dead_letter: DeadLetterView) -> Iterator[bytes]:
    yield dead_letter.key or b""
    yield dead_letter.value or b""
    for name, value in dead_letter.headers:
        yield name.encode()
        yield value or b""


ENTRIES: list[Entry] = []
_READ, _ADMIN = (Right(READ, "topic or queue", "queue"),), (Right(ADMIN, "topic or queue", "queue"),)
_TAG = "Dead letters"
_read_operation = declaring(ENTRIES, tag=_TAG, rights=_READ)
_admin_operation = declaring(ENTRIES, tag=_TAG, rights=_ADMIN)


@_read_operation(
    "GET /v1/dead-letters/{queue}",
    "List dead letters of a queue, or of a topic with a schema rule, the oldest first",
    mode="slow",
)
class ListDeadLetters(Conditions, Request[Letters], frozen=True, kw_only=True):
    """A selection: of a cause, with a text in key, value or headers, from `offset` of the dead-letter queue on."""

    offset: Offset = 0
    limit: Annotated[int, Meta(ge=1, le=1_000), about("show at most this many")] = 100
    encoding: Encoding = "text"


@_read_operation("GET /v1/dead-letters/{queue}/causes", "Count dead letters by cause, the most frequent first")
class DeadLettersByCause(Request[dict[str, int]], frozen=True, kw_only=True):
    queue: Name


@_admin_operation(
    "POST /v1/dead-letters/{queue}/redrive",
    "Redrive dead letters: publish them to their origin again, edited or not",
    rights=(Right(ADMIN, "topic or queue", "queue", preview="dry_run"),),
    mode="slow",
    errors=(409,),
    details="Each is appended to its origin before it is removed from the dead-letter queue, so an interrupted"
    " redrive loses nothing.",
)
class Redrive(Conditions, Request[RedriveAnswer], frozen=True, kw_only=True):
    """Dead letters that go back to their origin: `offsets`, or all that meet the conditions.

    With `dry_run` the outcome is only shown. With `rate_per_s` they go one by one, at most so many a second, and the
    response comes at once; edits are not possible then.
    """

    offsets: Annotated[list[Offset], Meta(min_length=1, max_length=10_000)] | None = None
    edits: Annotated[tuple[Edit, ...], Meta(max_length=1_000)] = ()
    dry_run: Annotated[bool, about("only show what would be done")] = False
    rate_per_s: Annotated[
        Annotated[float, Meta(ge=0.001, le=1_000_000)] | None,
        about("redrive at most this many per second", flag="--rate"),
    ] = None


@_read_operation("GET /v1/dead-letters/{queue}/redrive", "Show the progress of the last redrive at a rate")
class RedriveProgress(Request[RedriveAnswer], frozen=True, kw_only=True):
    queue: Name


@_admin_operation(
    "DELETE /v1/dead-letters/{queue}/redrive",
    "Stop the redrive at a rate; the rest stays in the dead-letter queue",
    repeatable=True,
)
class StopRedrive(Request[RedriveAnswer], frozen=True, kw_only=True):
    queue: Name


@_admin_operation(
    "POST /v1/dead-letters/{queue}/purge",
    "Remove dead letters",
    mode="slow",
    errors=(409,),
    called="purge_dead_letters",
)
class PurgeLetters(Conditions, Request[PurgeResult], frozen=True, kw_only=True):
    """Dead letters to remove: `offsets`, or all that meet the conditions."""

    offsets: Annotated[list[Offset], Meta(min_length=1, max_length=10_000)] | None = None


@_admin_operation(
    "POST /v1/dead-letters/{queue}/undo-redrive",
    "Undo the last redrive, up to five minutes later: messages not taken yet are dead letters again",
    mode="parked",
    details="Messages that went back to a topic, from a subscription or a schema rule, stay there: its readers "
    "already have them.",
)
class UndoRedrive(Request[Messages], frozen=True, kw_only=True):
    queue: Name


@_admin_operation(
    "POST /v1/dead-letters/{queue}/undo-purge", "Restore what the last purge removed, up to five minutes later"
)
class UndoPurgeDeadLetters(Request[Messages], frozen=True, kw_only=True):
    queue: Name
