"""Groups from afar: the part of the broker's face that has to do with members and what they committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from broker_core.clients.remote.calls import ignore
from broker_core.clients.remote.link import Link
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.members import JoinResult, SyncResult
from broker_core.groups.protocol import TopicPartition, decode_members
from broker_core.replies import Reply
from broker_core.snapshots import GroupView
from broker_core.wire import fetch as reading
from broker_core.wire import groups as api
from broker_core.wire.body import Done
from broker_core.wire.topics import Names

_MARGIN_S = 10.0  # for the answer to a join or a sync, on top of what the group may take


class RemoteGroups:
    """What `Broker.groups` and the methods beside it give to clients. Joins, syncs and heartbeats do not wait."""

    def __init__(self, link: Link, renew: Callable[[tuple[str, ...], Callable[[], object]], object]) -> None:
        """`renew(topics, then)` asks anew what the broker knows of `topics`, and calls `then()` when that is noted."""
        self._link = link
        self._renew = renew

    def join(self, group: str, rebalance_timeout_ms: int, **request: Any) -> Reply[JoinResult]:
        """See `GroupCoordinator.join`. A leader has fresh numbers of partitions when the reply comes."""
        reply: Reply[JoinResult] = Reply()
        request.setdefault("cause", "")
        request.setdefault("member_id", "")
        request.setdefault("instance_id", "")
        request.setdefault("max_poll_interval_ms", 0)
        request["protocols"] = tuple(request["protocols"])

        def done(answer: Any, error: BrokerError | None) -> None:
            if error is not None:
                reply.fail(_rejoin(error))
                return
            joined: JoinResult = answer.result
            if joined.leader == joined.member_id:
                subscriptions = decode_members(joined.members)
                topics = {topic for subscription in subscriptions.values() for topic in subscription.topics}
                self._renew(tuple(sorted(topics)), lambda: reply.resolve(joined))
            else:
                reply.resolve(joined)

        # One that was sent and lost may have made a member that nobody speaks for; the broker drops it then.
        body = api.Join(group, rebalance_timeout_ms=rebalance_timeout_ms, **request)
        self._link.post(body, done, repeat=True, timeout_s=rebalance_timeout_ms / 1_000 + _MARGIN_S)
        return reply

    def sync(self, group: str, member_id: str, generation: int, assignments: Mapping[str, bytes]) -> Reply[SyncResult]:
        """See `GroupCoordinator.sync`."""
        reply: Reply[SyncResult] = Reply()

        def done(answer: Any, error: BrokerError | None) -> None:
            if error is not None:
                reply.fail(_rejoin(error))
            else:
                reply.resolve(answer.result)

        self._link.post(api.Sync(group, member_id, generation, dict(assignments)), done, repeat=True)
        return reply

    def beat(self, group: str, member_id: str, generation: int) -> Reply[None]:
        """See `Broker.beat`. A heartbeat that gets lost is no news: the next one tells."""
        reply: Reply[None] = Reply()

        def done(_answer: Any, error: BrokerError | None) -> None:
            if error is not None and not _is_of_the_link(error):
                reply.fail(error)
            else:
                reply.resolve(None)

        self._link.post(api.Heartbeat(group, member_id, generation), done, repeat=False, at_once=True)
        return reply

    def polled(self, now_ns: int, group: str, member_id: str) -> None:
        """See `GroupCoordinator.polled`; what is wrong, the next heartbeat tells."""
        self._link.post(api.Polled(group, member_id), ignore, repeat=False, at_once=True)

    def leave(self, group: str, member_id: str, cause: str) -> None:
        """See `GroupCoordinator.leave`; where that gets lost, the session timeout finds it out."""
        self._link.post(api.Leave(group, member_id, cause), ignore, repeat=False, at_once=True)

    def commit(
        self, group: str, client: str, member_id: str, generation: int, offsets: Mapping[TopicPartition, int]
    ) -> None:
        """See `Broker.commit`. Waits for the answer."""
        places = tuple((topic, partition, offset) for (topic, partition), offset in offsets.items())
        self._link.ask(api.Commit(group, client, member_id, generation, places), Done, repeat=True)

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        """See `GroupCoordinator.committed`."""
        return self._link.ask(api.Committed(group, topic, partition), reading.Offset, repeat=True).offset

    def groups(self) -> list[str]:
        """See `GroupCoordinator.groups`."""
        return list(self._link.ask(api.ListGroups(), Names, repeat=True).names)

    def view(self, now_ns: int, group: str) -> GroupView:
        """See `GroupCoordinator.view`; times are those of the broker's session."""
        return self._link.ask(api.DescribeGroup(group), api.GroupDescription, repeat=True).view

    def delete(self, now_ns: int, group: str) -> None:
        """See `GroupCoordinator.delete`."""
        self._link.ask(api.DeleteGroup(group), Done, repeat=False)

    def reset(self, group: str, target: Any, places: Sequence[TopicPartition], apply: bool) -> list[Any]:
        """See `Broker.reset_offsets` and `Broker.preview_reset`."""
        body = api.ResetOffsets(group, target, tuple(places), apply)
        return list(self._link.ask(body, api.OffsetChanges, repeat=not apply).changes)


def _is_of_the_link(error: BrokerError) -> bool:
    return error.code in {ErrorCode.CONNECTION_LOST, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CLOSED, ErrorCode.THROTTLED}


def _rejoin(error: BrokerError) -> BrokerError:
    """A member that hears nothing tries again, from the beginning."""
    if error.code in {ErrorCode.CONNECTION_LOST, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.THROTTLED}:
        return BrokerError(ErrorCode.REBALANCE_IN_PROGRESS, str(error))
    return error
