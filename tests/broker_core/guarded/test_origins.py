"""Headers of dead letters, as Spring, Kafka Connect and share groups write them."""

from __future__ import annotations

import pytest

from broker_core.guarded.origins import Origin, is_dead_letter_name, origin_of
from broker_core.messages import Headers

SPRING = (
    ("kafka_dlt-exception-fqcn", b"org.springframework.kafka.listener.ListenerExecutionFailedException"),
    ("kafka_dlt-exception-cause-fqcn", b"java.lang.IllegalStateException"),
    ("kafka_dlt-exception-message", b"no price\n\tat com.example.Orders"),
    ("kafka_dlt-original-topic", b"orders"),
    ("kafka_dlt-original-partition", (2).to_bytes(4, "big")),
    ("kafka_dlt-original-offset", (1 << 40).to_bytes(8, "big")),
    ("kafka_dlt-original-timestamp", (1_700_000_000_000).to_bytes(8, "big")),
    ("kafka_dlt-original-consumer-group", b"billing"),
    ("retry_topic-attempts", (3).to_bytes(4, "big")),
)
CONNECT = (
    ("__connect.errors.topic", b"orders"),
    ("__connect.errors.partition", b"0"),
    ("__connect.errors.offset", b"41"),
    ("__connect.errors.connector.name", b"jdbc-sink"),
    ("__connect.errors.stage", b"VALUE_CONVERTER"),
    ("__connect.errors.exception.class.name", b"org.apache.kafka.connect.errors.DataException"),
    ("__connect.errors.exception.message", b"not JSON"),
)
SHARE = (
    ("__dlq.errors.topic", b"orders"),
    ("__dlq.errors.partition", b"1"),
    ("__dlq.errors.offset", b"7"),
    ("__dlq.errors.group", b"packers"),
    ("__dlq.errors.delivery.count", b"5"),
    ("__dlq.errors.message", b"Offset rejected by client."),
)


@pytest.mark.parametrize(
    ("headers", "origin"),
    [
        (SPRING, Origin("orders", 2, 1 << 40, "IllegalStateException: no price", 3, "billing", 1_700_000_000_000)),
        ((*SPRING[-2:-1], ("retry_topic-attempts", b"\x03")), Origin(attempts=3, reader="billing")),  # of older ones
        (CONNECT, Origin("orders", 0, 41, "DataException: not JSON", None, "jdbc-sink")),
        (SHARE, Origin("orders", 1, 7, "Offset rejected by client.", 5, "packers")),
        ((("kafka_dlt-original-offset", b"seven"), ("x", b"")), Origin()),
        ((("__dlq.errors.topic", b"\xff"), ("__dlq.errors.offset", b"-1")), Origin("�")),
        ((("trace-id", b"7"),), None),
    ],
)
def test_origin_cause_and_attempts(headers: Headers, origin: Origin | None) -> None:
    assert origin_of(headers) == origin


def test_names() -> None:
    names = ("orders.DLT", "orders-dlq", "orders.dlq", "orders-dlt", "dlq.orders", "a_DLQ")
    assert all(map(is_dead_letter_name, names))
    assert not any(map(is_dead_letter_name, ("orders", "dltorders", "dlq", "orders.dlqs")))
