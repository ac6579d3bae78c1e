"""DeleteTopics: topics go with their messages and with what groups have committed or acquired of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, failed
from broker_core.listeners.kafka.codec import Body

KEY = 20
_FIRST_WITH_IDS = 6


def handle(call: Call, request: Any) -> Answer:
    """Each topic has an answer of its own."""
    return Later(lambda: _all(call, request))


def _all(call: Call, request: Any) -> Body:
    with call.shared.host.saved_at_end():
        if call.version < _FIRST_WITH_IDS:
            return {"responses": [_delete(call, name) for name in request.topic_names]}
        return {
            "responses": [
                _delete(call, call.topic_with(each.topic_id) if each.name is None else each.name, each.topic_id)
                for each in request.topics
            ]
        }


def _delete(call: Call, name: str | None, given_id: Any = None) -> dict[str, Any]:
    try:
        if name is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic id is not known")
        call.must(ADMIN, "topic", name)
        topic_id = call.topic_id(name)
        call.shared.host.admin(partial(_go, call, name))
    except BrokerError as error:
        return {"name": name or "", "topic_id": given_id, **failed(error)}
    return {"name": name, "topic_id": topic_id, "error_code": 0, "error_message": None}


def _go(call: Call, name: str, now_ns: int) -> None:
    topics, share_groups = call.broker.topics, call.broker.share_groups
    topics.check_plain(name, "deleted", but=share_groups.queues_over(name))
    share_groups.forget_topic(now_ns, name)
    topics.delete(now_ns, name)
