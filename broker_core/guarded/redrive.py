"""The redrive of a dead-letter topic: which letters go back, to where, and what a killed run leaves to the next.

Preview and run decide about a letter alike, here. Letters stay in their topic; which have been redriven is kept in the
metadata of what the group `progress_group(topic)` commits, in the same transaction as their copies.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.guarded.offsets import cluster_changes
from broker_core.guarded.origins import origin_of
from broker_core.messages import OffsetAndMetadata, StoredMessage, TopicPartition, grouped
from broker_core.plurals import counted
from broker_core.runs import Runs
from broker_core.snapshots import GroupView
from broker_core.varint import varint

HEADER: Final = "brokerscope-redrive"  # how often a message was redriven, and from where the last time
MOST_TIMES: Final = 3
DEFAULT_RATE: Final = 100.0
Rate = Annotated[float, msgspec.Meta(ge=0.001, le=1_000_000)]  # letters a second
MOST_METADATA: Final = 4_000  # Kafka's limit of a commit is 4,096 bytes
_VERSION: Final = "1"

StayReason = Literal["filtered", "redriven", "failed again", "looping", "without origin"]
LetterTest = Callable[[StoredMessage], bool]
PartitionsOf = Callable[[str], int]  # 0 for a topic that is not there
PartitionOf = Callable[[str, bytes, int], int]  # of a key, in a topic with so many partitions


def progress_group(topic: str) -> str:
    return f"brokerscope-redrive-{topic}"


class Part(msgspec.Struct, frozen=True):
    """A partition of the dead-letter topic, looked at from `start` up to `end`; so many letters of it go back."""

    partition: int
    start: int
    end: int
    letters: int


class LettersTo(msgspec.Struct, frozen=True):
    """A topic that letters go back to: by partition how many. `schema` is its newest, and `groups` read it now."""

    topic: str
    letters: dict[int, int]
    partitions: int
    schema: str = ""
    groups: tuple[str, ...] = ()


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Which letters of `topic`: those at `places`, or all that pass `where`; `to` is a topic instead of their origins.

    With `again` those come along that have come back after an earlier redrive.
    """

    topic: str
    where: str = ""
    places: tuple[tuple[int, int], ...] = ()  # partition, offset
    to: str = ""
    again: bool = False


class RedrivePlan(msgspec.Struct, frozen=True, kw_only=True, tag_field="does", tag="redrive"):
    """What a redrive will do. `stays` counts the dead letters that stay in their topic, by reason."""

    cluster: str
    choice: Choice
    rate_per_s: Rate
    transactional: bool
    parts: tuple[Part, ...]
    targets: tuple[LettersTo, ...]
    stays: dict[StayReason, int]

    @property
    def letters(self) -> int:
        return sum(part.letters for part in self.parts)

    @property
    def sentence(self) -> str:
        where = " and ".join(target.topic for target in self.targets)
        return f"redrive {counted(self.letters, 'dead letter')} of {self.choice.topic} to {where or 'nowhere'}"


class RedriveCopy(msgspec.Struct, frozen=True):
    """A letter, and where it goes: key, value, headers and time are its own; one header says what redrove it."""

    topic: str
    partition: int
    message: StoredMessage
    source: int  # its offset in the dead-letter topic


def times_redriven(letter: StoredMessage) -> int:
    """How often it, or what it is a dead letter of, was redriven: as its header says."""
    for name, value in reversed(letter.headers):
        if name == HEADER:
            count = (value or b"").partition(b" ")[0]
            return int(count) if count.isdigit() and len(count) < 7 else MOST_TIMES
    return 0


def source_of(message: StoredMessage) -> str:
    """TOPIC/PARTITION@OFFSET of the letter that a message is a copy of; "" for what is none."""
    values = [value or b"" for name, value in message.headers if name == HEADER]
    return values[-1].partition(b" ")[2].decode(errors="replace") if values else ""


