"""Events, and the state right after them, as filters ask for both.

Run-until, waits, lessons and alerts read the same fields. A state is that of a running broker, or of a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, get_args

from broker_core.events import MESSAGE_KINDS, Event, EventKind, describe, is_users
from broker_core.filters import AtLeast, Field, Fields, Filter
from broker_core.filters.error import Sentence
from broker_core.filters.field import field_and_argument, folded, lacking
from broker_core.groups.states import GroupState
from broker_core.snapshots import BELOW_MIN, LEADERLESS, UNDER, ActorState, GroupView, Snapshot, replication, total_lag

if TYPE_CHECKING:
    from broker_core.broker.logs import Logs
    from broker_core.broker.queues import Queues
    from broker_core.broker.share_groups import ShareGroups
    from broker_core.broker.topics import Topics
    from broker_core.groups.coordinator import GroupCoordinator
    from broker_core.transactions.coordinator import TransactionCoordinator


def lag_of(group: GroupView, topic: str = "") -> int | None:
    """The lag of a group as a condition compares it, of one topic or of all."""
    return asked_lag((at.lag, at.topic in group.topics) for at in group.offsets if topic in {"", at.topic})


def asked_lag(partitions: Iterable[tuple[int | None, bool]]) -> int | None:
    """What a condition compares, from the lag of each partition and whether members subscribe to it: the sum, or `None`
    if none is known. Without that of a partition that is subscribed to, it is at least the sum of the others.
    """
    lags = list(partitions)
    lag = total_lag(lag for lag, _ in lags)
    return AtLeast(lag) if lag is not None and any(each is None and wanted for each, wanted in lags) else lag


class Client(Protocol):
    """A client in the same process, whose state is known."""

    @property
    def state(self) -> str:
        """A word of `ActorState`."""


class QueueGauges(NamedTuple):
    """How many messages of a queue are in each state."""

    ready: int
    delayed: int
    in_flight: int
    dead: int

    @property
    def unfinished(self) -> int:
        return self.ready + self.delayed + self.in_flight


class Parts(Protocol):
    """The parts of a broker that conditions read."""

    groups: GroupCoordinator
    logs: Logs
    queues: Queues
    share_groups: ShareGroups
    topics: Topics
    transactions: TransactionCoordinator


class BrokerState:
    """What conditions ask of a running broker and of its process's `clients`, by name."""

    def __init__(self, broker: Parts, clients: Mapping[str, Client] | None = None) -> None:
        self._broker = broker
        self._clients: Mapping[str, Client] = {} if clients is None else clients

    def readers(self, topic: str) -> Sequence[str]:
        return self._broker.groups.readers(topic)

    def is_queue(self, name: str) -> bool:
        return name in self._broker.queues

    def lag(self, group: str, topic: str = "") -> int | None:
        broker = self._broker
        if topic:
            topics = [topic] if topic in broker.topics else []
        else:
            topics = [name for name in broker.topics.names() if group in broker.groups.readers(name)]
        places = [(name, number) for name in topics for number in range(broker.logs.partition_count(name))]
        return asked_lag(
            (broker.groups.commits.lag(group, *place), broker.groups.subscribes(group, place[0])) for place in places
        )

    def counts(self, queue: str) -> QueueGauges | None:
        if not self.is_queue(queue):
            return None
        found = self._broker.queues.queue(queue)
        return QueueGauges(found.ready, found.delayed, found.in_flight, found.dead_letters.count(queue))

    def state_of(self, name: str) -> str | None:
        client = self._clients.get(name)
        if client is not None:
            return client.state
        groups = self._broker.groups
        return str(groups.state(name).value) if name in groups.groups() else None

    def members(self, group: str) -> int | None:
        groups = self._broker.groups
        return len(groups.clients(group)) if group in groups.groups() else None

    def transactions(self) -> int:
        return len(self._broker.transactions.views())

    def replicated(self, _words: Container[str]) -> int:
        """A broker of our own is one node."""
        return 0

    def nodes_gone(self) -> int:
        return 0


