"""What a restart needs of a group's members, as Kafka keeps it in `__consumer_offsets`.

Kept are members that came over the network: those in the broker's own process end with it.
"""

from __future__ import annotations

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.groups.consumer_member import ConsumerMember
from broker_core.groups.group import Group, GroupType
from broker_core.groups.members import Member
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition


class KeptMember(msgspec.Struct, frozen=True, array_like=True):
    """A member; what stands behind `rebalance_timeout_ms` is of the consumer group protocol."""

    member_id: str
    client: str
    host: str
    instance_id: str
    protocols: dict[str, bytes]
    assignment: bytes
    owned: tuple[TopicPartition, ...]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    epoch: int = 0
    previous_epoch: int = 0
    names: tuple[str, ...] = ()
    regex: str = ""
    assignor: str = ""
    is_classic: bool = False
    away: bool = False


class KeptGroup(msgspec.Struct, frozen=True, array_like=True):
    """A group; `settled` where it was Stable, and all of its members are kept."""

    type: GroupType
    protocol_type: str
    protocol: str
    leader: str
    settled: bool
    members: tuple[KeptMember, ...]


_DECODER = msgspec.msgpack.Decoder(KeptGroup)
#: What a member has under the same name.
_SAME, _OF_CONSUMERS = KeptMember.__struct_fields__[:7], KeptMember.__struct_fields__[9:]


def kept_bytes(group: Group) -> bytes | None:
    """What to keep of the members, b"" for nothing; None if it stays as it is: until a generation has begun."""
    if group.type == "classic" and group.state not in {GroupState.STABLE, GroupState.EMPTY}:
        return None
    members = tuple(_kept(member) for member in group.members.values() if member.host)
    if not members:
        return b""
    settled = group.state is GroupState.STABLE and len(members) == len(group.members)
    return msgspec.msgpack.encode(
        KeptGroup(group.type, group.protocol_type, group.protocol, group.leader, settled, members)
    )


def _kept(member: Member) -> KeptMember:
    names = _SAME + (_OF_CONSUMERS if isinstance(member, ConsumerMember) else ())
    return KeptMember(
        **{name: getattr(member, name) for name in names},
        session_timeout_ms=0 if member.session is None else member.session.timeout_ns // NS_PER_MS,
        rebalance_timeout_ms=member.rebalance_timeout_ns // NS_PER_MS,
    )


def kept_group(data: bytes) -> KeptGroup:
    return _DECODER.decode(data)


def member_of(kept: KeptMember, kind: GroupType, now_ns: int) -> Member:
    make = ConsumerMember if kind == "consumer" else Member
    member = make(kept.member_id, kept.client, kept.instance_id, now_ns)
    member.host, member.assignment = kept.host, kept.assignment
    member.rebalance_timeout_ns = kept.rebalance_timeout_ms * NS_PER_MS
    if isinstance(member, ConsumerMember):
        for name in _OF_CONSUMERS:
            setattr(member, name, getattr(kept, name))
        member.target = kept.owned
        # Its rights are looked up with its next heartbeat.
        member.allowed = frozenset(topic for topic, _ in kept.owned).__contains__
        member.tell_again()
    return member
