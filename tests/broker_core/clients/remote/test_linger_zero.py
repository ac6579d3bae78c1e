"""Without lingering, what is sent while a batch is on its way goes out together behind it."""

from __future__ import annotations

from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.messages import Message
from tests.broker_core.clients.remote.place import Place

AT_ONCE = ProducerConfig(linger_ms=0, batch_messages=100)


def test_what_is_sent_while_another_is_on_its_way_goes_out_together(place: Place):
    with place.remote() as remote, Producer(remote, AT_ONCE) as producer:
        producer.publish("t", b"0")
        requests = place.listener.connections.views()[0].requests
        with place.host.lock:
            receipts = [producer.send("t", b"%d" % number) for number in range(1, 251)]
        assert [receipt.result(10).offset for receipt in receipts] == list(range(1, 251))
        assert place.listener.connections.views()[0].requests - requests == 4  # the first, 100, 100, 49
    assert place.stored() == [b"%d" % number for number in range(251)]


def test_nothing_joins_the_batches_of_publish_many(place: Place):
    with place.remote() as remote, Producer(remote, AT_ONCE) as producer:
        producer.publish("t", b"0")
        with place.host.lock:
            first = producer.send("t", b"1")
            batches = remote.call(lambda _now: producer._sender.send_many("t", [Message(b"2")] * 3))
            last = producer.send("t", b"3")
        assert (first.result(10).offset, last.result(10).offset) == (1, 5)
        assert [(each.settled.result().offset, each.settled.result().count) for each in batches] == [(2, 3)]


def test_what_joined_survives_a_lost_connection_in_its_order(place: Place):
    with place.remote() as remote, Producer(remote, ProducerConfig(linger_ms=0, retry_backoff_ms=5)) as producer:
        receipts = []
        for number in range(600):
            receipts.append(producer.send("t", b"%d" % number))
            if number % 200 == 100:
                place.network.cut()
        assert [receipt.result(20).offset for receipt in receipts] == list(range(600))
    assert place.stored() == [b"%d" % number for number in range(600)]
