"""Consumer groups: Kafka's classic protocol, and their administration."""

from __future__ import annotations

from broker_core.groups.members import JoinResult, SyncResult
from broker_core.groups.offset_reset import Change, Target
from broker_core.snapshots import GroupView
from broker_core.wire.body import Body, Int32, Int64, Name, Signed64


class Join(Body, frozen=True):
    """See `GroupCoordinator.join`. `protocols` are (assignor, metadata), the preferred one first."""

    group: Name
    client_id: Name
    member_id: Name
    instance_id: Name
    session_timeout_ms: Int32
    rebalance_timeout_ms: Int32
    max_poll_interval_ms: Int32
    protocol_type: Name
    protocols: tuple[tuple[Name, bytes], ...]
    cause: Name = ""


class Joined(Body, frozen=True):
    """See `JoinResult`."""

    result: JoinResult


class Sync(Body, frozen=True):
    """See `GroupCoordinator.sync`."""

    group: Name
    member_id: Name
    generation: Signed64
    assignments: dict[str, bytes]


class Synced(Body, frozen=True):
    """See `SyncResult`."""

    result: SyncResult


class Heartbeat(Body, frozen=True):
    """A sign of life of a member. REBALANCE_IN_PROGRESS asks it to join again."""

    group: Name
    member_id: Name
    generation: Signed64


class Polled(Body, frozen=True):
    """The member's application asks for messages: it is not stuck."""

    group: Name
    member_id: Name


class Leave(Body, frozen=True):
    """See `GroupCoordinator.leave`."""

    group: Name
    member_id: Name
    cause: Name


class Commit(Body, frozen=True):
    """Commit for a member, or, as member "" of generation -1, for a group that has none."""

    group: Name
    client: Name
    member_id: Name
    generation: Signed64
    offsets: tuple[tuple[Name, Int32, Int64], ...]


class Keep(Body, frozen=True):
    """Answered when all commits so far are on the disk, as durable as the broker is."""


class Committed(Body, frozen=True):
    """What a group has committed for a partition."""

    group: Name
    topic: Name
    partition: Int32


class ListGroups(Body, frozen=True):
    """The names of all groups."""


class DescribeGroup(Body, frozen=True):
    """See `GroupView`."""

    name: Name


class GroupDescription(Body, frozen=True):
    """State, members, offsets and lag."""

    view: GroupView


class DeleteGroup(Body, frozen=True):
    """Forget an empty group and its offsets."""

    name: Name


class ResetOffsets(Body, frozen=True):
    """See `Broker.reset_offsets`; without `apply`, `Broker.preview_reset`."""

    group: Name
    target: Target
    places: tuple[tuple[Name, Int32], ...]
    apply: bool


class OffsetChanges(Body, frozen=True):
    """What a reset did, or would do."""

    changes: tuple[Change, ...]
