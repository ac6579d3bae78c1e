"""Writes invoices for orders, ten at a time: a consumer of the group `billing` that reads the topic `orders`.

`BillingTooEarly` is as it was first written. It commits an order when it is read, and drops its orders when partitions
are revoked. Alone it writes every invoice. A rebalance loses those that were read and not written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import Consumer

Write = Callable[[Sequence[bytes]], object]
AT_ONCE = 10


def for_ever() -> bool:
    """Whether to go on."""
    return True


class BillingTooEarly:
    """Has the bug."""

    def __init__(self, consumer: Any, write: Write) -> None:
        """`write(orders)` writes their invoices."""
        self.consumer = consumer
        self.write = write
        self.orders: list[bytes] = []

    def run(self, running: Callable[[], bool] = for_ever) -> None:
        """Read and write, while `running()`."""
        self.consumer.subscribe(["orders"], on_revoke=lambda _consumer, _partitions: self.revoked())
        while running():
            message = self.consumer.poll(1.0)
            if message is not None and message.error() is None:
                self.take(message)
            if len(self.orders) >= AT_ONCE or message is None:
                self.flush()

    def take(self, message: Any) -> None:
        """Keep an order for the next invoices."""
        self.orders.append(message.value())
        self.consumer.commit(message, asynchronous=False)

    def flush(self) -> None:
        """Write what was kept."""
        self.write(self.orders)
        self.orders = []

    def revoked(self) -> None:
        """The partitions go to another consumer."""
        self.orders = []


class Billing(BillingTooEarly):
    """Commits after it has written, and writes before its partitions go."""

    def take(self, message: Any) -> None:
        """Keep an order for the next invoices."""
        self.orders.append(message.value())

    def flush(self) -> None:
        """Write what was kept, and commit it."""
        if self.orders:
            self.write(self.orders)
            self.orders = []
            self.consumer.commit(asynchronous=False)

    def revoked(self) -> None:
        """The partitions go to another consumer."""
        self.flush()


def main() -> None:
    """Print invoices until Ctrl+C."""
    consumer = Consumer(
        {
            "bootstrap.servers": sys.argv[1],
            "group.id": "billing",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    try:
        Billing(consumer, lambda orders: print(*orders, sep="\n")).run()
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
