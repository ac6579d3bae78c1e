"""The views of the canvas, as plain frozen values: no Qt, no broker.

Names are data and are drawn as plain text. Ids are stable strings: "producer:feed", "topic:commits", "lane:commits/3",
"group:indexers", "consumer:indexer-1", "queue:builds", "workers:builds", "worker:builder-1", "dlq:builds", "bench".
Rates are messages a second of session time, offsets counts of messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

BENCH_ID = "bench"
NEW_GROUP = "*"
"""The target of `drag.dropped` for a drop on an empty spot; no group can have this name."""


@dataclass(frozen=True, slots=True)
class LaneGroup:
    """Where one group stands in one partition.

    `committed` and `lag` are None for "n/a"; `owner` is "" without an owner; `hue` and `badge` are the
    owner's; `revoked` while a rebalance has taken the partition from its owner. The lag `is_at_most` so much in a
    compacted topic.
    """

    group: str
    committed: int | None = None
    lag: int | None = None
    owner: str = ""
    hue: int = 0
    badge: str = ""
    revoked: bool = False
    is_at_most: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """A partition. `groups` holds every group that reads the topic, in the same order in each lane.

    `replication` is a state word where its replicas are not as they should be, `placed` says which they are.
    """

    partition: int
    start_offset: int = 0
    end_offset: int = 0
    groups: tuple[LaneGroup, ...] = ()
    replication: str = ""
    placed: str = ""


@dataclass(frozen=True, slots=True)
class Thing:
    """A named thing; its kind and name make its id."""

    kind: ClassVar[str]
    name: str

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.name}"

    @property
    def title(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class TopicBox(Thing):
    """A topic. `gate` is a state word for its backpressure (Open, Limited, Full), "" without a limit; `schema` the
    subject that its values are held to, "" for none.
    """

    kind: ClassVar[str] = "topic"
    lanes: tuple[Lane, ...] = ()
    rate_per_s: float = 0.0
    gate: str = ""
    detail: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class ProducerCard(Thing):
    """A producer and its state word; `turned_away` says what became of messages that were not taken.

    `note` replaces the rate if given.
    """

    kind: ClassVar[str] = "producer"
    icon: ClassVar[str] = "producer"
    state: str = "running"
    rate_per_s: float = 0.0
    detail: str = ""
    turned_away: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class NodeCard(ProducerCard):
    """A broker of a cluster, by its number, at the edge; it has a `note` and no rate."""

    kind: ClassVar[str] = "node"
    icon: ClassVar[str] = "layers"

    @property
    def title(self) -> str:
        return f"Broker {self.name}"


@dataclass(frozen=True, slots=True)
class ReaderCard(Thing):
    """A consumer or worker; `note` says in a few words what it is doing."""

    state: str = "running"
    hue: int = 0
    badge: str = ""
    rate_per_s: float = 0.0
    note: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ConsumerCard(ReaderCard):
    """A consumer in a group or on the bench. A `note` replaces the count of partitions."""

    kind: ClassVar[str] = "consumer"
    partitions: int = 0


@dataclass(frozen=True, slots=True)
class WorkerCard(ReaderCard):
    """A consumer of a queue."""

    kind: ClassVar[str] = "worker"


@dataclass(frozen=True, slots=True)
class GroupBox(Thing):
    """A consumer group. `lag` is the sum of what is known, None for "n/a", of how many partitions it is not known is
    `unknown`; it `is_at_most` so much where topics are compacted; `trend` is rising, falling or steady.
    """

    kind: ClassVar[str] = "group"
    state: str = "Stable"
    generation: int = 0
    lag: int | None = None
    trend: str = "steady"
    members: tuple[ConsumerCard, ...] = ()
    detail: str = ""
    unknown: int = 0
    is_at_most: bool = False
    takes_members: bool = True


@dataclass(frozen=True, slots=True)
class LeaseRing:
    """A message in flight: `left` is the share 0..1 of its lease that is left, `hue` its holder's."""

    key: str
    left: float
    hue: int = 0
    attempt: int = 1
    holder: str = ""


@dataclass(frozen=True, slots=True)
class QueueBox(Thing):
    """A queue, its leases (the most urgent first; the counts are whole), its dead letters and its workers.

    `reads` is the topic that a subscription gets its messages from; a plain queue has none. `taken_by` names the
    workers that take from it, too, and stand at another of their queues.
    """

    kind: ClassVar[str] = "queue"
    ready: int = 0
    delayed: int = 0
    in_flight: int = 0
    dead: int = 0
    leases: tuple[LeaseRing, ...] = ()
    workers: tuple[WorkerCard, ...] = ()
    rate_per_s: float = 0.0
    gate: str = ""
    detail: str = ""
    reads: str = ""
    taken_by: tuple[str, ...] = ()

    @property
    def workers_id(self) -> str:
        return f"workers:{self.name}"

    @property
    def dead_letters_id(self) -> str:
        return f"dlq:{self.name}"


@dataclass(frozen=True, slots=True)
class Link:
    """A flow between two ids. `kind` is publish, consume, queue or dead-letter; `reason` says why blocked. It
    `is_stopped` where its client has stopped: the rate is the last one.

    Links run between neighbouring columns (producers, topics and queues, groups and workers), from a topic to the queue
    of a subscription, or from a queue to its dead letters; any other pair is not drawn.
    """

    source: str
    target: str
    kind: str = "publish"
    rate_per_s: float = 0.0
    blocked: bool = False
    reason: str = ""
    is_stopped: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        return self.source, self.target, self.kind


class RestCell(NamedTuple):
    """A topic in the map of those that are not drawn; `lag` is None if it is not known of any reader, `state` a state
    word if something is wrong with it, and `mark` 0..1 how wrong that is.
    """

    name: str
    lag: int | None
    state: str = ""
    mark: float = 0.0

    @property
    def id(self) -> str:
        return f"topic:{self.name}"


@dataclass(frozen=True, slots=True)
class Rest:
    """The foot of a column: how many of a `kind` (as "producers" or "queues") are not drawn, and where they are listed;
    with `cells`, a map of them.
    """

    kind: str
    text: str
    hint: str = ""
    cells: tuple[RestCell, ...] = ()

    @property
    def id(self) -> str:
        return f"rest:{self.kind}"


@dataclass(frozen=True, slots=True)
class CanvasView:
    """All of it. `running` while session time moves; `notice` replaces the sentence of the empty canvas.

    A cluster that is only looked at has no bench.
    """

    producers: tuple[ProducerCard, ...] = ()
    topics: tuple[TopicBox, ...] = ()
    groups: tuple[GroupBox, ...] = ()
    bench: tuple[ConsumerCard, ...] = ()
    queues: tuple[QueueBox, ...] = ()
    links: tuple[Link, ...] = ()
    rests: tuple[Rest, ...] = ()
    running: bool = False
    notice: str = ""
    has_bench: bool = True
    nodes: tuple[NodeCard, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.producers or self.topics or self.groups or self.bench or self.queues)


@dataclass(frozen=True, slots=True)
class Party:
    name: str = ""
    hue: int = -1
    letter: str = ""


@dataclass(frozen=True, slots=True)
class GhostMove:
    topic: str
    partition: int
    group: str
    before: Party
    after: Party


@dataclass(frozen=True, slots=True)
class Ghost:
    """The assignment that a drop would give: what moves, how many partitions stay, a sentence if needed."""

    title: str
    moves: tuple[GhostMove, ...] = ()
    kept: int = 0
    note: str = ""


def lane_id(topic: str, partition: int) -> str:
    return f"lane:{topic}/{partition}"
