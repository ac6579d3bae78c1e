"""Snapshots made up for tests and pictures: each has one thing going on that panels must show."""

from __future__ import annotations

from broker_core.snapshots import (
    ActorView,
    AttemptView,
    DeadLetterView,
    GateView,
    GroupView,
    LeaseView,
    MemberView,
    OffsetView,
    PartitionView,
    QueueView,
    RebalanceView,
    Snapshot,
    TopicView,
    Totals,
)

S = 1_000_000_000
MS = 1_000_000
TOPIC = "commits"
PARTITIONS = 6
REPOSITORIES = ("torvalds/linux", "python/cpython", "rust-lang/rust", "apache/kafka", "qt/qtbase", "numpy/numpy")
CAUSES = (
    "handler failed: build broke on step 3",
    "lease expired",
    'handler failed: <b>bold</b> & "quoted" error',
    "no such recipient",
)


def partition_owner(number: int, owners: tuple[str, ...]) -> str:
    """Range assignment of the six partitions."""
    return owners[number * len(owners) // PARTITIONS] if owners else ""


def offsets(time_ns: int, owners: tuple[str, ...], group_lag: int = 12) -> tuple[OffsetView, ...]:
    """Where a group stands: the last partition has nothing committed."""
    seconds = time_ns // S
    found = []
    for number in range(PARTITIONS):
        end = 40 * seconds + 211 * number
        lag = group_lag * number
        none = number == PARTITIONS - 1
        found.append(
            OffsetView(
                TOPIC,
                number,
                partition_owner(number, owners),
                None if none else end - lag // 2,
                None if none else max(0, end - lag),
                end,
                None if none else min(lag, end),
                None if none else lag * 35 * MS,
            )
        )
    return tuple(found)


def group(
    time_ns: int,
    name: str = "indexers",
    owners: tuple[str, ...] = ("indexer-1", "indexer-2", "indexer-3"),
    state: str = "Stable",
    generation: int = 4,
    lag: int = 12,
) -> GroupView:
    """A group that reads the six partitions."""
    reads = offsets(time_ns, owners if state == "Stable" else (), lag)
    members = tuple(
        MemberView(
            owner,
            f"{owner}-7f3a",
            "",
            (TOPIC,),
            tuple((at.topic, at.partition) for at in reads if at.owner == owner),
            2 * S,
            time_ns - 300 * MS,
        )
        for owner in owners
    )
    return GroupView(name, state, generation, "range", owners[0] if owners else "", (TOPIC,), members, reads, 3 * S)


def leases(time_ns: int, how_many: int, workers: int = 2) -> tuple[LeaseView, ...]:
    """Leases of ten seconds in all stages of running out."""
    return tuple(
        LeaseView(
            "builds",
            number % 3,
            1200 + number,
            f"{REPOSITORIES[number % 6]}#{number}".encode(),
            f"builder-{number % workers + 1}",
            time_ns - (number * 700 * MS) % (9 * S),
            time_ns + 10 * S - (number * 700 * MS) % (9 * S),
            number % 3 + 1,
            3,
        )
        for number in range(how_many)
    )


def dead_letter(number: int, time_ns: int) -> DeadLetterView:
    """One dead letter; some have markup, binary or no value."""
    values: tuple[bytes | None, ...] = (
        b'{"repo": "torvalds/linux", "author": "Linus", "message": "Merge tag"}',
        b"<img src=x onerror=alert(1)><b>not bold</b> &amp; plain",
        bytes(range(40)) + b"\xff\xfe binary",
        None,
        "h\u00e9llo w\u00f6rld \u202e reversed".encode(),
    )
    dead_ns = max(0, time_ns - number * 40 * MS)
    return DeadLetterView(
        "builds",
        number,
        "builds",
        number % 3,
        900 + number,
        f"{REPOSITORIES[number % 6]}".encode() if number % 7 else None,
        values[number % len(values)],
        (("trace-id", f"{number:08x}".encode()), ("content-type", b"application/json")),
        CAUSES[(number * number) % len(CAUSES)],
        max(0, dead_ns - 12 * S),
        dead_ns,
        number % 3,
        tuple(
            AttemptView(
                f"builder-{at % 2 + 1}",
                max(0, dead_ns - (3 - at) * 4 * S),
                max(0, dead_ns - (3 - at) * 4 * S + 900 * MS),
                outcome,
            )
            for at, outcome in enumerate(("nacked: build broke", "lease expired", "nacked: build broke"))
        ),
    )


def gate(
    target: str, depth: int, limit: int | None, blocked: tuple[tuple[str, int], ...] = (), **more: object
) -> GateView:
    """A gate that blocks producers, unless `more` says otherwise."""
    values: dict[str, object] = {
        "policy": "block",
        "rate_limit_per_s": None,
        "tokens": None,
        "slowest": "",
        "blocked_ns_total": 0,
        "rejected": 0,
        "dropped": 0,
    }
    return GateView(target=target, depth=depth, limit=limit, blocked=blocked, **(values | more))  # type: ignore[arg-type]


def queue(time_ns: int, in_flight: int = 7, dead: int = 23, listed: int | None = None) -> QueueView:
    """The work queue, with leases and dead letters."""
    listed = dead if listed is None else listed
    return QueueView(
        "builds", 3, 31, 4, in_flight, dead, 10_000, 3, 0, 950, 88, dead + 5, 5,
        leases(time_ns, in_flight),
        tuple(dead_letter(number, time_ns) for number in range(listed)),
        gate("builds", 42, 200, policy="reject", rejected=3),
    )  # fmt: skip


def actors(
    blocked: bool = False, indexers: tuple[str, ...] = ("indexer-1", "indexer-2", "indexer-3")
) -> tuple[ActorView, ...]:
    """Who takes part: two producers, four consumers of which one idles, two workers, one slow mailer."""
    made = [
        ActorView("feed", "producer", "running", TOPIC, (TOPIC,), 4200, 0, 0),
        ActorView("alerts-feed", "producer", "blocked" if blocked else "running", "alerts", ("alerts",), 310, 0, 9 * S),
        ActorView("build-feed", "producer", "running", "builds", ("builds",), 1300, 0, 0),
    ]
    made += [ActorView(name, "consumer", "running", "indexers", (TOPIC,), 1390, 2, 3 * S) for name in indexers]
    made += [
        ActorView("indexer-4", "consumer", "idle", "", (TOPIC,), 0, 0, 0),
        ActorView("mailer", "consumer", "processing", "mail", ("alerts",), 280, 0, 2 * S),
        ActorView("builder-1", "worker", "processing", "builds", ("builds",), 480, 61, 2 * S),
        ActorView("builder-2", "worker", "waiting", "builds", ("builds",), 470, 58, 2 * S),
    ]
    return tuple(made)


def rebalances(time_ns: int, running: bool = False) -> tuple[RebalanceView, ...]:
    """Three that have ended, and one that runs where asked for."""
    one = tuple((TOPIC, number, "indexer-1") for number in range(PARTITIONS))
    two = tuple((TOPIC, number, partition_owner(number, ("indexer-1", "indexer-2"))) for number in range(PARTITIONS))
    three = tuple(
        (TOPIC, number, partition_owner(number, ("indexer-1", "indexer-2", "indexer-3")))
        for number in range(PARTITIONS)
    )
    made = [
        RebalanceView("indexers", "indexer-1 joined", 500 * MS, 612 * MS, 0, 1, (), one),
        RebalanceView("indexers", "indexer-2 joined", S, S + 88 * MS, 1, 2, one, two),
        RebalanceView("indexers", "indexer-3 joined", 3 * S, 3 * S + 120 * MS, 2, 3, two, three),
    ]
    if running:
        made.append(
            RebalanceView(
                "indexers", "indexer-4 was moved here by the user", time_ns - 90 * MS, None, 4, None, three, ()
            )
        )
    return tuple(made)


def _topics(time_ns: int, alerts: GateView) -> tuple[TopicView, ...]:
    seconds = time_ns // S
    lanes = tuple(PartitionView(number, 0, 40 * seconds + 211 * number, 5000 * seconds) for number in range(PARTITIONS))
    return (
        TopicView(TOPIC, lanes, sum(lane.end_offset for lane in lanes), 1_234_567, None),
        TopicView("alerts", (PartitionView(0, 0, 310, 40_000),), 310, 40_000, alerts),
    )


def _mail(time_ns: int) -> GroupView:
    at = OffsetView("alerts", 0, "mailer", 262, 260, 310, 50, 4 * S)
    member = MemberView("mailer", "mailer-1", "", ("alerts",), (("alerts", 0),), S, time_ns)
    return GroupView("mail", "Stable", 1, "range", "mailer", ("alerts",), (member,), (at,), S)


def living(time_ns: int = 12 * S, **more: int) -> Snapshot:
    """The scenario as it runs."""
    seconds = time_ns // S
    return Snapshot(
        time_ns,
        9000,
        _topics(time_ns, gate("alerts", 30, 50, slowest="mail")),
        (group(time_ns), _mail(time_ns)),
        (queue(time_ns, **more),),
        actors(),
        rebalances(time_ns),
        Totals(
            published=245 * seconds + 7 * (seconds % 5) ** 2,
            delivered=240 * seconds,
            dead_lettered=28,
            redriven=5,
            rebalances=3,
        ),
    )


def rebalancing(time_ns: int = 15 * S) -> Snapshot:
    """A consumer was moved into the group: all partitions are revoked."""
    names = ("indexer-1", "indexer-2", "indexer-3", "indexer-4")
    return Snapshot(
        time_ns,
        9500,
        _topics(time_ns, gate("alerts", 30, 50, slowest="mail")),
        (group(time_ns, owners=names, state="Preparing rebalance"), _mail(time_ns)),
        (queue(time_ns),),
        tuple(one for one in actors(indexers=names) if one.target),
        rebalances(time_ns, running=True),
        Totals(published=3000, dead_lettered=28, rebalances=4),
    )


def blocked(time_ns: int = 18 * S) -> Snapshot:
    """The bounded topic is full, its producer waits, and the group falls behind."""
    full = gate(
        "alerts", 50, 50, (("alerts-feed", time_ns - 1200 * MS),), slowest="mail",
        blocked_ns_total=4300 * MS, rate_limit_per_s=25.0, tokens=3.0,
    )  # fmt: skip
    return Snapshot(
        time_ns,
        9900,
        _topics(time_ns, full),
        (group(time_ns, lag=90), _mail(time_ns)),
        (queue(time_ns),),
        actors(blocked=True),
        rebalances(time_ns),
        Totals(published=4400, dead_lettered=28, rebalances=3),
    )


def crowded(time_ns: int = 20 * S, in_flight: int = 10_000, dead: int = 100_000) -> Snapshot:
    """More leases and dead letters than anybody can read."""
    base = living(time_ns)
    return Snapshot(
        time_ns,
        400_000,
        base.topics,
        base.groups,
        (queue(time_ns, in_flight, dead),),
        base.actors,
        base.rebalances,
        base.totals,
    )


def empty(time_ns: int = 0) -> Snapshot:
    """Nothing yet."""
    return Snapshot(time_ns, 0)
