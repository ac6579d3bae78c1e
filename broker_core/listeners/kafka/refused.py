"""Replies that carry an error and nothing else, for requests that meet a fault and are not served.

APIs whose replies have an error for each partition, topic or key get it there; the others at the top. An API whose
reply has no place for an error gets no reply: None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from broker_core.faults.client_faults import ClientRequest
from broker_core.groups.members import JOINING
from broker_core.kafka_messages.making import Body
from broker_core.listeners.kafka.call import TABLE, Call, by_partition
from broker_core.listeners.kafka.codec import Header, has_error_code
from broker_core.listeners.kafka.offsets import refused_offset_fetch


def client_request(call: Call, api: str, request: Any) -> ClientRequest:
    groups = [each for each in getattr(request, "groups", None) or () if hasattr(each, "group_id")]
    group = getattr(request, "group_id", "") or next((each.group_id for each in groups), "")
    if api == "FindCoordinator":
        group = next(iter(_keys(request)), "")
    joins = api == "ConsumerGroupHeartbeat" and request.member_epoch == JOINING
    return ClientRequest(call.client, api, group, _topics(call, request), joins)


def _topics(call: Call, request: Any) -> Collection[str]:
    rows = getattr(request, "topic_data", None) or getattr(request, "topics", None) or ()
    return {row if isinstance(row, str) else call.name_of(row) or "" for row in rows} - {""}


def refused(call: Call, api_key: int, request: Any, code: int) -> Body | None:
    special = _SPECIAL.get(TABLE[api_key].name) if api_key in TABLE else None
    if special is not None:
        return special(call, request, code)
    return {"error_code": code} if has_error_code(Header(api_key, call.version, 0)) else None


def _produce(_call: Call, request: Any, code: int) -> Body:
    def row(_topic: str, asked: Any) -> Body:
        return {"index": asked.index, "error_code": code, "base_offset": -1}

    return {"responses": [*by_partition(request.topic_data, row, "partition_data", "partition_responses")]}


def _fetch(_call: Call, request: Any, code: int) -> Body:
    def row(_topic: str, asked: Any) -> Body:
        return {"partition_index": asked.partition, "error_code": code, "high_watermark": -1, "records": b""}

    return {"responses": [*by_partition(request.topics, row)]}


def _by_partition(_call: Call, request: Any, code: int) -> Body:
    def row(_topic: str, asked: Any) -> Body:
        return {"partition_index": asked.partition_index, "error_code": code, "leader_epoch": -1}

    return {"topics": [*by_partition(request.topics, row)]}


def _metadata(call: Call, request: Any, code: int) -> Body:
    asked = call.broker.topics.names() if request.topics is None else [each.name for each in request.topics]
    topics = [{"error_code": code, "name": name, "topic_id": call.topic_id(name)} for name in asked if name]
    return {"brokers": [call.this_node], "cluster_id": None, "topics": topics}


def _keys(request: Any) -> tuple[str, ...]:
    return request.coordinator_keys or (getattr(request, "key", ""),)


def _find_coordinator(_call: Call, request: Any, code: int) -> Body:
    nobody = {"node_id": -1, "port": -1, "error_code": code}
    keys = _keys(request)
    return {"coordinators": [{"key": key, **nobody} for key in keys], **nobody}


_SPECIAL: dict[str, Callable[[Call, Any, int], Body]] = {
    "Produce": _produce,
    "Fetch": _fetch,
    "ListOffsets": _by_partition,
    "OffsetCommit": _by_partition,
    "Metadata": _metadata,
    "OffsetFetch": refused_offset_fetch,
    "FindCoordinator": _find_coordinator,
}
