"""A shop: a FastAPI application that takes orders and publishes them to the topic `orders`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from confluent_kafka import KafkaError, Message, Producer
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, PositiveInt


class Order(BaseModel):
    """What a customer wants."""

    customer: str
    books: PositiveInt


def shop(bootstrap_servers: str) -> FastAPI:
    """The application. An order is answered when it is stored: 201, or 503 where it was not."""

    @asynccontextmanager
    async def with_producer(app: FastAPI) -> AsyncIterator[None]:
        app.state.producer = Producer({"bootstrap.servers": bootstrap_servers, "delivery.timeout.ms": 2_000})
        yield
        del app.state.producer

    app = FastAPI(lifespan=with_producer)

    @app.post("/orders", status_code=201)
    def order(order: Order) -> dict[str, int]:
        producer = app.state.producer
        outcome: list[tuple[KafkaError | None, Message]] = []
        producer.produce(
            "orders",
            order.model_dump_json(),
            key=order.customer,
            on_delivery=lambda error, message: outcome.append((error, message)),
        )
        producer.flush()
        ((error, message),) = outcome
        if error is not None:
            raise HTTPException(503, f"The order was not stored: {error.str()}")
        return {"partition": message.partition() or 0, "offset": message.offset() or 0}

    return app


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(shop(os.environ.get("BOOTSTRAP_SERVERS", "127.0.0.1:9092")))
