"""The last events of a broker become a session that opens at any of their moments."""

from pathlib import Path

import pytest

from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.recording.playback import FolderPlayback
from broker_core.recording.reader import open_session
from broker_core.snapshots import Snapshot
from broker_core.testing.embedded_broker import EmbeddedBroker
from broker_core.testing.history import KeptEvents


def work(broker: EmbeddedBroker) -> None:
    """A hundred messages, half of them in a queue of which some are taken."""
    broker.create_topic("orders", partitions=2)
    broker.create_queue("jobs")
    for number in range(50):
        broker.publish("orders", str(number), partition=number % 2)
        broker.publish("jobs", str(number))
    with QueueConsumer(broker.host, "jobs", client_id="worker") as worker:
        for delivery in worker.take_many(10):
            delivery.ack()


def test_what_has_left_the_ring_is_the_state_before(tmp_path):
    with EmbeddedBroker() as broker:
        small = KeptEvents(Snapshot(0, 0), max_events=40)
        broker.host.events.attach(small)
        work(broker)
        totals, end_ns = broker.host.broker.views.totals(), broker.host.now_ns
        small.save(tmp_path / "small", title="Small", about="", started_s=0, totals=totals, end_ns=end_ns)
        broker.save(tmp_path / "whole")
    assert len(small.events) <= 40 < len(broker.events.events)
    few, all_ = open_session(tmp_path / "small"), open_session(tmp_path / "whole")
    assert (few.problems, all_.problems) == ([], [])
    first = next(few.index.events()).seq
    assert first > 0
    few_states, all_states = FolderPlayback(tmp_path / "small"), FolderPlayback(tmp_path / "whole")
    for seq in range(first, broker.host.events.count, 7):
        assert few_states.after_event(seq) == all_states.after_event(seq)
    assert few_states.end().totals == totals


def test_a_directory_with_messages_is_the_state_before(tmp_path):
    with EmbeddedBroker(tmp_path / "data") as broker:
        work(broker)
    with EmbeddedBroker(tmp_path / "data") as broker:
        broker.publish("orders", "more", partition=0)
        broker.save(tmp_path / "session")
    state = FolderPlayback(tmp_path / "session").end()
    assert {topic.name: [part.end_offset for part in topic.partitions] for topic in state.topics} == {
        "orders": [26, 25]
    }
    assert [queue.name for queue in state.queues] == ["jobs"]


def test_it_is_saved_after_the_end_and_says_when_it_began(tmp_path):
    with EmbeddedBroker() as broker:
        work(broker)
    metadata = open_session(broker.save(tmp_path / "session", title="Orders", about="Two readers")).metadata
    assert metadata.started_at < (metadata.ended_at or "")
    assert (metadata.scenario, metadata.clock, metadata.ended) == ("Orders", "wall", "finished")
    assert metadata.totals is not None
    assert metadata.totals["published"] == 100


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine")
    with EmbeddedBroker() as broker, pytest.raises(BrokerError) as refused:
        broker.save(tmp_path)
    assert refused.value.code is ErrorCode.FOLDER_NOT_EMPTY
