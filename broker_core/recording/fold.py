"""The state at any moment: the last keyframe before it, and the events since, folded into it.

Exact: partitions and their ends, members, owners, generations, states and causes of groups, committed offsets and lag,
leases, dead letters, rebalances, totals, and every count of queues and gates. What events do not say is listed in
FORMAT.md: it stands as in the keyframe, or is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from broker_core.access import ROW_TYPES, AccessTable
from broker_core.events import Event, EventKind
from broker_core.messages import TopicPartition
from broker_core.recording.fold_groups import FoldedGroups
from broker_core.recording.fold_nodes import FoldedNodes
from broker_core.recording.fold_queues import FindLetter, FoldedQueues, nobody_knows
from broker_core.recording.fold_topics import Bounds, FoldedGates, FoldedTopics
from broker_core.recording.publish_times import PublishTimes
from broker_core.simulation.client_counts import ClientCounts
from broker_core.snapshots import STAYS_AFTER_THE_END, ActorView, FaultView, Snapshot, Totals, TransactionView

#: When the message at an offset of a place was published, up to a time; None if not known.
FindPublished = Callable[[TopicPartition, int, int], int | None]

_HANDED_OVER = (EventKind.ACKNOWLEDGED, EventKind.DELIVERED, EventKind.PASSED_OVER)
#: Of clients, by the causes that `FaultInjector` gives the events of faults.
_STATES_BY_FAULT = {"crash": "crashed", "restarted": "waiting", "pause": "paused", "pause is over": "waiting"}


class FoldedBroker:
    """The broker after `keyframe` and each event that is `add`ed. Grows with its contents, not with its past."""

    def __init__(self, keyframe: Snapshot, find_letter: FindLetter = nobody_knows) -> None:
        """`find_letter(queue, offset)` knows the payloads and attempts of dead letters."""
        gates = [topic.gate for topic in keyframe.topics] + [queue.gate for queue in keyframe.queues]
        self.gates = FoldedGates(gates, keyframe.time_ns)
        self.topics = FoldedTopics(keyframe.topics, self.gates, keyframe.transactions)
        self.groups = FoldedGroups(keyframe, self.topics)
        self.queues = FoldedQueues(keyframe.queues, find_letter)
        self.nodes = FoldedNodes(keyframe.nodes)
        self._handlers: dict[EventKind, list[Callable[[Event], object]]] = {}
        own: dict[EventKind, Callable[[Event], object]] = {
            **dict.fromkeys(_HANDED_OVER, self._hand_over),
            EventKind.USER_ACTION: self._user_action,
            EventKind.TOPIC_DELETED: self._topic_deleted,
        }
        parts = (self.gates, self.topics, self.groups, self.queues, self.nodes)
        for handlers in (*(part.handlers for part in parts), own):
            for kind, handler in handlers.items():
                self._handlers.setdefault(kind, []).append(handler)

    def add(self, event: Event) -> None:
        for handler in self._handlers.get(event.kind, ()):
            handler(event)

    def _hand_over(self, event: Event) -> None:
        delivered = EventKind.ACKNOWLEDGED not in {event.kind, event.cause}
        queue = self.queues.by_name.get(event.group)
        if queue is not None:
            (queue.delivered if delivered else queue.ended)(event)
            return
        group = self.groups.by_name.get(event.group) or (None if delivered else self.groups.found(event))
        if group is not None:
            (group.delivered if delivered else group.acknowledged)(event)

    def deepest(self, topic: str, bounds: Sequence[Bounds]) -> tuple[int, str]:
        """The depth of `topic` as its gate counts it, and its slowest group; subscriptions have limits of their own."""
        depth, slowest = self.groups.deepest(topic, bounds)
        return (depth, slowest) if slowest or not self.queues.has_subscription(topic) else (0, "")

    def _topic_deleted(self, event: Event) -> None:
        if not self.queues.remove(event.group or event.topic):
            self.topics.by_name.pop(event.topic, None)
            for group in self.groups.by_name.values():
                group.forget(event.topic)

    def _user_action(self, event: Event) -> None:
        if event.told.get("action") == "create_group":
            self.groups.create(str(event.told.get("group", "")), event.time_ns)


class Fold:
    """A snapshot that moves on with every event: `Fold(keyframe)`, `add` for each later event, `snapshot`."""

    def __init__(
        self,
        keyframe: Snapshot,
        find_letter: FindLetter = nobody_knows,
        published_before: FindPublished = lambda _place, _offset, _time_ns: None,
    ) -> None:
        """`find_letter(queue, offset)` finds dead letters, `published_before(place, offset, time_ns)` older ones."""
        self._time_ns = keyframe.time_ns
        self.events = keyframe.events
        self._published = PublishTimes()
        self._published_before = published_before
        self._broker = FoldedBroker(keyframe, find_letter)
        self._actors = {actor.name: actor for actor in keyframe.actors}
        self._clients = ClientCounts(keyframe.actors)
        self._faults = {(fault.client, fault.fault): fault for fault in keyframe.faults}
        self._transactions = {each.producer_id: each for each in keyframe.transactions}
        shown = {"acl": keyframe.acls, "quota": keyframe.quotas, "user": keyframe.users}
        self._access: dict[str, AccessTable[Any]] = {word: AccessTable(rows) for word, rows in shown.items()}
        self._totals: dict[str, int] = msgspec.structs.asdict(keyframe.totals)
        self._handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.PUBLISHED: self._published.published,
            EventKind.CLIENT_STARTED: self._client_started,
            EventKind.PRODUCER_BLOCKED: lambda event: self._enter(event, "blocked"),
            EventKind.PRODUCER_UNBLOCKED: lambda event: self._enter(event, "running"),
            EventKind.CLIENT_STOPPED: lambda event: self._actors.pop(event.client, None),
            EventKind.TRANSACTION_STARTED: self._transaction_started,
            EventKind.TRANSACTION_ENDED: self._transaction_ended,
            EventKind.FAULT: self._fault,
            EventKind.USER_ACTION: self._user_action,
            EventKind.SESSION_ENDED: self._ended,
        }

    def add(self, event: Event) -> None:
        self.events = event.seq + 1
        self._time_ns = event.time_ns
        self._count(event)
        self._broker.add(event)
        self._clients(event)
        if (handler := self._handlers.get(event.kind)) is not None:
            handler(event)

    def heard(self, group: str, member_id: str) -> None:
        """Note that a member whose connection had ended is heard again, which no event tells."""
        if (found := self._broker.groups.by_name.get(group)) is not None:
            found.set_lost(member_id, None)

    def _count(self, event: Event) -> None:
        if event.kind is EventKind.REBALANCE_STARTED:
            self._totals["rebalances"] += 1
            return
        name = event.kind.value
        if name not in self._totals:
            return
        if event.kind is EventKind.PURGED:
            # Purged dead letters are counted by the dead-letter queue.
            queue = self._broker.queues.by_name.get(event.group)
            if queue is None or event.topic != queue.topic:
                return
        if event.kind is EventKind.DELIVERED and event.attempt != 1:
            self._totals["fetched_again" if event.attempt is None else "redelivered"] += event.count
        self._totals[name] += event.count

    # -- actors

    def _client_started(self, event: Event) -> None:
        role, held_from = (str(event.told.get(name, "")) for name in ("role", "held_from"))
        if event.client not in self._actors and role:
            state = "idle" if role == "consumer" else "waiting"
            self._actors[event.client] = ActorView(
                event.client, role, state, "", (), 0, 0, event.time_ns, held_from=held_from
            )

    def _transaction_started(self, event: Event) -> None:
        detail = event.told
        producer_id = int(detail.get("producer_id", -1))
        self._transactions[producer_id] = TransactionView(
            str(detail.get("transactional_id", "")),
            producer_id,
            int(detail.get("epoch", -1)),
            event.client,
            event.time_ns,
            int(detail.get("timeout_ms", 0)),
        )

    def _transaction_ended(self, event: Event) -> None:
        self._transactions.pop(int(event.told.get("producer_id", -1)), None)

    def _fault(self, event: Event) -> None:
        detail = event.told
        self._faults.pop((event.client, str(detail.get("fault", detail.get("ended", "")))), None)
        if "fault" in detail:
            fault = FaultView(event.client, str(detail["fault"]), event.cause, event.time_ns, detail.get("until_ns"))
            self._faults[fault.client, fault.fault] = fault
        if event.cause in _STATES_BY_FAULT:
            self._enter(event, _STATES_BY_FAULT[event.cause])

    def _enter(self, event: Event, state: str) -> None:
        actor = self._actors.get(event.client)
        # An actor that is crashed or paused stays so.
        if actor is not None and (event.kind is EventKind.FAULT or actor.state not in {"crashed", "paused"}):
            self._actors[event.client] = msgspec.structs.replace(actor, state=state, since_ns=event.time_ns)

    def _ended(self, event: Event) -> None:
        for name, actor in self._actors.items():
            if actor.state not in STAYS_AFTER_THE_END:
                self._actors[name] = msgspec.structs.replace(actor, state="stopped", since_ns=event.time_ns)

    def _user_action(self, event: Event) -> None:
        detail = event.told
        if (word := str(detail.get("access", ""))) in ROW_TYPES:
            rows, row = self._access[word], msgspec.convert(detail["row"], ROW_TYPES[word])
            (rows.remove if detail.get("removed") else rows.put)(row)
        actor = self._actors.get(str(detail.get("consumer", "")))
        if detail.get("action") == "move_consumer" and actor is not None:
            group = str(detail.get("group", ""))
            self._actors[actor.name] = msgspec.structs.replace(
                actor, target=group, state="joining" if group else "idle", since_ns=event.time_ns
            )

    # -- what comes out

    def snapshot(self, time_ns: int | None = None) -> Snapshot:
        """The state after the events so far; at `time_ns`, if that is later than the last of them."""
        time_ns = self._time_ns if time_ns is None else max(time_ns, self._time_ns)
        broker = self._broker
        topics = broker.topics

        def published_ns(place: TopicPartition, offset: int) -> int | None:
            known = self._published.of(place, offset)
            return self._published_before(place, offset, time_ns) if known is None else known

        return Snapshot(
            time_ns=time_ns,
            events=self.events,
            topics=topics.views(time_ns, broker.deepest),
            groups=broker.groups.views(time_ns, published_ns),
            queues=broker.queues.views(time_ns, broker.gates),
            actors=tuple(map(self._clients.counted, self._actors.values())),
            rebalances=broker.groups.rebalances(),
            totals=msgspec.convert(self._totals, Totals),
            faults=tuple(sorted(self._faults.values(), key=lambda fault: fault.is_rule)),
            transactions=tuple(
                sorted(self._transactions.values(), key=lambda each: (each.started_ns, each.producer_id))
            ),
            acls=self._access["acl"].all,
            quotas=self._access["quota"].all,
            users=self._access["user"].all,
            nodes=broker.nodes.views(),
        )
