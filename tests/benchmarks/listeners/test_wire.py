"""The wire listener, client and broker in two processes, messages of 100 bytes.

Redis stands beside it where it is installed (`apt install redis`).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core import GroupConsumer, Message, Producer, ProducerConfig
from broker_core.clients.remote.broker import RemoteBroker
from tests.benchmarks.core.measure import Case, show, show_rows, side_by_side
from tests.broker_core.listeners.wire.talk import Talk, batch, producing

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
VALUE = b"x" * 100
LENGTH = struct.Struct(">I")
GOAL_BATCHED_PER_S = 300_000
IDLE, BUSY = 500, 50
HELD_S = float(os.environ.get("BENCH_HELD_S", "60"))


@contextlib.contextmanager
def broker(*arguments: str) -> Iterator[tuple[int, int]]:
    """(port, process id)"""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.listeners.wire_child", *arguments],
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


def json_one_by_one(port: int, count: int) -> float:
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = sock.makefile("rb")
    started_s = time.perf_counter()
    for _ in range(count):
        request = json.dumps({"command": "publish", "topic": "bench", "value": VALUE.decode()}).encode()
        sock.sendall(LENGTH.pack(len(request)) + request)
        assert json.loads(stream.read(LENGTH.unpack(stream.read(4))[0]))["status"] == "ok"
    elapsed_s = time.perf_counter() - started_s
    stream.close()
    sock.close()
    return elapsed_s


def sent_one_by_one(producer: Producer, count: int) -> float:
    """A call for each message; each has its receipt, and all are asked."""
    started_s = time.perf_counter()
    receipts = [producer.send("bench", VALUE) for _ in range(count)]
    assert all(receipt.result(60).offset >= 0 for receipt in receipts)
    return time.perf_counter() - started_s


def waited_for_one_by_one(producer: Producer, count: int) -> float:
    started_s = time.perf_counter()
    for _ in range(count):
        producer.publish("bench", VALUE)
    return time.perf_counter() - started_s


def one_request_each(talk: Talk, count: int) -> float:
    """The protocol itself: a request for each message, up to 50 on their way, without the client library."""
    requests = [producing(batch(VALUE, topic="bench"))] * 25
    started_s = time.perf_counter()
    waiting = talk.say(*requests)
    for _ in range(count // 25):
        said, waiting = waiting, talk.say(*requests)
        for number in said:
            assert talk.heard(number).results[0].error == 0
    elapsed_s = time.perf_counter() - started_s
    for number in waiting:
        talk.heard(number)
    return elapsed_s


def in_batches(producer: Producer, count: int) -> float:
    messages = [Message(VALUE) for _ in range(10_000)]
    started_s = time.perf_counter()
    for _ in range(count // len(messages)):
        producer.publish_many("bench", messages)
    return time.perf_counter() - started_s


def test_publishing_one_by_one() -> None:
    """Goal: 3 times a protocol with a thread for each connection, JSON, and a lock for each message."""
    with broker("json") as (json_port, _), broker("wire", "memory") as (port, _), RemoteBroker(port=port) as remote:
        with Producer(remote) as producer, Talk(port) as talk:
            sent_one_by_one(producer, 1_000)
            figures = side_by_side(
                [
                    Case("JSON, a thread each, one lock", 3_000, lambda count: json_one_by_one(json_port, count)),
                    Case("send, each with its receipt", 100_000, lambda count: sent_one_by_one(producer, count), 3.0),
                    Case("one request each, pipelined", 5_000, lambda count: one_request_each(talk, count), 3.0),
                    Case("publish, waiting for each", 2_000, lambda count: waited_for_one_by_one(producer, count)),
                ]
            )
            show("Wire: one message after the other, 1 client", figures)


def test_publishing_in_batches() -> None:
    """Goal: 300,000 messages/s, or the rate of Redis' XADD where that is lower."""
    rates = {"memory": [], "file": []}  # type: dict[str, list[float]]
    redis: list[float] = []
    with broker("wire", "memory") as (memory, _), broker("wire", "file") as (file, _):
        with RemoteBroker(port=memory) as one, RemoteBroker(port=file) as other:
            with Producer(one) as in_memory, Producer(other) as to_file:
                for _ in range(5):
                    for kind, producer in (("memory", in_memory), ("file", to_file)):
                        rates[kind].append(200_000 / in_batches(producer, 200_000))
                    redis += redis_rate()
                lingering = statistics.median(300_000 / sent_one_by_one(in_memory, 300_000) for _ in range(3))
    rows = [(f"publish_many, {kind}", f"{statistics.median(found):,.0f}") for kind, found in rates.items()]
    rows.append(("send, lingering, memory", f"{lingering:,.0f}"))
    rows.append(("redis-benchmark XADD -P 100", f"{statistics.median(redis):,.0f}" if redis else "not installed"))
    goal = min([GOAL_BATCHED_PER_S, *redis])
    rows.append(("goal", f"{goal:,.0f}: " + ("met" if statistics.median(rates["memory"]) >= goal else "missed")))
    show_rows("Wire: in batches", ("messages/s",), rows)


