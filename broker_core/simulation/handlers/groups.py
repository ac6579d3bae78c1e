from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups import offset_reset
from broker_core.groups.offset_reset import Change, Target
from broker_core.groups.states import GroupState
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.names import check_name
from broker_core.operations.groups import GroupChanges, HoldMember, PartitionPlace, ReleaseMember, ResetOffsets
from broker_core.plurals import counted
from broker_core.simulation.actions import groups
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.context import SimulationContext
from broker_core.simulation.handlers.plan import Handler, Plan, needed, refuse
from broker_core.simulation.specs import GroupSpec


class GroupHandler(Handler):
    """A group's spec holds what its members read; the broker knows the members."""

    def __init__(self, context: SimulationContext) -> None:
        super().__init__(context)
        self._deleted: dict[str, tuple[GroupSpec, dict[TopicPartition, OffsetAndMetadata]]] = {}

    # -- members

    def _move(self, action: groups.MoveConsumer) -> Plan:
        actor = self._context.actors.get(action.consumer)
        if not isinstance(actor, ConsumerActor):
            return self._move_outside(action)
        if actor.target == action.group and not actor.crashed:
            where = f"in {action.group}" if action.group else "on the bench"
            raise refuse(f"{actor.name} is already {where}")
        group = self._context.groups.get(action.group)
        is_new = group is None and bool(action.group)
        if is_new:
            group = self._like_last(check_name(action.group, "group"), actor)
        if action.start == "latest":
            self._check_start(action.group, actor, is_new=is_new)
        inverse = groups.MoveConsumer(action.consumer, actor.target) if actor.target != action.group else None

        def do() -> None:
            self._context.faults.moved(actor.name)
            if group is None:
                actor.leave()
                return
            if action.start == "latest":
                self._enter(group, self._ends(group.topics))
            actor.join(self._context.groups.setdefault(group.name, group))

        return Plan(action, do, inverse, "It was restarted where it was.", client=actor.name)

    def _check_start(self, group: str, actor: ConsumerActor, *, is_new: bool) -> None:
        if not is_new or group in self._context.broker.groups.groups():
            raise refuse(f"{group or 'the bench'} is not new, so it does not start at the end; reset its offsets")
        if actor.spec.commit == "with_effect":
            raise refuse(f"{actor.name} stores its position with its effects: it starts at the earliest message")

    def _ends(self, topics: Sequence[str]) -> dict[TopicPartition, OffsetAndMetadata]:
        logs = self._context.broker.logs
        return {
            (topic, partition): OffsetAndMetadata(logs.end_offset(topic, partition))
            for topic in topics
            for partition in range(logs.partition_count(topic))
        }

    def _move_outside(self, move: groups.MoveConsumer) -> Plan:
        """A member of another program goes to the bench, and from there back to its group; nowhere else."""
        client, group = move.consumer, self._context.outside_group(move.consumer)
        on_bench = bool(self._context.broker.held.group_of(client))
        if not group or move.group not in {"", group}:
            raise refuse(self._context.why_not_ours(client))
        if on_bench != bool(move.group):
            raise refuse(f"{client} is already {'on the bench' if on_bench else f'in {group}'}")
        request = (ReleaseMember if on_bench else HoldMember)(group=group, client=client)
        back = groups.MoveConsumer(client, "" if on_bench else group)
        return Plan(move, partial(self._context.handle, request), back, client=client)

    def _like_last(self, name: str, actor: ConsumerActor) -> GroupSpec:
        """A group that reads what the consumer read last, or, from the bench, what the first group reads."""
        known = self._context.groups
        if not known:
            raise refuse(f"group {name!r} would read nothing: this scenario has no groups")
        model = known.get(actor.last_group) or next(iter(known.values()))
        return msgspec.structs.replace(model, name=name)

    # -- groups

    def _create(self, action: groups.CreateGroup) -> Plan:
        name = check_name(action.group, "group")
        there = {*self._context.groups, *self._context.broker.groups.groups()}
        if name.lower() in {each.lower() for each in there}:
            raise refuse(f"there is already a group {name}")
        if not action.topics:
            raise refuse(f"group {name} needs a topic to read")
        for topic in action.topics:
            self._context.check_topic(topic)
        spec = GroupSpec(name=name, topics=tuple(dict.fromkeys(action.topics)), assignor=action.assignor)
        return Plan(action, lambda: self._enter(spec, {}), groups.DeleteGroup(group=name))

    def _enter(self, spec: GroupSpec, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        self._context.groups[spec.name] = spec
        self._context.broker.groups.commit(self._context.now_ns, spec.name, "", -1, offsets)

    def _delete(self, action: groups.DeleteGroup) -> Plan:
        context, name = self._context, action.group
        if members := context.members(name):
            about = f"{name} has {counted(len(members), 'consumer')}; move them out first"
            raise refuse(about, ErrorCode.NON_EMPTY_GROUP)
        known = name in context.broker.groups.groups()
        if not known and name not in context.groups:
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, name)
        if known and (outside := len(context.broker.groups.view(context.now_ns, name).members)):
            about = f"{name} has {counted(outside, 'member')} that have not left yet"
            raise refuse(about, ErrorCode.NON_EMPTY_GROUP)
        spec = context.groups.get(name)

        def do() -> None:
            if spec is not None:
                self._deleted[name] = (spec, dict(context.broker.groups.offsets.fetch_all(name)))
            context.groups.pop(name, None)
            if known:
                context.handle(action)

        final = "" if spec is not None else "The session does not know what it read."
        return Plan(action, do, None if spec is None else groups.RestoreGroup(name), final)

    def _restore(self, action: groups.RestoreGroup) -> Plan:
        context, name = self._context, action.group
        if name not in self._deleted:
            raise refuse(f"group {name} was not deleted in this session")
        if name in context.groups or name in context.broker.groups.groups():
            raise refuse(f"another group {name} exists")

        def do() -> None:
            spec, offsets = self._deleted.pop(name)
            self._enter(spec, {place: value for place, value in offsets.items() if self._fits(place, value.offset)})

        return Plan(action, do, groups.DeleteGroup(group=name))

    def _fits(self, place: TopicPartition, offset: int) -> bool:
        broker = self._context.broker
        topic, partition = place
        known = topic in broker.topics and 0 <= partition < broker.logs.partition_count(topic)
        return known and 0 <= offset <= broker.logs.end_offset(topic, partition)

    def _configure(self, action: groups.ConfigureGroup) -> Plan:
        old = self._context.broker.groups.configs.of(action.group)
        if action.settings.on(old) == old:
            raise refuse(f"{action.group} is already configured this way")
        back = groups.ConfigureGroup(group=action.group, settings=GroupChanges.of(old))
        return Plan(action, lambda: self._context.handle(action), back, reported=True)

    # -- what it reads

    def _subscribe(self, action: groups.SubscribeGroup) -> Plan:
        spec = self._context.group(action.group)
        self._context.check_topic(action.topic)
        if action.topic in spec.topics:
            raise refuse(f"{action.group} already reads {action.topic}")
        new = msgspec.structs.replace(spec, topics=(*spec.topics, action.topic))
        return Plan(action, lambda: self._reread(new), groups.UnsubscribeGroup(action.group, action.topic))

    def _unsubscribe(self, action: groups.UnsubscribeGroup) -> Plan:
        spec = self._context.group(action.group)
        left = tuple(topic for topic in spec.topics if topic != action.topic)
        if left == spec.topics:
            raise refuse(f"{action.group} does not read {action.topic}")
        if not left:
            raise refuse(f"{action.group} would read nothing; move its consumers out and delete it")
        new = msgspec.structs.replace(spec, topics=left)
        return Plan(action, lambda: self._reread(new), groups.SubscribeGroup(action.group, action.topic))

    def _reread(self, spec: GroupSpec) -> None:
        self._context.groups[spec.name] = spec
        for member in self._context.members(spec.name):
            member.reread(spec)

    def _set_assignor(self, action: groups.SetAssignor) -> Plan:
        spec = self._context.group(action.group)
        if spec.protocol == "consumer":
            raise refuse(f"{action.group} uses the consumer protocol, in which the broker assigns")
        if spec.assignor == action.assignor:
            raise refuse(f"{action.group} already uses {action.assignor}")
        members = self._able_to_restart(action.group)
        new = msgspec.structs.replace(spec, assignor=action.assignor)

        def do() -> None:
            self._context.groups[spec.name] = new
            self._restart(members, lambda: None)

        return Plan(action, do, groups.SetAssignor(action.group, spec.assignor))

    # -- from where

    def _places(self, action: groups.ResetOffsets) -> list[TopicPartition]:
        broker = self._context.broker
        named = action.partitions
        if named is None:
            spec = self._context.groups.get(action.group)
            read = {topic for topic, _ in broker.groups.offsets.fetch_all(action.group)}
            topics = (read | set(spec.topics if spec is not None else ())) & set(broker.topics.names())
            named = [PartitionPlace(topic=topic) for topic in sorted(topics)]
        return broker.offsets.places(named)

    def _reset(self, action: groups.ResetOffsets) -> Plan:
        broker = self._context.broker
        if action.group not in broker.groups.groups():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, action.group)
        target, places = self._context.in_unix_time(action.target()), self._places(action)
        changes = broker.offsets.preview_reset(action.group, target, places)
        if not changes:
            raise refuse(f"there is nothing to reset: {groups.where_to(action.target())} means nothing here")
        request = ResetOffsets.of(action.group, target, places)
        return self._moving(action, changes, partial(self._context.handle, request))

    def _moving(
        self,
        action: groups.ResetOffsets | groups.PutBackOffsets,
        changes: Sequence[Change],
        reset: Callable[[], object],
    ) -> Plan:
        members = self._members_to_stop(action.group, action.restart_members)
        before = tuple(
            (each.topic, each.partition, each.from_offset) for each in changes if each.from_offset is not None
        )
        return Plan(
            action,
            lambda: self._restart(members, reset),
            groups.PutBackOffsets(action.group, before, action.restart_members) if before else None,
            "Nothing was committed before, and a committed offset cannot be removed.",
        )

    def _put_back(self, action: groups.PutBackOffsets) -> Plan:
        broker = self._context.broker
        if action.group not in broker.groups.groups():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, action.group)
        changes = []
        for topic, partition, offset in action.offsets:
            if not self._fits((topic, partition), offset):
                raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{topic}/{partition} has no place {offset}")
            old = broker.groups.committed(action.group, topic, partition)
            changes.append(Change(topic, partition, old, offset, None if old is None else offset - old))
        if not changes:
            raise refuse("no offsets are given")
        reset = partial(broker.groups.reset, self._context.now_ns, action.group, changes, action.sentence)
        return self._moving(action, changes, reset)

    def _set_planned(self, action: groups.SetOffsets) -> Plan:
        back = groups.SetOffsets(group=action.group, plan=action.plan.undo())
        return Plan(action, lambda: self._context.handle(action), back, reported=True)

    def _seek(self, action: groups.Seek) -> Plan:
        actor = self._context.actor(action.consumer)
        if not isinstance(actor, ConsumerActor):
            raise refuse(f"{actor.name} is not a consumer")
        not_its = f"{actor.name} does not own {action.topic}/{action.partition}"
        here = needed(actor.position(action.topic, action.partition), not_its)
        broker = self._context.broker
        target = self._context.in_unix_time(action.target)
        wanted = offset_reset.resolve(
            target, action.topic, action.partition, broker.logs, here, broker.groups.committed
        )
        if wanted is None:
            raise refuse(f"{groups.where_to(action.target)} means nothing for {action.topic}/{action.partition}")
        seek = partial(actor.seek, action.topic, action.partition, wanted)
        back = groups.Seek(action.consumer, action.topic, action.partition, Target("offset", offset=here))
        return Plan(action, seek, back, client=actor.name)

    # -- a stop and a start

    def _members_to_stop(self, group: str, stop: bool) -> list[ConsumerActor]:
        there = self._context.broker.groups.view(self._context.now_ns, group).members
        if there and not stop:
            raise refuse(
                f"{group} has {counted(len(there), 'member')}; stop them first, or let the reset restart them",
                ErrorCode.NON_EMPTY_GROUP,
            )
        members = self._able_to_restart(group) if there else []
        keeping = [member.name for member in members if member.spec.commit == "with_effect"]
        if keeping:
            raise refuse(f"{keeping[0]} stores its position with its effects, which a reset of offsets cannot change")
        return members

    def _able_to_restart(self, group: str) -> list[ConsumerActor]:
        members = self._context.members(group)
        for member in members:
            if member.crashed or member.paused:
                how = "has crashed; restart it" if member.crashed else "is paused; end that"
                raise refuse(f"{member.name} {how} first")
        if group in self._context.broker.groups.groups():
            view = self._context.broker.groups.view(self._context.now_ns, group)
            if view.state not in (GroupState.STABLE, GroupState.EMPTY):
                raise refuse(f"{group} is rebalancing; wait until it is stable", ErrorCode.REBALANCE_IN_PROGRESS)
            names = {member.name for member in members}
            strangers = Counter(member.client for member in view.members) - Counter(names)
            if strangers:
                who = min(strangers)
                raise refuse(
                    f"{who} is a member that this session cannot restart; wait until it has left",
                    ErrorCode.REBALANCE_IN_PROGRESS,
                )
        return members

    def _restart(self, members: Sequence[ConsumerActor], between: Callable[[], object]) -> None:
        for member in members:
            member.leave()
        between()
        for member in members:
            member.join(self._context.groups[member.last_group])
