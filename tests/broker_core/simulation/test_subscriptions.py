"""C1 and C2: every subscriber has a bounded queue of its own; who waits for several topics loses nothing."""

from __future__ import annotations

import pytest

from broker_core.clock import NS_PER_S, s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.lease import Lease
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions.dead_letters import Redrive

TEXT = "{title: T, about: x, until_s: 60, topics: [{name: news, partitions: 3}, {name: single}]}"
CONFIG = QueueConfig(lease_ms=1_000, max_attempts=1)


class BrokerSetup:
    def __init__(self) -> None:
        self.simulation = Simulation(parse_scenario(TEXT))
        self.events: list[Event] = []
        self.simulation.events.attach(self.events.append)
        self.simulation.start()
        self.broker = self.simulation.broker

    @property
    def now_ns(self) -> int:
        return self.simulation.loop.now_ns

    def publish(self, *values: str, topic: str = "single", key: bytes | None = None) -> tuple[str, ...]:
        missed_by: tuple[str, ...] = ()
        for value in values:
            reply = self.broker.publishing.publish(self.now_ns, topic, Message(value.encode(), key), client="p")
            published = reply.result()
            assert published is not None
            missed_by = published.missed_by
            self.simulation.run(s_from_ns(self.now_ns) + 0.001)
        return missed_by

    def take(self, name: str, most: int = 1) -> list[Lease]:
        return self.broker.queues.take(self.now_ns, name, "reader", max_messages=most).result()

    def values(self, name: str) -> list[str]:
        return [(message.value or b"").decode() for message in self.broker.queues.queue(name).peek(100)]


@pytest.mark.promise("C1")
def test_each_subscriber_gets_every_message_from_its_beginning_on() -> None:
    setup = BrokerSetup()
    setup.publish("before")
    for name in ("one", "two"):
        setup.broker.queues.subscribe(setup.now_ns, name, "single", CONFIG)
    setup.publish("a", "b")
    assert setup.values("one") == setup.values("two") == ["a", "b"]
    (lease,) = setup.take("one")
    setup.broker.queues.ack(setup.now_ns, lease)
    assert setup.values("one") == ["b"]
    assert setup.values("two") == ["a", "b"]


@pytest.mark.promise("C1")
def test_a_full_backlog_turns_the_newest_away_from_that_subscriber_alone() -> None:
    setup = BrokerSetup()
    setup.broker.queues.subscribe(0, "slow", "single", CONFIG, max_messages=2)
    setup.broker.queues.subscribe(0, "fast", "single", CONFIG)
    assert setup.publish("a", "b") == ()
    assert setup.publish("c") == ("slow",)
    assert setup.values("slow") == ["a", "b"]
    assert setup.values("fast") == ["a", "b", "c"]
    (evicted,) = [event for event in setup.events if event.kind is EventKind.EVICTED]
    assert (evicted.topic, evicted.group, evicted.offset, evicted.client) == ("single", "slow", 2, "p")


def test_or_pushes_the_oldest_out() -> None:
    setup = BrokerSetup()
    setup.broker.queues.subscribe(0, "slow", "single", CONFIG, max_messages=2, policy="drop_oldest")
    assert setup.publish("a", "b", "c", "d") == ()
    assert setup.values("slow") == ["c", "d"]


def test_what_is_handed_straight_over_or_in_hand_does_not_count() -> None:
    setup = BrokerSetup()
    setup.broker.queues.subscribe(0, "slow", "single", CONFIG, max_messages=1)
    waiting = setup.broker.queues.take(setup.now_ns, "slow", "reader", deadline_ns=NS_PER_S)
    assert setup.publish("a", "b") == ()
    assert [lease.message.value for lease in waiting.result()] == [b"a"]
    assert setup.publish("c") == ("slow",)


def test_partitions_are_read_in_the_order_of_publishing() -> None:
    setup = BrokerSetup()
    setup.broker.queues.subscribe(0, "all", "news", CONFIG)
    for number in range(12):
        setup.publish(str(number), topic="news", key=str(number % 5).encode())
    assert [lease.message.value for lease in setup.take("all", 12)] == [str(number).encode() for number in range(12)]


def test_a_dead_letter_goes_back_to_the_topic_where_every_subscriber_sees_it_again() -> None:
    setup = BrokerSetup()
    for name in ("one", "two"):
        setup.broker.queues.subscribe(setup.now_ns, name, "single", CONFIG)
    setup.publish("a")
    (lease,) = setup.take("one")
    setup.broker.queues.nack(setup.now_ns, lease, "no good")
    (one, _) = setup.simulation.snapshot().queues
    (letter,) = one.dead_letters
    assert (letter.origin_topic, letter.cause) == ("single", "no good")
    setup.simulation.perform(Redrive(queue="one", offsets=[letter.offset]))
    assert setup.values("one") == ["a"]
    assert setup.values("two") == ["a", "a"]


