"""The HTTP listener, client and broker in two processes, messages of 100 bytes."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.benchmarks.core.measure import show_rows

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
BATCH = 1_000
GOAL_PER_S = 50_000
ROUNDS = 5


@contextlib.contextmanager
def broker(durability):
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.listeners.http_child", durability],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None and child.stdin is not None
        yield int(child.stdout.readline()), child.pid
        child.stdin.close()
        child.wait(30)
    finally:
        child.kill()
        child.wait()


class Caller:
    """Sends the same request again and again on one connection."""

    def __init__(self, port, method, path, body):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._request = method, path, body

    def __call__(self):
        method, path, body = self._request
        self._connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        data = answer.read()
        assert answer.status < 300, data[:300]
        return data

    def close(self):
        self._connection.close()


def batch(keyed):
    records = [{"value": "x" * 100, **({"key": f"key-{number}"} if keyed else {})} for number in range(BATCH)]
    return json.dumps({"messages": records}).encode()


def rate(call, messages, seconds=1.0):
    """Messages a second, the median of the rounds."""
    found = []
    for _ in range(ROUNDS):
        count, begun_s = 0, time.perf_counter()
        while time.perf_counter() - begun_s < seconds:
            call()
            count += 1
        found.append(count * messages / (time.perf_counter() - begun_s))
    return statistics.median(found)


def test_batch_publish_and_read():
    rows = []
    path = "/v1/topics/bench/messages"
    for durability in ("memory", "file", "fsync"):
        with broker(durability) as (port, _pid):
            for name, body in (("no keys", batch(False)), ("keys", batch(True))):
                call = Caller(port, "POST", path, body)
                call()
                rows.append((f"publish, batches of {BATCH}, {durability}, {name}", rate(call, BATCH)))
                call.close()
            one = json.dumps({"topic": "bench", "value": "x" * 100}).encode()
            call = Caller(port, "POST", "/produce", one)
            rows.append((f"publish one by one, {durability}", rate(call, 1)))
            call.close()
            read = Caller(port, "GET", f"/v1/topics/bench/partitions/0/messages?max_messages={BATCH}", None)
            rows.append((f"read, batches of {BATCH}, {durability}", rate(read, BATCH)))
            read.close()
    title = f"HTTP listener, one client, medians of {ROUNDS}; goal: batch publish >= {GOAL_PER_S:,} messages/s"
    show_rows(title, ("messages/s",), [(name, f"{value:,.0f}") for name, value in rows])


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def busy(port, seconds, clients=50):
    """Latencies in ms of so many clients that publish one message after the other, each with a pause."""
    latencies: list[float] = []
    stop_s = time.perf_counter() + seconds

    def work():
        call = Caller(port, "POST", "/produce", json.dumps({"topic": "bench", "value": "x" * 100}).encode())
        while time.perf_counter() < stop_s:
            begun_s = time.perf_counter()
            call()
            latencies.append((time.perf_counter() - begun_s) * 1_000)
            time.sleep(0.1)
        call.close()

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies


def state_of(pid):
    """Threads, descriptors and resident MiB of a process."""
    status = Path(f"/proc/{pid}/status").read_text().split("\n")
    fields = dict(line.split(":", 1) for line in status if ":" in line)
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    return int(fields["Threads"]), descriptors, int(fields["VmRSS"].split()[0]) / 1_024


def test_500_idle_and_50_busy_connections():
    """p99 of the busy ones beside 500 idle ones within 3 times that without; threads and descriptors flat."""
    seconds = float(os.environ.get("BENCH_SECONDS", "60"))
    with broker("file") as (port, pid):
        busy(port, 3)
        alone = busy(port, seconds / 3)
        idle = [Caller(port, "GET", "/health", None) for _ in range(500)]
        for call in idle:
            call()
        before = state_of(pid)
        together = busy(port, seconds)
        after = state_of(pid)
        for call in idle:
            call()  # not one of them was cut
            call.close()
        time.sleep(1)
        end = state_of(pid)
    rows = [
        (name, f"{percentile(values, 0.5):.2f}", f"{percentile(values, 0.99):.2f}", str(len(values)))
        for name, values in (("50 busy", alone), ("50 busy, 500 idle", together))
    ]
    ratio = percentile(together, 0.99) / percentile(alone, 0.99)
    title = f"HTTP listener, latency of /produce in ms; p99 beside idle ones is {ratio:.2f} times (goal: at most 3)"
    show_rows(title, ("p50", "p99", "requests"), rows)
    states = [
        (name, *map(str, state[:2]), f"{state[2]:.1f}")
        for name, state in (("500 idle, before", before), ("500 idle, after", after), ("all gone", end))
    ]
    show_rows("The broker's process", ("threads", "descriptors", "MiB"), states)
    assert after[0] <= before[0] + 50 and end[1] < before[1] - 400
