"""Transactions in a session that an engine runs: they are seen while they are open."""

from __future__ import annotations

from confluent_kafka import Producer

from broker_core.events import EventKind
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.engine.test_engine_host import served
from tests.broker_core.listeners.kafka.test_transactions import PATIENCE_S, begun


def test_a_session_shows_a_transaction_from_its_beginning_to_its_end():
    told: list[EventKind] = []
    with served() as host, KafkaListener(host, port=0) as listener:
        host.events.attach(lambda event: told.append(event.kind))
        producer = Producer(
            {"bootstrap.servers": listener.bootstrap_servers, "transactional.id": "payments", "client.id": "shop"}
        )
        producer.init_transactions(PATIENCE_S)
        begun(producer, "a", "b")  # right at the session's beginning, which is Unix time 0 in virtual time
        (view,) = host.call(lambda _now: host.broker.transactions.views())
        assert (view.transactional_id, view.client) == ("payments", "shop")
        producer.commit_transaction(PATIENCE_S)
        assert host.call(lambda _now: host.broker.transactions.views()) == ()
    assert [kind for kind in told if "transaction" in kind] == ["transaction_started", "transaction_ended"]
