"""Whatever a person does to a session, in whatever order, no promise is broken: the checker watches."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import get_args

import pytest

import resources
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.groups.offset_reset import Target
from broker_core.operations.topics import LogSettings
from broker_core.queues.config import QueueConfig
from broker_core.recording.checker import Checker
from broker_core.settings import LimitPolicy
from broker_core.simulation import Simulation
from broker_core.simulation.actions import UserAction, clients, dead_letters, faults, groups, queues, topics
from broker_core.simulation.durations import Duration
from broker_core.snapshots import Snapshot
from tests.broker_core.simulation.busy_session import reset
from tests.broker_core.simulation.session_run import shipped

pytestmark = pytest.mark.slow

NAMES = ["first-session", "fan-out", "work-queue", "schema-evolution"]
STEPS = 40
Made = Callable[[], UserAction]


class User:
    """Somebody who tries everything, on what is there and on what is not."""

    def __init__(self, simulation: Simulation, dice: random.Random) -> None:
        self._simulation = simulation
        self._dice = dice

    def act(self) -> None:
        """Do something; what makes no sense is refused."""
        with contextlib.suppress(BrokerError):
            self._simulation.perform(self._dice.choice(self._choices(self._simulation.snapshot()))())

    def _one(self, names: list[str]) -> str:
        return self._dice.choice(names or ["nothing"])

    def _choices(self, there: Snapshot) -> list[Made]:
        names = [actor.name for actor in there.actors]
        consumers, producers = (
            [each.name for each in there.actors if each.role == role] for role in ("consumer", "producer")
        )
        topics, groups = [each.name for each in there.topics], [each.name for each in there.groups]
        queue, topic, group = self._one([each.name for each in there.queues]), self._one(topics), self._one(groups)
        who, consumer, producer = self._one(names), self._one(consumers), self._one(producers)
        return [
            *self._on_groups(group, topic, consumer),
            *self._on_queues(there, queue),
            *self._on_topics(topic, queue, [*topics, *names, "new-queue", "new-topic", queue]),
            *self._on_clients(who, producer, group, topic, queue),
            *self._faults(who, consumer),
        ]

    def _target(self, group: str) -> Target:
        dice = self._dice
        return dice.choice(
            [
                Target("earliest"),
                Target("latest"),
                Target("offset", offset=dice.randint(0, 300)),
                Target("shift-by", offset=dice.randint(-50, 50)),
                Target("group", group=group),
            ]
        )

    def _on_groups(self, group: str, topic: str, consumer: str) -> list[Made]:
        dice = self._dice
        made = f"made-{dice.randint(0, 3)}"
        return [
            lambda: groups.MoveConsumer(consumer, dice.choice([group, "", "new-group"])),
            lambda: groups.CreateGroup(made, (topic,)),
            lambda: groups.DeleteGroup(group=group),
            lambda: groups.RestoreGroup(dice.choice([made, group])),
            lambda: groups.SubscribeGroup(group, topic),
            lambda: groups.UnsubscribeGroup(group, topic),
            lambda: groups.SetAssignor(group, dice.choice(["range", "sticky", "cooperative-sticky"])),
            lambda: reset(group, self._target(group), restart_members=dice.random() < 0.7),
            lambda: groups.Seek(consumer, topic, dice.randint(0, 5), self._target(group)),
        ]

    def _on_queues(self, there: Snapshot, queue: str) -> list[Made]:
        dice = self._dice
        leases = [lease for each in there.queues for lease in each.leases]
        letters = [letter.offset for each in there.queues if each.name == queue for letter in each.dead_letters]
        some = dice.sample(letters, min(len(letters), dice.randint(0, 4)))

        def held() -> tuple[str, int, int, str, int]:
            if not leases:
                raise BrokerError(ErrorCode.INVALID_LEASE, "nothing is held")
            lease = dice.choice(leases)
            return lease.queue, lease.partition, lease.offset, lease.holder, lease.attempt

        return [
            lambda: queues.CreateQueue(name="new-queue", settings=QueueConfig(lease_ms=700, max_attempts=2)),
            lambda: queues.CreateSubscription(
                name="new-subscription",
                topic=dice.choice([topic.name for topic in there.topics] or [queue]),
                settings=QueueConfig(priorities=2),
                max_messages=3,
                policy=dice.choice(get_args(LimitPolicy)),
            ),
            lambda: queues.DeleteQueue(queue=queue),
            lambda: queues.PurgeQueue(queue=queue),
            lambda: queues.UndoPurgeQueue(queue=queue),
            lambda: queues.AckLease(*held()),
            lambda: queues.NackLease(*held(), requeue=dice.random() < 0.5),
            lambda: queues.ExtendLease(*held(), for_s=2.0),
            lambda: queues.ReleaseLease(*held()),
            lambda: dead_letters.Redrive(queue=queue, offsets=some),
            lambda: dead_letters.Redrive(queue=queue, rate_per_s=dice.choice([None, 5.0])),
            lambda: dead_letters.StopRedrive(queue=queue),
            lambda: dead_letters.UndoRedrive(queue=queue),
            lambda: dead_letters.EditDeadLetter(queue, (*some, 0)[0], "edited"),
            lambda: dead_letters.PurgeDeadLetters(queue=queue, offsets=some or None),
            lambda: dead_letters.UndoPurgeDeadLetters(queue=queue),
        ]

    def _on_topics(self, topic: str, queue: str, known: list[str]) -> list[Made]:
        dice = self._dice
        flow = FlowConfig(max_messages=dice.randint(5, 60), policy=dice.choice(["block", "reject", "drop_newest"]))
        return [
            lambda: topics.CreateTopic(name="new-topic", partitions=2),
            lambda: topics.DeleteTopic(topic=topic),
            lambda: topics.RestoreDeleted(dice.choice(known)),
            lambda: topics.AddPartitions(topic=topic, total=dice.randint(2, 9)),
            lambda: topics.ConfigureTopic(topic=dice.choice([topic, queue]), flow=flow),
            lambda: topics.DeleteRecords(topic=topic, before={"0": dice.randint(0, 200)}),
            lambda: topics.ConfigureTopic(
                topic=topic, log=LogSettings(retention_ms=dice.choice([None, 5_000]), segment_ms=1_000)
            ),
            lambda: topics.Produce(dice.choice([topic, queue]), "hello", count=dice.randint(1, 5)),
        ]

    def _on_clients(self, who: str, producer: str, group: str, topic: str, queue: str) -> list[Made]:
        dice = self._dice
        number = dice.randint(0, 9)
        return [
            lambda: clients.AddConsumer(f"consumer-{number}", group),
            lambda: clients.AddProducer(f"producer-{number}", dice.choice([topic, queue])),
            lambda: clients.AddWorker(f"worker-{number}", queue, prefetch=dice.randint(1, 4)),
            lambda: clients.DuplicateClient(who),
            lambda: clients.RemoveClient(who),
            lambda: clients.RestoreClient(dice.choice([who, f"worker-{number}"])),
            lambda: clients.SetProducerRate(producer, 5.0),
            lambda: clients.SetProcessingTime(who, Duration(mean_ms=dice.choice([1, 50, 500]))),
        ]

    def _faults(self, who: str, consumer: str) -> list[Made]:
        dice = self._dice
        return [
            lambda: faults.Crash(who, for_s=dice.choice([1.0, 5.0])),
            lambda: faults.Restart(who),
            lambda: faults.Pause(who, for_s=dice.choice([1.0, 9.0])),
            lambda: faults.SlowDown(who, factor=3.0, for_s=4.0),
            lambda: faults.DropHeartbeats(consumer, for_s=8.0),
            lambda: faults.FillDisk(for_s=2.0),
            lambda: faults.JumpClock(by_s=-86_400.0),
        ]


def check(name: str, seed: int) -> None:
    dice = random.Random(f"{name} {seed}")
    scenario = shipped(name)
    simulation = Simulation(scenario, find_file=lambda file: resources.path("sample_data", file))
    simulation.events.attach(Checker.of(scenario))
    simulation.start()
    user, now_s = User(simulation, dice), 0.0
    for _ in range(STEPS):
        now_s += dice.choice([0.1, 0.5, 1.0, 3.0])
        simulation.run(now_s)
        user.act()
    simulation.run(now_s + 10)
    simulation.close()


@pytest.mark.promise("7")
@pytest.mark.parametrize("name", NAMES)
def test_a_user_who_tries_everything_breaks_no_promise(name: str) -> None:
    """Promises 7, 11 to 14 and 16."""
    for seed in range(3):
        check(name, seed)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", NAMES)
def test_a_user_who_tries_everything_for_long_breaks_no_promise(name: str) -> None:
    for seed in range(100, 300):
        check(name, seed)
