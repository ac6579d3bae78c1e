"""Administration from any thread: done when the call returns, and there again after a restart."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError
from broker_core.flow.config import FlowConfig
from broker_core.groups.offset_reset import Target
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from tests.broker_core.admin import Admin


def test_topics_their_settings_and_their_records(tmp_path: Path):
    with BrokerHost(tmp_path) as host, Producer(host) as producer:
        admin = Admin(host)
        admin.create_topic("commits", 2, partitioner="murmur2", log=LogConfig(durability="file", retention_ms=10**9))
        admin.create_topic("gone")
        admin.create_partitions("commits", 4)
        admin.configure_topic("commits", flow=FlowConfig(max_messages=100))
        admin.delete_topic("gone")
        for partition in range(4):
            producer.publish("commits", b"a", partition=partition)
        assert admin.delete_records("commits", {0: 1, 1: 0}) == {0: 1, 1: 0}
    with BrokerHost(tmp_path) as host:
        admin = Admin(host)
        assert admin.topics() == ("commits",)
        view = admin.describe_topic("commits")
        assert [partition.start_offset for partition in view.partitions] == [1, 0, 0, 0]
        assert view.gate is not None and view.gate.limit == 100
        assert admin.topic_config("commits").retention_ms == 10**9
        assert not (tmp_path / "gone-0").exists()
        with pytest.raises(BrokerError):
            admin.describe_topic("gone")


@pytest.mark.promise("A6")
def test_groups_their_lag_and_a_reset_that_is_previewed(tmp_path: Path):
    with BrokerHost(tmp_path) as host:
        admin = Admin(host)
        admin.create_topic("commits")
        with Producer(host) as producer:
            for number in range(10):
                producer.send("commits", b"%d" % number)
        with GroupConsumer(host, "readers", ["commits"]) as consumer:
            while consumer.poll(0.1) or not consumer.assignment:
                pass
            consumer.commit({("commits", 0): 4})
            consumer.seek("commits", 0, 4)
            assert [(view.committed, view.lag) for view in admin.lag("readers")] == [(4, 6)]
        assert admin.groups() == ["readers"] and admin.describe_group("readers").members == ()
        (change,) = admin.preview_reset("readers", Target("shift-by", offset=-1), [("commits", 0)])
        assert (change.from_offset, change.to_offset) == (4, 3)
        assert admin.lag("readers")[0].committed == 4
        assert admin.reset_offsets("readers", Target("shift-by", offset=-1), iter([("commits", 0)])) == [change]
    with BrokerHost(tmp_path) as host:
        admin = Admin(host)
        assert admin.lag("readers")[0].committed == 3
        admin.delete_group("readers")
        assert admin.groups() == []


def test_queues_dead_letters_and_purges():
    with BrokerHost() as host:
        admin = Admin(host)
        admin.create_queue("jobs", QueueConfig(max_attempts=1))
        admin.create_topic("commits")
        admin.create_subscription("audit", "commits", max_messages=1, policy="drop_oldest")
        assert admin.queues() == ("jobs", "audit")
        with Producer(host) as producer, QueueConsumer(host, "jobs") as worker:
            for value in (b"a", b"b", b"c"):
                producer.publish("jobs", value)
            for delivery in worker.take_many(2):
                delivery.nack("boom")
            letters = admin.dead_letters("jobs")
            assert [letter.value for letter in letters] == [b"a", b"b"]
            edited = {letters[0].offset: Message(b"mended")}
            preview = admin.preview_redrive("jobs", [letters[0].offset], edited)
            assert preview.redrivable[0].message.value == b"mended"
            assert len(admin.redrive("jobs", [letters[0].offset], edited).redriven) == 1
            assert admin.dead_letters_by_cause("jobs") == {"boom": 1}
            assert admin.purge_dead_letters("jobs").purged == 1
            assert admin.purge_queue("jobs") == 2 and admin.undo_purge_queue("jobs") == 2
            assert [one.message.value for one in worker.take_many(5)] == [b"c", b"mended"]
            for value in (b"1", b"2"):
                producer.publish("commits", value)
            assert admin.describe_queue("audit").ready == 1
        admin.delete_queue("audit")
        admin.delete_queue("jobs")
        assert admin.queues() == () and admin.topics() == ("commits",)


def test_a_named_producer_goes_on_fencing_after_a_restart(tmp_path: Path):
    named = ProducerConfig(name="importer")
    with BrokerHost(tmp_path) as host:
        Admin(host).create_topic("commits")
        Producer(host, named).publish("commits", b"a")
    with BrokerHost(tmp_path) as host:
        old, new = Producer(host, named), Producer(host, named)
        new.publish("commits", b"b")
        with pytest.raises(BrokerError, match="newer producer"):
            old.publish("commits", b"c")
        assert host.broker.logs.end_offset("commits", 0) == 2


def test_redrives_that_take_their_time_and_what_can_be_undone():
    with BrokerHost() as host:
        admin = Admin(host)
        admin.create_queue("jobs")
        with Producer(host) as producer, QueueConsumer(host, "jobs") as worker:
            for number in range(6):
                producer.publish("jobs", b"%d" % number)
            for delivery in worker.take_many(6):
                delivery.nack("boom", requeue=False)
        offsets = [letter.offset for letter in admin.dead_letters("jobs")]
        running = admin.redrive_paced("jobs", offsets[:3], rate_per_s=50)
        assert running.letter_count == 3 and running.handled_count < 3
        assert len(host.wait(running.reply, 5).redriven) == 3
        endless = admin.redrive_paced("jobs", offsets[3:], rate_per_s=0.001)
        host.call(lambda _now: endless.end())
        assert len(host.wait(endless.reply, 5).redriven) == 1 == endless.handled_count
        assert admin.undo_redrive("jobs") == 1
        assert admin.purge_dead_letters("jobs").purged == 3 and admin.undo_purge_dead_letters("jobs") == 3
        assert len(admin.dead_letters("jobs")) == 3 and admin.describe_queue("jobs").ready == 3
        assert [slow.reader for slow in admin.slow_readers(max_lag=2)] == ["jobs"]


def test_a_subscription_whose_next_message_is_deleted_is_a_slow_reader_like_any_other():
    with BrokerHost() as host, Producer(host) as producer:
        admin = Admin(host)
        admin.create_topic("commits")
        admin.create_subscription("audit", "commits")
        for _ in range(3):
            producer.publish("commits", b"a")
        for before in (1, 3):
            admin.delete_records("commits", {0: before})
            assert [slow.reader for slow in admin.slow_readers(max_lag=0)] == (["audit"] if before < 3 else [])


def test_messages_are_looked_at_without_being_taken_and_filtered_letters_are_redriven():
    with BrokerHost() as host:
        admin = Admin(host)
        admin.create_topic("commits", 2)
        admin.create_queue("jobs", QueueConfig(max_attempts=1, priorities=2))
        with Producer(host) as producer:
            for number in range(5):
                producer.publish("commits", f"{number}", partition=1)
                producer.publish("jobs", f"{number}", priority=number % 2)
        assert [message.value for message in admin.messages("commits", 1, limit=2)] == [b"0", b"1"]
        assert [message.value for message in admin.messages("commits", 1, 3)] == [b"3", b"4"]
        assert admin.messages("commits", 1, 5) == admin.messages("commits", 0) == ()
        with pytest.raises(BrokerError):
            admin.messages("commits", 1, 6)
        assert [message.value for message in admin.peek_queue("jobs", 4)] == [b"0", b"2", b"4", b"1"]
        with QueueConsumer(host, "jobs") as consumer:
            for delivery in consumer.take_many(5):
                delivery.nack("odd" if delivery.message.partition else "even")
        assert len(admin.redrive("jobs", cause="odd").redriven) == 2
        assert admin.dead_letters_by_cause("jobs") == {"even": 3}
        assert [message.value for message in admin.peek_queue("jobs")] == [b"1", b"3"]


def test_c6_consumers_of_a_queue_share_by_their_weights():
    with BrokerHost() as host:
        Admin(host).create_queue("jobs", QueueConfig(balancing="weighted"))
        got: Counter[str] = Counter()
        stop = threading.Event()
        consumers = [
            QueueConsumer(host, "jobs", client_id=name, weight=weight) for name, weight in (("a", 3), ("b", 1))
        ]

        def work(consumer: QueueConsumer) -> None:
            while not stop.is_set():
                delivery = consumer.take(0.1)
                if delivery is not None:
                    delivery.ack()
                    got[consumer.client_id] += 1

        threads = [threading.Thread(target=work, args=(consumer,)) for consumer in consumers]
        for thread in threads:
            thread.start()
        with Producer(host) as producer:
            for _ in range(40):
                while Admin(host).describe_queue("jobs").waiting_takers < 2:
                    time.sleep(0.001)
                producer.publish("jobs", b"x")
        stop.set()
        for thread in threads:
            thread.join()
        assert got == {"a": 30, "b": 10}
