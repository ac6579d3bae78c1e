"""A broker on the wall clock: threads, one lock, group commit, and everything there again after a restart."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from broker_core.broker.catalog import Catalog
from broker_core.broker.group_offsets import Committer
from broker_core.broker.publishing import Published
from broker_core.clock import NS_PER_MS
from broker_core.closable import Closable
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.flow.config import FlowConfig
from broker_core.groups.offsets import FlushTicket
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import SyncTicket
from broker_core.messages import Message
from broker_core.queues import journal
from broker_core.queues.config import QueueConfig, RetryPolicy
from broker_core.queues.lease import Lease
from broker_core.replies import Reply
from broker_core.schemas.rule import SchemaRule

FSYNC = HostConfig(log=LogConfig(durability="fsync"))
JOBS = QueueConfig(lease_ms=30_000, max_attempts=3, retry=RetryPolicy("fixed", base_ms=60_000))


def publish(host: BrokerHost, topic: str, *values: bytes) -> None:
    for message in map(Message, values):
        host.wait(host.call(partial(publish_one, host, topic, message)))


def publish_one(host: BrokerHost, topic: str, message: Message, now_ns: int) -> Reply[Published | None]:
    return host.broker.publishing.publish(now_ns, topic, message, client="t")


def fail(host: BrokerHost, lease: Lease) -> None:
    host.call(lambda now_ns: host.broker.queues.nack(now_ns, lease, "boom"))


def take(host: BrokerHost, queue: str = "jobs") -> Lease:
    return host.wait(host.call(lambda now_ns: host.broker.queues.take(now_ns, queue, "worker")))[0]


def with_topic(host: BrokerHost, name: str = "commits", partitions: int = 2) -> BrokerHost:
    host.admin(lambda now_ns: host.broker.topics.create(now_ns, name, partitions))
    return host


@pytest.mark.promise("A15")
@pytest.mark.parametrize("config", [HostConfig(), FSYNC], ids=["file", "fsync"])
def test_everything_is_there_again_after_a_restart(tmp_path: Path, config: HostConfig):
    with BrokerHost(tmp_path, config) as host:
        with_topic(host)
        host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", JOBS, flow=FlowConfig(max_messages=99)))
        host.admin(
            lambda now_ns: host.broker.queues.subscribe(now_ns, "audit", "commits", QueueConfig(), max_messages=9)
        )
        publish(host, "commits", b"a", b"b")
        publish(host, "jobs", b"held", b"failed", b"dead", b"waiting")
        offsets = {("commits", 0): 1}
        host.call(lambda now_ns: host.broker.offsets.commit(now_ns, "readers", Committer.of("c"), offsets))
        take(host)
        failed, dead = take(host), take(host)
        host.call(lambda now_ns: host.broker.queues.nack(now_ns, failed, "boom"))
        host.call(lambda now_ns: host.broker.queues.nack(now_ns, dead, "poison", requeue=False))
    with BrokerHost(tmp_path, config) as host:
        assert host.broker.topics.names() == ("commits",)
        assert host.broker.groups.committed("readers", "commits", 0) == 1
        queue = host.broker.queues.queue("jobs")
        assert (queue.in_flight, queue.delayed, queue.ready) == (1, 1, 1)
        assert queue.dead_letters.by_cause() == {"poison": 1}
        assert queue.counts.dead_lettered == 1 and queue.config == JOBS
        assert host.broker.queues.queue("audit").ready == 2
        view = host.broker.views.queue(0, "jobs")
        assert view.gate is not None and view.gate.limit == 99
        assert [lease.attempt for lease in view.leases] == [1]
        assert take(host).message.value == b"waiting"


def test_what_a_topics_schema_refused_is_there_again_after_a_restart(tmp_path: Path):
    with BrokerHost(tmp_path) as host:
        with_topic(host)
        host.admin(lambda now_ns: host.broker.schemas.register(now_ns, "numbers", '{"type": "integer"}'))
        host.admin(lambda now_ns: host.broker.schemas.set_rule(now_ns, "commits", SchemaRule("numbers", "dead_letter")))
        publish(host, "commits", b'"one"')
    with BrokerHost(tmp_path) as host:
        assert host.broker.queues.dead_letters("commits").count() == 1


@pytest.mark.promise("A11")
def test_attempts_survive_a_crash_after_a_tick(tmp_path: Path):
    config = HostConfig(tick_ms=20)
    host = BrokerHost(tmp_path, config)
    host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig(lease_ms=60_000)))
    publish(host, "jobs", b"a")
    for _ in range(3):
        fail(host, take(host))
    state = tmp_path / "queue-states" / "jobs"
    deadline_s = time.monotonic() + 5
    while time.monotonic() < deadline_s and b"boom" not in (state.read_bytes() if state.exists() else b""):
        time.sleep(0.01)
    saved = {path.name: path.read_bytes() for path in (state, tmp_path / "catalog.json")}
    host.close()
    state.write_bytes(saved["jobs"])  # what a kill -9 would have left
    with BrokerHost(tmp_path, config) as host:
        assert take(host).attempt == 4


def test_a_lease_that_was_extended_lasts_as_long_after_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The journal ends with what the saved states know, so they must know it."""
    monkeypatch.setattr(journal, "_SEGMENT_BYTES", 1_000)
    host = BrokerHost(tmp_path, HostConfig(tick_ms=60_000))
    host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", JOBS))
    host.admin(lambda now_ns: host.broker.queues.create(now_ns, "other", JOBS))
    publish(host, "jobs", b"a")
    lease = take(host)
    with_topic(host, "saves-the-queues")
    host.call(lambda now_ns: host.broker.queues.queue("jobs").extend(now_ns, lease, 600_000))
    for number in range(20):
        publish(host, "other", b"%d" % number)
        take(host, "other")
    with_topic(host, "saves-them-again")
    assert "jobs" not in host.broker.durability.journal.entries()
    host.crash()
    with BrokerHost(tmp_path) as host:
        [after] = host.broker.views.queue(0, "jobs").leases
        assert after.deadline_ns - host.now_ns > JOBS.lease_ms * NS_PER_MS


