"""A small make-believe broker: the events of a minute with everything in it that a report can show, and its
true totals.

The same seed and rate give the same events. It keeps only what it needs to stay consistent (offsets, owners,
leases); the real broker is tested elsewhere.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.events import EventKind as K
from broker_core.events import EventStream

TOPIC, QUEUE, BIN, BOUNDED = "commits", "orders", "orders.dlq", "metrics"
GROUP, READER = "billing", "dashboard"
PARTITIONS = 6
TICK_NS = 50 * NS_PER_MS
CAUSES = ("payment refused", "address unknown", "lease expired 3 times")


@dataclass
class FakeBroker:
    """Emits `seconds` of session time at about `rate` messages per second into `stream`."""

    stream: EventStream
    seconds: int = 60
    rate: int = 40
    seed: int = 7
    totals: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.now = 0
        self.ends: Counter[tuple[str, int]] = Counter()
        self.waiting: dict[int, deque[tuple[int, int, int, int]]] = {p: deque() for p in range(PARTITIONS)}
        self.owners: dict[int, str] = {}
        self.generation = 1
        self.jobs: deque[tuple[int, int, int]] = deque()  # offset, published_ns, attempt
        self.leases: list[
            tuple[int, int, int, int, str, str]
        ] = []  # ends at, offset, published_ns, attempt, holder, fate
        self.metrics: deque[tuple[int, int]] = deque()
        self.blocked_ns: int | None = None
        self.dead: list[tuple[int, int]] = []  # offset in the bin, published_ns

    def emit(self, kind: K, at: int | None = None, **fields: Any) -> None:
        self.stream.emit(self.now if at is None else at, kind, **fields)
        counted = {
            K.PUBLISHED: "published",
            K.DELIVERED: "delivered",
            K.ACKNOWLEDGED: "acknowledged",
            K.DEAD_LETTERED: "dead_lettered",
            K.REDRIVEN: "redriven",
            K.REJECTED: "rejected",
            K.DROPPED: "dropped",
        }.get(kind)
        if counted:
            self.totals[counted] += fields["count"]
        if kind is K.DELIVERED and fields["attempt"] > 1:
            self.totals["redelivered"] += fields["count"]
        if kind is K.REBALANCE_STARTED:
            self.totals["rebalances"] += 1

    def run(self) -> dict[str, int]:
        """Emit everything; the totals, with the field names of `snapshots.Totals`."""
        self.emit(K.SESSION_STARTED)
        for topic, partitions in ((TOPIC, PARTITIONS), (BOUNDED, 1)):
            self.emit(K.TOPIC_CREATED, topic=topic, detail={"partitions": partitions})
        self.emit(K.QUEUE_CREATED, topic=QUEUE, group=QUEUE, detail={"dead_letters": BIN})
        self.assign(
            {p: f"worker-{p // 2 + 1}" for p in range(PARTITIONS)}, cause="first members joined", pause_ns=NS_PER_S // 4
        )
        ticks = self.seconds * NS_PER_S // TICK_NS
        for tick in range(ticks):
            self.now = max(self.now, (tick + 1) * TICK_NS)
            share = tick / ticks
            self.publish()
            self.consume(slow=0.55 < share < 0.7)
            self.work(slow=share > 0.3)
            self.bounded(slow=0.2 < share < 0.5)
            if tick == ticks // 3:
                self.emit(K.FAULT, client="worker-2", cause="crash")
                self.assign(
                    {p: f"worker-{p % 2 * 2 + 1}" for p in range(PARTITIONS)}, "worker-2 crashed", 32 * NS_PER_S // 10
                )
            if tick == ticks * 3 // 4:
                self.emit(
                    K.USER_ACTION, cause="Moved worker-4 into billing", detail={"action": "move", "client": "worker-4"}
                )
                owners = {0: "worker-1", 1: "worker-3", 2: "worker-1", 3: "worker-3", 4: "worker-4", 5: "worker-4"}
                self.assign(owners, "worker-4 joined", 7 * NS_PER_S // 10)
            if tick == ticks * 4 // 5:
                self.redrive(3)
        self.now += 10 * NS_PER_MS
        self.emit(K.SESSION_ENDED)
        return {name: self.totals[name] for name in _TOTALS}

    def assign(self, owners: dict[int, str], cause: str, pause_ns: int) -> None:
        """A whole rebalance: revoke, pause, assign."""
        started, before = self.now, [[TOPIC, p, c] for p, c in sorted(self.owners.items())]
        self.emit(K.GROUP_STATE, group=GROUP, cause="Preparing rebalance", generation=self.generation)
        self.emit(K.REBALANCE_STARTED, group=GROUP, cause=cause, generation=self.generation, detail={"before": before})
        for client in sorted(set(self.owners.values())):
            held = [[TOPIC, p] for p, c in sorted(self.owners.items()) if c == client]
            self.emit(
                K.PARTITIONS_REVOKED,
                group=GROUP,
                client=client,
                generation=self.generation,
                detail={"partitions": held},
            )
        self.now += pause_ns
        self.generation += 1
        self.owners = owners
        for client in sorted(set(owners.values())):
            held = [[TOPIC, p] for p, c in sorted(owners.items()) if c == client]
            self.emit(
                K.PARTITIONS_ASSIGNED,
                group=GROUP,
                client=client,
                generation=self.generation,
                detail={"partitions": held},
            )
        after = [[TOPIC, p, c] for p, c in sorted(owners.items())]
        detail = {"before": before, "after": after, "started_ns": started}
        self.emit(K.REBALANCE_COMPLETED, group=GROUP, cause=cause, generation=self.generation, detail=detail)
        self.emit(K.GROUP_STATE, group=GROUP, cause="Stable", generation=self.generation)

    def publish(self) -> None:
        for _ in range(self.random.randrange(self.rate // 10 + 1)):
            hot = self.random.random() < 0.45
            key = b"librdkafka/33" if hot else b"author-%d" % self.random.randrange(40)
            partition = 2 if hot else key[-1] % PARTITIONS
            count = 1 if hot or self.random.random() < 0.7 else self.random.randrange(2, 9)
            offset, size = self.ends[TOPIC, partition], count * self.random.randrange(80, 900)
            self.ends[TOPIC, partition] += count
            producer = f"producer-{partition % 2 + 1}"
            self.emit(
                K.PUBLISHED,
                topic=TOPIC,
                partition=partition,
                offset=offset,
                count=count,
                size_bytes=size,
                client=producer,
                key=key if count == 1 else None,
            )
            self.waiting[partition].append((offset, count, size, self.now))
        for _ in range(self.random.randrange(self.rate // 20 + 1)):
            offset = self.ends[QUEUE, 0]
            self.ends[QUEUE, 0] += 1
            key = [b"order-%d" % offset, b"\xff\x00\x10", "Žižkov".encode()][offset % 3]
            self.emit(
                K.PUBLISHED, topic=QUEUE, partition=0, offset=offset, count=1, size_bytes=140, client="shop", key=key
            )
            self.jobs.append((offset, self.now, 1))

    def consume(self, slow: bool) -> None:
        for partition, client in sorted(self.owners.items()):
            if slow and partition == 2:
                continue
            runs = self.waiting[partition]
            at = self.now + self.random.randrange(2, 30) * NS_PER_MS
            for _ in range(min(len(runs), 5)):
                offset, count, size, published = runs.popleft()
                fields: dict[str, Any] = {
                    "topic": TOPIC,
                    "partition": partition,
                    "offset": offset,
                    "count": count,
                    "size_bytes": size,
                    "client": client,
                    "group": GROUP,
                    "generation": self.generation,
                    "published_ns": published,
                }
                self.emit(K.DELIVERED, at, attempt=1, **fields)
                self.emit(K.ACKNOWLEDGED, at + 5 * NS_PER_MS, **fields)
        self.now += 36 * NS_PER_MS

    def work(self, slow: bool) -> None:
        """Workers of the queue lease one message at a time; some fail, some forget."""
        for lease in [lease for lease in self.leases if lease[0] <= self.now]:
            self.leases.remove(lease)
            _, offset, published, attempt, holder, fate = lease
            fields: dict[str, Any] = {
                "topic": QUEUE,
                "partition": 0,
                "offset": offset,
                "count": 1,
                "client": holder,
                "group": QUEUE,
                "attempt": attempt,
                "published_ns": published,
            }
            if fate == "ack":
                self.emit(K.ACKNOWLEDGED, **fields)
                continue
            cause = CAUSES[offset % 3]
            self.emit(K.NACKED if fate == "nack" else K.LEASE_EXPIRED, cause=cause, **fields)
            if attempt < 3:
                self.jobs.append((offset, published, attempt + 1))
                continue
            place = self.ends[BIN, 0]
            self.ends[BIN, 0] += 1
            self.emit(K.DEAD_LETTERED, cause=cause, to_topic=BIN, to_partition=0, to_offset=place, **fields)
            self.dead.append((place, published))
        while self.jobs and len(self.leases) < 6:
            offset, published, attempt = self.jobs.popleft()
            holder = f"packer-{len(self.leases) % 3 + 1}"
            self.emit(
                K.DELIVERED,
                topic=QUEUE,
                partition=0,
                offset=offset,
                count=1,
                size_bytes=140,
                client=holder,
                group=QUEUE,
                attempt=attempt,
                published_ns=published,
            )
            fate = (
                "ack"
                if self.random.random() < (0.6 if offset % 4 == 0 else 0.97)
                else self.random.choice(("nack", "late"))
            )
            took = self.random.randrange(20, 400 if slow else 120) * NS_PER_MS
            self.leases.append((self.now + took, offset, published, attempt, holder, fate))

    def bounded(self, slow: bool) -> None:
        """A topic that holds 50 messages: its producer blocks while the reader is slow, a second one is
        refused.
        """
        if self.blocked_ns is None:
            offset, count = self.ends[BOUNDED, 0], 5
            if len(self.metrics) * count < 50:
                self.ends[BOUNDED, 0] += count
                self.emit(
                    K.PUBLISHED, topic=BOUNDED, partition=0, offset=offset, count=count, size_bytes=300, client="sensor"
                )
                self.metrics.append((offset, self.now))
            else:
                self.blocked_ns = self.now
                self.emit(K.PRODUCER_BLOCKED, topic=BOUNDED, client="sensor", cause="block: dashboard is 50 behind")
        else:
            self.emit(K.REJECTED, topic=BOUNDED, partition=0, count=1, size_bytes=60, client="probe", cause="full")
        if self.metrics and (not slow or self.random.random() < 0.3):
            offset, published = self.metrics.popleft()
            fields: dict[str, Any] = {
                "topic": BOUNDED,
                "partition": 0,
                "offset": offset,
                "count": 5,
                "size_bytes": 300,
                "client": "screen",
                "group": READER,
                "published_ns": published,
            }
            self.emit(K.DELIVERED, attempt=1, **fields)
            self.emit(K.ACKNOWLEDGED, **fields)
        if self.blocked_ns is not None and len(self.metrics) < 5:
            self.emit(K.PRODUCER_UNBLOCKED, topic=BOUNDED, client="sensor", cause="block: dashboard is 50 behind")
            self.blocked_ns = None

    def redrive(self, count: int) -> None:
        for place, published in self.dead[:count]:
            offset = self.ends[QUEUE, 0]
            self.ends[QUEUE, 0] += 1
            self.emit(
                K.REDRIVEN,
                topic=BIN,
                partition=0,
                offset=place,
                count=1,
                group=QUEUE,
                published_ns=published,
                to_topic=QUEUE,
                to_partition=0,
                to_offset=offset,
            )
            self.jobs.append((offset, published, 1))


_TOTALS = (
    "published",
    "delivered",
    "acknowledged",
    "redelivered",
    "dead_lettered",
    "redriven",
    "rejected",
    "dropped",
    "expired",
    "evicted",
    "purged",
    "rebalances",
)