class LetterJudge:
    """Decides about letters. `done` are the offsets that were redriven, by partition."""

    def __init__(
        self,
        choice: Choice,
        done: Mapping[int, Runs[bool]],
        test: LetterTest | None,
        partitions_of: PartitionsOf,
        partition_of: PartitionOf,
    ) -> None:
        self.choice, self.done, self._test = choice, done, test
        self._partitions_of, self._partition_of = partitions_of, partition_of
        self._places = frozenset(choice.places)

    def judge(self, letter: StoredMessage) -> RedriveCopy | StayReason:
        place, choice = (letter.partition, letter.offset), self.choice
        if (self._places and place not in self._places) or (self._test is not None and not self._test(letter)):
            return "filtered"
        done = self.done.get(letter.partition)
        if done is not None and done.between(letter.offset, letter.offset + 1):
            return "redriven"
        times = times_redriven(letter)
        if times >= MOST_TIMES:
            return "looping"
        if times and not choice.again:
            return "failed again"
        origin = origin_of(letter.headers)
        topic = choice.to or (origin.topic if origin is not None else "")
        count = self._partitions_of(topic) if topic and topic != choice.topic else 0
        if not count:
            return "without origin"
        partition = None if choice.to or origin is None else origin.partition
        if partition is None or not 0 <= partition < count:
            partition = letter.partition % count if letter.key is None else self._partition_of(topic, letter.key, count)
        said = f"{times + 1} {choice.topic}/{letter.partition}@{letter.offset}".encode()
        headers = (*(each for each in letter.headers if each[0] != HEADER), (HEADER, said))
        return RedriveCopy(topic, partition, msgspec.structs.replace(letter, headers=headers), letter.offset)


def previewed(
    judge: LetterJudge,
    spans: Mapping[int, tuple[int, int]],
    letters_of: Callable[[int, int, int], Iterable[StoredMessage]],
    target_of: Callable[[str, dict[int, int]], LettersTo],
    *,
    cluster: str,
    rate_per_s: float,
    transactional: bool,
) -> RedrivePlan:
    """The plan of a redrive of `letters_of(partition, start, end)`, which are read one by one and not kept.

    Raises INVALID_REQUEST for more runs of letters than a commit can remember.
    """
    topic = judge.choice.topic
    going, stays, letters = Counter[TopicPartition](), Counter[StayReason](), Counter[int]()
    for number, span in spans.items():
        after = judge.done[number].copy() if number in judge.done else Runs()
        for letter in letters_of(number, *span):
            found = judge.judge(letter)
            if not isinstance(found, RedriveCopy):
                stays[found] += 1
                continue
            going[found.topic, found.partition] += 1
            letters[number] += 1
            after.put(letter.offset, letter.offset + 1, True)
        if len(RedriveProgress(after).encoded()) > MOST_METADATA:
            about = f"the letters of {topic}/{number} lie too scattered for Kafka to keep which were redriven"
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{about}; take all, or a part of them")
    return RedrivePlan(
        cluster=cluster,
        choice=judge.choice,
        rate_per_s=rate_per_s,
        transactional=transactional,
        parts=tuple(Part(number, *span, letters[number]) for number, span in sorted(spans.items())),
        targets=tuple(target_of(name, counts) for name, counts in counts_by_topic(going).items()),
        stays=dict(stays),
    )


def counts_by_topic(counts: Mapping[TopicPartition, int]) -> dict[str, dict[int, int]]:
    rows = ((topic, (partition, count)) for (topic, partition), count in sorted(counts.items()))
    return {topic: dict(each) for topic, each in grouped(rows).items()}


def readers_of(groups: Iterable[GroupView], topic: str) -> tuple[str, ...]:
    """The groups with members that read a topic now."""
    return tuple(each.name for each in groups if any(topic in member.topics for member in each.members))