def test_a_directory_has_one_user(tmp_path: Path):
    with BrokerHost(tmp_path):
        with pytest.raises(BrokerError) as refused:
            BrokerHost(tmp_path)
        assert refused.value.code is ErrorCode.DIRECTORY_IN_USE
    BrokerHost(tmp_path).close()


def test_a_damaged_state_of_a_queue_is_put_aside_and_said_aloud(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with BrokerHost(tmp_path) as host:
        host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig()))
        publish(host, "jobs", b"a")
    state = tmp_path / "queue-states" / "jobs"
    data = bytearray(state.read_bytes())
    data[-1] ^= 1
    state.write_bytes(data)
    with caplog.at_level(logging.WARNING), BrokerHost(tmp_path) as host:
        assert host.broker.queues.queue("jobs").ready == 1
    assert "checksum" in caplog.text
    assert (tmp_path / "queue-states" / "jobs.damaged").exists()


def test_many_changes_are_saved_once_and_before_they_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with BrokerHost(tmp_path) as host:
        directory = host.directory
        assert directory is not None
        saved: list[int] = []
        save = directory.save_catalog

        def counting(kept: Catalog) -> bool:
            saved.append(len(kept.topics))
            return save(kept)

        monkeypatch.setattr(directory, "save_catalog", counting)
        with host.saved_at_end(), host.saved_at_end():
            for number in range(5):
                host.admin(partial(create, host, f"orders-{number}"))
            assert saved == []
        assert saved == [5]
        with pytest.raises(BrokerError), host.saved_at_end():
            host.admin(partial(create, host, "orders-5"))
            host.admin(partial(create, host, "orders-5"))
        host.admin(partial(create, host, "orders-6"))
        assert saved == [5, 6, 7]
        host.crash()
    with BrokerHost(tmp_path) as again:
        assert len(again.broker.topics.names()) == 7


def create(host: BrokerHost, name: str, now_ns: int) -> None:
    host.broker.topics.create(now_ns, name, 1)


def test_a_damaged_catalog_is_refused_and_left_alone(tmp_path: Path):
    with_topic(BrokerHost(tmp_path)).close()
    for catalog in (tmp_path / "catalog.json", tmp_path / "catalog.json.copy"):
        catalog.write_text(catalog.read_text()[:-5])
    for _ in range(2):
        with pytest.raises(BrokerError) as refused:
            BrokerHost(tmp_path)
        assert refused.value.code is ErrorCode.DAMAGED


def test_timers_fire_by_themselves():
    with BrokerHost() as host:
        host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig(lease_ms=30)))
        publish(host, "jobs", b"a")
        first = take(host)
        again = host.wait(
            host.call(lambda now_ns: host.broker.queues.take(now_ns, "jobs", "b", deadline_ns=now_ns + 10**10))
        )
        assert again[0].attempt == 2
        with pytest.raises(BrokerError):
            host.call(lambda now_ns: host.broker.queues.ack(now_ns, first))


