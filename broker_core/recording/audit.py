"""Verdicts on what has happened in a broker: is anything lost, was anything delivered twice, is the order kept?

The history checker, the accounts and the state of the broker are asked. What a verdict names is shown with its life:
the events of the message, from its publishing on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from broker_core.events import BROKER_CRASH, READ_OUTSIDE, Event, EventKind, describe, is_by_hand
from broker_core.plurals import counted
from broker_core.recording.accounts import Account, Accounts
from broker_core.recording.checker import Checker
from broker_core.recording.violation import MAX_HISTORY, Violation, life_of
from broker_core.snapshots import OffsetView, Snapshot

Reading = tuple[str, str, int]  # group, topic, partition


class Lost(NamedTuple):
    """So many `messages` from `offset` on, which were given to `client`."""

    group: str
    topic: str
    partition: int
    offset: int
    messages: int
    client: str


class _Given(NamedTuple):
    client: str
    member: str
    left: bool = False  # the client has left since
    deleted: bool = False

    @property
    def lost(self) -> bool:
        return self.left and self.deleted


class Unacknowledged:
    """Give it every event, in order. Groups that have never acknowledged anything keep their offsets elsewhere."""

    def __init__(self) -> None:
        self._given: dict[Reading, dict[int, _Given]] = {}
        self._commits: set[str] = set()  # groups

    def __call__(self, event: Event) -> None:
        match event.kind:
            case EventKind.DELIVERED | EventKind.ACKNOWLEDGED if (
                event.partition is not None and event.offset is not None
            ):
                offsets = event.offsets
                given = self._given.setdefault((event.group, *event.place), {})
                if event.kind is EventKind.DELIVERED:
                    given.update(dict.fromkeys(offsets, _Given(event.client, event.member or event.client)))
                else:
                    self._commits.add(event.group)
                    for offset in offsets:
                        given.pop(offset, None)
            case EventKind.RECORDS_DELETED if event.offset is not None:
                for (_group, topic, partition), given in self._given.items():
                    if (topic, partition) == (event.topic, event.partition):
                        for offset in [each for each in given if each < event.offset + event.count]:
                            given[offset] = given[offset]._replace(deleted=True)
            case EventKind.OFFSETS_RESET:
                for topic, partition, _old, _new in event.told.get("changes", ()):
                    self._given.pop((event.group, topic, partition), None)
            case EventKind.MEMBER_LEFT:
                self._left({event.group}, event.member_id)
            case EventKind.FAULT if event.told.get("fault") == BROKER_CRASH:
                self._left({group for group, _, _ in self._given})

    def _left(self, groups: set[str], member: str = "") -> None:
        for (group, _, _), given in self._given.items():
            if group in groups:
                for offset, each in given.items():
                    if member in {"", each.member}:
                        given[offset] = each._replace(left=True)

    def lost(self, queues: Iterable[str]) -> Iterator[Lost]:
        """Runs of them, in the order of offsets; `queues` are no groups."""
        for (group, topic, partition), given in self._given.items():
            if group not in self._commits or group in {*queues}:
                continue
            offsets = sorted(offset for offset, each in given.items() if each.lost)
            clients = ((given[offset].client, offset - number) for number, offset in enumerate(offsets))
            for (client, _), run in groupby(zip(clients, offsets, strict=True), key=itemgetter(0)):
                found = [offset for _, offset in run]
                yield Lost(group, topic, partition, found[0], len(found), client)


MAX_FINDINGS = 20  # with their lives
_TAKEN_OUT = {
    EventKind.EVICTED: "was evicted",
    EventKind.EXPIRED: "has expired",
    EventKind.PURGED: "was purged",
    EventKind.DAMAGE: "was damaged",
    EventKind.RECORDS_DELETED: "was deleted",
    EventKind.DROPPED: "was dropped before it was stored, and its producer was not told",
}

_GIVEN = frozenset({EventKind.DELIVERED, EventKind.PASSED_OVER})
#: Keys of messages by offset, of each topic and partition.
Keys = Mapping[tuple[str, int], Mapping[int, bytes]]


class Finding(NamedTuple):
    """One thing that is wrong, in a sentence, with the events that show it."""

    what: str
    life: tuple[Event, ...] = ()


#: The names of all verdicts.
VERDICTS = ("nothing_lost", "nothing_twice", "at_least_once", "in_order", "everything_done")


class Verdict:
    """Whether a promise holds: true or false, with an explanation. Its `repr` begins with what is wrong."""

    def __init__(
        self, promise: str, findings: Sequence[Finding], looked_at: str, denied: Callable[[Verdict], object]
    ) -> None:
        """`looked_at` is how much was judged. `denied(self)` is called when a test finds that it does not hold."""
        self._denied = denied
        self.promise = promise
        self.findings = tuple(findings)
        self._looked_at = looked_at

    @property
    def holds(self) -> bool:
        return not self.findings

    def __bool__(self) -> bool:
        if not self.holds:
            self._denied(self)
        return self.holds

    @property
    def explanation(self) -> str:
        """The promise and whether it holds; what is wrong, each with the life of its message."""
        if self.holds:
            return f"{self.promise}: yes, in {self._looked_at}"
        lines = [f"{self.promise}: no, in {self._looked_at}"]
        for finding in self.findings[:MAX_FINDINGS]:
            lines += [f"- {finding.what}", *(f"    {describe(event)}" for event in finding.life)]
        if len(self.findings) > MAX_FINDINGS:
            lines.append(f"- and {len(self.findings) - MAX_FINDINGS} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.explanation

    def __repr__(self) -> str:
        if self.holds:
            return f"<{self.explanation}>"
        others = f", and {len(self.findings) - 1} more" if len(self.findings) > 1 else ""
        return f"<{self.promise}: no, {self.findings[0].what}{others}>"


class Audit:
    """What has happened up to a moment.

    Acknowledged messages count as done: if a consumer commits before it does the work and then crashes, the work is
    lost, but no verdict notices; `given_schedule` does.
    """

    def __init__(
        self,
        events: Sequence[Event],
        snapshot: Snapshot,
        *,
        max_attempts: Mapping[str, int],
        compacted: Iterable[str],
        keys: Keys,
        denied: Callable[[Verdict], object] = lambda _verdict: None,
    ) -> None:
        """`events` are all up to `snapshot`; `compacted` topics may lose messages; `denied` gets false verdicts."""
        self._denied = denied
        self._events = events
        self._snapshot = snapshot
        self._max_attempts = dict(max_attempts)
        self._compacted = frozenset(compacted)
        self._keys = keys

    # -- verdicts

    def nothing_lost(self) -> Verdict:
        """Every accepted message is acknowledged, dead-lettered or can still be read; no reader skipped it. Messages
        that were evicted, expired, purged or deleted unread are lost; refused messages are not. Acknowledged messages
        count as done, see the class.
        """
        return self._verdict("nothing is lost", self._lost())

    def nothing_twice(self) -> Verdict:
        """No group or queue has delivered a message twice, except redriven messages. Messages count if they are
        delivered again after they were acknowledged or given to a member that has left; messages that a client fetches
        again after a seek, a pause or a rebalance do not.
        """
        found = [
            self._again(event)
            for event in self._events
            if event.kind is EventKind.DELIVERED and (event.attempt or 1) > 1
        ]
        return self._verdict("nothing is delivered twice", found)

    def at_least_once(self) -> Verdict:
        """Nothing is lost, no message is delivered again after it was acknowledged, and the broker keeps all its
        guarantees."""
        kept = [Finding(each.promise, each.history) for each in self._violations if not each.is_loss]
        return self._verdict("everything is delivered at least once", [*self._lost(), *kept])

    def in_order(self) -> Verdict:
        """The first deliveries of messages with the same key to each group are in the order in which they were
        published."""
        last: dict[tuple[str, str, bytes], tuple[int, int, int]] = {}
        found = []
        for event in self._events:
            if event.kind is not EventKind.DELIVERED or event.attempt != 1 or event.offset is None:
                continue
            keys = self._keys.get((event.topic, event.partition or 0), {})
            for offset in event.offsets:
                key = keys.get(offset)
                if key is None:
                    continue
                place = (event.published_ns or 0, event.partition or 0, offset)
                before = last.get((event.group, event.topic, key))
                if before is not None and place < before:
                    later = f"{event.topic}/{before[1]} @{before[2]}, which was published later"
                    what = f"with key {key!r} is delivered to {_reader(event)} after {later}"
                    found.append(self._finding(event, offset, what))
                else:
                    last[event.group, event.topic, key] = place
        return self._verdict("the order of each key is kept", found)

    def everything_done(self, by: str = "") -> Verdict:
        """Every message has at least one reader, and each reader has acknowledged or dead-lettered it; nothing is
        lost, waiting, in flight or read without a commit. With `by`, only messages read by that group or queue count.
        Readers that assign partitions by hand and never commit are done with what they were given.
        """
        found = [*self._lost(by), *self._without_reader(by)]
        seen = set()  # places that are judged
        for group in self._snapshot.groups:
            for place in group.offsets if by in {"", group.name} else ():
                if place.lag is not None:
                    seen.add((group.name, place.topic, place.partition))
                if left := self._uncommitted(group.name, place):
                    what = f"is the first of {counted(left, 'message')} that group {group.name} has not committed"
                    goes_on = place.committed if place.committed is not None else place.start
                    found.append(self._finding_at(place.topic, place.partition, goes_on or 0, what))
        for event in self._deliveries(by):
            key = (event.group, event.topic, event.partition or 0)
            if event.group not in self._queues and key not in seen and not is_by_hand(event.member):
                seen.add(key)
                what = f"was delivered to {_reader(event)}, and its group has committed nothing"
                found.append(self._finding(event, event.offset or 0, what))
        for queue in self._snapshot.queues if by in {"", *self._queues} else ():
            if by not in {"", queue.name}:
                continue
            for lease in queue.leases:
                what = f"is held by {lease.holder}"
                found.append(self._finding_at(queue.topic or queue.name, lease.partition, lease.offset, what))
            waiting = queue.ready + queue.delayed
            if waiting:
                found.append(Finding(f"queue {queue.name} has {counted(waiting, 'message')} that nobody has taken"))
        promise = "everything is acknowledged or dead-lettered"
        return self._verdict(f"{promise} by {by}" if by else promise, found)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """All of them by name."""
        return {name: getattr(self, name)() for name in VERDICTS}

    def __repr__(self) -> str:
        return f"<audit of {self._looked_at}>"

    # -- inside

    @cached_property
    def _reduced(self) -> Accounts:
        accounts = Accounts()
        for event in self._events:
            accounts(event)
        return accounts

    @cached_property
    def _accounts(self) -> list[Account]:
        return self._reduced.compared(self._snapshot, self._compacted)

    def _lost(self, by: str = "") -> list[Finding]:
        return [*self._passed_by(by), *self._missing(by), *self._taken_out(by), *self._given_up(by)]

    def _passed_by(self, by: str) -> Iterator[Finding]:
        for violation in self._violations:
            if violation.is_loss and by in {"", *(event.group for event in violation.history)}:
                yield Finding(violation.promise, violation.history)

    def _missing(self, by: str) -> Iterator[Finding]:
        for account in self._accounts:
            if account.missing and by in {"", account.reader or account.source}:
                came = account.published + account.redriven
                yield Finding(
                    f"{counted(account.missing, 'message')} of the {came} that came to {account.source} "
                    f"neither reached {account.reader or 'a worker'} nor wait"
                )

    def _taken_out(self, by: str) -> Iterator[Finding]:
        mine = [account for account in self._accounts if by in {"", account.reader or account.source}]
        losing = {account.source for account in mine if account.taken_out}
        read = {account.source for account in mine}
        for event in self._events:
            why = _TAKEN_OUT.get(event.kind)
            if why is None or (event.kind is not EventKind.DROPPED and event.topic in read - losing):
                continue
            if by and event.topic not in read:
                continue
            if event.offset is None:
                yield Finding(f"a message for {event.topic or event.group} {why}", (event,))
            else:
                yield self._finding(event, event.offset, f"{why}{_more(event.count)}")

    def _given_up(self, by: str) -> Iterator[Finding]:
        if not any(event.kind is EventKind.RECORDS_DELETED for event in self._events):
            return
        unacknowledged = Unacknowledged()
        for event in self._events:
            unacknowledged(event)
        for lost in unacknowledged.lost(self._queues):
            if by not in {"", lost.group}:
                continue
            more = _more(lost.messages)
            what = f"was delivered to {lost.client} of {lost.group}, and deleted before it was acknowledged{more}"
            yield self._finding_at(lost.topic, lost.partition, lost.offset, what)

    @cached_property
    def _queues(self) -> frozenset[str]:
        return frozenset(queue.name for queue in self._snapshot.queues)

    @cached_property
    def _deleted(self) -> dict[str, int]:
        """The number of the event with which a topic was deleted: what was before is about another topic."""
        return {event.topic: event.seq for event in self._events if event.kind is EventKind.TOPIC_DELETED}

    def _deliveries(self, by: str = "") -> Iterator[Event]:
        for event in self._events:
            if event.kind in _GIVEN and by in {"", event.group} and event.seq > self._deleted.get(event.topic, -1):
                yield event

    def _without_reader(self, by: str) -> Iterator[Finding]:
        """Messages that nobody has begun to read; of `by`, that it reads nothing."""
        reading = {(event.group, event.topic) for event in self._deliveries()}
        for group in self._snapshot.groups:
            reading |= {(group.name, at.topic) for at in group.offsets if at.lag is not None}
        reading |= {(queue.name, queue.topic or queue.name) for queue in self._snapshot.queues}
        if by:
            if by not in {reader for reader, _ in reading}:
                yield Finding(f"{by} has read nothing")
            return
        read = {topic for _, topic in reading}
        there = {topic.name: topic for topic in self._snapshot.topics}
        for name in dict.fromkeys(event.topic for event in self._events if event.kind is EventKind.PUBLISHED):
            if name in there and name not in read:
                messages = sum(part.end_offset - part.start_offset - part.markers for part in there[name].partitions)
                if messages > 0:
                    yield Finding(f"topic {name} has {counted(messages, 'message')}, and nobody reads it")

    def _uncommitted(self, group: str, place: OffsetView) -> int:
        """The messages that the group has not committed, without those that it passes over."""
        if not place.lag:
            return 0
        at, goes_on = (place.topic, place.partition), place.committed if place.committed is not None else place.start
        markers = self._reduced.markers
        aborted = markers.aborted_between(at, goes_on or 0, place.end_offset)
        given = aborted and any(
            event.kind is EventKind.DELIVERED and markers.aborted_between(at, event.offsets.start, event.offsets.stop)
            for event in self._deliveries(group)
            if (event.topic, event.partition) == at
        )
        return place.lag if given else place.lag - aborted

    def _again(self, event: Event) -> Finding:
        found = self._finding(event, event.offset or 0, "")
        earlier = [each for each in found.life if each.seq < event.seq and each.group == event.group]
        why = ""
        if event.group not in self._queues:
            given = [each.client for each in earlier if each.kind is EventKind.DELIVERED and each.client]
            done = any(each.kind is EventKind.ACKNOWLEDGED for each in earlier)
            why = ", which had acknowledged it" if done else ""
            why = why or (f": {given[-1]} had received it and left without acknowledging it" if given else "")
        what = f"is delivered to {_reader(event)} for the {_nth(event.attempt)} time{why}"
        return found._replace(what=f"{found.what}{what}")

    @cached_property
    def _violations(self) -> list[Violation]:
        checker = Checker(max_attempts=self._max_attempts, compacted=self._compacted, unseen_seeks=True)
        found = []
        judged = set()  # of one place the first, which may be the cause of others
        for event in self._events:
            try:
                checker(event)
            except Violation as violation:
                place = (event.group, event.topic, event.partition)
                if place not in judged:
                    judged.add(place)
                    found.append(violation)
        return found

    def _finding(self, event: Event, offset: int, what: str) -> Finding:
        return self._finding_at(event.topic, event.partition or 0, offset, what)

    def _finding_at(self, topic: str, partition: int, offset: int, what: str) -> Finding:
        life = life_of(self._events, topic, partition, offset)[-MAX_HISTORY:]
        return Finding(f"{topic}/{partition} @{offset} {what}", tuple(life))

    def _verdict(self, promise: str, findings: Sequence[Finding]) -> Verdict:
        return Verdict(promise, findings, self._looked_at, self._denied)

    @cached_property
    def _looked_at(self) -> str:
        published = sum(event.count for event in self._events if event.kind is EventKind.PUBLISHED)
        groups = {group.name for group in self._snapshot.groups} | {event.group for event in self._deliveries()}
        outside = {event.group for event in self._events if event.cause == READ_OUTSIDE}
        told = f"; group {', '.join(sorted(outside))} was read outside the group, not judged" if outside else ""
        return f"{counted(published, 'message')} with {counted(len(groups | self._queues), 'reader')}{told}"


def _reader(event: Event) -> str:
    return f"{event.client} of {event.group}" if event.client else event.group


def _more(messages: int) -> str:
    return f", with {messages - 1} more behind it" if messages > 1 else ""


def _nth(number: int | None) -> str:
    return {2: "second", 3: "third"}.get(number or 1, f"{number}th")
