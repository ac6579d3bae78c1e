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
from collections.abc import Callable, Collection, Iterable

from broker_core.broker.partition_owners import GroupPlace
from broker_core.events import BROKER_CRASH, RESET_OFFSETS, UNDO_PURGE, Event, EventKind, is_by_hand
from broker_core.messages import TopicPartition
from broker_core.recording.checked_history import CheckedHistory
from broker_core.recording.markers import markers_of
from broker_core.recording.queue_checker import QueueChecker
from broker_core.recording.violation import ownership
from broker_core.simulation.scenario import Scenario
from resources.account import FELL_SILENT, STATES


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
        self._history = CheckedHistory()
        self.account = self._history.account
        self._queues = QueueChecker(self._history, {} if max_attempts is None else max_attempts, max_depth or {})
        self._committed_readers = frozenset(committed_readers)
        self._own_offsets = own_offsets
        self._unseen_seeks = unseen_seeks
        self._open_transactions: dict[str, dict[TopicPartition, int]] = {}  # by client, the first offsets
        self._has_crashed = False  # the broker: it has forgotten what was given
        self._last_owners: dict[GroupPlace, str] = {}  # by member id, until the rebalance is over
        self._clients: dict[str, str] = {}  # by member id
        self._own_clients: set[str] = set()  # of the session, not of other programs
        self._generations: dict[str, int] = {}
        # If a user has set a position: what was acknowledged is read once more.
        self._rereads: set[GroupPlace] = set()
        self._deleted: set[str] = set()  # topics and queues
        self._rules: dict[EventKind, Callable[[Event], object]] = {
            EventKind.PUBLISHED: self._published,
            **self._queues.rules,
            EventKind.TOPIC_CREATED: self._created,
            EventKind.QUEUE_CREATED: self._created,
            EventKind.TOPIC_DELETED: lambda event: self._deleted.add(event.group or event.topic),
            EventKind.CLIENT_STARTED: self._client_started,
            EventKind.DELIVERED: self._judged(self._delivered),
            EventKind.ACKNOWLEDGED: self._judged(self._acknowledged),
            EventKind.PASSED_OVER: self._judged(self._passed_over),
            EventKind.PARTITIONS_ASSIGNED: self._assigned,
            EventKind.PARTITIONS_REVOKED: self._remember_owner,
            EventKind.MEMBER_LEFT: self._remember_owner,
            EventKind.MEMBER_JOINED: lambda event: self._clients.update({event.member_id: event.client}),
            EventKind.REBALANCE_COMPLETED: self._completed,
            EventKind.TRANSACTION_STARTED: lambda event: self._open_transactions.update({event.client: {}}),
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
            self._history.add(event)
            if (rule := self._rules.get(event.kind)) is not None:
                rule(event)
        finally:
            self.account(event)

    # -- partitions

    def _judged(self, rule: Callable[[Event], None]) -> Callable[[Event], None]:
        return lambda event: None if event.group in self._own_offsets else rule(event)

    def _transaction_ended(self, event: Event) -> None:
        self._open_transactions.pop(event.client, None)
        for place, offset in markers_of(event):
            self._history.ends[place] = max(self._history.ends[place], offset + 1)

    def _passed_over(self, event: Event) -> None:
        if event.cause == EventKind.ACKNOWLEDGED:
            self._acknowledged(event)

    def _delivered(self, event: Event) -> None:
        place, begin = event.place, event.offsets.start
        if event.offsets.stop > self._history.ends[place]:
            self._history.fail(f"{event.topic}/{event.partition} delivers {begin}, which was never published", event)
        if event.group in self.account.queues:
            self._queues.leased(event)
            return
        key, member = (event.group, *place), _member(event)
        # An expelled member reads on until its next heartbeat, as in Kafka, and its commits are fenced.
        reads_on = self.account.owners.why_lost(key, member) == FELL_SILENT
        acknowledged = begin < (self.account.committed(key) or 0)
        if acknowledged and not (key in self._rereads or reads_on or self._unseen_seeks):
            self._history.fail(f"{event.group} gets {begin} again, which it had already acknowledged", event)
        self._must_count(event, acknowledged=acknowledged)
        by_hand = is_by_hand(member)
        own = not self._unseen_seeks or (event.client in self._own_clients and not by_hand)
        if own and event.group in self._committed_readers:
            self._must_be_committed(event, place)
        owner = self.account.owners.owner(key)
        if owner not in {"", member} and not (reads_on or by_hand or self._unseen_seeks):
            whose = self._clients.get(owner, owner)
            self._history.fail(f"{event.client} reads {event.topic}/{event.partition}, which {whose} owns", event)
        if not acknowledged:
            self._rereads.discard(key)

    def _must_count(self, event: Event, *, acknowledged: bool) -> None:
        begin = event.offsets.start
        states = self._history.delivery_states(event)
        known = sum(stop - first for first, stop, delivery in states if delivery.client or delivery.state == "in_hand")
        if not self._has_crashed and (known if event.attempt == 1 else known < event.count and not acknowledged):
            attempt = "fetched again" if event.attempt is None else f"attempt {event.attempt}"
            self._history.fail(f"delivery of {begin} to {event.group} is counted as {attempt}", event)

    def _must_be_committed(self, event: Event, place: TopicPartition) -> None:
        begin, end = event.offsets.start, event.offsets.stop
        for client, firsts in self._open_transactions.items():
            if end > firsts.get(place, end):
                self._history.fail(f"{event.group} gets {begin}, but the transaction of {client} is open", event)
        if any(first < end and begin < stop for first, stop in self.account.aborted(place)):
            self._history.fail(f"{event.group} gets {begin}, which was aborted", event)

    def _acknowledged(self, event: Event) -> None:
        if event.group in self.account.queues:
            self._queues.held(event)
            return
        key, begin, end = (event.group, *event.place), event.offsets.start, event.offsets.stop
        committed = self.account.committed(key)
        first = begin if committed is None else committed
        if begin < first:
            self._history.fail(f"{event.group} continues acknowledging at {begin}, not at {committed}", event)
        for at, _, delivery in self.account.delivery_states(event.group, event.place, first, end):
            if at < begin and STATES[delivery.state].open:
                self._history.fail(f"{event.group} continues acknowledging at {begin}, not at {committed}", event)
            elif at >= begin and delivery.state == "waiting" and not delivery.client:
                told = f"{event.group} acknowledges {event.topic}/{event.partition} @{at}, which it never received"
                self._history.fail(told, event, offset=at, is_loss=True)
        member = _member(event)
        known = is_by_hand(member) or not member or self._unseen_seeks
        if not known and member not in {self._last_owners.get(key), self.account.owners.owner(key)}:
            told = f"{event.client} acknowledges for {event.topic}/{event.partition}, which it does not own"
            self._history.fail(told, event)

    def _client_started(self, event: Event) -> None:
        if "held_from" not in event.told:
            self._own_clients.add(event.client)

    def _published(self, event: Event) -> None:
        self._history.append(event, event.place, event.offset)
        if event.client in self._open_transactions:
            self._open_transactions[event.client].setdefault(event.place, event.offsets.start)
        self._queues.published(event)

    # -- what a user does

    def _user_action(self, event: Event) -> None:
        detail = event.told
        if event.cause in {UNDO_PURGE, "undo redrive", RESET_OFFSETS}:
            self._queues.undone(event)
        elif detail.get("action") == "seek":
            for key, member in self.account.owners.all:
                client = self._clients.get(member, member)
                if (client, *key[1:]) == (detail["consumer"], detail["topic"], detail["partition"]):
                    self._rereads.add(key)
        elif detail.get("flow") and event.topic in self.account.queues:
            self._queues.max_depth[event.topic] = detail["flow"]["max_messages"] or sys.maxsize

    def _created(self, event: Event) -> None:
        """A topic or queue of a deleted one's name begins anew, unless it was restored."""
        name = event.group or event.topic
        if name in self._deleted and event.cause != "restored":
            self._queues.created_anew(name, is_queue=bool(event.group))
        self._deleted.discard(name)

    # -- ownership

    def _assigned(self, event: Event) -> None:
        assert event.generation is not None
        if event.generation < self._generations.get(event.group, -1):
            self._history.fail(f"{event.group} assigns in generation {event.generation}, which is over", event)
        self._generations[event.group] = event.generation
        member = event.member_id
        self._clients[member] = event.client
        for key in event.partitions:
            owner = self.account.owners.owner(key)
            if owner not in {"", member}:
                told = f"{key[1]}/{key[2]} is given to {event.client} while {self._clients.get(owner)} owns it"
                self._history.fail(told, event, history=ownership(self._history.events, *key))

    def _remember_owner(self, event: Event) -> None:
        """Until the rebalance is over, a member may commit what it gives up."""
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


def _member(event: Event) -> str:
    return event.member or event.client
