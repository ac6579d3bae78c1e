"""The virtual consumer is held to confluent-kafka: the same calls, on both, give the same answers.

Each run is a list of calls that one function makes on either consumer. What they return or raise, what the listeners
are told and do, where the consumer stands and what its group has committed is written down, and compared.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition

from broker_core.errors import BrokerError, ErrorCode
from broker_core.testing.confluent_errors import as_raised
from broker_core.testing.embedded_broker import EmbeddedBroker
from broker_core.testing.virtual_broker import VirtualBroker
from broker_core.testing.virtual_consumer import VirtualConsumer
from broker_core.testing.virtual_message import TopicPartition

TOPICS = ("a", "b")  # of one partition each
MESSAGES = 6
LONG_S, MOMENT_S = 10.0, 0.02
Call = tuple[str, ...]
IN_ASSIGN = ("", "", "commit", "seek", "assign 3", "fail")
IN_REVOKE = ("", "commit", "commit async", "position", "fail")
IN_LOST = ("none", "", "commit", "fail")
# Whether it has heard of being fenced, and whether it has ever known a partition, differs from run to run.
_SAME = {"UNKNOWN_MEMBER_ID": "fenced", "_ASSIGNMENT_LOST": "fenced", "_UNKNOWN_PARTITION": "_STATE"}


class Run:
    """One run of calls on `consumer`; `told` is what is compared."""

    def __init__(self, consumer: Any, partition: Callable[..., Any], kick: Callable[[], object]) -> None:
        self.consumer, self.partition, self.kick_out = consumer, partition, kick
        self.told: list[object] = []
        self.at = dict.fromkeys(TOPICS, 0)  # the offset that is to be read next
        self.in_assign = ""
        self.assigns = 0
        self.told_of_commits: list[object] = []  # apart, because the poll in which they are told differs
        self.commits = 0  # asynchronous ones that nobody has heard of

    def do(self, call: Call) -> None:
        self.told.append((" ".join(call), self._tried(lambda: getattr(self, call[0])(*call[1:]))))
        if call[0] != "close":
            self._until_told()
            both, owned = [self.partition(topic, 0) for topic in TOPICS], sorted(self._owned())
            self.told.append(owned)
            self.told.append(self._tried(lambda: self.consumer.committed(both, timeout=LONG_S)))
            # librdkafka forgets the position of a partition that it gives up a little later.
            self.told.append(self._tried(lambda: self.consumer.position([self.partition(topic, 0) for topic in owned])))

    def _owned(self) -> set[str]:
        return {each.topic for each in self.consumer.assignment()}

    def _tried(self, action: Callable[[], object]) -> object:
        try:
            found = action()
        except KafkaException as error:
            name = error.args[0].name()
            return _SAME.get(name, name)
        except ValueError as error:
            return str(error)
        if isinstance(found, list):
            return sorted((each.topic, each.partition, each.offset) for each in found)
        return found

    def on_commit(self, error: Any, partitions: list[Any]) -> None:
        self.commits -= 1
        name = error and (error.args[0] if isinstance(error, BrokerError) else error).name()
        places = sorted((each.topic, each.offset) for each in partitions)
        self.told_of_commits.append((_SAME.get(name, name), places))

    # -- the calls

    def subscribe(self, in_assign: str, in_revoke: str, in_lost: str) -> None:
        listeners = {"on_assign": self._listener("assign", in_assign), "on_revoke": self._listener("revoke", in_revoke)}
        if in_lost != "none":
            listeners["on_lost"] = self._listener("lost", in_lost)
        self.consumer.subscribe(list(TOPICS), **listeners)
        self.in_assign = in_assign
        self._until_assigned()

    def _until_assigned(self) -> None:
        """Poll until it has got its partitions, and read nothing."""
        before, failed, ends_s = self.assigns, None, time.monotonic() + LONG_S
        while self.assigns == before and time.monotonic() < ends_s:
            try:
                assert self.consumer.poll(0.001) is None
            except ValueError as error:
                failed = error
        assert self.assigns > before
        self._starts(3 if self.in_assign == "assign 3" else -1)
        if failed is not None:
            raise failed

    def _listener(self, what: str, does: str) -> Callable[[Any, Any], None]:
        def listener(consumer: Any, partitions: list[Any]) -> None:
            self.told.append((what, sorted(each.topic for each in partitions), sorted(self._owned())))
            if does == "commit":
                self.told.append(self._tried(lambda: consumer.commit(asynchronous=False)))
            elif does == "commit async":
                consumer.commit()
                self.commits += 1
            elif does == "position":
                self.told.append(self._tried(lambda: consumer.position(partitions)))
            elif does == "seek" and not self.assigns:  # librdkafka may know the partition later on
                self.told.append(self._tried(lambda: consumer.seek(self.partition("a", 0, 2))))
            if what == "assign":
                self.assigns += 1
                begin = [int(does[-1])] if does == "assign 3" else []
                consumer.assign([self.partition(each.topic, 0, *begin) for each in partitions])
                consumer.pause(partitions)
            if does == "fail":
                raise ValueError("a listener failed")

        return listener

    def assign(self, topic: str, offset: str) -> None:
        self.consumer.assign([self.partition(topic, 0, int(offset)) if offset else self.partition(topic, 0)])
        self.consumer.pause([self.partition(topic, 0)])
        self._starts(int(offset or -1))

    def poll(self, topic: str) -> object:
        """Of one topic; which of several comes first is not compared."""
        if topic not in self._owned():
            return None
        place = self.partition(topic, 0)
        self.consumer.resume([place])
        message = self.consumer.poll(LONG_S if self.at[topic] < MESSAGES else MOMENT_S)
        self.consumer.pause([place])
        if message is None:
            return None
        assert message.error() is None
        self.at[topic] = message.offset() + 1
        return message.topic(), message.offset()

    def _starts(self, offset: int = -1) -> None:
        for each in self.consumer.committed([self.partition(topic, 0) for topic in TOPICS], timeout=LONG_S):
            self.at[each.topic] = offset if offset >= 0 else max(each.offset, 0)

    def commit(self) -> object:
        return self.consumer.commit(asynchronous=False)

    def commit_async(self) -> None:
        self.consumer.commit()
        self.commits += 1

    def _until_told(self) -> None:
        ends_s = time.monotonic() + LONG_S
        while self.commits and time.monotonic() < ends_s:
            self.consumer.poll(0.001)

    def commit_offset(self, topic: str, offset: str) -> object:
        return self.consumer.commit(offsets=[self.partition(topic, 0, int(offset))], asynchronous=False)

    def seek(self, topic: str, offset: str) -> object:
        (at,) = self.consumer.position([self.partition(topic, 0)])
        if topic in self._owned() and at.offset < 0:
            return "it may be too early in librdkafka"
        self.consumer.seek(self.partition(topic, 0, int(offset)))
        self.at[topic] = int(offset)
        return None

    def store(self, topic: str) -> object:
        return self.consumer.store_offsets(offsets=[self.partition(topic, 0, 1)])

    def watermarks(self, topic: str) -> object:
        return self.consumer.get_watermark_offsets(self.partition(topic, 0), timeout=LONG_S)

    def unassign(self) -> None:
        self.consumer.unassign()

    def unsubscribe(self) -> None:
        self.consumer.unsubscribe()
        ends_s = time.monotonic() + LONG_S
        while self._owned() and time.monotonic() < ends_s:
            self.consumer.poll(0.001)

    def kick(self) -> None:
        self.kick_out()
        self._until_assigned()

    def close(self) -> None:
        self.consumer.close()


# -- both consumers


def told_by(runs: list[Run]) -> Callable[[Any, list[Any]], None]:
    """The consumer is made with it, and the run with the consumer."""

    def on_commit(error: Any, partitions: list[Any]) -> None:
        runs[0].on_commit(error, partitions)

    return on_commit


def on_confluent(calls: list[Call]) -> list[object]:
    with EmbeddedBroker() as broker:
        for topic in TOPICS:
            broker.create_topic(topic)
            broker.publish(topic, *map(str, range(MESSAGES)))
        runs: list[Run] = []
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "g",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "heartbeat.interval.ms": 50,
                "session.timeout.ms": 6_000,
                "fetch.wait.max.ms": 10,
                "on_commit": told_by(runs),
                "log_level": 0,
            }
        )
        run = Run(consumer, KafkaPartition, lambda: broker.faults.kick("g"))
        runs.append(run)
        try:
            for call in calls:
                run.do(call)
        finally:
            run.consumer.close()
        return run.told + run.told_of_commits


def on_virtual(calls: list[Call]) -> list[object]:
    with VirtualBroker() as broker:
        for topic in TOPICS:
            broker.create_topic(topic)
            broker.publish(topic, *map(str, range(MESSAGES)))
        runs: list[Run] = []

        def kick() -> None:
            held = broker._broker.held
            held.kick(broker._simulation.loop.now_ns, "g-1", "g")

        def program(consumer: VirtualConsumer) -> None:
            run = Run(consumer, TopicPartition, kick)
            runs.append(run)
            for call in calls:
                run.do(call)
            run.consumer.close()

        broker.add_consumers(program, "g", on_commit=told_by(runs))
        broker.run()
        assert len(runs) == 1
        return runs[0].told + runs[0].told_of_commits


def calls_of(seed: int) -> list[Call]:
    """Any calls, in an order in which librdkafka's own threads make no difference."""
    numbers = random.Random(seed)

    def subscribe() -> Call:
        return ("subscribe", numbers.choice(IN_ASSIGN), numbers.choice(IN_REVOKE), numbers.choice(IN_LOST))

    def topic() -> str:
        return numbers.choice(TOPICS)

    def offset() -> str:
        return str(numbers.randrange(MESSAGES + 1))

    subscribed = numbers.random() < 0.7
    calls = [subscribe() if subscribed else ("assign", topic(), numbers.choice(("", offset())))]
    while len(calls) < 14:
        kinds = ["poll"] * 6 + ["commit"] * 3 + ["commit_async", "commit_offset", "seek", "seek", "store", "watermarks"]
        kind = numbers.choice(
            [*kinds, *(["kick", "unsubscribe"] if subscribed else ["unassign", "assign", "subscribe"])]
        )
        if kind in {"poll", "store", "watermarks"}:
            calls.append((kind, topic()))
        elif kind in {"seek", "commit_offset"}:
            calls.append((kind, topic(), offset()))
        elif kind == "assign":
            calls.append((kind, topic(), numbers.choice(("", offset()))))
        elif kind == "subscribe":
            subscribed = True
            calls += [("unassign",), subscribe()]
        elif kind == "kick":  # not while librdkafka asks where to begin
            calls += [("poll", "a"), ("poll", "b"), (kind,)]
        elif kind == "unsubscribe":
            calls += [(kind,), ("commit",), subscribe()]
        else:
            calls.append((kind,))
    return [*calls, ("close",)]