class SnapshotState:
    """What conditions ask of a snapshot: the same in a live session and in its recording."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._groups = {group.name: group for group in snapshot.groups}
        self._queues = {queue.name: queue for queue in snapshot.queues}

    def readers(self, topic: str) -> Sequence[str]:
        return [group.name for group in self._snapshot.groups if topic in group.topics]

    def is_queue(self, name: str) -> bool:
        return name in self._queues

    def lag(self, group: str, topic: str = "") -> int | None:
        found = self._groups.get(group)
        return None if found is None else lag_of(found, topic)

    def counts(self, queue: str) -> QueueGauges | None:
        found = self._queues.get(queue)
        return None if found is None else QueueGauges(found.ready, found.delayed, found.in_flight, found.dead)

    def state_of(self, name: str) -> str | None:
        actor = next((actor.state for actor in self._snapshot.actors if actor.name == name), None)
        group = self._groups.get(name)
        return actor if actor is not None or group is None else group.state

    def members(self, group: str) -> int | None:
        found = self._groups.get(group)
        return None if found is None else len(found.members)

    def transactions(self) -> int:
        return len(self._snapshot.transactions)

    def replicated(self, words: Container[str]) -> int:
        """How many partitions are replicated in one of these ways."""
        gone, topics = self._snapshot.nodes_gone, self._snapshot.topics
        return sum(replication(part, topic.min_in_sync, gone) in words for topic in topics for part in topic.partitions)

    def nodes_gone(self) -> int:
        return len(self._snapshot.nodes_gone)


#: The state of a broker, asked for one thing at a time; None if there is no such thing.
State = BrokerState | SnapshotState


class Occurrence(NamedTuple):
    """An event and the state after it. `reader` is the group or queue that is asked about: a publish concerns all
    that read; `event` is None if only the state is asked for.
    """

    event: Event | None
    reader: str
    state: State


def occurrences(event: Event, state: State) -> Iterator[Occurrence]:
    """The event itself, and, of a publish, once for each that reads it."""
    yield Occurrence(event, event.group, state)
    if event.kind is EventKind.PUBLISHED:
        for group in state.readers(event.topic):
            yield Occurrence(event, group, state)
        if state.is_queue(event.topic):
            yield Occurrence(event, event.topic, state)


# -- the fields

_Get = Callable[[Occurrence], Any]


def _of_event(name: str) -> _Get:
    return lambda at: None if at.event is None else getattr(at.event, name)


def _is_kind(kind: EventKind) -> _Get:
    return lambda at: at.event is not None and at.event.kind is kind


def _action(at: Occurrence) -> str | None:
    if at.event is None or not is_users(at.event):
        return None
    return str((at.event.detail or {}).get("action", ""))


def _queue(at: Occurrence) -> str:
    names = (at.reader,) if at.event is None else (at.reader, at.event.group, at.event.topic)
    return next((name for name in names if name and at.state.is_queue(name)), "")


def _lag(at: Occurrence) -> int | None:
    if at.state.is_queue(at.reader):
        return _depth(at)
    if not at.reader or at.event is None:
        return None
    return at.state.lag(at.reader, at.event.topic) if at.event.topic else None


def _depth(at: Occurrence) -> int | None:
    counts = at.state.counts(_queue(at))
    if counts is not None:
        return counts.unfinished
    if at.event is None or not at.event.topic:
        return None
    topic = at.event.topic
    return max((at.state.lag(group, topic) or 0 for group in at.state.readers(topic)), default=0)


def _lag_of(state: State, name: str) -> int | None:
    counts = state.counts(name)
    return state.lag(name) if counts is None else counts.unfinished


def _count(which: str, about: str) -> _StateField:
    def get(state: State, name: str) -> int | None:
        counts = state.counts(name)
        return None if counts is None else int(getattr(counts, which))

    return _StateField(Field(which, "number", about, "jobs"), lambda at: get(at.state, _queue(at)), get, _QUEUE)


_EVENT_FIELDS: tuple[tuple[Field, _Get], ...] = (
    (
        Field(
            "kind", "text", "The kind of event: published, nacked, rebalance_started, fault...", words=tuple(EventKind)
        ),
        _of_event("kind"),
    ),
    (Field("topic"), _of_event("topic")),
    (Field("partition", "number"), _of_event("partition")),
    (Field("offset", "number"), _of_event("offset")),
    (Field("key"), _of_event("key")),
    (
        Field("group", "text", "The group or queue; for a published message, each one that reads it."),
        lambda at: at.reader or None,
    ),
    (Field("client"), _of_event("client")),
    (Field("cause"), _of_event("cause")),
    (
        Field("action", "text", "The name of one of my own actions, as in a schedule: move_consumer, redrive..."),
        _action,
    ),
    (Field("attempt", "number"), _of_event("attempt")),
    (Field("generation", "number"), _of_event("generation")),
    (Field("count", "number", "Messages in the event."), _of_event("count")),
    (Field("size", "size"), _of_event("size_bytes")),
    (Field("time", "time", "Session time."), _of_event("time_ns")),
    (Field("dlq", "flag", "A message was dead-lettered."), _is_kind(EventKind.DEAD_LETTERED)),
    (Field("redriven", "flag", "A message was redriven."), _is_kind(EventKind.REDRIVEN)),
    (Field("mine", "flag", "One of my own actions."), lambda at: at.event is not None and is_users(at.event)),
    (
        Field("control", "flag", "Not about messages."),
        lambda at: at.event is not None and at.event.kind not in MESSAGE_KINDS,
    ),
)


class _StateField(NamedTuple):
    """A field of a condition: `get` reads it from what an event is about, `named` from a thing given by its name. Only
    things of these `kinds` have it.
    """

    field: Field
    get: _Get
    named: Callable[[State, str], Any]
    kinds: tuple[str, ...]


def _everywhere(name: str, about: str, get: Callable[[State], int]) -> _StateField:
    return _StateField(Field(name, "number", about), lambda at: get(at.state), lambda state, _name: get(state), ())


_QUEUE, _READER = ("queue",), ("group", "queue")
_STATE_FIELDS = (
    _StateField(
        Field("lag", "number", "Messages of the topic that the group has not committed.", "billing"),
        _lag,
        _lag_of,
        _READER,
    ),
    _StateField(
        Field("depth", "number", "Unfinished messages of the queue, or of the topic's slowest reader.", "jobs"),
        _depth,
        _lag_of,
        _READER,
    ),
    _count("ready", "Messages ready for delivery."),
    _count("in_flight", "Messages of the queue under a lease."),
    _count("dead", "Dead letters of the queue."),
    _StateField(
        Field(
            "state",
            "text",
            "The state of the group or client: stable, blocked, crashed...",
            "billing",
            (*GroupState, *get_args(ActorState)),
        ),
        lambda at: at.state.state_of(at.reader),
        lambda state, name: state.state_of(name),
        ("group", "client"),
    ),
    _StateField(
        Field("members", "number", "Members of the group.", "billing"),
        lambda at: at.state.members(at.reader),
        lambda state, name: state.members(name),
        ("group",),
    ),
    _everywhere("transactions", "Transactions that are open.", lambda state: state.transactions()),
    _everywhere("leaderless", "Partitions without a leader.", lambda state: state.replicated({LEADERLESS})),
    _everywhere(
        "under_replicated", "Partitions with a replica that is not in sync.", lambda state: state.replicated(UNDER)
    ),
    _everywhere(
        "below_min_insync",
        "Partitions with fewer in-sync replicas than min.insync.replicas.",
        lambda state: state.replicated({BELOW_MIN}),
    ),
    _everywhere("nodes_gone", "Brokers of a cluster that are not seen.", lambda state: state.nodes_gone()),
)
_BY_NAME = {each.field.name: each for each in _STATE_FIELDS}

FIELDS = Fields((*(field for field, _ in _EVENT_FIELDS), *(each.field for each in _STATE_FIELDS)))
#: Those that a state has without any event; each is asked of a thing by name, as in `lag("billing")`.
STATE_FIELDS = Fields(each.field for each in _STATE_FIELDS)
_GETTERS: Mapping[str, _Get] = {
    folded(name): get
    for name, get in (
        *((field.name, get) for field, get in _EVENT_FIELDS),
        *((each.field.name, each.get) for each in _STATE_FIELDS),
    )
}
#: Those that are the whole broker's, or cluster's, each with what reads it.
EVERYWHERE = {each.field.name: each.named for each in _STATE_FIELDS if not each.kinds}


def named_things(condition: Filter) -> tuple[tuple[str, str], ...]:
    """The fields that a condition asks of a thing by its name, each with the name: `lag("billing")`."""
    return tuple(found for name in condition.fields if (found := field_and_argument(name))[1])


def unknown_thing(condition: Filter, things: Mapping[str, Iterable[str]]) -> Sentence | None:
    """Why a condition asks for a field that its group, queue or client lacks, or None. `things` are names by kind."""
    for field, name in named_things(condition):
        found = lacking(name, field, (each for kind in _BY_NAME[field].kinds for each in things[kind]))
        if found is not None:
            return found
    return None


def unknown_name(condition: Filter, things: Mapping[str, Iterable[str]]) -> Sentence | None:
    """The error if a condition on events names a group, queue or client that is not in `things`; None if all are."""
    for name, kinds in (("group", _READER), ("client", ("client",))):
        field = Field(name, words=tuple(sorted(each for kind in kinds for each in things[kind])) or ("none",))
        for value in condition.values_of(name):
            if value.casefold() not in map(str.casefold, field.words):
                return field.unknown_word(value)
    return None


def only_state(condition: Filter) -> bool:
    """True if a condition can be judged by the state alone, without an event."""
    of_things = (name for name in condition.fields if name not in EVERYWHERE)
    return condition.only_compares and all(field_and_argument(name)[1] for name in of_things)


def tester(condition: Filter) -> Callable[[Occurrence], bool]:
    """The fast way to ask `condition`, read with `FIELDS` or `STATE_FIELDS`, of many occurrences."""
    getters = dict(_GETTERS)
    for name in condition.fields:
        field, argument = field_and_argument(name)
        if argument:
            getters[folded(name)] = _bound(_BY_NAME[field].named, argument)
    return condition.tester(getters, lambda at: "" if at.event is None else describe(at.event).casefold())


def _bound(get: Callable[[State, str], Any], name: str) -> _Get:
    return lambda at: get(at.state, name)