class RedriveProgress:
    """Which letters of one partition were redriven, as a commit keeps it.

    Without transactions a run that is killed leaves letters of which nobody knows whether they were copied: `sending`.
    Their copies, if there are any, lie from `target` on, TOPIC/PARTITION@OFFSET.
    """

    def __init__(self, done: Runs[bool], sending: Runs[bool] | None = None, target: str = "") -> None:
        self.done, self.sending, self.target = done, sending or Runs(), target

    @property
    def offset(self) -> int:
        """The offset that the redrive commits: the one after the last dead letter that was redriven."""
        return self.done.end

    def encoded(self) -> str:
        return " ".join((_VERSION, _packed(self.done), _packed(self.sending), self.target)).rstrip()

    @classmethod
    def decoded(cls, text: str, where: str) -> RedriveProgress:
        """Raises DAMAGED for what another program has committed."""
        version, *parts = text.split(" ")
        try:
            if version != _VERSION or len(parts) > 3:
                raise ValueError(version)
            done, sending, target = (*parts, "", "", "")[:3]
            return cls(_unpacked(done), _unpacked(sending), target)
        except (ValueError, zlib.error, binascii.Error, IndexError):
            about = f"{where} holds no progress of a redrive; another program commits for this group"
            raise BrokerError(ErrorCode.DAMAGED, about) from None


def progress_of(topic: str, committed: Mapping[TopicPartition, OffsetAndMetadata]) -> dict[int, RedriveProgress]:
    """By partition, from what the progress group of `topic` has committed. Raises DAMAGED."""
    where = f"what {progress_group(topic)} has committed in {topic}"
    return {
        number: RedriveProgress.decoded(value.metadata, f"{where}/{number}")
        for (name, number), value in committed.items()
        if name == topic
    }


class RedriveRun(msgspec.Struct, frozen=True, kw_only=True):
    """How far a redrive is. `moved` has how many went to each partition, by topic.

    `duplicates` names the letters, TOPIC/PARTITION@OFFSET, that have two copies since a run was killed. `error` is why
    it has ended before its end, `stopped` that it was asked to.
    """

    plan: RedrivePlan
    running: bool = False
    done: int = 0
    moved: dict[str, dict[int, int]] = {}
    refused: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    stopped: bool = False
    error: str = ""

    @property
    def total(self) -> int:
        return self.plan.letters


def run_of(offsets: Iterable[int]) -> Runs[bool]:
    found: Runs[bool] = Runs()
    for offset in offsets:
        found.put(offset, offset + 1, True)
    return found


def _packed(runs: Runs[bool]) -> str:
    numbers, at = bytearray(), 0
    for first, end, _ in runs:
        for each in (first - at, end - first):
            numbers += varint(each)
        at = end
    return base64.b85encode(zlib.compress(numbers, 9)).decode() if numbers else ""


def _unpacked(text: str) -> Runs[bool]:
    found: Runs[bool] = Runs()
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(base64.b85decode(text), 1 << 20) if text else b""
    if text and not unpacking.eof:
        raise ValueError(text)
    numbers: list[int] = []
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    at = 0
    for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
        found.put(at + gap, at + gap + length, True)
        at += gap + length
    return found


def redrive_changes(before: RedrivePlan, now: RedrivePlan) -> list[str]:
    """What has changed since a plan was made, in sentences. Raises INVALID_REQUEST if its rate is no rate."""
    if not 0 < before.rate_per_s < float("inf"):
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"a redrive at {before.rate_per_s} a second")
    said = cluster_changes(before.cluster, now.cluster)
    if before.letters != now.letters or before.parts != now.parts:
        said.append(f"{counted(now.letters, 'letter')} of {now.choice.topic} would go back now, not {before.letters}")
    here = {target.topic: target for target in now.targets}
    for target in before.targets:
        there = here.get(target.topic)
        if there is None:
            said.append(f"nothing would go to {target.topic} any more")
        elif there.partitions != target.partitions:
            said.append(f"{target.topic} has {counted(there.partitions, 'partition')}, it had {target.partitions}")
        elif there.schema != target.schema:
            said.append(
                f"the newest schema of {target.topic} is {there.schema or 'none'}, it was {target.schema or 'none'}"
            )
        elif there.letters != target.letters:
            said.append(f"other letters would go to {target.topic}")
    said += [f"letters would go to {name}, too" for name in here if name not in {each.topic for each in before.targets}]
    return said


def must_hold(changes: Sequence[str]) -> None:
    """Raises STALE_PLAN with what has changed."""
    if changes:
        raise BrokerError(ErrorCode.STALE_PLAN, "; ".join(changes))
