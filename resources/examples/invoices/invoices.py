"""A service that turns orders into invoices, from the topic `orders` to `invoices`.

What it cannot read goes to `orders.rejected`.
"""

from __future__ import annotations

import asyncio
import json
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

PRICE = 12


def invoice_of(order: bytes) -> bytes:
    """The invoice of an order, both JSON. Raises ValueError, KeyError, TypeError for what is no order."""
    books = json.loads(order)["books"]
    return json.dumps({"books": books, "total": PRICE * int(books)}).encode()


async def serve(bootstrap_servers: str) -> None:
    """Run until it is cancelled."""
    consumer = AIOKafkaConsumer(
        "orders",
        bootstrap_servers=bootstrap_servers,
        group_id="invoicing",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    async with consumer, AIOKafkaProducer(bootstrap_servers=bootstrap_servers, acks="all") as producer:
        async for message in consumer:
            try:
                topic, value = "invoices", invoice_of(message.value)
            except (ValueError, KeyError, TypeError):
                topic, value = "orders.rejected", message.value
            await producer.send_and_wait(topic, value, key=message.key)
            await consumer.commit()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
