"""A session with one of everything, and a person who does anything at all to it."""

from __future__ import annotations

import random
from collections.abc import Callable

from broker_core.access import Acl, ClientQuota
from broker_core.flow.config import FlowConfig
from broker_core.groups.offset_reset import Target
from broker_core.operations.faults import BeginFault
from broker_core.operations.schemas import SchemaText
from broker_core.operations.topics import LogSettings
from broker_core.queues.config import QueueConfig
from broker_core.simulation import Scenario, Simulation, parse_scenario
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.access import CreateAcls, DeleteAcls, DeleteUser, RemoveQuota, SetQuota
from broker_core.simulation.actions.alerts import RemoveAlert, SetAlert
from broker_core.simulation.actions.clients import (
    AddConsumer,
    AddProducer,
    AddWorker,
    DuplicateClient,
    RemoveClient,
    RestoreClient,
    SetProcessingTime,
    SetProducerRate,
)
from broker_core.simulation.actions.dead_letters import (
    EditDeadLetter,
    PurgeDeadLetters,
    Redrive,
    RevertDeadLetter,
    StopRedrive,
    UndoPurgeDeadLetters,
    UndoRedrive,
)
from broker_core.simulation.actions.faults import (
    BreakRequests,
    Crash,
    DropHeartbeats,
    EndFaults,
    EndRequestFault,
    EndRule,
    FailMatching,
    FillDisk,
    HoldSchedule,
    JumpClock,
    Pause,
    Restart,
    SlowDown,
)
from broker_core.simulation.actions.groups import (
    CreateGroup,
    DeleteGroup,
    MoveConsumer,
    PutBackOffsets,
    ResetOffsets,
    RestoreGroup,
    Seek,
    SetAssignor,
    SubscribeGroup,
    UnsubscribeGroup,
)
from broker_core.simulation.actions.queues import (
    AckLease,
    CreateQueue,
    CreateSubscription,
    DeleteQueue,
    ExtendLease,
    NackLease,
    PurgeQueue,
    ReleaseLease,
    UndoPurgeQueue,
)
from broker_core.simulation.actions.topics import (
    AddPartitions,
    ConfigureTopic,
    CreateTopic,
    DeleteRecords,
    DeleteTopic,
    Produce,
    RegisterSchema,
    RestoreDeleted,
)
from broker_core.simulation.arrivals import BurstyArrivals
from broker_core.simulation.durations import Duration

TEXT = """\
title: Busy
about: One of everything.
until_s: 60
rebalance_delay_ms: 0
schemas:
  - {subject: note, text: '{"type": "object"}'}
topics:
  - {name: orders, partitions: 3}
  - {name: bills, partitions: 2, flow: {policy: block, max_messages: 20}}
  - {name: notes, schema: {subject: note, mode: dead_letter}}
queues:
  - {name: jobs, config: {lease_ms: 900, max_attempts: 2, retry: {kind: fixed, base_ms: 200}}}
  - {name: mails, config: {priorities: 2}, flow: {policy: reject, max_messages: 30}}
groups:
  - {name: readers, topics: [orders]}
  - {name: billers, topics: [bills], assignor: cooperative-sticky}
  - {name: exacts, topics: [orders]}
producers:
  - {name: shop, to: orders, arrivals: {kind: rate, per_s: 20, keys: 9}}
  - {name: office, to: bills, arrivals: {kind: rate, per_s: 12, keys: 4}}
  - {name: planner, to: jobs, arrivals: {kind: rate, per_s: 15, keys: 3}}
  - {name: writer, to: notes, arrivals: {kind: rate, per_s: 2}}
  - {name: sender, to: mails, arrivals: {kind: rate, per_s: 6, priorities: [1, 2]}}
consumers:
  - {name: reader, count: 3, group: readers, processing: {mean_ms: 40}}
  - {name: biller, count: 2, group: billers, processing: {mean_ms: 120}, max_poll_messages: 3}
  - {name: exact, group: exacts, processing: {mean_ms: 30}, commit: with_effect}
  - {name: spare}
workers:
  - {name: worker, count: 2, queue: jobs, processing: {kind: exponential, mean_ms: 150},
     failures: [{cause: broken, rate: 0.4}, {cause: stuck, rate: 0.1, kind: hang}]}
  - {name: mailer, queue: mails, processing: {mean_ms: 100}, prefetch: 3}
subscribers:
  - {name: audit, topics: [orders], backlog: 50, processing: {mean_ms: 30}, failures: [{cause: odd, rate: 0.2}]}
"""


def scenario() -> Scenario:
    """The scenario."""
    return parse_scenario(TEXT)


def reset(group: str, target: Target, *, restart_members: bool) -> ResetOffsets:
    """To `target`, in all that `group` reads."""
    return ResetOffsets.of(group, target, restart_members=restart_members)


