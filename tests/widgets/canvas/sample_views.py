"""Made-up views for the canvas's tests and measurements."""

from __future__ import annotations

from dataclasses import replace

from widgets.canvas.view import (
    CanvasView,
    ConsumerCard,
    Ghost,
    GhostMove,
    GroupBox,
    Lane,
    LaneGroup,
    LeaseRing,
    Link,
    Party,
    ProducerCard,
    QueueBox,
    TopicBox,
    WorkerCard,
)


def letter(index: int) -> str:
    return chr(65 + index) if index < 26 else f"{chr(65 + index // 26 - 1)}{chr(65 + index % 26)}"


def consumer(name: str, hue: int, state: str = "running", partitions: int = 2, rate: float = 12.0) -> ConsumerCard:
    return ConsumerCard(name, state, hue, letter(hue), rate, partitions=partitions)


INDEXERS = ("indexer-1", "indexer-2", "indexer-3")


def indexer_lanes(shift: int = 0, owners: tuple[str, ...] = INDEXERS, revoked: bool = False) -> tuple[Lane, ...]:
    lanes = []
    for partition in range(6):
        owner = owners[partition % len(owners)]
        hue = int(owner[-1]) - 1 if owner else 0
        end = 1200 + 137 * partition + shift
        lag = (3, 18, 0, 142, 61, 9)[partition]
        stats = LaneGroup("statistics", end - 2 * partition, 2 * partition, "stats-1", 4, "E")
        place = LaneGroup("indexers", end - lag, lag, owner, hue, letter(hue), revoked and partition % 2 == 1)
        lanes.append(Lane(partition, 0, end, (place, stats)))
    return tuple(lanes)


def first_view(shift: int = 0) -> CanvasView:
    """Six partitions, a group of three, one on the bench, a queue, a bounded topic: the first launch."""
    leases = tuple(LeaseRing(f"b-{at}", 1 - at * 0.13, 7 + at % 2, 1 + (at % 3 == 2)) for at in range(6))
    audit = tuple(
        Lane(at, 0, 400 + at + shift, (LaneGroup("auditors", 320 + at, 80 + shift, "auditor-1", 5, "F"),))
        for at in range(2)
    )
    return CanvasView(
        producers=(
            ProducerCard("commit-feed", "running", 14.0),
            ProducerCard("build-feed", "running", 3.0),
            ProducerCard("audit-feed", "blocked", 0.0),
        ),
        topics=(
            TopicBox("commits", indexer_lanes(shift), 14.0),
            TopicBox("audit", audit, 4.0, "Full", "Limit 400, policy block"),
        ),
        groups=(
            GroupBox(
                "indexers", "Stable", 7, 233, "rising", tuple(consumer(name, at) for at, name in enumerate(INDEXERS))
            ),
            GroupBox("statistics", "Stable", 2, 30, "falling", (consumer("stats-1", 4, partitions=6),)),
            GroupBox("auditors", "Stable", 1, 160, "rising", (consumer("auditor-1", 5, "processing", 2, 1.2),)),
        ),
        bench=(consumer("indexer-4", 3, "idle", 0, 0.0),),
        queues=(
            QueueBox(
                "builds", 128, 4, 6, 2, leases,
                (
                    WorkerCard("builder-1", "processing", 7, "H", 1.5, "attempt 2"),
                    WorkerCard("builder-2", "waiting", 8, "I", 1.4),
                ),
                3.0,
            ),
        ),
        links=(
            Link("producer:commit-feed", "topic:commits", "publish", 14.0),
            Link("producer:build-feed", "queue:builds", "publish", 3.0),
            Link("producer:audit-feed", "topic:audit", "publish", 0.0, True, "Topic audit is full: 400 of 400"),
            Link("topic:commits", "group:indexers", "consume", 13.0),
            Link("topic:commits", "group:statistics", "consume", 14.0),
            Link("topic:audit", "group:auditors", "consume", 1.2),
            Link("queue:builds", "workers:builds", "queue", 2.9),
            Link("queue:builds", "dlq:builds", "dead-letter", 0.1),
        ),
        running=True,
    )  # fmt: skip


