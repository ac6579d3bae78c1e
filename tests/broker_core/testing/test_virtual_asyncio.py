"""Async functions in virtual time, with the calls of aiokafka."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import CommitFailedError

from broker_core.testing import Disturbance, Schedule, VirtualAsyncConsumer, VirtualBroker, given_schedule

ORDERS = {*range(12)}


async def bill(consumer: VirtualAsyncConsumer, done: set[int], *, commits_first: bool) -> None:
    consumer.subscribe(["orders"])
    async for message in consumer:
        try:
            if commits_first:
                await consumer.commit()
            await asyncio.sleep(0.1)
            done.add(int(message.value or b""))
            if not commits_first:
                await consumer.commit()
        except CommitFailedError:
            pass  # another member gets it


def run_consumers(broker: VirtualBroker, *, commits_first: bool) -> set[int]:
    done: set[int] = set()
    broker.create_topic("orders", partitions=3)
    broker.publish("orders", *map(str, ORDERS))
    broker.add_async_consumers(lambda consumer: bill(consumer, done, commits_first=commits_first), "billing", count=2)
    broker.run()
    return done


@given_schedule(schedules=30)
def test_a_right_function_loses_nothing(broker: VirtualBroker) -> None:
    assert run_consumers(broker, commits_first=False) == ORDERS


def test_one_that_commits_too_early_is_found() -> None:
    @given_schedule(schedules=100)
    def run(broker: VirtualBroker) -> None:
        assert run_consumers(broker, commits_first=True) == ORDERS

    with pytest.raises(AssertionError) as found:
        run()
    assert "1 disturbance" in str(found.value.__notes__)


class Batch:
    """A rebalance listener that finishes what is held, with a wait in between."""

    def __init__(self, consumer: VirtualAsyncConsumer, write: Any) -> None:
        self.consumer, self.write = consumer, write
        self.held: list[bytes | None] = []
        self.assigned: set[Any] = set()

    async def on_partitions_revoked(self, revoked: set[Any]) -> None:
        await asyncio.sleep(0.1)
        await self.finish()

    def on_partitions_assigned(self, assigned: set[Any]) -> None:
        self.assigned |= assigned

    async def finish(self) -> None:
        self.write(self.held)
        self.held.clear()
        with contextlib.suppress(CommitFailedError):
            await self.consumer.commit()


@given_schedule(schedules=40)
def test_listeners_may_wait_and_tasks_go_on(broker: VirtualBroker) -> None:
    done: list[bytes] = []
    seen: list[Batch] = []

    async def collect(consumer: VirtualAsyncConsumer) -> None:
        batch = Batch(consumer, done.extend)
        seen.append(batch)
        consumer.subscribe(["orders"], listener=batch)
        while True:
            found = await consumer.getmany(timeout_ms=1_000)
            batch.held += [message.value for messages in found.values() for message in messages]
            await asyncio.wait_for(batch.finish(), 5)

    broker.create_topic("orders", partitions=3)
    for number in ORDERS:
        broker.publish("orders", str(number), at_s=number / 4)
    broker.add_async_consumers(collect, "billing", count=2)
    broker.run()
    assert {int(value) for value in done} == ORDERS
    assert {each.topic for batch in seen for each in batch.assigned} == {"orders"}


def test_time_passes_for_tasks_and_time_outs() -> None:
    told: list[object] = []

    async def program(consumer: VirtualAsyncConsumer) -> None:
        async def tick() -> None:
            while True:
                await asyncio.sleep(10)
                told.append("tick")

        ticking = asyncio.create_task(tick())
        consumer.subscribe(["orders"])
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(consumer.getone(), 25)
        told.append(round(broker.now_s))
        assert await consumer.getmany(timeout_ms=1_000) == {}
        message = await consumer.getone()
        (place,) = consumer.assignment()
        told.append((message.value, place, await consumer.committed(place)))
        await consumer.commit({place: 1})
        told.append(await consumer.committed(place))
        ticking.cancel()
        await consumer.stop()

    with VirtualBroker() as broker:
        broker.create_topic("orders")
        broker.publish("orders", "late", at_s=45)
        broker.add_async_consumers(program, "billing")
        broker.run()
    assert told == ["tick", "tick", 25, "tick", "tick", (b"late", ("orders", 0), None), 1]


def test_what_virtual_time_cannot_bring_is_said() -> None:
    async def program(consumer: VirtualAsyncConsumer) -> None:
        await asyncio.Event().wait()

    with VirtualBroker() as broker:
        broker.create_topic("orders")
        broker.publish("orders", "1")
        broker.add_async_consumers(program, "billing")
        with pytest.raises(RuntimeError, match="does not happen in virtual time"):
            broker.run()


def test_a_crash_cancels_what_is_left() -> None:
    lives: list[str] = []

    async def program(consumer: VirtualAsyncConsumer) -> None:
        async def beside() -> None:
            try:
                await asyncio.sleep(1_000)
            finally:
                lives.append("beside ends")

        task = asyncio.create_task(beside())
        consumer.subscribe(["orders"])
        async for _message in consumer:
            await consumer.commit()
        await task

    with VirtualBroker(Schedule(0, (Disturbance("billing-1", 3, "before", "crash", 1.0),))) as broker:
        broker.create_topic("orders")
        broker.publish("orders", "1", "2")
        broker.add_async_consumers(program, "billing")
        broker.run()
        assert lives == ["beside ends"]


def test_its_calls_are_aiokafkas() -> None:
    names = {name for name in vars(VirtualAsyncConsumer) if not name.startswith("_")}
    assert {name for name in names if not hasattr(AIOKafkaConsumer, name)} == set()
    assert {"getone", "getmany", "commit", "committed", "seek", "subscribe"} <= names