class Person:
    """Draws any action, on what is there, on what is not, and on what makes no sense."""

    def __init__(self, simulation: Simulation, seed: int) -> None:
        self._simulation = simulation
        self._numbers = random.Random(seed)
        # Whatever a person has done can be undone next.
        self.inverses: list[UserAction] = []

    def draw(self) -> UserAction:
        """The next action."""
        if self.inverses and self._numbers.random() < 0.25:
            return self.inverses.pop(self._numbers.randrange(len(self.inverses)))
        return self._numbers.choice(MAKERS)(self)

    def of(self, *names: str) -> str:
        """One of `names`."""
        return self._numbers.choice(names)

    @property
    def chance(self) -> random.Random:
        """More numbers."""
        return self._numbers

    @property
    def client(self) -> str:
        """Somebody, or nobody."""
        return self.of(*self._simulation.actors, "nobody")

    @property
    def consumer(self) -> str:
        """A consumer, or somebody else."""
        return self.of("reader-1", "reader-2", "biller-1", "spare-1", "exact-1", "new-consumer", "shop")

    @property
    def topic(self) -> str:
        """A topic, or something else."""
        return self.of("orders", "bills", "notes", "new-topic", "jobs", "jobs.dlq", "nothing")

    @property
    def queue(self) -> str:
        """A queue, a subscription, or something else."""
        return self.of("jobs", "mails", "audit", "new-queue", "orders")

    @property
    def group(self) -> str:
        """A group, or nothing."""
        return self.of("readers", "billers", "new-group", "nobodies")

    @property
    def for_s(self) -> float | None:
        """A while, or for good."""
        return self._numbers.choice([None, 0.7, 3.0])

    def offsets(self, queue: str) -> tuple[int, ...]:
        """Some dead letters, and one that is none."""
        letters = next((each.dead_letters for each in self._simulation.snapshot().queues if each.name == queue), ())
        return (*(letter.offset for letter in letters[: self._numbers.randrange(4)]), 10**6)

    def lease(self) -> tuple[str, int, int, str, int]:
        """A message in flight, or one that is not."""
        leases = [lease for queue in self._simulation.snapshot().queues for lease in queue.leases]
        if not leases:
            return "jobs", 0, 0, "worker-1", 1
        lease = self._numbers.choice(leases)
        return lease.queue, lease.partition, lease.offset, lease.holder, lease.attempt

    def owned(self) -> tuple[str, str, int]:
        """A member, and a partition that is its own."""
        groups = self._simulation.snapshot().groups
        owned = [(member.client, *place) for group in groups for member in group.members for place in member.partitions]
        return self._numbers.choice(owned) if owned else ("reader-1", "orders", 0)

    def target(self) -> Target:
        """Somewhere to go."""
        return self._numbers.choice(
            [
                Target("earliest"),
                Target("latest"),
                Target("offset", offset=7),
                Target("timestamp", timestamp_ms=5_000),
                Target("shift-by", offset=-5),
                Target("group", group="billers"),
            ]
        )


def _place(person: Person) -> tuple[str, int]:
    return person.topic, person.chance.randrange(4)


