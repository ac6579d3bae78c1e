"""Replies that carry an error and nothing else, for requests that meet a fault and are not served.

APIs whose replies have an error for each partition, topic or key get it there; the others at the top. An API whose
reply has no place for an error gets no reply: None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from broker_core.faults.client_faults import ClientRequest
from broker_core.groups.members import JOINING
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import TABLE, by_partition
from broker_core.listeners.kafka.codec import Header, has_error_code
from broker_core.listeners.kafka.offsets import refused_offset_fetch
from broker_core.messages import TopicPartition


class Refusable(Protocol):
    """What is needed besides the request to refuse it."""

    @property
    def client(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def this_node(self) -> Mapping[str, Any]: ...
    def name_of(self, row: Any) -> str | None: ...
    def topic_id(self, name: str) -> UUID: ...
    def topic_names(self) -> Iterable[str]: ...
    def in_session(self, request: Any) -> Iterable[TopicPartition]:
        """The partitions that its session (KIP-227) knew before a Fetch."""


def client_request(call: Refusable, api: str, request: Any) -> ClientRequest:
    groups = [each for each in getattr(request, "groups", None) or () if hasattr(each, "group_id")]
    group = getattr(request, "group_id", "") or next((each.group_id for each in groups), "")
    if api == "FindCoordinator":
        group = next(iter(_keys(request)), "")
    joins = api == "ConsumerGroupHeartbeat" and request.member_epoch == JOINING
    rows = getattr(request, "topic_data", None) or getattr(request, "topics", None) or ()
    rows = [*rows, *(row for each in groups for row in getattr(each, "topics", None) or ())]
    named = [(row if isinstance(row, str) else call.name_of(row) or "", row) for row in rows]
    places = {(name, number) for name, row in named for number in _partitions(row)}
    places |= _unsaid(call, request) if api == "Fetch" else set()
    topics = {name for name, _row in named} | {name for name, _number in places}
    return ClientRequest(call.client, api, group, topics - {""}, joins, places)


def _unsaid(call: Refusable, request: Any) -> set[TopicPartition]:
    """The partitions that a Fetch asks for through its session, without naming them."""
    named = [*request.topics, *request.forgotten_topics_data]
    said = {(call.name_of(row) or "", number) for row in named for number in _partitions(row)}
    return {*call.in_session(request)} - said


def _partitions(row: Any) -> Iterator[int]:
    for field in ("partition_data", "partitions", "partition_indexes"):
        for each in getattr(row, field, None) or ():
            names = (name for name in ("index", "partition", "partition_index") if hasattr(each, name))
            yield each if isinstance(each, int) else int(getattr(each, next(names)))


def refused(call: Refusable, api_key: int, request: Any, code: int) -> Body | None:
    special = _SPECIAL.get(TABLE[api_key].name) if api_key in TABLE else None
    if special is not None:
        return special(call, request, code)
    return {"error_code": code} if has_error_code(Header(api_key, call.version, 0)) else None


def _produce(_call: Refusable, request: Any, code: int) -> Body:
    def row(_topic: str, asked: Any) -> Body:
        return {"index": asked.index, "error_code": code, "base_offset": -1}

    return {"responses": [*by_partition(request.topic_data, row, "partition_data", "partition_responses")]}


def _fetch(call: Refusable, request: Any, code: int) -> Body:
    def row(_topic: str, number: Any) -> Body:
        return {
            "partition_index": getattr(number, "partition", number),
            "error_code": code,
            "high_watermark": -1,
            "records": b"",
        }

    told = [*by_partition(request.topics, row)]
    for name, number in sorted(_unsaid(call, request)):
        told.append({"topic": name, "topic_id": call.topic_id(name), "partitions": [row(name, number)]})
    return {"responses": told}  # the session has ended: the client begins another


def _by_partition(_call: Refusable, request: Any, code: int, **more: Any) -> Body:
    def row(_topic: str, asked: Any) -> Body:
        return {"partition_index": asked.partition_index, "error_code": code, **more}

    return {"topics": [*by_partition(request.topics, row)]}


def _metadata(call: Refusable, request: Any, code: int) -> Body:
    asked = call.topic_names() if request.topics is None else [each.name for each in request.topics]
    topics = [{"error_code": code, "name": name, "topic_id": call.topic_id(name)} for name in asked if name]
    return {"brokers": [call.this_node], "cluster_id": None, "topics": topics}


def _keys(request: Any) -> tuple[str, ...]:
    return request.coordinator_keys or (getattr(request, "key", ""),)


def _find_coordinator(_call: Refusable, request: Any, code: int) -> Body:
    nobody = {"node_id": -1, "port": -1, "error_code": code}
    return {"coordinators": [{"key": key, **nobody} for key in _keys(request)], **nobody}


_SPECIAL: dict[str, Callable[[Refusable, Any, int], Body]] = {
    "Produce": _produce,
    "Fetch": _fetch,
    "ListOffsets": partial(_by_partition, leader_epoch=-1),
    "OffsetCommit": _by_partition,
    "Metadata": _metadata,
    "OffsetFetch": lambda call, request, code: refused_offset_fetch(call.version, request, code),
    "FindCoordinator": _find_coordinator,
}