@pytest.mark.promise("17")
def test_a_jump_of_the_wall_clock_moves_no_deadline(monkeypatch: pytest.MonkeyPatch):
    with BrokerHost() as host:
        host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig(lease_ms=60_000)))
        publish(host, "jobs", b"a", b"b")
        lease = take(host)
        true_ns = time.time_ns
        for jump_s in (86_400, -86_400):
            monkeypatch.setattr(time, "time_ns", lambda jump_s=jump_s: true_ns() + jump_s * 10**9)
            monkeypatch.setattr(time, "time", lambda jump_s=jump_s: true_ns() / 10**9 + jump_s)
            publish(host, "jobs", b"c")
            assert host.broker.queues.queue("jobs").in_flight == 1
        host.call(lambda now_ns: host.broker.queues.ack(now_ns, lease))


def test_one_sync_serves_all_who_wait_and_the_lock_is_free_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with BrokerHost(tmp_path, FSYNC) as host:
        with_topic(host, partitions=1)
        at_the_disk, go_on = threading.Event(), threading.Event()
        rounds: list[int] = []
        run = SyncTicket.run

        def slow(ticket: SyncTicket) -> None:
            rounds.append(ticket.end_offset)
            at_the_disk.set()
            assert go_on.wait(5)
            run(ticket)

        monkeypatch.setattr(SyncTicket, "run", slow)

        def send() -> Reply[Published | None]:
            return host.call(partial(publish_one, host, "commits", Message(b"x")))

        first = send()
        assert at_the_disk.wait(5)
        # The disk is busy, the broker is not.
        others = [send() for _ in range(20)]
        assert not first.done and not any(reply.done for reply in others)
        go_on.set()
        for reply in (first, *others):
            host.wait(reply, 5)
        assert rounds == [1, 21]


def test_closing_wakes_everybody_who_waits():
    host = with_topic(BrokerHost())
    found: list[ErrorCode] = []

    def wait() -> None:
        reply: Reply[None] = Reply()
        try:
            host.wait(reply)
        except BrokerError as error:
            found.append(error.code)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.02)
    host.close()
    host.close()
    for thread in threads:
        thread.join(5)
    assert found == [ErrorCode.CLOSED] * 3
    with pytest.raises(BrokerError):
        host.call(lambda now_ns: None)


@pytest.mark.promise("30")
def test_nothing_leaks(tmp_path: Path):
    def once() -> None:
        with BrokerHost(tmp_path, FSYNC) as host:
            name = f"topic-{len(host.broker.topics.names())}"
            with_topic(host, name)
            publish(host, name, b"a")
            host.tell(lambda: None)

    once()
    rounds, before = 8, (threading.active_count(), len(os.listdir("/proc/self/fd")))
    for _ in range(rounds):
        once()
    # Threads that other tests have left open and close files meanwhile; a leak is one in each round.
    assert threading.active_count() - before[0] < rounds and len(os.listdir("/proc/self/fd")) - before[1] < rounds


def test_an_opening_that_fails_gives_everything_back(tmp_path: Path):
    (tmp_path / "catalog.json").write_text("{")
    before = (threading.active_count(), len(os.listdir("/proc/self/fd")))
    for _ in range(4):
        with pytest.raises(BrokerError):
            BrokerHost(tmp_path)
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == before


def test_a_callback_may_call_the_broker_and_its_error_costs_nobody(caplog: pytest.LogCaptureFixture):
    with with_topic(BrokerHost()) as host:
        done = threading.Event()

        def callback() -> None:
            publish(host, "commits", b"from a callback")
            done.set()

        with caplog.at_level(logging.ERROR):
            host.tell(lambda: 1 / 0)
            host.tell(callback)
            assert done.wait(5)
    assert "ZeroDivisionError" in caplog.text


def test_a_fault_in_a_timer_does_not_cost_the_caller(caplog: pytest.LogCaptureFixture):
    with with_topic(BrokerHost()) as host:
        with caplog.at_level(logging.ERROR):
            host.call(lambda now_ns: host.loop.timers.at(now_ns, lambda _at: 1 / 0))
            publish(host, "commits", b"a")
    assert "ZeroDivisionError" in caplog.text


