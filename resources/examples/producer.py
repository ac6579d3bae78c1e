"""A producer of Kafka messages that says what becomes of them. It knows nothing of Brokerscope.

Needs confluent-kafka. Ctrl+C ends it, after what is under way; where the broker is gone, after a few seconds without.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter

from confluent_kafka import KafkaError, Message, Producer

FLUSH_TIMEOUT_S = 5.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Produce messages at a steady rate.")
    parser.add_argument("--bootstrap-servers", default="127.0.0.1:9092", metavar="HOST:PORT")
    parser.add_argument("--topic", default="orders")
    parser.add_argument("--client-id", default="phone-shop")
    parser.add_argument("--per-s", type=float, default=20, metavar="RATE", help="messages a second (20)")
    parser.add_argument("--count", type=int, default=0, metavar="N", help="end after N messages (0: never)")
    return parser.parse_args()


def main() -> int:
    """Produce until it is interrupted, or has its count; 1 where a message was not stored."""
    arguments = _arguments()
    name = arguments.client_id
    outcomes: Counter[str] = Counter()
    running = True

    def end(_signal: int, _frame: object) -> None:
        nonlocal running
        running = False

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)

    def say(text: str) -> None:
        print(f"{name}: {text}", flush=True)

    def delivered(error: KafkaError | None, _message: Message) -> None:
        outcomes["stored" if error is None else error.name()] += 1
        if outcomes.total() % 100 == 0:
            say(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))

    producer = Producer(
        {
            "bootstrap.servers": arguments.bootstrap_servers,
            "client.id": name,
            "enable.idempotence": True,
            "error_cb": lambda error: say(f"error {error.name()}: {error.str()}"),
        }
    )
    number, due_s = 0, time.monotonic()
    while running and not (arguments.count and number >= arguments.count):
        value = json.dumps({"order": number, "from": name})
        producer.produce(arguments.topic, value, key=f"customer-{number % 25}", on_delivery=delivered)
        number += 1
        due_s += 1 / arguments.per_s
        while running and (left_s := due_s - time.monotonic()) > 0:
            producer.poll(left_s)
    waiting = producer.flush(FLUSH_TIMEOUT_S)
    if waiting:
        producer.purge()
        producer.flush(FLUSH_TIMEOUT_S)
        say(f"the broker does not answer; {waiting} messages are given up")
    say(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "nothing was produced")
    return 0 if outcomes.total() == outcomes["stored"] else 1


if __name__ == "__main__":
    sys.exit(main())
