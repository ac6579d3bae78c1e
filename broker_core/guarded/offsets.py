"""New committed offsets of a group: what is set from what to what, and what undoes it exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from broker_core.clock import NS_PER_S
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.plurals import counted

CommittedOffsets = Mapping[TopicPartition, OffsetAndMetadata]


class OffsetChange(msgspec.Struct, frozen=True):
    """None is: nothing committed. `messages` below 0 are read again, above 0 skipped; None if nothing was committed.

    `traffic_s` is the time between the messages at the two offsets, None where that is not known.
    """

    topic: str
    partition: int
    old: OffsetAndMetadata | None
    new: OffsetAndMetadata | None
    messages: int | None = None
    traffic_s: float | None = None

    @property
    def place(self) -> TopicPartition:
        return self.topic, self.partition


class OffsetsPlan(msgspec.Struct, frozen=True, kw_only=True, tag_field="does", tag="offsets"):
    """What a reset of a group's committed offsets will do. `changes` leaves out partitions that stay as they are.

    `before` has everything that the group has committed; `members` are in the way of it.
    """

    cluster: str
    group: str
    says: str
    changes: tuple[OffsetChange, ...]
    before: tuple[OffsetChange, ...] = ()  # each with what is committed as `old` and as `new`
    members: tuple[str, ...] = ()
    topics: dict[str, str] = {}  # ids of the topics, where they have one

    @property
    def sentence(self) -> str:
        return f"reset {self.group} {self.says} in {counted(len(self.changes), 'partition')}"

    @property
    def read_again(self) -> int:
        return sum(max(0, -(each.messages or 0)) for each in self.changes)

    @property
    def skipped(self) -> int:
        return sum(max(0, each.messages or 0) for each in self.changes)

    def undo(self, members: Iterable[str] = ()) -> OffsetsPlan:
        """The plan that puts back what was; `members` are in the way of it."""
        back = tuple(
            msgspec.structs.replace(
                each, old=each.new, new=each.old, messages=None if each.messages is None else -each.messages
            )
            for each in self.changes
        )
        return msgspec.structs.replace(self, says="to where it was", changes=back, before=(), members=tuple(members))


def changes_of(before: CommittedOffsets, after: Mapping[TopicPartition, int]) -> tuple[OffsetChange, ...]:
    """The changes from the committed offsets `before` to `after`, without partitions that stay as they are."""
    found = []
    for (topic, partition), offset in sorted(after.items()):
        old = before.get((topic, partition))
        if old is None or old.offset != offset:
            messages = None if old is None else offset - old.offset
            found.append(OffsetChange(topic, partition, old, OffsetAndMetadata(offset), messages))
    return tuple(found)


def offsets_plan(
    cluster: str,
    group: str,
    says: str,
    state: CommittedOffsets,
    new: Mapping[TopicPartition, int],
    members: Iterable[str],
    topic_id: Callable[[str], str],
    time_ns: Callable[[TopicPartition, int], int],
) -> OffsetsPlan:
    """A plan to change the committed offsets `state` to `new`; `time_ns` is a message's, or now if there is none."""

    def timed(change: OffsetChange) -> OffsetChange:
        if change.old is None or change.new is None:
            return change
        at_old, at_new = (time_ns(change.place, each.offset) for each in (change.old, change.new))
        return msgspec.structs.replace(change, traffic_s=abs(at_new - at_old) / NS_PER_S)

    changes = tuple(map(timed, changes_of(state, new)))
    return OffsetsPlan(
        cluster=cluster,
        group=group,
        says=says,
        changes=changes,
        before=unchanged(state),
        members=tuple(members),
        topics={each.topic: topic_id(each.topic) for each in changes},
    )


def unchanged(state: CommittedOffsets) -> tuple[OffsetChange, ...]:
    return tuple(OffsetChange(*place, value, value) for place, value in sorted(state.items()))


def cluster_changes(planned: str, here: str) -> list[str]:
    """That a plan is of another cluster, in a sentence; a broker has the name ""."""
    words = [f"the cluster {name}" if name else "a broker" for name in (here, planned)]
    return [] if planned == here else [f"this is {words[0]}, and the plan is of {words[1]}"]


def why_stale(
    plan: OffsetsPlan,
    state: CommittedOffsets,
    members: Sequence[str],
    cluster: str,
    topics: Mapping[str, str],
    bounds: Mapping[TopicPartition, tuple[int, int]],
) -> list[str]:
    """What has changed since the plan was made, in sentences. `bounds` are (start, end) offsets of its partitions."""
    said = cluster_changes(plan.cluster, cluster)
    if members:
        said.append(f"{plan.group} has {counted(len(members), 'member')}: {', '.join(members[:5])}; stop them first")
    for topic in dict.fromkeys(each.topic for each in plan.changes):
        if topic not in topics:
            said.append(f"the topic {topic} is gone")
        elif topics[topic] != plan.topics.get(topic, topics[topic]):
            said.append(f"the topic {topic} was deleted and made anew")
    for each in plan.changes:
        name, there = f"{each.topic}/{each.partition}", state.get(each.place)
        start, end = bounds.get(each.place, (0, 1 << 63))
        if there != each.old:
            words = [f"at {value.offset}" if value else "nowhere" for value in (there, each.old)]
            before = "committed again since" if words[0] == words[1] else f"it was {words[1]}"
            said.append(f"{plan.group} is {words[0]} in {name}, {before}")
        elif each.new is not None and not start <= each.new.offset <= end:
            said.append(f"{name} begins at {start} and ends at {end} now: there is no {each.new.offset}")
    return said