@pytest.mark.parametrize(
    ("name", "topic", "options", "code"),
    [
        ("s", "nowhere", {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("News", "single", {}, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("taken", "single", {}, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("../s", "single", {}, ErrorCode.INVALID_TOPIC),
        ("s", "single", {"max_messages": 0}, ErrorCode.INVALID_CONFIG),
        ("s", "single", {"policy": "drop_any"}, ErrorCode.INVALID_CONFIG),
    ],
)
def test_a_senseless_subscription_is_refused(name: str, topic: str, options: dict, code: ErrorCode) -> None:
    setup = BrokerSetup()
    setup.broker.queues.subscribe(0, "taken", "news", CONFIG)
    with pytest.raises(BrokerError) as caught:
        setup.broker.queues.subscribe(0, name, topic, CONFIG, **options)
    assert caught.value.code is code
    assert [queue.name for queue in setup.simulation.snapshot().queues] == ["taken"]


TWO = """\
title: Two topics
about: One who waits for both.
until_s: 100
topics: [{name: a}, {name: b}]
producers:
  - {name: pa, to: a, arrivals: {kind: rate, per_s: 3, spacing: SPACING}}
  - {name: pb, to: b, arrivals: {kind: rate, per_s: 3, spacing: SPACING}}
subscribers:
  - {name: s, topics: [a, b], ack: ACK, processing: {kind: exponential, mean_ms: MEAN}}
"""


@pytest.mark.promise("C2")
@pytest.mark.parametrize("spacing", ["constant", "poisson"])
@pytest.mark.parametrize("ack", ["before", "after"])
@pytest.mark.parametrize("mean_ms", ["0", "100", "160", "400"])
def test_who_waits_for_several_topics_loses_nothing_and_prefers_the_first(spacing: str, ack: str, mean_ms: str) -> None:
    text = TWO.replace("SPACING", spacing).replace("ACK", ack).replace("MEAN", mean_ms)
    simulation = Simulation(parse_scenario(text))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.run()
    (subscriber,) = (actor for actor in simulation.snapshot().actors if actor.name == "s")
    assert subscriber.topics == ("a", "b")
    queues = {queue.name: queue for queue in simulation.snapshot().queues}
    for topic in ("a", "b"):
        queue = queues[f"s.{topic}"]
        published = sum(e.count for e in events if e.kind is EventKind.PUBLISHED and e.topic == topic)
        assert published == queue.acknowledged + queue.in_flight + queue.ready
        offsets = [e.offset for e in events if e.kind is EventKind.DELIVERED and e.topic == topic]
        assert offsets == list(range(published - queue.ready))
    if mean_ms == "400":
        # It can do 2.5 a second, and 3 come of the first topic alone.
        assert queues["s.b"].acknowledged < 20 < queues["s.a"].acknowledged
    if mean_ms in {"0", "100"}:
        assert queues["s.a"].ready + queues["s.b"].ready < 10


FAN = """
title: One is slow
about: Two read the same.
until_s: 60
topics: [{name: news}]
producers: [{name: p, to: news, arrivals: {kind: rate, per_s: 20, spacing: poisson}}]
subscribers:
  - {name: quick, topics: [news], backlog: 100, processing: {kind: exponential, mean_ms: 10}}
  - {name: slow, topics: [news], backlog: 10, policy: drop_oldest, processing: {mean_ms: MEAN}}
groups: [{name: readers, topics: [news]}, {name: sleepers, topics: [news]}]
consumers:
  - {name: reader, group: readers, processing: {kind: exponential, mean_ms: 10}}
  - {name: sleeper, group: sleepers, processing: {mean_ms: MEAN}}
"""


@pytest.mark.promise("15")
def test_promise_15_a_slow_consumer_slows_nobody_and_holds_at_most_its_limit() -> None:
    """The 99th percentile of the others is the same, in virtual time to the nanosecond."""
    waits: dict[str, list[list[int]]] = {"quick": [], "readers": []}
    for mean_ms in ("1", "5000"):
        simulation = Simulation(parse_scenario(FAN.replace("MEAN", mean_ms)))
        events: list[Event] = []
        simulation.events.attach(events.append)
        for second in range(61):
            simulation.run(float(second))
            (slow,) = (queue for queue in simulation.snapshot().queues if queue.name == "slow")
            assert slow.ready <= 10
        for group, found in waits.items():
            acknowledged = [e for e in events if e.kind is EventKind.ACKNOWLEDGED and e.group == group]
            found.append(sorted(event.time_ns - (event.published_ns or 0) for event in acknowledged))
    for before, after in waits.values():
        assert len(before) > 1_000
        assert after[len(after) * 99 // 100] == before[len(before) * 99 // 100]


def test_a_subscriber_that_crashes_the_moment_its_subscription_is_deleted_stays_crashed() -> None:
    text = TWO.replace("SPACING", "constant").replace("ACK", "after").replace("MEAN", "10")
    simulation = Simulation(parse_scenario(text))
    simulation.run(0.1)
    for name in ("s.a", "s.b"):
        simulation.broker.queues.delete(simulation.loop.now_ns, name)
    simulation.actors["s"].crash()
    simulation.run(20)
    assert simulation.actors["s"].state == "crashed"