def test_many_threads_publish_and_nothing_is_lost(tmp_path: Path):
    events: list[Event] = []
    with with_topic(BrokerHost(tmp_path), partitions=3) as host:
        host.events.attach(events.append)

        def work(number: int) -> None:
            publish(host, "commits", *[b"%d-%d" % (number, each) for each in range(50)])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        stored = [
            message.value or b""
            for partition in range(3)
            for message in host.broker.logs.partition("commits", partition).read(0, max_messages=1_000)
        ]
    assert sorted(stored) == sorted(b"%d-%d" % (a, b) for a in range(8) for b in range(50))
    published = [event for event in events if event.kind is EventKind.PUBLISHED]
    assert [event.seq for event in published] == sorted(event.seq for event in published)
    assert all(one.time_ns <= other.time_ns for one, other in pairwise(events))


def test_topics_are_made_on_demand_only_where_that_is_configured():
    with BrokerHost(None, HostConfig(auto_create_partitions=4)) as host:
        host.ensure_topic("new")
        host.ensure_topic("new")
        assert host.broker.logs.partition_count("new") == 4
    with BrokerHost() as host:
        host.ensure_topic("new")
        assert host.broker.topics.names() == ()


def test_a_deleted_queue_does_not_come_back(tmp_path: Path):
    config = HostConfig(tick_ms=10)
    with BrokerHost(tmp_path, config) as host:
        host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig()))
        publish(host, "jobs", b"a")
        time.sleep(0.05)
        host.admin(lambda now_ns: host.broker.queues.delete(now_ns, "jobs"))
    assert not (tmp_path / "queue-states" / "jobs").exists()
    with BrokerHost(tmp_path, config) as host:
        assert host.broker.queues.names() == ()


def commit(host: BrokerHost, offset: int) -> None:
    offsets = {("commits", 0): offset}
    host.call(lambda now_ns: host.broker.offsets.commit(now_ns, "readers", Committer.of("c"), offsets))


def test_offsets_reach_the_disk_without_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    at_the_disk, go_on = threading.Event(), threading.Event()
    run = FlushTicket.run

    def slow(ticket: FlushTicket) -> None:
        at_the_disk.set()
        assert go_on.wait(5)
        run(ticket)

    with with_topic(BrokerHost(tmp_path, HostConfig(tick_ms=60_000))) as host:
        publish(host, "commits", b"a", b"b")
        monkeypatch.setattr(FlushTicket, "run", slow)
        commit(host, 1)
        kept = host.durable()
        assert at_the_disk.wait(5)
        commit(host, 2)  # the disk is busy, the broker is not
        assert not kept.done
        go_on.set()
        host.wait(kept, 5)
    with BrokerHost(tmp_path) as host:
        assert host.broker.groups.committed("readers", "commits", 0) == 2


def refuse(ticket: FlushTicket) -> None:
    ticket.error = BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")


def test_a_disk_that_refuses_offsets_is_told_to_who_waits_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    with with_topic(BrokerHost(tmp_path, HostConfig(tick_ms=60_000))) as host:
        publish(host, "commits", b"a")
        commit(host, 1)
        with monkeypatch.context() as patch, caplog.at_level(logging.CRITICAL):
            patch.setattr(FlushTicket, "run", refuse)
            with pytest.raises(BrokerError, match="full"):
                host.wait(host.durable(), 5)
        host.wait(host.durable(), 5)
    with BrokerHost(tmp_path) as host:
        assert host.broker.groups.committed("readers", "commits", 0) == 1


@pytest.mark.parametrize("act", [BrokerHost.close, lambda host: host._writer._tick()], ids=["close", "tick"])
def test_where_offsets_cannot_be_written_queues_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[BrokerHost], None]
):
    host = with_topic(BrokerHost(tmp_path, HostConfig(tick_ms=60_000)))
    host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig(max_attempts=None)))
    publish(host, "commits", b"a")
    publish(host, "jobs", b"a")
    take(host)
    commit(host, 1)
    monkeypatch.setattr(FlushTicket, "run", refuse)
    with pytest.raises(BrokerError, match="full"):
        act(host)
    monkeypatch.undo()
    host.crash()
    with BrokerHost(tmp_path) as host:
        assert host.broker.queues.queue("jobs").in_flight == 1


@pytest.mark.promise("30")
@pytest.mark.soak
@pytest.mark.timeout(600)
def test_threads_and_descriptors_stay_flat_over_five_minutes(tmp_path: Path):
    with with_topic(BrokerHost(tmp_path, FSYNC), partitions=8) as host:
        counted: list[tuple[int, int]] = []
        end_s = time.monotonic() + 300
        while time.monotonic() < end_s:
            publish(host, "commits", *[b"x" * 1_000] * 50)
            host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig()))
            publish(host, "jobs", b"a")
            take(host)
            host.admin(lambda now_ns: host.broker.queues.delete(now_ns, "jobs"))
            counted.append((threading.active_count(), len(os.listdir("/proc/self/fd"))))
        assert max(counted[10:]) == min(counted[10:])


