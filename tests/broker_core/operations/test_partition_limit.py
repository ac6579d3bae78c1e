from __future__ import annotations

from typing import Any

import msgspec
import pytest

from broker_core.limits import MAX_PARTITIONS
from broker_core.listeners.http.routes.mini_broker import RegisterTopic
from broker_core.operations.topics import AddPartitions, CreateTopic
from broker_core.simulation.specs import TopicSpec


@pytest.mark.parametrize(
    ("kind", "field", "rest"),
    [
        (CreateTopic, "partitions", {"name": "orders"}),
        (AddPartitions, "total", {"topic": "orders"}),
        (RegisterTopic, "partitions", {"topic": "orders"}),
        (TopicSpec, "partitions", {"name": "orders"}),
    ],
)
def test_a_topic_may_have_as_many_partitions_whoever_asks_for_them(
    kind: type[msgspec.Struct], field: str, rest: dict[str, Any]
) -> None:
    assert getattr(msgspec.convert({**rest, field: MAX_PARTITIONS}, kind), field) == MAX_PARTITIONS
    with pytest.raises(msgspec.ValidationError, match=str(MAX_PARTITIONS)):
        msgspec.convert({**rest, field: MAX_PARTITIONS + 1}, kind)
