"""The part of the broker that groups use: joining, reading, committing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from broker_core.broker.state import BrokerState
from broker_core.errors import BrokerError
from broker_core.groups.fetches import FetchReply
from broker_core.groups.members import JoinResult, SyncResult
from broker_core.groups.offsets import OffsetAndMetadata
from broker_core.groups.protocol import TopicPartition
from broker_core.replies import Reply


class BrokerGroups(BrokerState):
    """What members of groups do."""

    def join(self, now_ns: int, group: str, **request: Any) -> Reply[JoinResult]:
        """See `GroupCoordinator.join`."""
        return self.groups.join(now_ns, group, **request)

    def sync(
        self, now_ns: int, group: str, member_id: str, generation: int, assignments: Mapping[str, bytes]
    ) -> Reply[SyncResult]:
        """See `GroupCoordinator.sync`."""
        return self.groups.sync(now_ns, group, member_id, generation, assignments)

    def heartbeat(self, now_ns: int, group: str, member_id: str, generation: int) -> None:
        """See `GroupCoordinator.heartbeat`."""
        self.groups.heartbeat(now_ns, group, member_id, generation)

    def beat(self, now_ns: int, group: str, member_id: str, generation: int) -> Reply[None]:
        """A heartbeat whose error comes with the reply: nobody stops to wait for it."""
        reply: Reply[None] = Reply()
        try:
            self.groups.heartbeat(now_ns, group, member_id, generation)
        except BrokerError as error:
            reply.fail(error)
        else:
            reply.resolve(None)
        return reply

    def leave(self, now_ns: int, group: str, member_id: str, cause: str) -> None:
        """See `GroupCoordinator.leave`."""
        self.groups.leave(now_ns, group, member_id, cause)

    def starting_offset(self, group: str, topic: str, partition: int, reset: Literal["earliest", "latest"]) -> int:
        """Where a member that was assigned the partition begins to read: the committed offset, or as `reset` says."""
        log = self._partition(topic, partition)
        offset = self.groups.committed(group, topic, partition)
        if offset is None:
            offset = log.start_offset if reset == "earliest" else log.end_offset
        self.fetches.assigned(group, topic, partition)
        self.fetches.begin(group, topic, partition, offset)
        return offset

    def fetch(
        self,
        now_ns: int,
        group: str,
        client: str,
        positions: Mapping[TopicPartition, int],
        *,
        max_messages: int,
        deadline_ns: int,
    ) -> FetchReply:
        """See `Fetches.fetch`."""
        return self.fetches.fetch(now_ns, group, client, positions, max_messages=max_messages, deadline_ns=deadline_ns)

    def cancel_fetch(self, reply: FetchReply) -> None:
        """A parked fetch is no longer wanted."""
        self.fetches.cancel(reply)

    def commit(
        self,
        now_ns: int,
        group: str,
        client: str,
        member_id: str,
        generation: int,
        offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        *,
        backwards: bool = False,
    ) -> None:
        """Commit for a member and say what that acknowledges; errors as in `GroupCoordinator.commit`."""
        changes = self.groups.commit(now_ns, group, member_id, generation, offsets, backwards=backwards)
        for topic, partition, old, new in changes:
            start = (self.fetches.start(group, topic, partition) or 0) if old is None else old
            self.fetches.committed(now_ns, group, client, topic, partition, start, new)
            self._make_room(now_ns, topic)