def redis_rate() -> list[float]:
    """[XADD a second], one client, 100 in a pipeline; [] where there is no Redis."""
    server, bench = shutil.which("redis-server"), shutil.which("redis-benchmark")
    if server is None or bench is None:
        return []
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    child = subprocess.Popen(
        [server, "--port", port, "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL, cwd="/tmp"
    )
    try:
        time.sleep(0.5)
        done = subprocess.run(
            [bench, *f"-p {port} -n 200000 -P 100 -c 1 --csv XADD bench MAXLEN ~ 1000000 * v {VALUE.decode()}".split()],
            capture_output=True,
            text=True,
            check=True,
        )
        return [float(done.stdout.splitlines()[-1].split('","')[1].strip('"'))]
    finally:
        child.terminate()
        child.wait()


def test_reading() -> None:
    """No goal: what a group reads through the listener."""
    with broker("wire", "memory") as (port, _), RemoteBroker(port=port) as remote:
        with Producer(remote) as producer:
            in_batches(producer, 200_000)
        rates = []
        for number in range(3):
            with GroupConsumer(remote, f"readers-{number}", ["bench"]) as consumer:
                while not consumer.assignment:
                    consumer.poll(0.01)
                started_s, found = time.perf_counter(), 0
                while found < 190_000:
                    found += len(consumer.poll(1, 5_000))
                rates.append(found / (time.perf_counter() - started_s))
    show_rows("Wire: reading", ("messages/s",), [("a group of one", f"{statistics.median(rates):,.0f}")])


def test_five_hundred_idle_and_fifty_busy_connections() -> None:
    """Goals: nothing grows in a minute, and p99 of the busy ones is at most 3 times what it is without the idle ones.

    BENCH_HELD_S is how long they are held.
    """
    with broker("wire", "file") as (port, process):
        alone_ms = busy_p99_ms(port, 10.0)
        idle = [Talk(port, name=f"idle-{number}") for number in range(IDLE)]
        busy_p99_ms(port, 3.0)
        before = resources(process)
        beside_ms = busy_p99_ms(port, HELD_S)
        for talk in idle:
            talk.close()
        time.sleep(1)
        after_idle = resources(process)
    rows = [
        ("p99 of 50 busy ones, alone", f"{alone_ms:.1f} ms"),
        ("... beside 500 idle ones", f"{beside_ms:.1f} ms"),
        ("ratio", f"{beside_ms / alone_ms:.2f} (goal: at most 3)"),
    ]
    for (name, start), end in zip(before.items(), after_idle.values(), strict=True):
        rows.append((f"{name}, at first, and when they are gone", f"{start:,} and {end:,}"))
    show_rows(f"Wire: {IDLE} idle and {BUSY} busy connections, held for {HELD_S:.0f} s", ("",), rows)


def resources(process: int) -> dict[str, int]:
    """Threads, descriptors, and memory in kB."""
    status = Path(f"/proc/{process}/status").read_text()
    found = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {
        "threads": int(found["Threads"]),
        "descriptors": len(os.listdir(f"/proc/{process}/fd")),
        "memory, kB": int(found["VmRSS"].split()[0]),
    }


def busy_p99_ms(port: int, seconds: float) -> float:
    """The 99th percentile of what 50 connections wait for an answer, each of which sends 20 requests/s."""
    waits_s: list[float] = []
    end_s = time.monotonic() + seconds

    def work(number: int) -> None:
        request = producing(batch(VALUE, topic="bench"))
        own: list[float] = []
        with Talk(port, name=f"busy-{number}") as talk:
            while time.monotonic() < end_s:
                started_s = time.perf_counter()
                assert talk.get(request).results[0].error == 0
                own.append(time.perf_counter() - started_s)
                time.sleep(0.05)
        waits_s.extend(own)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(BUSY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statistics.quantiles(waits_s, n=100)[98] * 1_000


def test_configurations_of_the_linger() -> None:
    """What lingering buys, and what it costs who waits."""
    rows = []
    with broker("wire", "memory") as (port, _), RemoteBroker(port=port) as remote:
        for linger_ms in (0.0, 1.0, 5.0):
            with Producer(remote, ProducerConfig(linger_ms=linger_ms)) as producer:
                count = 5_000 if linger_ms == 0 else 100_000
                rates = [count / sent_one_by_one(producer, count) for _ in range(3)]
            rows.append((f"linger {linger_ms:g} ms", f"{statistics.median(rates):,.0f}"))
    show_rows("Wire: send, by linger", ("messages/s",), rows)
