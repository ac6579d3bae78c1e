"""What the broker counts, and since when: itself since it was opened, a queue since it was made."""

from __future__ import annotations

from pathlib import Path

from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.messages import Message
from broker_core.snapshots import Totals
from tests.broker_core.admin import Admin


def test_totals_begin_at_nothing_after_a_restart_and_a_queue_goes_on(tmp_path: Path):
    for round_ in (1, 2):
        with BrokerHost(tmp_path) as host:
            if round_ == 1:
                Admin(host).create_queue("jobs")
            assert host.broker.views.totals() == Totals()
            with Producer(host) as producer, QueueConsumer(host, "jobs") as consumer:
                producer.publish_many("jobs", [Message(b"a"), Message(b"b")])
                consumer.ack_many(consumer.take_many(1, 5.0))
            assert host.broker.views.totals() == Totals(published=2, delivered=1, acknowledged=1)
            view = Admin(host).describe_queue("jobs")
            assert (view.ready, view.acknowledged) == (round_, round_)
    with BrokerHost(tmp_path) as host:
        Admin(host).delete_queue("jobs")
        assert host.broker.views.totals() == Totals()
