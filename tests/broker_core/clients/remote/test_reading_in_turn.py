"""Who waits for an answer reads it in its own thread, for everybody, and gives that back whatever happens."""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.remote.broker import RemoteBroker
from broker_core.clients.remote.outgoing import Outgoing
from broker_core.clients.remote.watch import Watch
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from tests.broker_core.clients.remote.place import Place, until

AT_ONCE = ProducerConfig(retry_backoff_ms=5)


def watch_readers(remote: RemoteBroker, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads that read."""
    names: list[str] = []
    read = remote._link._read

    def noting(watch):
        names.append(threading.current_thread().name)
        return read(watch)

    monkeypatch.setattr(remote._link, "_read", noting)
    return names


def waiting(remote: RemoteBroker) -> bool:
    """True where a thread reads that is not the link's."""
    watch = remote._link._watch
    return watch is not None and watch._reader != 0


def test_the_answer_is_read_by_the_thread_that_waits_for_it(place: Place, monkeypatch: pytest.MonkeyPatch):
    with place.remote() as remote, Producer(remote, AT_ONCE) as producer:
        producer.publish("t", b"0")
        names = watch_readers(remote, monkeypatch)
        assert [producer.publish("t", b"x")[1] for _ in range(50)] == list(range(1, 51))
        assert threading.current_thread().name in names
        names.clear()
        assert remote.ping() > 0  # the link's thread reads again
        assert names == ["remote-link"]


def test_one_reads_for_all_who_wait(place: Place):
    def work(number: int) -> list[int]:
        with Producer(remote, AT_ONCE) as producer:
            return [producer.publish("t", b"%d-%d" % (number, each))[1] for each in range(100)]

    with place.remote() as remote, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))
    assert sorted(offset for each in found for offset in each) == list(range(800))
    assert all(each == sorted(each) for each in found)


def test_order_holds_where_some_linger_and_some_are_waited_for(place: Place):
    with place.remote() as remote, Producer(remote, ProducerConfig(linger_ms=2)) as producer:
        for number in range(300):
            if number % 3:
                producer.send("t", b"%d" % number)
            else:
                producer.publish("t", b"%d" % number)
        producer.flush(20)
    assert place.stored() == [b"%d" % number for number in range(300)]


def test_a_connection_that_is_cut_while_the_caller_reads(place: Place):
    with place.remote() as remote, Producer(remote, AT_ONCE) as producer, ThreadPoolExecutor(1) as pool:
        producer.publish("t", b"0")
        place.network.deaf = True
        sent = pool.submit(producer.publish, "t", b"1")
        until(lambda: waiting(remote) and len(place.stored()) == 2)
        place.network.deaf = False
        place.network.cut()
        assert sent.result(10) == (0, 1)
        assert remote.connects == 2
    assert place.stored() == [b"0", b"1"]


def test_closing_ends_a_read_of_a_caller(place: Place):
    remote = place.remote()
    producer = Producer(remote, AT_ONCE)
    producer.publish("t", b"0")
    place.network.deaf = True
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(producer.publish, "t", b"1")
        until(lambda: waiting(remote))
        remote._link.close()
        remote._stop()
        with pytest.raises(BrokerError) as caught:
            sent.result(5)
        assert caught.value.code is ErrorCode.CLOSED


def test_a_wait_of_a_reader_ends_in_time(place: Place):
    Admin(place.host).create_topic("slow", 1, flow=FlowConfig(rate_per_s=0.001, burst=1))
    with place.remote() as remote, Producer(remote, ProducerConfig(delivery_timeout_ms=2_000)) as producer:
        producer.publish("slow", b"0")
        started_s = time.monotonic()
        with pytest.raises(BrokerError) as caught:
            producer.publish("slow", b"1", timeout_s=0.1)
        assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT and "0.1 s" in str(caught.value)
        assert 0.1 <= time.monotonic() - started_s < 1.5
        # Its time to be delivered ends in another thread, which has to say so to the one that reads.
        with pytest.raises(BrokerError) as caught:
            producer.publish("slow", b"2")
        assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
        assert time.monotonic() - started_s < 20


def test_nonsense_ends_the_connection_and_not_the_caller(place: Place, monkeypatch: pytest.MonkeyPatch):
    with place.remote() as remote, Producer(remote, AT_ONCE) as producer:
        producer.publish("t", b"0")
        receive = remote._link._codec.receive
        monkeypatch.setattr(remote._link._codec, "receive", lambda data: receive(data[:4] + b"\x7f" + data[5:]))
        assert producer.publish("t", b"1") == (0, 1)
        assert remote.connects == 2
    assert place.stored() == [b"0", b"1"]


@pytest.mark.parametrize("sent", [False, True])
def test_an_interrupted_write_costs_the_connection_and_no_answer(
    place: Place, monkeypatch: pytest.MonkeyPatch, sent: bool
):
    write = Outgoing.write

    def interrupted(out: Outgoing, sock: socket.socket) -> bool:
        if threading.current_thread() is not threading.main_thread() or not out.size_bytes:
            return write(out, sock)
        monkeypatch.setattr(Outgoing, "write", write)
        out._rest, out._parts = memoryview(b"".join(out._parts)), []
        if sent:
            sock.send(out._rest)
        raise KeyboardInterrupt

    with place.remote(request_timeout_ms=60_000) as remote:
        admin = Admin(remote)
        monkeypatch.setattr(Outgoing, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            admin.topics()
        started_s = time.monotonic()
        assert (admin.topics(), remote.connects) == (("t",), 2)
        assert time.monotonic() - started_s < 20


def test_an_interrupted_wait_costs_no_answer(place: Place):
    def interrupt() -> None:
        until(lambda: waiting(remote))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with place.remote() as remote, Producer(remote, AT_ONCE) as producer:
        producer.publish("t", b"0")
        # While the broker is busy, nothing is answered.
        with place.host.lock, pytest.raises(KeyboardInterrupt):
            threading.Thread(target=interrupt).start()
            producer.publish("t", b"1")
        assert not waiting(remote)
        assert producer.publish("t", b"2") == (0, 2)
        assert remote.connects == 1


@pytest.mark.parametrize("where", ["take", "give_back"])
def test_an_interruption_when_reading_begins_or_ends_leaves_the_turn_to_others(
    place: Place, monkeypatch: pytest.MonkeyPatch, where: str
):
    take, give_back = Watch.take, Watch.give_back
    left = {where: KeyboardInterrupt()}
    lock: Any = place.host.lock

    def begin(watch: Watch) -> bool:
        taken = take(watch)
        lock.release()
        if "take" in left:
            raise left.pop("take")
        return taken

    def end(watch: Watch) -> None:
        if "give_back" in left:
            raise left.pop("give_back")
        give_back(watch)

    with place.remote() as remote, Producer(remote, AT_ONCE) as producer:
        producer.publish("t", b"0")
        monkeypatch.setattr(Watch, "take", begin)
        monkeypatch.setattr(Watch, "give_back", end)
        # The broker answers only when this thread has begun to read: else the link's thread could be there before it.
        lock.acquire()
        with pytest.raises(KeyboardInterrupt):
            producer.publish("t", b"1")
        monkeypatch.undo()
        assert not waiting(remote)
        assert producer.publish("t", b"2", timeout_s=10) == (0, 2)


def test_who_reads_leaves_no_descriptor_behind(place: Place):
    def open_ones() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    with place.remote() as remote, Producer(remote, AT_ONCE) as producer:
        producer.publish("t", b"x")
        before = open_ones()
        for _ in range(5):
            place.network.cut()
            producer.publish("t", b"x")
        until(lambda: open_ones() <= before)
