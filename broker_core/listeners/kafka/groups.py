from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.members import LEAVING_FOR_A_WHILE
from broker_core.groups.reconciling import DEFAULT_ASSIGNOR
from broker_core.groups.states import GroupState
from broker_core.listeners.kafka.call import ADMIN, READ, Answer, Call, api, by_topic, failed, outcome
from broker_core.operations.groups import DeleteGroup

if TYPE_CHECKING:
    from kio.schema.consumer_group_describe.v1.request import ConsumerGroupDescribeRequest
    from kio.schema.delete_groups.v2.request import DeleteGroupsRequest
    from kio.schema.describe_groups.v6.request import DescribeGroupsRequest
    from kio.schema.list_groups.v5.request import ListGroupsRequest


@api("ListGroups", 16, 0, 5)
def _list_groups(call: Call, request: ListGroupsRequest) -> Answer:
    """The groups that the client may read. Filtered by state and by type, where the request says so."""
    states = {state.lower() for state in request.states_filter}
    kinds = {kind.lower() for kind in request.types_filter}
    rows = (
        {
            "group_id": name,
            "protocol_type": "share" if kind == "share" else call.broker.groups.protocol(name)[0],
            "group_state": _state_of(state),
            "group_type": kind,
        }
        for name, kind, state in _there(call)
        if (not kinds or kind in kinds) and (not states or _state_of(state).lower() in states)
    )
    return call.sliced("groups", rows, error_code=0)


def _there(call: Call) -> Iterator[tuple[str, str, str]]:
    """The name, type and state of each group that the client may read."""
    groups, shares = call.broker.groups, call.broker.share_groups
    for name in groups.groups():
        state = _state_in(call, name)
        if state is not GroupState.DEAD and call.may(READ, "group", name):
            yield name, groups.type(name), str(state)
    for name in tuple(shares.names()):
        if call.may(READ, "group", name):
            yield name, "share", str(shares.state(name))


def _state_in(call: Call, name: str) -> GroupState:
    """A static member that is away has not taken up its target (KIP-848): so its group is Reconciling."""
    away = any(each.away for each in call.broker.groups.consumer_members(name))
    return GroupState.RECONCILING if away else call.broker.groups.state(name)


IN_PROCESS = "/127.0.0.1"  # the host of a member in the broker's own process
_FIRST_TO_MISS = 6  # from v6 on a group that is not there is an error (KIP-1043)


def _state_of(state: str) -> str:
    """Kafka's name of a group's state: "Preparing rebalance" is PreparingRebalance."""
    return "".join(word.capitalize() for word in state.split())


@api("DescribeGroups", 15, 0, 6)
def _describe_groups(call: Call, request: DescribeGroupsRequest) -> Answer:
    rows = (with_operations(call, request, _classic_group(call, name)) for name in dict.fromkeys(request.groups))
    return call.sliced("groups", rows)


def with_operations(call: Call, request: Any, row: dict[str, Any]) -> dict[str, Any]:
    """The `row` of a group, with what the client may do with it where the request asks."""
    if not request.include_authorized_operations or row.get("error_code"):
        return row
    return {**row, "authorized_operations": call.operations("group", row["group_id"])}


def _classic_group(call: Call, name: str) -> dict[str, Any]:
    """Bytes of members are there while the group is Stable, and where the client may read every topic that it names."""
    empty = {"group_id": name, "group_state": "Dead", "protocol_type": ""}
    groups = call.broker.groups
    try:
        call.must(READ, "group", name)
        view, sent = groups.view(call.now_ns, name, offsets=False), groups.members(name)
        if groups.type(name) != "classic":
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, f"{name} is not a classic group; use ConsumerGroupDescribe")
    except BrokerError as error:
        missing = error.code is ErrorCode.GROUP_ID_NOT_FOUND
        if missing and call.version < _FIRST_TO_MISS:
            return empty
        return {**empty, **failed(error)}
    named = {topic for member in sent.values() for topic in member.subscription.topics}
    named |= {topic for member in sent.values() for topic, _ in (*member.owned, *member.subscription.owned)}
    told = view.state == GroupState.STABLE and named == call.readable(named)
    return {
        "group_id": name,
        "group_state": _state_of(view.state),
        "protocol_type": groups.protocol(name)[0],
        "protocol_data": view.assignor if view.state == GroupState.STABLE else "",
        "members": [
            {
                "member_id": member_id,
                "group_instance_id": member.instance_id or None,
                "client_id": member.client,
                "client_host": member.host or IN_PROCESS,
                "member_metadata": member.protocols[view.assignor] if told else b"",
                "member_assignment": member.assignment if told else b"",
            }
            for member_id, member in sent.items()
        ],
    }


_CONSUMER_MEMBER = 1


@api("ConsumerGroupDescribe", 69, 0, 1)
def _consumer_group_describe(call: Call, request: ConsumerGroupDescribeRequest) -> Answer:
    """Epochs, assignor, and each member with what it has and what it is to have."""
    names = dict.fromkeys(request.group_ids)
    rows = (outcome(_consumer_group, call, name, group_id=name) for name in names)
    return call.sliced("groups", (with_operations(call, request, row) for row in rows))


def _consumer_group(call: Call, name: str) -> dict[str, Any]:
    groups = call.broker.groups
    call.must(READ, "group", name)
    if groups.type(name) != "consumer":
        raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, f"{name} is a classic group; use DescribeGroups")
    view, members = groups.view(call.now_ns, name, offsets=False), groups.consumer_members(name)
    call.must_read_all((*view.topics, *(topic for each in members for topic, _ in (*each.owned, *each.target))))
    return {
        "group_state": _state_of(_state_in(call, name)),
        "group_epoch": view.generation,
        "assignment_epoch": view.generation,
        "assignor_name": view.assignor or DEFAULT_ASSIGNOR,
        "members": [
            {
                "member_id": member.member_id,
                "instance_id": member.instance_id or None,
                "member_epoch": LEAVING_FOR_A_WHILE if member.away else member.epoch,
                "client_id": member.client,
                "client_host": member.host or IN_PROCESS,
                "subscribed_topic_names": member.names,
                "subscribed_topic_regex": member.regex,
                "assignment": {"topic_partitions": by_topic(call, member.may_read)},
                "target_assignment": {"topic_partitions": by_topic(call, member.target)},
                "member_type": _CONSUMER_MEMBER,
            }
            for member in members
        ],
    }


@api("DeleteGroups", 42, 0, 2)
def _delete_groups(call: Call, request: DeleteGroupsRequest) -> Answer:
    """Forget empty groups and what they committed; in a session, a share group's subscriptions can be brought back for
    a while.
    """
    return call.later("results", lambda name: outcome(_delete, call, name, group_id=name), request.groups_names)


def _delete(call: Call, name: str) -> None:
    call.must(ADMIN, "group", name)
    call.ask(DeleteGroup(group=name))
