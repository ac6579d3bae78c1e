"""Dead letters."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from broker_core.listeners.http.models.basics import Cause, Encoding, JsonValue, Offset, Request, Shape
from broker_core.listeners.http.models.topics import TtlMs


class LetterQuery(Request, frozen=True, kw_only=True):
    """Which ones: of a cause, with a text in key, value or headers; from `offset` of the bin on."""

    cause: Cause = ""
    text: Annotated[str, Meta(max_length=1_000)] = ""
    min_redrives: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    offset: Offset = 0
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100
    encoding: Encoding = "text"


class AttemptAnswer(Shape, frozen=True, kw_only=True):
    """One delivery that failed; times in nanoseconds since the broker was opened."""

    holder: str
    delivered_ns: int
    ended_ns: int
    outcome: str


class Letter(Shape, frozen=True, kw_only=True):
    """A dead letter: the original, why it died, and what happened on each attempt."""

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
    attempts: list[AttemptAnswer]


class Letters(Shape, frozen=True, kw_only=True):
    """The oldest first; `count` is how many lie in the bin in all, for this queue."""

    count: int
    dead_letters: list[Letter]


class Causes(Shape, frozen=True, kw_only=True):
    """How many died of what, the most frequent first."""

    causes: dict[str, int]


class Edit(Request, frozen=True, kw_only=True):
    """What to change of the dead letter at `offset`: a merge patch (RFC 7396).

    What is left out stays as it was; null takes it away, of `headers` one by its name, or all.
    """

    offset: Offset
    value: JsonValue | UnsetType = UNSET
    key: str | UnsetType | None = UNSET
    headers: Annotated[dict[str, str | None], Meta(max_length=1000)] | UnsetType | None = UNSET
    ttl_ms: TtlMs | UnsetType | None = UNSET
    priority: Annotated[int, Meta(ge=0, le=255)] | UnsetType = UNSET
    encoding: Encoding = "text"


class Redrive(Request, frozen=True, kw_only=True):
    """Dead letters go back to where they came from: `offsets`, or all of a `cause`, or all.

    With `dry_run` it is only said what would happen. With `rate_per_s` they go one by one, at most so many a second,
    while the answer comes at once; that form takes no edits.
    """

    offsets: Annotated[list[Offset], Meta(min_length=1, max_length=10_000)] | None = None
    cause: Cause = ""
    edits: Annotated[tuple[Edit, ...], Meta(max_length=1_000)] = ()
    dry_run: bool = False
    rate_per_s: Annotated[float, Meta(ge=0.001, le=1_000_000)] | None = None


class RedrivenAnswer(Shape, frozen=True, kw_only=True):
    """Where a dead letter went; partition and offset are null where that is not known yet."""

    offset: int
    to_topic: str
    to_partition: int | None
    to_offset: int | None


class RefusedLetter(Shape, frozen=True, kw_only=True):
    """A dead letter that stays where it is."""

    offset: int
    error: str
    message: str


class Redriven(Shape, frozen=True, kw_only=True):
    """What became of them. While `running`, the rest goes on by itself; ask again for how far it is."""

    applied: bool
    running: bool
    total: int
    done: int
    redriven: list[RedrivenAnswer]
    refused: list[RefusedLetter]


class PurgeLetters(Request, frozen=True, kw_only=True):
    """Take out `offsets`, or all of a `cause`, or all."""

    offsets: Annotated[list[Offset], Meta(min_length=1, max_length=10_000)] | None = None
    cause: Cause = ""


class PurgedLetters(Shape, frozen=True, kw_only=True):
    """How many were taken out, and which could not be."""

    purged: int
    refused: list[RefusedLetter]
