"""CreateTopics: topics with partitions and settings by Kafka's names.

There is one broker, so the replication factor is 1 (or -1). Left out: assignments of replicas.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, failed
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.topic_configs import SETTINGS, text_of, with_kept, with_settings
from broker_core.names import check_name

KEY = 19
_SOURCE_TOPIC = 1
_DEFAULT_PARTITIONS = 1


def handle(call: Call, request: Any) -> Answer:
    """Each topic has an answer of its own."""
    return Later(lambda: _all(call, request))


def _all(call: Call, request: Any) -> Body:
    with call.shared.host.saved_at_end():
        return {"topics": [_create(call, each, validate_only=request.validate_only) for each in request.topics]}


def _create(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    name, host = asked.name, call.shared.host
    try:
        call.must(ADMIN, "topic", name)
        if asked.assignments:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "there is one broker, so replicas cannot be assigned")
        if asked.replication_factor not in {-1, 1}:
            raise BrokerError(
                ErrorCode.INVALID_REPLICATION_FACTOR, f"{asked.replication_factor}, and there is one broker; take 1"
            )
        partitions = _DEFAULT_PARTITIONS if asked.num_partitions == -1 else asked.num_partitions
        settings = [(each.name, each.value) for each in asked.configs]
        log, kept = with_settings(host.config.log, settings), with_kept({}, settings)
        check_name(name, "topic")

        def create(now_ns: int) -> None:
            if not validate_only:
                call.broker.topics.create(now_ns, name, partitions, log=log)
                call.broker.logs.topic(name).kafka_settings = kept
            else:
                call.broker.logs.check_new(name)

        host.admin(create)
    except BrokerError as error:
        return {
            "name": name,
            "topic_config_error_code": 0,
            "num_partitions": -1,
            "replication_factor": -1,
            **failed(error),
        }
    return {
        "name": name,
        "topic_id": call.topic_id(name),
        "error_code": 0,
        "error_message": None,
        "num_partitions": partitions,
        "replication_factor": 1,
        "configs": [
            {
                "name": each.name,
                "value": text_of(each, log),
                "read_only": False,
                "config_source": _SOURCE_TOPIC,
                "is_sensitive": False,
            }
            for each in SETTINGS
        ],
    }
