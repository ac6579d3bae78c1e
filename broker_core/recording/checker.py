"""The history checker: reads the event stream of a run and reports the promise that it breaks, with the events.

It knows nothing of the broker's insides, and asks the account where messages are. What it holds a run to:

- offsets of a partition increase without a gap, and only what was published is delivered
- a group acknowledges, one after the other, only what it was given; what it has acknowledged it is not handed again
  (unless offsets were reset)
- a partition has at most one owner in a group and generation; generations increase; only an owner acknowledges
- a message of a queue has one holder; its attempts count up by one; only its holder ends the lease
- who reads committed messages gets none of an open transaction, and none of one that was aborted
- a queue holds no more than it takes
- a message is dead-lettered at its last attempt, once; a redrive is of a letter that is in the bin, once
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any

from broker_core.broker.deliveries import Fate, GroupPlace
from broker_core.events import BROKER_CRASH, RESET_OFFSETS, UNDO_PURGE, Event, EventKind, is_by_hand
from broker_core.messages import TopicPartition
from broker_core.recording.account import Account
from broker_core.recording.markers import markers_of
from broker_core.recording.violation import MAX_HISTORY, Violation, ownership, shortest
from broker_core.simulation.scenario import Scenario
from resources.account import FELL_SILENT, STATES

LeasePlace = tuple[str, str, int, int]


class Checker:
    """A sink of the event stream. Raises `Violation` at the event that breaks a promise."""

    def __init__(
        self,
        *,
        max_attempts: dict[str, int] | None = None,
        max_depth: dict[str, int] | None = None,
        committed_readers: Iterable[str] = (),
        own_offsets: Collection[str] = frozenset(),
        unseen_seeks: bool = False,
    ) -> None:
        """`max_attempts` (may grow) and `max_depth` are limits of queues, `committed_readers` groups that read
        committed messages. Consumers of `own_offsets` (may grow) seek and commit where they like, and are not judged.
        `unseen_seeks`: other programs read, too; no event tells where they go on, and they read on for a moment what
        was taken from them.
        """
        self.account = Account()
        self._events: list[Event] = []
        self._ends: dict[TopicPartition, int] = defaultdict(int)  # the next offset of each partition
        self._max_attempts = {} if max_attempts is None else max_attempts
        self._max_depth = max_depth or {}
        self._attempts: Counter[LeasePlace] = Counter()
        self._letters: dict[tuple[str, int | None], bool] = {}
        self._bins: dict[str, str] = {}
        self._committed_readers = frozenset(committed_readers)
        self._own_offsets = own_offsets
        self._unseen_seeks = unseen_seeks
        self._open: dict[str, dict[TopicPartition, int]] = {}  # by client, the first offset of its transaction
        self._has_crashed = False  # the broker: it has forgotten what was given
        self._last_owners: dict[GroupPlace, str] = {}  # by member id, until the rebalance is over
        self._clients: dict[str, str] = {}  # by member id
        self._own_clients: set[str] = set()  # of the session, not of other programs
        self._generations: dict[str, int] = {}
        # If a user has set a position: what was acknowledged is read once more.
        self._rereads: set[GroupPlace] = set()
        self._gone: set[str] = set()  # deleted
        self._rules: dict[EventKind, Callable[[Event], object]] = {
            EventKind.PUBLISHED: self._published,
            EventKind.REDRIVEN: self._redriven,
            **dict.fromkeys((EventKind.NACKED, EventKind.LEASE_EXPIRED, EventKind.RELEASED), self._gives_back),
            EventKind.LEASE_EXTENDED: self._held,
            EventKind.DEAD_LETTERED: self._dead_lettered,
            EventKind.PURGED: self._purged,
            EventKind.TOPIC_CREATED: self._created,
            EventKind.QUEUE_CREATED: self._created,
            EventKind.TOPIC_DELETED: lambda event: self._gone.add(event.group or event.topic),
            EventKind.CLIENT_STARTED: self._client_started,
            EventKind.DELIVERED: self._judged(self._delivered),
            EventKind.ACKNOWLEDGED: self._judged(self._acknowledged),
            EventKind.PASSED_OVER: self._judged(self._passed_over),
            EventKind.PARTITIONS_ASSIGNED: self._assigned,
            EventKind.PARTITIONS_REVOKED: self._gives_up,
            EventKind.MEMBER_LEFT: self._gives_up,
            EventKind.MEMBER_JOINED: lambda event: self._clients.update({event.member_id: event.client}),
            EventKind.REBALANCE_COMPLETED: self._completed,
            EventKind.TRANSACTION_STARTED: lambda event: self._open.update({event.client: {}}),
            EventKind.TRANSACTION_ENDED: self._transaction_ended,
            EventKind.USER_ACTION: self._user_action,
            EventKind.FAULT: self._fault,
        }

    @classmethod
    def of(cls, scenario: Scenario, *, unseen_seeks: bool = False) -> Checker:
        configs = {each.name: each.config for each in scenario.queues}
        configs |= {name: each.config for each in scenario.subscribers for name in each.subscriptions.values()}
        attempts = {name: config.max_attempts for name, config in configs.items() if config.max_attempts}
        attempts |= {
            name: each.delivery_count_limit for each in scenario.share_groups for name in each.subscriptions.values()
        }
        return cls(
            max_attempts=attempts,
            max_depth={
                each.name: each.flow.max_messages for each in scenario.queues if each.flow and each.flow.max_messages
            },
            committed_readers={each.name for each in scenario.groups if each.isolation_level == "read_committed"},
            unseen_seeks=unseen_seeks,
        )

    def __call__(self, event: Event) -> None:
        """Check one event, by what the account has told up to it. Raises `Violation`."""
        try:
            self._check(event)
        finally:
            self.account(event)

    def _check(self, event: Event) -> None:
        if self._events and event.seq != self._events[-1].seq + 1:
            raise Violation(f"event {event.seq} follows {self._events[-1].seq}: the stream has a gap", (event,))
        if self._events and event.time_ns < self._events[-1].time_ns:
            raise Violation("time goes backwards", (self._events[-1], event))
        self._events.append(event)
        rule = self._rules.get(event.kind)
        if rule is not None:
            rule(event)

    # -- partitions

    def _judged(self, rule: Callable[[Event], None]) -> Callable[[Event], None]:
        return lambda event: None if event.group in self._own_offsets else rule(event)

    def _transaction_ended(self, event: Event) -> None:
        self._open.pop(event.client, None)
        for place, offset in markers_of(event):
            self._ends[place] = max(self._ends[place], offset + 1)

    def _passed_over(self, event: Event) -> None:
        if event.cause == EventKind.ACKNOWLEDGED:
            self._acknowledged(event)

    def _fates(self, event: Event, reader: str = "") -> list[tuple[int, int, Fate]]:
        """Where the messages of the event were before it, for its reader or another one."""
        return self.account.fates(reader or event.group, event.place, event.offsets.start, event.offsets.stop)

    def _delivered(self, event: Event) -> None:
        place, begin = event.place, event.offsets.start
        if event.offsets.stop > self._ends[place]:
            self._fail(f"{event.topic}/{event.partition} delivers {begin}, which was never published", event)
        if event.group in self.account.queues:
            self._leased(event)
            return
        key, member = (event.group, *place), _member(event)
        # An expelled member reads on until its next heartbeat, as in Kafka, and its commits are fenced.
        reads_on = self.account.owners.why_lost(key, member) == FELL_SILENT
        acknowledged = begin < (self.account.committed(key) or 0)
        if acknowledged and not (key in self._rereads or reads_on or self._unseen_seeks):
            self._fail(f"{event.group} gets {begin} again, which it had already acknowledged", event)
        self._must_count(event, acknowledged=acknowledged)
        by_hand = is_by_hand(member)
        own = not self._unseen_seeks or (event.client in self._own_clients and not by_hand)
        if own and event.group in self._committed_readers:
            self._must_be_committed(event, place)
        owner = self.account.owners.owner(key)
        if owner not in {"", member} and not (reads_on or by_hand or self._unseen_seeks):
            whose = self._clients.get(owner, owner)
            self._fail(f"{event.client} reads {event.topic}/{event.partition}, which {whose} owns", event)
        if not acknowledged:
            self._rereads.discard(key)

    def _must_count(self, event: Event, *, acknowledged: bool) -> None:
        begin = event.offsets.start
        known = sum(stop - first for first, stop, fate in self._fates(event) if fate.client or fate.state == "in_hand")
        if not self._has_crashed and (known if event.attempt == 1 else known < event.count and not acknowledged):
            attempt = "fetched again" if event.attempt is None else f"attempt {event.attempt}"
            self._fail(f"delivery of {begin} to {event.group} is counted as {attempt}", event)

    def _must_be_committed(self, event: Event, place: TopicPartition) -> None:
        begin, end = event.offsets.start, event.offsets.stop
        for client, firsts in self._open.items():
            if end > firsts.get(place, end):
                self._fail(f"{event.group} gets {begin}, but the transaction of {client} is open", event)
        if any(first < end and begin < stop for first, stop in self.account.aborted(place)):
            self._fail(f"{event.group} gets {begin}, which was aborted", event)

    def _acknowledged(self, event: Event) -> None:
        if event.group in self.account.queues:
            self._held(event)
            return
        key, begin, end = (event.group, *event.place), event.offsets.start, event.offsets.stop
        committed = self.account.committed(key)
        first = begin if committed is None else committed
        if begin < first:
            self._fail(f"{event.group} continues acknowledging at {begin}, not at {committed}", event)
        for at, _, fate in self.account.fates(event.group, event.place, first, end):
            if at < begin and STATES[fate.state].open:
                self._fail(f"{event.group} continues acknowledging at {begin}, not at {committed}", event)
            elif at >= begin and fate.state == "waiting" and not fate.client:
                told = f"{event.group} acknowledges {event.topic}/{event.partition} @{at}, which it never received"
                self._fail(told, event, offset=at, is_loss=True)
        member = _member(event)
        known = is_by_hand(member) or not member or self._unseen_seeks
        if not known and member not in {self._last_owners.get(key), self.account.owners.owner(key)}:
            self._fail(f"{event.client} acknowledges for {event.topic}/{event.partition}, which it does not own", event)

    def _client_started(self, event: Event) -> None:
        if "held_from" not in event.told:
            self._own_clients.add(event.client)

    # -- what a user does

    def _user_action(self, event: Event) -> None:
        detail = event.told
        if event.cause in {UNDO_PURGE, "undo redrive", RESET_OFFSETS}:
            self._undone(event)
        elif detail.get("action") == "seek":
            for key, member in self.account.owners.all:
                client = self._clients.get(member, member)
                if (client, *key[1:]) == (detail["consumer"], detail["topic"], detail["partition"]):
                    self._rereads.add(key)
        elif detail.get("flow") and event.topic in self.account.queues:
            self._max_depth[event.topic] = detail["flow"]["max_messages"] or sys.maxsize

    def _created(self, event: Event) -> None:
        """What is restored goes on; what is made anew begins anew."""
        name = event.group or event.topic
        if name in self._gone and event.cause != "restored":
            self._max_attempts.pop(name, None)
            self._max_depth.pop(name, None)
            known: list[dict[Any, Any]] = [self._attempts, self._letters]
            for each in known if event.group else [*known, self._ends]:
                for key in [key for key in each if key[0] in {name, self._bins.get(name, name)}]:
                    del each[key]
        self._gone.discard(name)

    # -- ownership

    def _assigned(self, event: Event) -> None:
        assert event.generation is not None
        if event.generation < self._generations.get(event.group, -1):
            self._fail(f"{event.group} assigns in generation {event.generation}, which is over", event)
        self._generations[event.group] = event.generation
        member = event.member_id
        self._clients[member] = event.client
        for key in event.partitions:
            owner = self.account.owners.owner(key)
            if owner not in {"", member}:
                told = f"{key[1]}/{key[2]} is given to {event.client} while {self._clients.get(owner)} owns it"
                self._fail(told, event, history=ownership(self._events, *key))

    def _gives_up(self, event: Event) -> None:
        """What it keeps is still its own, and it may commit that anyway."""
        mine = (event.group, event.member_id)
        self._last_owners.update((key, owner) for key, owner in self.account.owners.all if (key[0], owner) == mine)

    def _completed(self, event: Event) -> None:
        for key in [key for key in self._last_owners if key[0] == event.group]:
            del self._last_owners[key]

    def _fault(self, event: Event) -> None:
        """A broker that has crashed knows no members and no deliveries, only what was stored."""
        if event.told.get("fault") == BROKER_CRASH:
            self._has_crashed = True
            self._last_owners.clear()
            self._generations.clear()

    # -- queues: one holder for each message, attempts that count up, dead letters, depths

    def _published(self, event: Event) -> None:
        self._append(event, event.place, event.offset)
        if event.client in self._open:
            self._open[event.client].setdefault(event.place, event.offsets.start)
        limit = self._max_depth.get(event.topic)
        # What goes beside the gate, as a redrive does, may lift it above; then nothing more is let in.
        if limit is not None and (depth := self._depth(event.topic) + event.count) > limit:
            told = f"{event.topic} holds {depth} messages, but its limit is {limit}"
            self._fail(told, event, history=self._waiting(event.topic))

    def _depth(self, queue: str) -> int:
        places = [place for place in self._ends if place[0] == queue]
        found = [each for place in places for each in self.account.fates(queue, place, 0, self._ends[place])]
        return sum(stop - first for first, stop, fate in found if STATES[fate.state].open)

    def _append(self, event: Event, place: TopicPartition, offset: int | None) -> None:
        topic, partition = place
        if offset is None or offset != self._ends[place]:
            self._fail(f"{topic}/{partition} continues at {offset}, not at {self._ends[place]}", event, topic=topic)
        self._ends[place] += max(1, event.count)

    def _waiting(self, queue: str) -> list[Event]:
        came = [event for event in self._events if event.kind is EventKind.PUBLISHED and event.topic == queue]
        there = [event for event in came if any(STATES[fate.state].open for _, _, fate in self._fates(event, queue))]
        return there[-MAX_HISTORY:]

    def _leased(self, event: Event) -> None:
        for offset, _, fate in self._fates(event):
            if not STATES[fate.state].open:
                self._fail(f"{event.topic} delivers {offset}, which is finished", event, offset)
            if fate.state == "in_hand":
                self._fail(
                    f"{event.topic} hands {offset} to {event.client} while {fate.client} holds it", event, offset
                )
        for offset in event.offsets:
            place = (event.group, *event.place, offset)
            self._attempts[place] += 1
            if event.attempt != self._attempts[place]:
                told = f"{event.topic} counts delivery {self._attempts[place]} of {offset} as attempt {event.attempt}"
                self._fail(told, event, offset)

    def _held(self, event: Event) -> None:
        for offset, _, fate in self._fates(event):
            if fate.state != "in_hand" or fate.client != event.client:
                holder = fate.client if fate.state == "in_hand" else "nobody"
                self._fail(f"{event.client} ends the lease of {offset}, which {holder} holds", event, offset)

    def _gives_back(self, event: Event) -> None:
        self._held(event)
        if event.kind is EventKind.RELEASED:
            self._attempts.subtract((event.group, *event.place, offset) for offset in event.offsets)

    def _dead_lettered(self, event: Event) -> None:
        limit = self._max_attempts.get(event.group)
        # One that a schema kept out of its topic was never stored there.
        for offset, _, fate in self._fates(event) if event.offset is not None else ():
            if not STATES[fate.state].open:
                self._fail(f"{offset} is dead-lettered after it was finished", event, offset)
        for offset in event.offsets if event.offset is not None else ():
            attempts = self._attempts[event.group, *event.place, offset]
            if limit is not None and attempts > limit:
                self._fail(f"{offset} was tried {attempts} times, {limit} are allowed", event, offset)
        if self._letters.get((event.to_topic, event.to_offset)):
            self._fail(f"two dead letters lie at {event.to_offset} of {event.to_topic}", event, topic=event.to_topic)
        self._letters[event.to_topic, event.to_offset] = True
        self._bins[event.group] = event.to_topic

    def _redriven(self, event: Event) -> None:
        if not self._letters.get((event.topic, event.offset)):
            self._fail(f"a dead letter that is not in {event.topic} is redriven", event)
        self._letters[event.topic, event.offset] = False
        if self.account.queues.get(event.group, event.group) == event.group:
            assert event.to_partition is not None
            self._append(event, (event.to_topic, event.to_partition), event.to_offset)
        # What a subscription redrives is published to its topic, with a published event.

    def _purged(self, event: Event) -> None:
        for offset in [offset for offset in event.offsets if self._letters.get((event.topic, offset))]:
            self._letters[event.topic, offset] = False

    def _undone(self, event: Event) -> None:
        """A purge or a redrive was undone, or the offsets reset: what was finished is ready again."""
        for offset in event.told.get("offsets") or ():
            self._letters[event.topic, offset] = True
        if event.cause == RESET_OFFSETS:  # as never delivered
            for partition, first, end in event.told.get("runs", ()):
                for offset in range(first, end):
                    self._attempts.pop((event.group, event.topic, partition, offset), None)

    def _fail(
        self,
        promise: str,
        event: Event,
        offset: int | None = None,
        *,
        topic: str = "",
        history: Iterable[Event] | None = None,
        is_loss: bool = False,
    ) -> None:
        if history is None:
            history = shortest(self._events, event, topic or event.topic, offset)
        raise Violation(promise, history, is_loss=is_loss)


def _member(event: Event) -> str:
    return event.member or event.client
