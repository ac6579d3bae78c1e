"""Where each message is for each of its readers, message by message, by the table of states.

| state | when |
|---|---|
| waiting | not given, or given back |
| in hand | given to somebody who is still its owner, and not acknowledged |
| acknowledged | given, and committed or acknowledged |
| skipped by a reset | offsets were reset beyond it before it was acknowledged |
| skipped by its reader | its reader committed beyond it, and was never given it |
| before it began | its reader began behind it |
| dead-lettered, aborted, expired, evicted, purged | what became of it |
| deleted | the log begins behind it, or compaction may have removed it |

A topic that was deleted has no messages, and a reader that was deleted stays as it was.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.figures.recount.key_order import KeyOrder

Row = dict[str, Any]
Place = tuple[str, int]  # topic, partition

STATES = (
    *("waiting", "in_hand", "acknowledged", "by a reset", "by its reader", "before it began", "dead_lettered"),
    *("aborted", "expired", "evicted", "purged", "deleted", "compacted"),
)
LOST = frozenset({"by its reader", "expired", "evicted", "purged", "deleted"})
#: Why a message was delivered again, if that counts as twice.
FAULTS = frozenset(
    {"member left", "member fell silent", "partition moved", "connection lost", "lease ran out", "acknowledged"}
)
VERDICTS = ("nothing_lost", "nothing_twice", "everything_done", "commits_are_sound", "in_order")
_SETTLES = {"expired": "expired", "evicted": "evicted", "dead_lettered": "dead_lettered", "damage": "deleted"}


@dataclass(slots=True)
class Message:
    """One message for one reader. `owner` has it now; `holder` had it last, `client` is the name of that one."""

    given: bool = False
    owner: str = ""
    holder: str = ""
    client: str = ""
    back: str = ""  # why it was given back
    acknowledged: bool = False
    passed: str = ""  # how it was skipped
    settled: str = ""  # what became of it
    deleted: bool = False


@dataclass
class Log:
    """One partition: which offsets are messages, which of them were aborted, where it begins."""

    messages: dict[int, int] = field(default_factory=dict)  # the number of the event that published it
    redriven: set[int] = field(default_factory=set)  # of those
    aborted: set[int] = field(default_factory=set)
    start: int = 0
    end: int = 0


@dataclass
class Reading:
    """One partition for one reader."""

    began: int | None = None
    committed: int | None = None
    furthest: int = 0  # the end of what was given, or passed over
    fates: dict[int, Message] = field(default_factory=lambda: defaultdict(Message))


@dataclass(frozen=True)
class Again:
    source: str
    partition: int
    offset: int
    reader: str
    why: str  # "" if it was only fetched again
    before: str
    after: str
    seq: int


class Account:
    """The account after the rows that were added. `scenario` tells which topics compact; None if that is not known."""

    def __init__(self, scenario: dict[str, Any] | None = None) -> None:
        self.events = 0
        self.logs: dict[Place, Log] = defaultdict(Log)
        self._markers: dict[Place, set[int]] = defaultdict(set)  # where transactions end, and what was withdrawn
        self.readings: dict[tuple[str, str], dict[int, Reading]] = {}  # by source and reader
        self.queues: dict[str, str] = {}  # what each reads
        self.compacting = {
            topic["name"]
            for topic in (scenario or {}).get("topics", ())
            if "compact" in str((topic.get("log") or {}).get("cleanup", ""))
        }
        self.again: list[Again] = []
        self.unsound: list[tuple[str, str, int, int]] = []  # reader, topic, partition, committed
        self._key_order = KeyOrder()
        self.dropped = 0
        self.elsewhere: set[str] = set()
        self.frozen: list[tuple[str, str, Counter[str]]] = []
        self._owners: dict[tuple[str, str, int], str] = {}
        self._told_owners: set[tuple[str, str, int]] = set()
        self._gone: dict[tuple[str, str], str] = {}
        self._aside: dict[str, Any] = {}
        self._handlers: dict[str, Callable[[Row], object]] = {
            "published": self._published,
            "redriven": self._redriven,
            "delivered": self._delivered,
            "passed_over": self._passed_over,
            "acknowledged": self._acknowledged,
            "nacked": lambda row: self._give_back(row, "nacked"),
            "lease_expired": lambda row: self._give_back(row, "lease ran out"),
            "released": lambda row: self._give_back(row, _why_released(row["cause"])),
            "dead_lettered": self._settled,
            "expired": self._settled,
            "evicted": self._settled,
            "damage": self._settled,
            "purged": self._purged,
            "dropped": self._dropped,
            "transaction_ended": self._transaction_ended,
            "records_deleted": self._records_deleted,
            "topic_created": self._topic_created,
            "queue_created": self._queue_created,
            "topic_deleted": self._topic_deleted,
            "reading_began": self._reading_began,
            "reading_ended": self._reading_ended,
            "commit_beyond": self._commit_beyond,
            "partitions_assigned": self._assigned,
            "partitions_revoked": self._revoked,
            "member_joined": self._member_joined,
            "member_left": self._member_left,
            "group_state": self._group_state,
            "offsets_reset": self._offsets_reset,
            "user_action": self._user_action,
            "fault": self._fault,
        }

    def add(self, row: Row) -> None:
        """One more event, the next."""
        self.events += 1
        handler = self._handlers.get(row["kind"])
        if handler is not None:
            handler(row)

    # -- what is asked

    def readers(self) -> list[dict[str, Any]]:
        """One row a source and reader, as the program writes them as JSON; "" reads what nobody reads."""
        found = [_row(*row) for row in self.frozen]
        found += [_row(*key, self._counts(*key), self._redriven_to(key)) for key in self.readings]
        read = {source for source, _ in self.readings} | {source for source, _, _ in self.frozen}
        for topic in dict.fromkeys(topic for topic, _ in self.logs):
            counts = self._nobodys(topic)
            if topic not in read and counts.total():
                found.append(_row(topic, "", counts))
        return found

    def verdicts(self) -> dict[str, bool | None]:
        """Which of them hold; None is not known."""
        rows = self.readers()
        return {
            "nothing_lost": not (sum(row["lost"] for row in rows) or self.dropped or any(self._holes())),
            "nothing_twice": not any(again.why in FAULTS for again in self.again),
            "everything_done": not any(row["waiting"] + row["in_hand"] - self._kept_elsewhere(row) for row in rows),
            "commits_are_sound": not self.unsound,
            "in_order": self._key_order.was_kept,
        }

    def delivered_again(self) -> Counter[tuple[str, int, int, str, str]]:
        """(source, partition, offset, reader, why) of each message, as often as it was delivered again."""
        return Counter((each.source, each.partition, each.offset, each.reader, each.why) for each in self.again)

    def state(self, source: str, reader: str, partition: int, offset: int) -> str:
        """Where that message is for that reader."""
        log, reading = self.logs[source, partition], self.readings[source, reader][partition]
        known = reading.fates.get(offset)
        message = known or Message()
        began, committed = reading.began or 0, reading.committed or 0
        if message.settled:
            return message.settled
        if message.acknowledged:
            return "acknowledged"
        if message.owner:
            return "in_hand"
        if message.passed:
            return message.passed
        if message.deleted:
            return "deleted"
        if not message.given:
            if offset < began:
                return "before it began"
            # A queue says of each message that it is passed over; a group is known by what it was given.
            is_passed = reader not in self.queues and not self._takes_aborted(log, reading)
            if offset in log.aborted and is_passed:
                return "aborted"
            compacts = source in self.compacting
            if offset < committed or (compacts and offset < reading.furthest):
                return "compacted" if compacts else "by its reader"
        return "waiting"

    def places(self, source: str, reader: str) -> Iterator[tuple[int, int]]:
        """(partition, offset) of each message that was published for the reader."""
        for partition in self.readings[source, reader]:
            for offset in self.logs[source, partition].messages:
                yield partition, offset

    def _counts(self, source: str, reader: str) -> Counter[str]:
        return Counter(self.state(source, reader, *place) for place in self.places(source, reader))

    def _redriven_to(self, key: tuple[str, str]) -> int:
        logs = [self.logs[key[0], partition] for partition in self.readings[key]]
        return sum(len(log.redriven & log.messages.keys()) for log in logs)

    def _nobodys(self, topic: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for (name, _), log in self.logs.items():
            for offset in log.messages if name == topic else ():
                if offset < log.start:
                    found["deleted"] += 1
                else:
                    found["aborted" if offset in log.aborted else "waiting"] += 1
        return found

    def _holes(self) -> Iterator[tuple[str, int, int]]:
        """Offsets between others that are neither messages nor markers."""
        for (topic, partition), log in self.logs.items():
            if log.messages:
                first = max(log.start, min(log.messages))
                for offset in range(first, max(log.messages)):
                    if offset not in log.messages and offset not in self._markers[topic, partition]:
                        yield topic, partition, offset

    def _kept_elsewhere(self, row: dict[str, Any]) -> int:
        """What is in hand of readers by hand in a group that has never committed: done, as far as can be known."""
        readings = self.readings.get((row["source"], row["reader"]), {})
        read = [reading for reading in readings.values() if any(each.given for each in reading.fates.values())]
        in_hand = [each.owner for reading in read for each in reading.fates.values() if each.owner]
        if read and all(reading.committed is None for reading in read) and all(who[:1] == "@" for who in in_hand):
            return int(row["in_hand"])
        return 0

    @staticmethod
    def _takes_aborted(log: Log, reading: Reading) -> bool:
        """Whether the reader reads what was aborted, too."""
        return any(offset in reading.fates and reading.fates[offset].given for offset in log.aborted)

    # -- the log

    def _log(self, topic: str, partition: int) -> Log:
        if (topic, partition) not in self.logs:
            for queue, source in self.queues.items():
                if source == topic:
                    self._reading(topic, queue, partition).began = 0
        return self.logs[topic, partition]

    def _published(self, row: Row) -> None:
        self._key_order.published(row)
        log = self._log(row["topic"], row["partition"])
        for offset in _offsets(row):
            log.messages[offset] = row["seq"]
            log.end = max(log.end, offset + 1)

    def _redriven(self, row: Row) -> None:
        """A queue's own; to a topic it is published, too."""
        if self.queues.get(row["group"]) == row["group"] and row["to_offset"] is not None:
            log = self._log(row["to_topic"], row["to_partition"])
            log.messages[row["to_offset"]] = row["seq"]
            log.redriven.add(row["to_offset"])

    def _dropped(self, row: Row) -> None:
        self.dropped += row["count"]

    def _transaction_ended(self, row: Row) -> None:
        for topic, partition, offset in row["detail"].get("markers", ()):
            self._markers[topic, partition].add(offset)
            log = self._log(topic, partition)
            log.end = max(log.end, offset + 1)
        for topic, partition, first, count in row["detail"].get("aborted", ()):
            self._log(topic, partition).aborted.update(range(first, first + count))

    def _records_deleted(self, row: Row) -> None:
        topic, partition = row["topic"], row["partition"]
        log = self._log(topic, partition)
        log.start = row["offset"] + row["count"]
        for (source, reader), parts in self.readings.items():
            if source == topic and partition in parts:
                for offset in log.messages:
                    if offset < log.start and self.state(source, reader, partition, offset) == "waiting":
                        parts[partition].fates[offset].deleted = True

    def _topic_created(self, row: Row) -> None:
        self._restore(row, row["topic"])
        for number in range(row["count"]):
            self._log(row["topic"], number)
        if "compact" in row["detail"].get("cleanup", ""):
            self.compacting.add(row["topic"])

    def _queue_created(self, row: Row) -> None:
        name = row["group"] or row["topic"]
        self._restore(row, name)
        self.queues[name] = row["topic"]
        for number in range(row["count"]):
            log = self._log(row["topic"], number)
            reading = self._reading(row["topic"], name, number)
            if reading.began is None:
                reading.began = 0 if row["detail"].get("from_start") else max(log.messages, default=-1) + 1

    def _topic_deleted(self, row: Row) -> None:
        name, is_topic = row["group"] or row["topic"], not row["group"]
        logs = {place: self.logs.pop(place) for place in [*self.logs] if is_topic and place[0] == name}
        mine = [key for key in self.readings if key[0 if is_topic else 1] == name]
        readings = {key: self.readings.pop(key) for key in mine}
        self._aside[name] = (logs, readings, self.queues.pop(name, None))

    def _restore(self, row: Row, name: str) -> None:
        logs, readings, queue = self._aside.pop(name, ({}, {}, None))
        if row["cause"] != "restored":
            self.compacting -= {topic for topic, _partition in logs}
            return
        self.logs.update(logs)
        self.readings.update(readings)
        self.queues.update({} if queue is None else {name: queue})

    # -- who has what

    def _reading(self, topic: str, reader: str, partition: int) -> Reading:
        parts = self.readings.setdefault((topic, reader), {})
        if partition not in parts:
            parts[partition] = Reading()
        return parts[partition]

    def _of(self, row: Row) -> Reading:
        return self._reading(row["topic"], row["group"], row["partition"])

    def _delivered(self, row: Row) -> None:
        reading, key = self._of(row), (row["group"], row["topic"], row["partition"])
        member, lost = row["member"] or row["client"], ""
        self._key_order.delivered(row)
        is_member = row["group"] not in self.queues and row["member"] and row["member"][:1] != "@"
        if is_member and key in self._told_owners and self._owners.get(key) != member:
            lost = self._gone.get((row["group"], member), "partition moved")
        if reading.began is None or row["offset"] < reading.began:
            reading.began = row["offset"]
        reading.furthest = max(reading.furthest, row["offset"] + row["count"])
        for offset in _offsets(row):
            message = reading.fates[offset]
            if message.acknowledged or (offset < (reading.committed or 0) and message.given):
                self._note(row, offset, message, "acknowledged")
            elif message.given:
                beside = "" if message.owner == member else "read beside"
                self._note(row, offset, message, beside if message.owner else message.back)
            else:
                self._key_order.given_first(row, offset)
            message.given, message.holder, message.client = True, member, row["client"]
            message.passed, message.deleted = "", False
            message.owner, message.back = ("", lost) if lost else (member, "")
            if offset < (reading.committed or 0):
                message.acknowledged, message.owner = True, ""

    def _note(self, row: Row, offset: int, message: Message, why: str) -> None:
        who = (message.client, row["client"])
        self.again.append(Again(row["topic"], row["partition"], offset, row["group"], why, *who, row["seq"]))

    def _passed_over(self, row: Row) -> None:
        reading = self._of(row)
        if reading.began is None or row["offset"] < reading.began:
            reading.began = row["offset"]
        reading.furthest = max(reading.furthest, row["offset"] + row["count"])
        for offset in _offsets(row):
            reading.fates[offset] = Message(settled="aborted")
        if row["cause"] == "acknowledged":
            reading.committed = max(reading.committed or 0, row["offset"] + row["count"])

    def _acknowledged(self, row: Row) -> None:
        reading, end = self._of(row), row["offset"] + row["count"]
        if row["group"] in self.queues:
            for offset in _offsets(row):
                reading.fates[offset].settled = "acknowledged"
            return
        limit = max(reading.furthest, reading.began or 0, row["offset"])
        if any(limit <= offset < end for offset in self.logs[row["topic"], row["partition"]].messages):
            self.unsound.append((row["group"], row["topic"], row["partition"], end))
        if reading.began is None:
            reading.began = row["offset"]
        # What was given before the first of these, and compaction has removed since, is committed, too.
        before = reading.began if reading.committed is None else reading.committed
        for offset in range(min(before, row["offset"]), end):
            message = reading.fates.get(offset)
            if offset < row["offset"] and message is not None and message.deleted:
                continue
            if message is not None and message.given and not message.passed:
                message.acknowledged, message.owner, message.back = True, "", ""
        reading.committed = max(reading.committed or 0, end)

    def _give_back(self, row: Row, why: str) -> None:
        reading = self._of(row)
        for offset in _offsets(row):
            message = reading.fates.get(offset)
            if message is not None and message.owner:
                self._loses(row["topic"], row["partition"], offset, message, why)

    def _loses(self, topic: str, partition: int, offset: int, message: Message, why: str) -> None:
        message.owner, message.back = "", why
        message.deleted = offset < self.logs[topic, partition].start

    def _settled(self, row: Row) -> None:
        if row["offset"] is not None and row["partition"] is not None and self.queues.get(row["group"]) == row["topic"]:
            for offset in range(row["offset"], row["offset"] + max(1, row["count"])):
                self._of(row).fates[offset].settled = _SETTLES[row["kind"]]

    def _purged(self, row: Row) -> None:
        if self.queues.get(row["group"]) != row["topic"]:
            return  # of its dead letters
        for offset in _offsets(row):
            if row["cause"] == "withdrawn":
                self.logs[row["topic"], row["partition"]].messages.pop(offset, None)
                self._markers[row["topic"], row["partition"]].add(offset)
            else:
                state = {"aborted": "aborted", "compacted": "compacted", "reset offsets": "by a reset"}.get(
                    row["cause"], "purged"
                )
                self._of(row).fates[offset].settled = state

    def _user_action(self, row: Row) -> None:
        if "compact" in str((row["detail"].get("log") or {}).get("cleanup", "")):
            self.compacting.add(row["topic"])
        if row["group"] not in self.queues or row["cause"] not in {"undo purge", "reset offsets"}:
            return
        for partition, first, end in row["detail"].get("runs", ()):
            reading = self._reading(row["topic"], row["group"], partition)
            for offset in range(first, end):
                before = reading.fates.pop(offset, Message())
                if row["cause"] == "reset offsets" and before.settled == "acknowledged":
                    # Of what a queue has finished it is not kept who had it.
                    reading.fates[offset] = Message(given=True, back="offsets reset")

    # -- owners

    def _assigned(self, row: Row) -> None:
        for topic, partition in row["detail"]["partitions"]:
            self._owners[row["group"], topic, partition] = _member_id(row)
            self._told_owners.add((row["group"], topic, partition))
            self._reading(topic, row["group"], partition)

    def _revoked(self, row: Row) -> None:
        member = _member_id(row)
        for topic, partition in row["detail"]["partitions"]:
            if self._owners.get((row["group"], topic, partition)) == member:
                del self._owners[row["group"], topic, partition]
            why = self._gone.get((row["group"], member), "partition moved")
            for offset, message in self._reading(topic, row["group"], partition).fates.items():
                if message.owner == member:
                    self._loses(topic, partition, offset, message, why)

    def _member_joined(self, row: Row) -> None:
        member, before = _member_id(row), row["detail"].get("replaces") or ""
        self._gone.pop((row["group"], member), None)
        if before:
            for key, owner in [*self._owners.items()]:
                if key[0] == row["group"] and owner == before:
                    self._owners[key] = member
            self._leaves(row["group"], before, "member left")

    def _member_left(self, row: Row) -> None:
        why = "member fell silent" if "heard_ns" in row["detail"] else "member left"
        self._leaves(row["group"], _member_id(row), why)

    def _leaves(self, group: str, member: str, why: str) -> None:
        self._gone[group, member] = why
        for key, owner in [*self._owners.items()]:
            if key[0] == group and owner == member:
                del self._owners[key]
        for (topic, reader), parts in self.readings.items():
            for partition, reading in parts.items() if reader == group else ():
                for offset, message in reading.fates.items():
                    if message.owner == member:
                        self._loses(topic, partition, offset, message, why)

    def _group_state(self, row: Row) -> None:
        if row["cause"] == "Dead" and row["group"] not in self.queues:
            for key in [key for key in self.readings if key[1] == row["group"]]:
                self.frozen.append((*key, self._counts(*key)))
                del self.readings[key]

    def _reading_began(self, row: Row) -> None:
        reading, offset = self._of(row), row["offset"]
        if reading.began is None:
            reading.began = offset
            for at, message in reading.fates.items():
                message.deleted = message.deleted and (message.given or at >= offset)
            return
        for at in self.logs[row["topic"], row["partition"]].messages:
            if reading.began <= at < offset:
                message = reading.fates[at]
                if not (message.acknowledged or message.owner or message.settled or message.deleted):
                    message.passed = message.passed or "by its reader"
        reading.began = min(reading.began, offset)

    def _reading_ended(self, row: Row) -> None:
        reading = self._of(row)
        for offset, message in reading.fates.items() if reading.committed is not None else ():
            if message.owner == row["member"]:
                self._loses(row["topic"], row["partition"], offset, message, row["cause"])

    def _commit_beyond(self, row: Row) -> None:
        """A commit of what is not there; one of what was not given is seen by its messages."""
        if row["offset"] > self.logs[row["topic"], row["partition"]].end:
            self.unsound.append((row["group"], row["topic"], row["partition"], row["offset"]))
        reading = self._of(row)
        reading.committed = max(reading.committed or 0, row["offset"])

    def _offsets_reset(self, row: Row) -> None:
        for topic, partition, old, new in row["detail"].get("changes", ()):
            reading = self._reading(topic, row["group"], partition)
            if reading.began is None and row["cause"] == "the first commit that was seen":
                self._reading_began({**row, "topic": topic, "partition": partition, "offset": new})
            base = old if old is not None else reading.began or 0
            owner = self._owners.get((row["group"], topic, partition), "")
            self._reset(reading, topic, partition, base, new, row["cause"], owner)

    def _reset(
        self, reading: Reading, topic: str, partition: int, base: int, new: int, cause: str, owner: str = ""
    ) -> None:
        """From `base` to `new`; by itself if `owner` has committed backwards."""
        backwards = cause == "committed backwards" and owner != ""
        log = self.logs[topic, partition]
        passes_over = log.aborted if not self._takes_aborted(log, reading) else ()
        for offset in log.messages:
            message = reading.fates[offset]
            if message.settled:
                continue
            if base <= offset < new and not message.deleted and not message.acknowledged:
                if cause == "read outside the group" and message.given:
                    message.acknowledged, message.owner, message.back = True, "", ""
                elif offset not in passes_over or message.given:
                    message.passed, message.owner = "by a reset", ""
            elif new <= offset < base and (message.acknowledged or message.passed):
                message.acknowledged, message.passed = False, ""
                message.back = "acknowledged" if backwards else "offsets reset"
                if backwards and message.given and message.holder == owner:
                    message.owner = owner
        start = base if reading.began is None else reading.began
        reading.began = min(start, new if new < base else base)
        reading.committed = new

    def _fault(self, row: Row) -> None:
        if row["detail"].get("fault") != "broker crash":
            return
        self._owners.clear()
        for (topic, reader), parts in self.readings.items():
            for partition, reading in parts.items() if reader not in self.queues else ():
                for offset, message in reading.fates.items():
                    if message.owner:
                        self._loses(topic, partition, offset, message, "connection lost")


def _offsets(row: Row) -> range:
    return range(row["offset"], row["offset"] + row["count"])


def _member_id(row: Row) -> str:
    return str(row["detail"].get("member_id") or row["client"])


def _why_released(cause: str) -> str:
    if "missed its heartbeats" in cause:
        return "member fell silent"
    if "connection" in cause:
        return "connection lost"
    return "released" if cause in {"released", "closed", "released by hand"} else "member left"


def _row(source: str, reader: str, counts: Counter[str], redriven: int = 0) -> dict[str, Any]:
    skipped = {name: counts[name] for name in ("by a reset", "by its reader", "before it began")}
    named = {name: counts[name] for name in STATES if name not in skipped and name not in {"compacted", "deleted"}}
    return {
        **{"source": source, "partition": None, "reader": reader, "published": counts.total() - redriven},
        **{"redriven": redriven, "skipped": skipped},
        **named,
        "deleted": counts["deleted"] + counts["compacted"],
        "lost": sum(counts[name] for name in LOST),
    }
