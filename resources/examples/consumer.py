"""A consumer of Kafka messages that says what happens to it. It knows nothing of Brokerscope.

Needs confluent-kafka. Ctrl+C ends it, and it leaves its group; where the broker is gone, after a few seconds without.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaError, TopicPartition

CLOSE_TIMEOUT_S = 5.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Consume messages as a member of a group.")
    parser.add_argument("--bootstrap-servers", default="127.0.0.1:9092", metavar="HOST:PORT")
    parser.add_argument("--topic", default="orders")
    parser.add_argument("--group", default="shipping")
    parser.add_argument("--client-id", default="reader-1")
    parser.add_argument("--protocol", choices=("classic", "consumer"), default="classic", help="group.protocol")
    parser.add_argument("--work-ms", type=float, default=50, metavar="MS", help="how long a message takes (50)")
    parser.add_argument("--count", type=int, default=0, metavar="N", help="end after N messages (0: never)")
    return parser.parse_args()


def main() -> int:
    """Consume until it is interrupted, or has its count."""
    arguments = _arguments()
    name = arguments.client_id
    running = True

    def end(_signal: int, _frame: object) -> None:
        nonlocal running
        running = False

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)

    def say(text: str) -> None:
        print(f"{name}: {text}", flush=True)

    def places(partitions: list[TopicPartition]) -> str:
        return ", ".join(f"{each.topic}/{each.partition}" for each in partitions) or "nothing"

    def say_error(error: KafkaError) -> None:
        say(f"error {error.name()}: {error.str()}")

    settings = {
        "bootstrap.servers": arguments.bootstrap_servers,
        "client.id": name,
        "group.id": arguments.group,
        "group.protocol": arguments.protocol,
        "auto.offset.reset": "earliest",
        "error_cb": say_error,
    }
    if arguments.protocol == "classic":  # with the other protocol the broker decides
        settings |= {"partition.assignment.strategy": "cooperative-sticky", "session.timeout.ms": 10_000}
    consumer = Consumer(settings)
    consumer.subscribe(
        [arguments.topic],
        on_assign=lambda _consumer, given: say(f"gets {places(given)}"),
        on_revoke=lambda _consumer, taken: say(f"gives back {places(taken)}"),
        on_lost=lambda _consumer, taken: say(f"has lost {places(taken)}"),
    )
    count = 0
    while running and not (arguments.count and count >= arguments.count):
        message = consumer.poll(0.2)
        if message is None:
            continue
        error = message.error()
        if error is not None:
            say_error(error)
            continue
        time.sleep(arguments.work_ms / 1000)
        count += 1
        if count % 50 == 0 or count == arguments.count:
            say(f"{count} messages, the last {message.topic()}/{message.partition()} at {message.offset()}")
    closing = threading.Thread(target=consumer.close, daemon=True)  # commits, and leaves the group
    closing.start()
    closing.join(CLOSE_TIMEOUT_S)
    if closing.is_alive():
        say("the broker does not answer; it will miss this member when its session times out")
        os._exit(1)  # the client's threads still wait
    say("has left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
