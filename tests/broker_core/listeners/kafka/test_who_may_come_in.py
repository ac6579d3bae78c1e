"""Tokens and rules hold for Kafka's clients as for all others."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from broker_core import Admin, BrokerHost
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.operations.entry import Operation

TOKEN = "a token that is long enough"


def client(listener: KafkaListener, token: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": listener.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "anything",
        "sasl.password": token,
        "log_level": 0,
    }


@pytest.mark.promise("22")
def test_who_knows_the_token_comes_in_and_nobody_else(host: BrokerHost, admin: Admin):
    with KafkaListener(host, port=0, access=Access.of_token(TOKEN)) as listener:
        known = AdminClient(client(listener, TOKEN))
        known.create_topics([NewTopic("orders", 1, 1)])["orders"].result(30)
        assert admin.topics() == ("orders",)
        errors: list[KafkaError] = []
        stranger = AdminClient({**client(listener, "a guess that is wrong"), "error_cb": errors.append})
        with pytest.raises(KafkaException):
            stranger.list_topics(timeout=3)
        stranger.poll(1)
        assert KafkaError._AUTHENTICATION in {error.code() for error in errors}
        silent = AdminClient({"bootstrap.servers": listener.bootstrap_servers, "log_level": 0})
        with pytest.raises(KafkaException):
            silent.list_topics(timeout=2)


def test_rules_say_which_topics(host: BrokerHost, admin: Admin):
    for name in ("orders", "secrets"):
        admin.create_topic(name)
    access = Access(
        (PrincipalEntry("shop", TOKEN),), (Rule("shop", (Operation.WRITE, Operation.READ), topics=("orders",)),)
    )
    with KafkaListener(host, port=0, access=access) as listener:
        settings = client(listener, TOKEN)
        assert set(AdminClient(settings).list_topics(timeout=30).topics) == {"orders"}
        errors: list[KafkaError | None] = []
        producer = Producer({**settings, "message.timeout.ms": 3_000})
        for name in ("orders", "secrets"):
            producer.produce(name, b"x", on_delivery=lambda error, _message: errors.append(error))
        producer.flush(30)
        refused = [error.code() for error in errors if error is not None]
        assert refused == [KafkaError.TOPIC_AUTHORIZATION_FAILED]
        denied = AdminClient(settings)
        with pytest.raises(KafkaException) as failed:
            denied.create_topics([NewTopic("mine", 1, 1)])["mine"].result(30)
        assert failed.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
