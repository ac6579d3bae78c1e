"""Requests to coordinators and leaders, each with its error as a sentence."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.writing import Body
from broker_core.messages import OffsetAndMetadata, TopicPartition, grouped
from broker_core.observation.kafka.cluster import Call, Cluster

T = TypeVar("T")
_PATIENCE_S, _PAUSE_S = 20.0, 0.3
_AWAY_S: Final = 4.0  # while no broker answers at all
GROUP, TRANSACTION = 0, 1  # kinds of coordinators
# It may succeed a moment later, at another broker, or in a new transaction, which our next attempt begins; of the last
# two kinds Kafka does not call all retriable. A batch that is corrupt stays so.
_AGAIN: Final = {each for each in KafkaError if each.retriable} - {KafkaError.corrupt_message} | {
    KafkaError.broker_not_available,
    KafkaError.invalid_txn_state,
    KafkaError.invalid_producer_id_mapping,
    KafkaError.transaction_abortable,
}
_FENCED: Final = frozenset({KafkaError.invalid_producer_epoch, KafkaError.producer_fenced})
DENIED: Final[dict[int, str]] = {
    KafkaError.topic_authorization_failed: "topic",
    KafkaError.group_authorization_failed: "group",
    KafkaError.cluster_authorization_failed: "cluster",
    KafkaError.transactional_id_authorization_failed: "transactional id",
}
_SAID: Final[dict[int, str]] = {
    KafkaError.message_too_large: "a message is larger than the topic allows",
    KafkaError.offset_metadata_too_large: "the metadata is too large",
    KafkaError.non_empty_group: "it has members",
}


def check(code: int, api: str, about: str) -> None:
    """Raises REQUEST_TIMED_OUT where it may succeed later, UNAUTHORIZED, PRODUCER_FENCED, INVALID_REQUEST."""
    if code in _AGAIN:
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{api} of {about} got Kafka's error {code}")
    if code in _FENCED:
        raise BrokerError(ErrorCode.PRODUCER_FENCED, f"another run of {about} has begun")
    if code in DENIED:
        missing = "; the READ permission is missing" if api == "Fetch" else ""
        raise BrokerError(ErrorCode.UNAUTHORIZED, f"{api} of the {DENIED[code]} {about} is denied{missing}")
    if code:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{api} of {about}: {_SAID.get(code, f'Kafka error {code}')}")


class Calls:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.leaders: dict[TopicPartition, int] = {}
        self.partitions: dict[str, int] = {}
        self.topic_ids: dict[str, str] = {}
        self._coordinators: dict[tuple[int, str], int] = {}

    def refresh(self) -> None:
        """Look again who leads what. Raises as a connection does."""
        self._coordinators.clear()
        found = [topic for topic in self.cluster.metadata().topics if not topic.error_code]
        self.partitions = {topic.name: len(topic.partitions) for topic in found}
        self.topic_ids = {topic.name: str(getattr(topic, "topic_id", "") or "") for topic in found}
        self.leaders = {(each.name, part.partition_index): part.leader_id for each in found for part in each.partitions}

    def one(self, node: int, api: str, body: Body) -> Any:
        """Raises as a connection does."""
        ((_call, answer),) = self.cluster.ask([Call(node, api, body)])
        if isinstance(answer, BrokerError):
            raise answer
        return answer

    def patiently(self, call: Callable[[], T]) -> T:
        """The result of `call` after `refresh`; retried for a while after retriable errors, as during an election."""
        since_s, called = time.monotonic(), False
        while True:
            began_s, patience_s = time.monotonic(), _AWAY_S
            try:
                self.refresh()
                patience_s = _PATIENCE_S
                return call()
            except BrokerError as error:
                now_s = time.monotonic()
                if patience_s == _PATIENCE_S:  # how long it went well before does not count
                    since_s = since_s + max(0.0, now_s - began_s - _AWAY_S) if called else now_s
                    called = True
                if not error.retriable or now_s > since_s + patience_s:
                    raise
            time.sleep(_PAUSE_S)

    def coordinated(self, kind: int, name: str, api: str, body: Body) -> Any:
        """The answer of the coordinator of a group, or of a transactional id."""
        node = self._coordinators.get((kind, name))
        if node is None:
            asked = {"key_type": kind, "coordinator_keys": (name,), "key": name}
            answer = self.one(next(iter(self.cluster.nodes)), "FindCoordinator", asked)
            found = next(iter(getattr(answer, "coordinators", None) or (answer,)))
            check(found.error_code, "FindCoordinator", name)
            node = self._coordinators[kind, name] = found.node_id
        return self.one(node, api, body)

    def committed(self, group: str, *, stable: bool = True) -> dict[TopicPartition, OffsetAndMetadata]:
        """All that a group has committed. Raises as `check`: if a transaction is open, ask later, or not `stable`, for
        what it had committed before.
        """
        body = {"groups": [{"group_id": group, "topics": None}], "group_id": group, "topics": None}
        answer = self.coordinated(GROUP, group, "OffsetFetch", {**body, "require_stable": stable})
        found = next(iter(getattr(answer, "groups", None) or (answer,)))
        check(found.error_code, "OffsetFetch", group)
        state = {}
        for topic in found.topics:
            for each in topic.partitions:
                check(each.error_code, "OffsetFetch", f"{group} in {topic.name}")
                if each.committed_offset >= 0:
                    value = OffsetAndMetadata(each.committed_offset, each.metadata or "", each.committed_leader_epoch)
                    state[topic.name, each.partition_index] = value
        return state


def commit_rows(offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> list[dict[str, Any]]:
    """The topics of OffsetCommit and TxnOffsetCommit."""
    return by_topic(
        offsets,
        lambda place: {
            "partition_index": place[1],
            "committed_offset": offsets[place].offset,
            "committed_leader_epoch": offsets[place].leader_epoch,
            "committed_metadata": offsets[place].metadata,
        },
    )


def by_topic(places: Iterable[TopicPartition], row: Any, rows: str = "partitions") -> list[dict[str, Any]]:
    return [{"name": name, rows: parts} for name, parts in grouped((each[0], row(each)) for each in places).items()]


def check_rows(answer: Any, api: str, about: str) -> None:
    for topic in answer.topics:
        for each in topic.partitions:
            check(each.error_code, api, f"{about} in {topic.name}")
