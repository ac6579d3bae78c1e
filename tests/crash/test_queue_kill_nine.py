"""A queue whose process is killed at once: every attempt counts (promise 13), a durable acknowledgement stays (34)."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.listeners.http.listener import HttpListener
from broker_core.log.config import LogConfig
from broker_core.queues.config import QueueConfig
from tests.broker_core.admin import Admin
from tests.broker_core.listeners.http.client import Client

ROOT = Path(__file__).parents[2]
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([__name__])


def config(durability: str) -> HostConfig:
    # No tick saves the states of queues: what is not in the journal is lost.
    return HostConfig(log=LogConfig(durability=durability), tick_ms=3_600_000)  # type: ignore[arg-type]


def die(folder: Path, durability: str, how: str, told: Connection) -> None:
    """The child: takes one message of each queue, does what `how` says, and is killed with no time to do more."""
    host = BrokerHost(folder, config(durability))
    for name in ("jobs", "mails"):
        delivery = QueueConsumer(host, name, client_id="w").take(5)
        told.send(f"{name} {None if delivery is None else delivery.attempt}")
        if delivery is None:
            continue
        match how:
            case "ack":
                delivery.ack(durable=True)
            case "ack as the queue says":
                delivery.ack()
            case "release":
                delivery.release()
            case "nack":
                delivery.nack("no")
    os.kill(os.getpid(), signal.SIGKILL)


def serve(folder: str) -> None:
    """The child: lets HTTP clients in."""
    with BrokerHost(folder, config("fsync")) as host, HttpListener(host) as listener:
        print(listener.port, flush=True)
        sys.stdin.read()


def killed(folder: Path, durability: str, how: str) -> list[str]:
    """What the child had told before its end. It is forked off a process that has everything loaded, and no threads."""
    told, tells = SERVER.Pipe(duplex=False)
    child = SERVER.Process(target=die, args=(folder, durability, how, tells))
    child.start()
    tells.close()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    lines: list[str] = []
    with told, suppress(EOFError):
        while told.poll():
            lines.append(told.recv())
    return lines


@pytest.fixture(params=["file", "fsync"])
def durability(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def prepared(folder: Path, durability: str, *values: str, durable_acks: bool = False, lease_ms: float = 60_000) -> None:
    """A queue and a subscription, each with these messages."""
    settings = QueueConfig(max_attempts=3, lease_ms=lease_ms, durable_acks=durable_acks)
    with BrokerHost(folder, config(durability)) as host, Producer(host) as producer:
        admin = Admin(host)
        admin.create_topic("news")
        admin.create_queue("jobs", settings)
        admin.create_subscription("mails", "news", settings)
        for value in values:
            producer.publish("jobs", value)
            producer.publish("news", value)


@pytest.mark.promise("13")
def test_promise_13_who_kills_its_worker_at_once_is_dead_at_its_last_attempt(tmp_path: Path, durability: str):
    prepared(tmp_path, durability, "poison", lease_ms=50)
    seen = [killed(tmp_path, durability, "nothing") for _ in range(3)]
    assert seen == [["jobs 1", "mails 1"], ["jobs 2", "mails 2"], ["jobs 3", "mails 3"]]
    with BrokerHost(tmp_path, config(durability)) as host:
        admin = Admin(host)
        for name in ("jobs", "mails"):
            consumer = QueueConsumer(host, name)
            while not (letters := admin.dead_letters(name)):  # until the last lease has expired
                assert consumer.take(0.05) is None
            assert consumer.take(0) is None
            [letter] = letters
            assert [attempt.outcome for attempt in letter.attempts] == ["lease expired"] * 3
            assert len(admin.redrive(name).redriven) == 1
    assert killed(tmp_path, durability, "nothing") == ["jobs 1", "mails 1"]
    with BrokerHost(tmp_path, config(durability)) as host:
        assert Admin(host).describe_queue("jobs").redriven == 1


@pytest.mark.promise("34")
@pytest.mark.parametrize("how", ["ack", "ack as the queue says"])
def test_promise_34_an_acknowledgement_that_is_to_be_durable_survives_a_kill(tmp_path: Path, durability: str, how: str):
    prepared(tmp_path, durability, "a", "b", durable_acks=how != "ack")
    assert killed(tmp_path, durability, how) == ["jobs 1", "mails 1"]
    with BrokerHost(tmp_path, config(durability)) as host:
        for name in ("jobs", "mails"):
            view = Admin(host).describe_queue(name)
            assert (view.ready, view.in_flight, view.acknowledged) == (1, 0, 1)
            delivery = QueueConsumer(host, name).take()
            assert delivery is not None and (delivery.message.value, delivery.attempt) == (b"b", 1)


def test_what_was_released_or_nacked_before_the_kill_counts_as_such(tmp_path: Path):
    prepared(tmp_path, "file", "a")
    for how, expected in [("release", 1), ("release", 1), ("nack", 1), ("nack", 2), ("nack", 3)]:
        assert killed(tmp_path, "file", how) == [f"jobs {expected}", f"mails {expected}"]
    with BrokerHost(tmp_path, config("file")) as host:
        [letter] = Admin(host).dead_letters("jobs")
        assert [attempt.outcome for attempt in letter.attempts] == ["no"] * 3


@pytest.mark.promise("34")
def test_promise_34_by_http(tmp_path: Path):
    prepared(tmp_path, "fsync", "a", "b", "c")
    code = "import sys; from tests.crash.test_queue_kill_nine import serve; serve(sys.argv[1])"
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdin is not None
    with child.stdin, child.stdout:
        call = Client(int(child.stdout.readline()))
        taken = call.done("POST", "/v1/queues/jobs/take", {"max_messages": 2})
        leases = [each["lease"] for each in taken]
        assert call.done("POST", "/v1/queues/jobs/ack", {"leases": leases, "durable": True})["done"] == 2
        child.kill()
        child.wait()
        call.close()
    with BrokerHost(tmp_path, config("fsync")) as host:
        assert [message.value for message in Admin(host).peek_queue("jobs")] == [b"c"]


def test_a_directory_that_is_opened_in_memory_counts_what_the_journal_tells_once(tmp_path: Path):
    prepared(tmp_path, "file", "a", "b")
    assert killed(tmp_path, "file", "ack") == ["jobs 1", "mails 1"]
    for _ in range(3):
        with BrokerHost(tmp_path, config("memory")) as host:
            counts = host.broker.queues.queue("jobs").counts
            assert (counts.delivered, counts.acknowledged) == (1, 1)