@pytest.mark.parametrize("seed", [0, 2, 7, 9])
def test_the_same_calls_give_the_same_answers(seed: int) -> None:
    calls = calls_of(seed)
    assert on_virtual(calls) == on_confluent(calls)


@pytest.mark.soak
@pytest.mark.timeout(1_800)  # a second for each seed
def test_any_calls_give_the_same_answers() -> None:
    for seed in range(500):
        test_the_same_calls_give_the_same_answers(seed)


def test_what_a_listener_sends_arrives_before_the_member_leaves() -> None:
    """An asynchronous commit in on_revoke counts, as on one connection."""
    calls: list[Call] = [("subscribe", "", "commit async", "none"), ("poll", "a"), ("close",)]
    told = on_virtual(calls)
    assert told[-1] == (None, [("a", 1), ("b", -1001)])
    assert told == on_confluent(calls)


def test_a_run_goes_on_while_a_member_is_about_to_join_again() -> None:
    """A group without members told no lag of what it had not committed, and the run ended."""
    calls: list[Call] = [
        ("subscribe", "", "", "none"),
        *[("poll", "a")] * 6,
        ("commit",),
        ("kick",),
        *[("poll", "b")] * 6,
        ("commit",),
        ("close",),
    ]
    assert ("poll b", ("b", 5)) in on_virtual(calls)


def test_every_error_that_kafka_has_is_raised_as_a_kafka_exception_too():
    for code in (code for code in ErrorCode if code.code < 400):
        raised = as_raised(BrokerError(code, "orders", possibly_stored=True))
        assert isinstance(raised, KafkaException), code
        assert (raised.code, raised.args[0].code(), raised.possibly_stored) == (code, code.code, True)
        assert as_raised(raised) is raised
