"""Was anything lost? What the events tell against what the broker has counted, reader by reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from app.sessions.work import Work
from broker_core.events import Event, EventKind
from broker_core.recording.checker import Checker
from broker_core.recording.violation import Violation
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import Snapshot
from widgets.dialogs.facts_table import FactsTable
from widgets.i18n import tr

CHECKED_EVENTS = 2_000_000  # beyond, the checker's memory would outgrow the machine's
SAY_EVERY = 5_000

_TAKEN_OUT = frozenset({EventKind.EVICTED, EventKind.EXPIRED, EventKind.PURGED, EventKind.DAMAGE})


class Account(NamedTuple):
    """Where the messages of one topic or queue are, for one reader; `missing` is what none of it explains.

    One that was redriven came again: it is counted as published once, as redriven each time, and where it is now.
    """

    source: str
    reader: str
    published: int
    redriven: int
    done: int
    waiting: int
    in_flight: int
    dead: int
    taken_out: int
    skipped: int

    @property
    def missing(self) -> int:
        """Published or redriven, and nowhere."""
        came = self.published + self.redriven
        return came - self.done - self.waiting - self.in_flight - self.dead - self.taken_out - self.skipped


@dataclass
class _Read:
    """What a group has read of one partition, by events: each message once, between `first` and `end`.

    `holes` are the (first, end) of what a reset has passed over, `deleted` counts what was gone before it was read.
    """

    first: int
    end: int
    messages: int = 0
    deleted: int = 0
    holes: list[tuple[int, int]] = field(default_factory=list)

    def take(self, first: int, end: int) -> None:
        """Messages were handed out: what was read before is not counted again."""
        self.messages += max(0, end - max(first, self.end))
        self.end = max(self.end, end)
        left: list[tuple[int, int]] = []
        for start, stop in self.holes:
            before, after = (start, min(stop, first)), (max(start, end), stop)
            rest = [(low, high) for low, high in (before, after) if low < high]
            self.messages += stop - start - sum(high - low for low, high in rest)
            left += rest
        self.holes = left

    def reset(self, offset: int) -> None:
        """The group goes on at `offset`."""
        if offset > self.end:
            self.holes.append((self.end, offset))
            self.end = offset
        elif offset < self.first:
            self.holes.append((offset, self.first))
            self.first = offset

    def delete(self, end: int) -> None:
        """What lies before `end` is gone."""
        self.deleted += max(0, end - self.end)
        self.end = max(self.end, end)


@dataclass
class Audit:
    """`sums` by topic or queue and reader; `broken` the promise that the history breaks, "" where it breaks none."""

    accounts: list[Account] = field(default_factory=list)
    broken: str = ""
    events: int = 0
    checked: bool = True

    @property
    def missing(self) -> int:
        """Messages that nothing explains."""
        return sum(abs(account.missing) for account in self.accounts)


def audit(events: Iterable[Event], snapshot: Snapshot, scenario: Scenario, work: Work) -> Audit:
    """Count `events`, the first `snapshot.events` of the session, and compare with `snapshot`; check the history."""
    found = Audit()
    checker: Checker | None = Checker.of(scenario)
    published: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    reads: dict[tuple[str, str, int], _Read] = {}
    # Places that a topic's messages got when they were redriven into it: they are told as published, too.
    again: dict[tuple[str, int], list[int]] = {}
    for event in events:
        found.events += 1
        if found.events % SAY_EVERY == 0:
            work.say(
                found.events / max(1, snapshot.events),
                tr("{done:,} of {whole:,} events", done=found.events, whole=snapshot.events),
            )
        if checker is not None and not found.broken:
            try:
                checker(event)
            except Violation as violation:
                found.broken = str(violation).splitlines()[0]
                checker = None
        if found.events > CHECKED_EVENTS and checker is not None:
            checker, found.checked = None, False
        if event.kind is EventKind.PUBLISHED:
            published[event.topic] += event.count
        elif event.kind is EventKind.REDRIVEN and event.to_partition is not None and event.to_offset is not None:
            again.setdefault((event.to_topic, event.to_partition), []).append(event.to_offset)
        elif event.kind in _TAKEN_OUT:
            taken[event.group] += event.count if event.offset is not None else 0
        elif event.kind is EventKind.USER_ACTION and event.cause == "undo purge" and event.detail is None:
            taken[event.topic] -= event.count
        else:
            _read(event, reads)
    found.accounts = [*_queues(snapshot, published, taken, again), *_groups(snapshot, reads, again, scenario)]
    return found


def _read(event: Event, reads: dict[tuple[str, str, int], _Read]) -> None:
    """What an event tells of what groups read."""
    if event.kind is EventKind.DELIVERED and event.partition is not None and event.offset is not None:
        key = (event.group, event.topic, event.partition)
        reads.setdefault(key, _Read(event.offset, event.offset)).take(event.offset, event.offset + event.count)
    elif event.kind is EventKind.OFFSETS_RESET:
        for topic, partition, _old, new in (event.detail or {}).get("changes", ()):
            if (event.group, topic, partition) in reads:
                reads[event.group, topic, partition].reset(new)
    elif event.kind is EventKind.RECORDS_DELETED and event.offset is not None:
        for (_group, topic, number), read in reads.items():
            if (topic, number) == (event.topic, event.partition):
                read.delete(event.offset + event.count)


Again = dict[tuple[str, int], list[int]]


def _queues(snapshot: Snapshot, published: Counter[str], taken: Counter[str], again: Again) -> Iterator[Account]:
    for queue in snapshot.queues:
        own = queue.topic in {"", queue.name}
        came = published[queue.topic or queue.name]
        redriven = queue.redriven
        if not own:
            redriven = sum(len(places) for (topic, _partition), places in again.items() if topic == queue.topic)
            came -= redriven
        waiting = queue.ready + queue.delayed
        taken_out = taken[queue.name]
        yield Account(
            queue.topic or queue.name,
            tr("queue") if own else queue.name,
            came,
            redriven,
            queue.acknowledged,
            waiting,
            queue.in_flight,
            queue.dead_lettered,
            taken_out,
            0,
        )


def _groups(
    snapshot: Snapshot, reads: dict[tuple[str, str, int], _Read], again: Again, scenario: Scenario
) -> Iterator[Account]:
    compacted = {topic.name for topic in scenario.topics if topic.log and topic.log.cleanup == "compact"}
    for group in snapshot.groups:
        for topic in snapshot.topics:
            if topic.name not in {at.topic for at in group.offsets}:
                continue
            came = done = waiting = taken = redriven = skipped = 0
            for part in topic.partitions:
                read = reads.get((group.name, topic.name, part.partition))
                committed = {at.partition: at.committed for at in group.offsets if at.topic == topic.name}
                goes_on = committed.get(part.partition) or 0
                if read is None:
                    begin = max(goes_on, part.start_offset)
                    read = _Read(begin, begin)
                came += part.end_offset - read.first
                places = again.get((topic.name, part.partition), ())
                redriven += sum(1 for offset in places if offset >= read.first)
                done += read.messages
                taken += read.deleted
                for first, end in (*read.holes, (read.end, part.end_offset)):
                    # What lies before the place where the group goes on is nothing that it waits for.
                    passed = min(end, max(first, goes_on)) if (first, end) in read.holes else first
                    gone = min(end, max(passed, part.start_offset))
                    skipped += passed - first
                    taken += gone - passed
                    waiting += end - gone
            if topic.name in compacted:
                taken += max(0, came - done - waiting - taken - skipped)
            yield Account(topic.name, group.name, came - redriven, redriven, done, waiting, 0, 0, taken, skipped)


def table_of(found: Audit) -> FactsTable:
    """The answer in a sentence, and each account as a row."""
    published = sum({account.source: account.published for account in found.accounts}.values())
    if found.missing:
        sentence = tr(
            "{count} messages are missing: nothing that was recorded explains where they are.",
            count=f"{found.missing:,}",
        )
    elif found.broken:
        sentence = tr("Every message is accounted for, but a promise was broken: {promise}", promise=found.broken)
    else:
        sentence = tr(
            "Nothing was lost: all {count} messages are accounted for, for everybody who reads them.",
            count=f"{published:,}",
        )
    history = (
        tr("The history checker found no broken promise in {count} events.", count=f"{found.events:,}")
        if found.checked and not found.broken
        else tr("The history checker stopped after {count} events; the sums are over all.", count=f"{CHECKED_EVENTS:,}")
        if not found.checked
        else ""
    )
    note = tr("A message that a consumer had acknowledged before it was done with it is done, for the broker.")
    return FactsTable(
        sentence,
        (
            tr("Topic or queue"),
            tr("Reader"),
            tr("Published"),
            tr("Redriven"),
            tr("Read or acknowledged"),
            tr("Waiting"),
            tr("In flight"),
            tr("Dead-lettered"),
            tr("Taken out or deleted"),
            tr("Skipped by a reset"),
            tr("Missing"),
        ),
        tuple(
            (account.source, account.reader, *(f"{number:,}" for number in (*account[2:], account.missing)))
            for account in found.accounts
        ),
        strong=frozenset(row for row, account in enumerate(found.accounts) if account.missing),
        numeric=frozenset(range(2, 11)),
        note=f"{history} {note}".strip(),
        state="failure" if found.missing or found.broken else "stable",
    )