MAKERS: list[Callable[[Person], UserAction]] = [
    lambda p: AddConsumer(p.of("new-consumer", "reader-1", "../x"), p.of("", "readers", "nobodies")),
    lambda p: AddProducer(p.of("new-producer", "shop"), p.topic, BurstyArrivals(per_s=30, on_s=1, off_s=2, keys=3)),
    lambda p: AddWorker(p.of("new-worker", "worker-1"), p.queue, Duration(mean_ms=20)),
    lambda p: DuplicateClient(p.client),
    lambda p: RemoveClient(p.client),
    lambda p: RestoreClient(p.client),
    lambda p: SetProducerRate(p.client, p.chance.choice([None, 0.5, 40.0])),
    lambda p: SetAlert(
        p.of("behind", "idle"), p.of('lag("readers") > 5', 'ready("jobs") = 0'), p.chance.choice([0.0, 1.5])
    ),
    lambda p: RemoveAlert(p.of("behind", "idle")),
    lambda p: SetProcessingTime(p.client, Duration(kind="uniform", mean_ms=p.chance.choice([0, 10, 300]))),
    lambda p: MoveConsumer(p.consumer, p.of("", "readers", "billers", "another-group")),
    lambda p: CreateGroup(p.of("new-group", "readers"), (p.topic,), "sticky"),
    lambda p: DeleteGroup(group=p.group),
    lambda p: RestoreGroup(p.group),
    lambda p: SubscribeGroup(p.group, p.topic),
    lambda p: UnsubscribeGroup(p.group, p.topic),
    lambda p: SetAssignor(p.group, p.chance.choice(["range", "roundrobin", "sticky", "cooperative-sticky"])),
    lambda p: reset(p.group, p.target(), restart_members=p.chance.random() < 0.7),
    lambda p: PutBackOffsets(p.group, ((*_place(p), 3),), restart_members=p.chance.random() < 0.7),
    lambda p: Seek(p.consumer, *_place(p), p.target()),
    lambda p: Seek(*p.owned(), p.target()),
    lambda p: CreateTopic(
        name=p.of("new-topic", "orders", ".."), partitions=p.chance.choice([0, 1, 4]), flow=FlowConfig(max_messages=9)
    ),
    lambda p: DeleteTopic(topic=p.topic),
    lambda p: RestoreDeleted(p.of("orders", "jobs", "audit", "new-topic")),
    lambda p: AddPartitions(topic=p.topic, total=p.chance.choice([1, 4, 5, 10**6])),
    lambda p: ConfigureTopic(
        topic=p.topic,
        log=LogSettings(cleanup=p.chance.choice(["delete", "compact"]), retention_ms=p.chance.choice([None, 4000])),
    ),
    lambda p: ConfigureTopic(
        topic=p.of(p.topic, p.queue), flow=FlowConfig(max_messages=p.chance.choice([None, 1, 200]), policy="reject")
    ),
    lambda p: DeleteRecords(topic=p.topic, before={str(p.chance.randrange(4)): p.chance.choice([0, 5, 10**9])}),
    lambda p: DeleteRecords(topic="bills", before={str(p.chance.randrange(2)): p.chance.randrange(60)}),
    lambda p: Produce(p.of(p.topic, p.queue), "hello", "k", count=p.chance.choice([1, 3])),
    lambda p: Produce(p.of(p.topic, p.queue), '{"n": $number}', count=5, rate_per_s=10),
    lambda p: Produce("orders", "/w==", encoding="base64", partition=p.chance.randrange(5)),
    lambda p: RegisterSchema(
        subject="note", text=SchemaText(schema=p.of('{"type": "object"}', '{"type": "string"}', "{"))
    ),
    lambda p: CreateQueue(name=p.of("new-queue", "jobs"), settings=QueueConfig(lease_ms=500)),
    lambda p: CreateSubscription(name=p.of("new-subscription", "jobs"), topic=p.of("orders", "jobs"), max_messages=4),
    lambda p: DeleteQueue(queue=p.queue),
    lambda p: PurgeQueue(queue=p.queue),
    lambda p: UndoPurgeQueue(queue=p.queue),
    lambda p: AckLease(*p.lease()),
    lambda p: NackLease(*p.lease(), requeue=p.chance.random() < 0.5),
    lambda p: ExtendLease(*p.lease(), p.for_s),
    lambda p: ReleaseLease(*p.lease()),
    lambda p: Redrive(queue="jobs", offsets=list(p.offsets("jobs")), rate_per_s=p.chance.choice([None, 0.3])),
    lambda p: Redrive(queue=p.queue, cause=p.of("", "broken"), max_redrives=p.chance.choice([None, 0])),
    lambda p: StopRedrive(queue=p.queue),
    lambda p: Redrive(queue="jobs", rate_per_s=0.2),
    lambda p: StopRedrive(queue="jobs"),
    lambda p: UndoRedrive(queue=p.queue),
    lambda p: EditDeadLetter("jobs", p.offsets("jobs")[0], "mended", "k"),
    lambda p: RevertDeadLetter("jobs", p.offsets("jobs")[0]),
    lambda p: PurgeDeadLetters(queue=p.queue, offsets=p.chance.choice([None, list(p.offsets("jobs"))])),
    lambda p: UndoPurgeDeadLetters(queue=p.queue),
    lambda p: Crash(p.client, p.for_s),
    lambda p: Restart(p.client),
    lambda p: Pause(p.client, p.for_s),
    lambda p: SlowDown(p.client, 3, p.for_s),
    lambda p: DropHeartbeats(p.client, p.for_s),
    lambda p: FillDisk(0.7),
    lambda p: JumpClock(-3600),
    lambda p: EndFaults(p.of(p.client, "")),
    lambda p: HoldSchedule(p.chance.choice([True, False])),
    lambda p: FailMatching(
        p.of(p.client, p.queue, p.group, p.topic),
        every=p.chance.choice([1, 4]),
        key=p.chance.choice([None, "key-1"]),
        outcome=p.chance.choice(["nack", "hang", "forget", "crash"]),
        for_s=p.for_s,
    ),
    lambda p: EndRule(p.of("rule-1", "rule-2")),
    lambda p: BreakRequests(BeginFault(effect="drop", client=p.client, for_s=p.for_s)),
    lambda p: EndRequestFault(p.of("fault-1", "fault-2")),
    lambda p: CreateAcls(acls=(Acl(p.of("ada", "*"), "read", "topic", p.topic),)),
    lambda p: DeleteAcls(acls=(Acl(p.of("ada", "*"), "read", "topic", p.topic),)),
    lambda p: SetQuota(quota=ClientQuota("producer_byte_rate", p.chance.choice([5_000, 9_000]), client_id=p.client)),
    lambda p: RemoveQuota(key="producer_byte_rate", client_id=p.of("shop", "nobody")),
    lambda p: DeleteUser(user="nobody"),
]
