"""Committed offsets of a group of a cluster: planned, set, and put back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups import offset_reset
from broker_core.groups.offset_reset import Target
from broker_core.guarded.offsets import OffsetsPlan, offsets_plan, why_stale
from broker_core.guarded.redrive import must_hold
from broker_core.messages import OffsetAndMetadata, TopicPartition, grouped
from broker_core.observation.guard import Guard, Permit
from broker_core.observation.kafka.calls import GROUP, Calls, by_topic, check, check_rows, commit_rows
from broker_core.observation.kafka.logs import ClusterLog, ClusterLogs
from broker_core.operations.groups import PartitionPlace


class Resetting:
    """Plans and applies resets. The methods of `offset_reset.Bounds` know the places of the last `_load_logs` only."""

    def __init__(self, calls: Calls, logs: ClusterLogs, guard: Guard) -> None:
        self._calls, self._cluster_logs, self._guard = calls, logs, guard
        self._logs: dict[TopicPartition, ClusterLog] = {}

    def plan(self, group: str, target: Target, places: list[PartitionPlace] | None, now_ms: int) -> OffsetsPlan:
        """Without `places` of all that the group has committed for. Raises GROUP_ID_NOT_FOUND and as `Calls`."""
        return self._calls.patiently(lambda: self._plan(group, target, places, now_ms))

    def _plan(self, group: str, target: Target, places: list[PartitionPlace] | None, now_ms: int) -> OffsetsPlan:
        state = self._calls.committed(group)
        members = self.members(group)
        if not state and members is None:
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, group)
        chosen = list(state) if places is None else [each for place in places for each in self._places_of(place)]
        self._load_logs(chosen)
        other = self._calls.committed(target.group) if target.group else {}
        committed_by_group: dict[str, Mapping[TopicPartition, OffsetAndMetadata]] = {group: state, target.group: other}

        def committed(of_group: str, topic: str, partition: int) -> int | None:
            found = committed_by_group[of_group].get((topic, partition))
            return None if found is None else found.offset

        known_places = [place for place in chosen if place in self._logs]
        changes = offset_reset.preview(group, target, known_places, self, committed)
        return offsets_plan(
            self._calls.cluster.name,
            group,
            offset_reset.sentence(target),
            state,
            new={(each.topic, each.partition): each.to_offset for each in changes},
            members=members or (),
            topic_id=lambda topic: self._calls.topic_ids.get(topic, ""),
            time_ns=partial(self._time_ns, now_ms * NS_PER_MS),
        )

    def check(self, plan: OffsetsPlan) -> None:
        """Raises STALE_PLAN, READ_ONLY."""
        self._guard.must_be_open("offsets")
        self._calls.patiently(lambda: self._check(plan))

    def _check(self, plan: OffsetsPlan) -> None:
        topics = {topic: self._calls.topic_ids[topic] for topic in plan.topics if topic in self._calls.topic_ids}
        self._load_logs([each.place for each in plan.changes])
        bounds = {place: (log.start_offset, log.end_offset) for place, log in self._logs.items()}
        members = self.members(plan.group) or ()
        state = self._calls.committed(plan.group)
        must_hold(why_stale(plan, state, members, self._calls.cluster.name, topics, bounds))

    def apply(self, plan: OffsetsPlan) -> None:
        group = plan.group
        permit = Permit("offsets", group, frozenset(each.place for each in plan.changes))
        new = {each.place: each.new for each in plan.changes if each.new is not None}
        gone = [each.place for each in plan.changes if each.new is None]
        with self._guard.permitting(permit):
            if new:
                body = {"group_id": group, "generation_id_or_member_epoch": -1, "member_id": ""}
                body |= {"group_instance_id": None, "topics": commit_rows(new)}
                check_rows(self._calls.coordinated(GROUP, group, "OffsetCommit", body), "OffsetCommit", group)
            if gone:
                rows = by_topic(gone, lambda place: {"partition_index": place[1]})
                answer = self._calls.coordinated(GROUP, group, "OffsetDelete", {"group_id": group, "topics": rows})
                check(answer.error_code, "OffsetDelete", group)
                check_rows(answer, "OffsetDelete", group)

    # -- as offset_reset.Bounds

    def start_offset(self, topic: str, partition: int) -> int:
        return self._logs[topic, partition].start_offset

    def end_offset(self, topic: str, partition: int) -> int:
        return self._logs[topic, partition].end_offset

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        return self._logs[topic, partition].offset_for_time(timestamp_ms * NS_PER_MS)

    # -- inside

    def _places_of(self, place: PartitionPlace) -> list[TopicPartition]:
        count = self._calls.partitions.get(place.topic, 0)
        if not count or (place.partition or 0) >= count:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, place.topic)
        return [(place.topic, number) for number in (range(count) if place.partition is None else (place.partition,))]

    def _load_logs(self, places: list[TopicPartition]) -> None:
        self._logs.clear()
        there = ((topic, number) for topic, number in places if number < self._calls.partitions.get(topic, 0))
        for topic, numbers in grouped(there).items():
            self._logs |= {(topic, n): log for n, log in self._cluster_logs.partitions(topic, numbers, 0).items()}

    def members(self, group: str) -> list[str] | None:
        """Their client ids, of a group of either protocol; None if there is no such group."""
        for api, field in (("ConsumerGroupDescribe", "group_ids"), ("DescribeGroups", "groups")):
            body = {field: (group,), "include_authorized_operations": False}
            try:
                (found,) = self._calls.coordinated(GROUP, group, api, body).groups
            except BrokerError as error:
                if error.code is not ErrorCode.UNSUPPORTED_VERSION:
                    raise
                continue
            if found.error_code != KafkaError.group_id_not_found and found.group_state != "Dead":
                check(found.error_code, api, group)
                return [member.client_id for member in found.members]
        return None

    def _time_ns(self, now_ns: int, place: TopicPartition, offset: int) -> int:
        """Now, where nothing but markers of transactions is behind it."""
        log = self._logs[place]
        found = log.read(max(offset, log.start_offset), max_messages=1, max_bytes=1 << 16)
        return found[0].timestamp_ms * NS_PER_MS if found else now_ns
