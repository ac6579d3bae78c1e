"""What a message costs that is on the disk before anybody says so, against two queues in SQLite. Printed only."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable

import litequeue
import persistqueue
import pytest

from broker_core import Admin, BrokerHost, HostConfig, LogConfig, Message, Producer
from tests.benchmarks.core.measure import Case, show, side_by_side

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

VALUE = b"x" * 100
PRODUCERS = 16
BARE = "no broker: 16 threads, one file, fdatasync"


def together(count: int, work: Callable[[int], object]) -> float:
    """Seconds that 16 threads take for `count` calls of `work`, each waiting for its own."""
    ready = threading.Barrier(PRODUCERS + 1)

    def run() -> None:
        ready.wait()
        for number in range(count // PRODUCERS):
            work(number)

    threads = [threading.Thread(target=run) for _ in range(PRODUCERS)]
    for thread in threads:
        thread.start()
    ready.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def persist_queue(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        line = persistqueue.SQLiteAckQueue(directory, multithreading=True)
        seconds = together(count, lambda _number: line.put(VALUE))
        line.close()
        return seconds


def persist_queue_alone(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        line = persistqueue.SQLiteAckQueue(directory)
        started = time.perf_counter()
        for _ in range(count):
            line.put(VALUE)
        seconds = time.perf_counter() - started
        line.close()
        return seconds


def lite_queue(count: int) -> float:
    """Its commits are not synced: they survive the process, not a power cut."""
    text = VALUE.decode()
    with tempfile.TemporaryDirectory() as directory:
        line = litequeue.LiteQueue(f"{directory}/queue.db")
        started = time.perf_counter()
        for _ in range(count):
            line.put(text)
        seconds = time.perf_counter() - started
        line.close()
        return seconds


class BareFile:
    """No broker at all: threads append to one file and wait until a flusher has synced what is in it.

    What it costs is Python's threads and the machine's disk: nothing that syncs for 16 waiting threads is faster here.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        lock = threading.Lock()
        self._wanted, self._synced = threading.Condition(lock), threading.Condition(lock)
        self._written = self._durable = 0
        self._closing = False
        self._flusher = threading.Thread(target=self._flush)
        self._flusher.start()

    def append(self, data: bytes) -> None:
        with self._wanted:
            os.write(self._descriptor, data)
            self._written += 1
            place = self._written
            self._wanted.notify()
            while self._durable < place:
                self._synced.wait()

    def _flush(self) -> None:
        while True:
            with self._wanted:
                while self._durable == self._written:
                    if self._closing:
                        return
                    self._wanted.wait()
                written = self._written
            os.fdatasync(self._descriptor)
            with self._wanted:
                self._durable = written
                self._synced.notify_all()

    def close(self) -> None:
        with self._wanted:
            self._closing = True
            self._wanted.notify()
        self._flusher.join()
        os.close(self._descriptor)


def bare_threads(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        file = BareFile(f"{directory}/bare.log")
        seconds = together(count, lambda _number: file.append(VALUE))
        file.close()
        return seconds


def fsync_each(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability="fsync"))) as host:
            Admin(host).create_topic("bench", partitions=6)
            with Producer(host) as producer:
                return together(count, lambda _number: producer.publish("bench", VALUE))


def fsync_alone(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability="fsync"))) as host:
            Admin(host).create_topic("bench", partitions=6)
            with Producer(host) as producer:
                started = time.perf_counter()
                for _ in range(count):
                    producer.publish("bench", VALUE)
                return time.perf_counter() - started


def fsync_lingered(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability="fsync"))) as host:
            Admin(host).create_topic("bench", partitions=6)
            with Producer(host) as producer:
                started = time.perf_counter()
                for _ in range(count):
                    producer.send("bench", VALUE)
                producer.flush()
                return time.perf_counter() - started


def fsync_many(count: int) -> float:
    messages = [Message(VALUE) for _ in range(count)]
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability="fsync"))) as host:
            Admin(host).create_topic("bench", partitions=6)
            with Producer(host) as producer:
                started = time.perf_counter()
                for first in range(0, count, 10_000):
                    producer.publish_many("bench", messages[first : first + 10_000])
                return time.perf_counter() - started


def test_durable_messages_against_queues_in_sqlite() -> None:
    cases = [
        Case("persist-queue put, 16 producers", 1_600, persist_queue),
        Case("persist-queue put, one producer", 500, persist_queue_alone),
        Case("litequeue put, one producer, not synced", 2_000, lite_queue),
        Case(BARE, 8_000, bare_threads),
        Case("fsync publish, 16 producers, each waits", 8_000, fsync_each, 100),
        Case("the same, as a share of the bare threads", 8_000, fsync_each, peer=BARE),
        Case("fsync publish, one producer that waits", 1_000, fsync_alone),
        Case("fsync send, lingered", 100_000, fsync_lingered, 300),
        Case("fsync publish_many", 100_000, fsync_many),
    ]
    show("One message of 100 bytes on the disk", side_by_side(cases))
