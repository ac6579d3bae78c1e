from __future__ import annotations

from typing import Any

import pytest

from broker_core.listeners.kafka.codec import Header, response
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.raw import KEYS, frame_of

METADATA = KEYS["Metadata"]


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (13, {"clusterid": "c"}),
        (13, {"topics": [{"name": "orders", "partition": []}]}),
        (1, {"topics": [{"partitions": [{"leader_epoc": 0}]}]}),
    ],
)
def test_a_misspelt_field_of_an_answer_fails(version: int, body: dict[str, Any]):
    with pytest.raises(TypeError, match="has no "):
        response(Header(METADATA, version, 1), body)


def test_a_field_that_only_other_versions_have_is_left_out():
    newest = {"topics": [{"partitions": [{"leader_epoch": 3}]}], "cluster_id": "c"}
    assert response(Header(METADATA, 1, 1), newest)
    assert response(Header(METADATA, 8, 1), {"cluster_authorized_operations": 1})
    assert response(Header(METADATA, 13, 1), {"cluster_authorized_operations": 1})


def test_a_misspelt_field_of_a_request_fails(listener: KafkaListener):
    with pytest.raises(TypeError, match="has no topicz"):
        frame_of(METADATA, 13, {"topicz": ()})
