"""A worker that makes thumbnails: it takes jobs from the queue `thumbnails`; one that fails is tried again later."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

from broker_core import BrokerHost, JsonSerializer, QueueConfig, QueueConsumer, RetryPolicy
from broker_core.engine.host import Host

#: Three attempts, after the first two of which it waits 1 s and 2 s.
QUEUE = QueueConfig(lease_ms=10_000, max_attempts=3, retry=RetryPolicy(kind="exponential", base_ms=1_000))


class Worker:
    """Calls `make(picture)` for each job."""

    def __init__(self, host: Host, make: Callable[[str], Any]) -> None:
        self.jobs = QueueConsumer(host, "thumbnails", serializer=JsonSerializer())
        self.make = make

    def work(self, timeout_s: float = 0) -> bool:
        """Do one job; False where none came within `timeout_s`. A job that fails is tried again later."""
        job = self.jobs.take(timeout_s)
        if job is None:
            return False
        try:
            with job:  # acknowledges at the end, or nacks with the error
                self.make(self.jobs.value_of(job)["picture"])
        except OSError as error:
            logging.warning("attempt %d: %s", job.attempt, error)
        return True


def main() -> None:
    """Print the names of pictures until Ctrl+C; the argument is the broker's data directory."""
    with BrokerHost(sys.argv[1]) as host:
        worker = Worker(host, print)
        while True:
            worker.work(timeout_s=1)


if __name__ == "__main__":
    main()
