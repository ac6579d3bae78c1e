"""The service between its topics, with a broker of its own for each test."""

import asyncio
import contextlib
import json

import pytest
from aiokafka import AIOKafkaConsumer
from invoices import serve


@pytest.fixture
def topics(broker):
    for name in ("orders", "invoices", "orders.rejected"):
        broker.create_topic(name, partitions=2)


async def served(broker, topic, count):
    """The values of `count` messages that the service publishes to `topic`."""
    service = asyncio.create_task(serve(broker.bootstrap_servers))
    try:
        async with AIOKafkaConsumer(
            topic, bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            return [(await asyncio.wait_for(consumer.getone(), 20)).value for _ in range(count)]
    finally:
        service.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await service


def test_an_order_becomes_an_invoice(broker, topics):
    broker.publish("orders", {"books": 2}, {"books": 1}, key="customer-1")
    values = asyncio.run(served(broker, "invoices", 2))
    assert [json.loads(value) for value in values] == [{"books": 2, "total": 24}, {"books": 1, "total": 12}]


@pytest.mark.parametrize("order", ["no JSON", {"magazines": 1}, {"books": "many"}])
def test_what_is_no_order_is_put_aside_and_the_next_is_served(broker, topics, order):
    broker.publish("orders", order, {"books": 3}, partition=0)
    asyncio.run(served(broker, "invoices", 1))
    assert len(broker.messages("orders.rejected")) == 1
    assert [json.loads(message.value)["total"] for message in broker.messages("invoices")] == [36]
