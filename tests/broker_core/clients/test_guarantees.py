"""The three guarantees, each with an accident in which the others fail visibly.

A consumer gets ten messages, and dies at its fifth: after it has had its effect, and before it has said so.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import pytest

from broker_core.clients.consumer import Consumer
from broker_core.clients.effects import SqliteEffects
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from tests.broker_core.clients.virtual_broker import VirtualBroker

Guarantee = Literal["at_most_once", "at_least_once", "effectively_once"]


@dataclass
class Application:
    """Its effects; those of `effectively_once` share a transaction with the offset."""

    guarantee: Guarantee
    database: sqlite3.Connection = field(default_factory=lambda: sqlite3.connect(":memory:"))
    effects: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.together = SqliteEffects(self.database, "readers")

    def consumer(self, virtual: VirtualBroker, name: str) -> Consumer:
        at_most_once = self.guarantee == "at_most_once"
        consumer = virtual.consumer(name, guarantee="at_most_once" if at_most_once else "at_least_once")
        if self.guarantee == "effectively_once":

            def resume(partitions: object) -> None:
                offset = self.together.offset("commits", 0)
                if offset is not None:
                    consumer.seek("commits", 0, offset)

            consumer._on_assigned = resume
        return consumer

    def live(self, virtual: VirtualBroker, name: str, dies_at: int | None) -> None:
        consumer = self.consumer(virtual, name)
        while messages := virtual.do(consumer.poll(100)):
            for message in messages:
                if self.guarantee == "effectively_once":
                    with self.together.applying(message) as fresh:
                        self.effects[message.offset] += fresh
                else:
                    self.effects[message.offset] += 1
                if message.offset == dies_at:
                    consumer.abandon()
                    virtual.run(30)
                    return
                consumer.done(message)
            consumer.commit()
        consumer.close()


@pytest.mark.promise("C5")
@pytest.mark.parametrize(
    ("guarantee", "lost", "repeated"), [("at_most_once", 5, 0), ("at_least_once", 0, 5), ("effectively_once", 0, 0)]
)
def test_what_a_death_in_the_middle_costs(guarantee: Guarantee, lost: int, repeated: int):
    virtual = VirtualBroker(1)
    virtual.publish(*[b"%d" % number for number in range(10)])
    application = Application(guarantee)
    application.live(virtual, "first", dies_at=4)
    application.live(virtual, "second", dies_at=None)
    missing = [offset for offset in range(10) if not application.effects[offset]]
    twice = [offset for offset, times in application.effects.items() if times > 1]
    assert (len(missing), len(twice)) == (lost, repeated)
    application.database.close()


@pytest.mark.parametrize(("guarantee", "comes_again"), [("at_most_once", False), ("at_least_once", True)])
def test_a_queues_consumer_that_dies_with_a_message(
    guarantee: Literal["at_most_once", "at_least_once"], comes_again: bool
):
    with BrokerHost() as host:
        host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig(lease_ms=20)))
        host.call(lambda now_ns: host.broker.publishing.publish(now_ns, "jobs", Message(b"a"), client="test"))
        dead = QueueConsumer(host, "jobs", guarantee=guarantee)
        assert dead.take() is not None  # and never a word again
        again = QueueConsumer(host, "jobs").take(0.2)
        assert (again is not None) is comes_again