def test_a_client_that_cannot_close_does_not_keep_the_rest_from_it(tmp_path: Path):
    closed: list[str] = []

    class Stubborn(Closable):
        def close(self) -> None:
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the last message")

    class Meek(Closable):
        def close(self) -> None:
            closed.append("meek")

    host = BrokerHost(tmp_path)
    before = threading.active_count()
    for client in (Meek(), Stubborn(), Meek()):
        host.register(client)
    with pytest.raises(BrokerError, match="the last message"):
        host.close()
    assert closed == ["meek", "meek"] and threading.active_count() == before - 2
    BrokerHost(tmp_path).close()


def damage_of(host: BrokerHost) -> str:
    return " / ".join(host.broker.corruption.sentences)


def filled(path: Path) -> None:
    with BrokerHost(path) as host:
        host.admin(lambda now_ns: host.broker.topics.create(now_ns, "orders", 2))
        for value in (b"a", b"b"):
            publish(host, "orders", value)


@pytest.mark.promise("28")
@pytest.mark.parametrize("how", ["missing", "damaged"])
def test_promise_28_a_catalog_that_is_gone_is_read_from_its_copy_and_said(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
):
    filled(tmp_path)
    catalog = tmp_path / "catalog.json"
    catalog.unlink() if how == "missing" else catalog.write_bytes(catalog.read_bytes()[:-5])
    with caplog.at_level(logging.WARNING), BrokerHost(tmp_path) as host:
        assert host.broker.logs.partition_count("orders") == 2
        assert "its copy is used" in damage_of(host)
    assert "its copy is used" in caplog.text
    with BrokerHost(tmp_path) as host:
        assert damage_of(host) == ""


@pytest.mark.promise("28")
def test_promise_28_messages_without_an_entry_are_told_and_no_new_topic_takes_them_over(tmp_path: Path):
    filled(tmp_path)
    for name in ("catalog.json", "catalog.json.copy"):
        (tmp_path / name).unlink()
    kept = {path.name for path in tmp_path.glob("orders-*") if any(each.stat().st_size for each in path.glob("*.log"))}
    assert kept
    with BrokerHost(tmp_path) as host:
        assert host.broker.topics.names() == ()
        assert all(name in damage_of(host) for name in kept)
        host.admin(lambda now_ns: host.broker.topics.create(now_ns, "orders", 2))
        assert [host.broker.logs.end_offset("orders", number) for number in range(2)] == [0, 0]
    assert all(any((tmp_path / f"kept.{name}").glob("*.log")) for name in kept)


@pytest.mark.promise("28")
@pytest.mark.parametrize("crashed", [False, True])
def test_promise_28_a_segment_that_is_gone_is_said(tmp_path: Path, crashed: bool):
    host = BrokerHost(tmp_path)
    host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig()))
    publish(host, "jobs", b"a")
    host.crash() if crashed else host.close()
    for path in (tmp_path / "jobs-0").iterdir():
        path.unlink()
    with BrokerHost(tmp_path) as again:
        assert "jobs-0 has no segments left" in damage_of(again)


def test_promise_28_a_file_of_offsets_that_was_put_aside_is_no_directory_of_a_topic(tmp_path: Path):
    filled(tmp_path)
    for name in ("offsets.sqlite", "offsets.sqlite-wal"):
        (tmp_path / name).write_bytes(b"no database" * 100)
    for said in (True, False):
        with BrokerHost(tmp_path) as host:
            assert ("it is kept as" in damage_of(host)) == said
    assert (tmp_path / "offsets.sqlite.damaged-1").exists()


@pytest.mark.promise("28")
def test_promise_28_messages_that_were_handed_out_and_are_gone_are_said(tmp_path: Path):
    with BrokerHost(tmp_path) as host:
        host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig()))
        publish(host, "jobs", b"a")
        take(host)
    for path in (tmp_path / "jobs-0").iterdir():
        path.unlink() if path.suffix != ".log" else path.write_bytes(b"")
    with BrokerHost(tmp_path) as again:
        assert "the log ends at 0, but jobs has delivered messages up to 1" in damage_of(again)
