"""ElectLeaders: the one broker leads every partition already, and is its preferred leader."""

from __future__ import annotations

from typing import Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, KafkaOnlyError, outcome

KEY = 43
_PREFERRED, _UNCLEAN = 0, 1


def handle(call: Call, request: Any) -> Answer:
    """ELECTION_NOT_NEEDED for each partition that is named; nothing where all are meant, as in Kafka."""
    call.must(ADMIN, "broker")
    if getattr(request, "election_type", _PREFERRED) not in {_PREFERRED, _UNCLEAN}:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no election type {request.election_type}")
    return {
        "error_code": 0,
        "replica_election_results": [
            {
                "topic": each.topic,
                "partition_result": [
                    {"partition_id": number, **outcome(_elect, call, each.topic, number)} for number in each.partitions
                ],
            }
            for each in request.topic_partitions or ()
        ],
    }


def _elect(call: Call, topic: str, partition: int) -> None:
    call.broker.logs.partition(topic, partition)
    raise KafkaOnlyError(KafkaError.election_not_needed, f"broker 0 leads {topic}-{partition}")