def mid_rebalance() -> CanvasView:
    """The same while indexers are rebalancing: half of the lanes revoked, nobody reads."""
    view = first_view()
    members = tuple(consumer(name, at, "joining") for at, name in enumerate(INDEXERS))
    group = replace(view.groups[0], state="Preparing rebalance", members=members)
    topic = replace(view.topics[0], lanes=indexer_lanes(revoked=True))
    return replace(view, groups=(group, *view.groups[1:]), topics=(topic, *view.topics[1:]))


def after_rebalance() -> CanvasView:
    """Indexer-4 has come from the bench and owns two partitions."""
    view = first_view()
    members = tuple(consumer(f"indexer-{at + 1}", at) for at in range(4))
    owners = ("indexer-1", "indexer-2", "indexer-3", "indexer-4")
    group = replace(view.groups[0], generation=8, members=members)
    topic = replace(view.topics[0], lanes=indexer_lanes(owners=owners))
    return replace(view, groups=(group, *view.groups[1:]), topics=(topic, *view.topics[1:]), bench=())


def some_ghost() -> Ghost:
    moves = (
        GhostMove("commits", 3, "indexers", Party("indexer-1", 0, "A"), Party("indexer-4", 3, "D")),
        GhostMove("commits", 4, "indexers", Party("indexer-2", 1, "B"), Party("indexer-1", 0, "A")),
    )
    return Ghost("Move indexer-4 into indexers", moves, 4, "Reading pauses for about 300 ms.")


def wide_view(shift: int = 0, partitions: int = 100, consumers: int = 50, leases: int = 50) -> CanvasView:
    """One topic with many partitions, three groups with many consumers between them, many leases."""
    sizes = (consumers - 2 * (consumers // 5), consumers // 5, consumers // 5)
    names = ("indexers", "statistics", "search-long-name-of-a-group")
    groups = []
    members: list[tuple[ConsumerCard, ...]] = []
    for at, (name, size) in enumerate(zip(names, sizes, strict=True)):
        cards = tuple(
            consumer(f"{name}-{number}", at * 40 + number, "running", -(-partitions // max(1, size)), 3.5)
            for number in range(size)
        )
        members.append(cards)
        groups.append(GroupBox(name, "Stable", 12 + at, 4000 + shift, "rising", cards))
    lanes = []
    for partition in range(partitions):
        end = 10_000 + partition * 31 + shift
        places = []
        for at, name in enumerate(names):
            lag = (partition * 37 * (at + 1)) % 240 if partition % 7 else 0
            owner = members[at][partition % max(1, sizes[at])] if sizes[at] else None
            places.append(
                LaneGroup(name, end - lag, lag, owner.name, owner.hue, owner.badge) if owner else LaneGroup(name)
            )
        lanes.append(Lane(partition, 0, end, tuple(places)))
    rings = tuple(LeaseRing(f"m-{at}", 1 - at / 60, at % 12, 1 + at % 3) for at in range(leases))
    workers = tuple(WorkerCard(f"builder-{at}", "processing", at, letter(at), 1.0, "attempt 1") for at in range(4))
    return CanvasView(
        producers=tuple(ProducerCard(f"feed-{at}", "running", 250.0) for at in range(4)),
        topics=(TopicBox("commits", tuple(lanes), 1000.0),),
        groups=tuple(groups),
        bench=(consumer("spare-1", 3, "idle", 0, 0.0),),
        queues=(QueueBox("builds", 12_345, 40, leases, 7, rings, workers, 30.0),),
        links=(
            *(Link(f"producer:feed-{at}", "topic:commits", "publish", 250.0) for at in range(3)),
            Link("producer:feed-3", "queue:builds", "publish", 30.0),
            *(Link("topic:commits", f"group:{name}", "consume", 900.0) for name in names),
            Link("queue:builds", "workers:builds", "queue", 28.0),
            Link("queue:builds", "dlq:builds", "dead-letter", 0.3),
        ),
        running=True,
    )
