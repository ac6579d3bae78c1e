from __future__ import annotations

import argparse
from typing import TypeVar

from app.cli.errors import CommandError
from app.cli.numbers import integer, whole
from app.cli.output import print_described, print_rows
from app.cli.parser import Command
from app.cli.target import Broker
from app.cli.verbs import Verbs
from app.environment.exits import Exit
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.groups import (
    DeleteGroup,
    DescribeGroup,
    DescribeShareGroup,
    ListGroups,
    ListShareGroups,
    PartitionPlace,
    ResetOffsets,
)
from broker_core.operations.request import Request
from broker_core.operations.topics import DescribeTopic
from broker_core.plurals import counted
from broker_core.snapshots import GroupView, ShareGroupView

T = TypeVar("T")
_NO_GROUP = "There is no group; a group comes with its first member, as by brokerscope consume TOPIC --group GROUP."


def command() -> Command:
    verbs = Verbs("groups", "Consumer groups and share groups of a broker.", "name of the group")
    verbs.add("list", ListGroups, _list, reads=True, clusters=True)
    about = "Show state, offsets and lag of a group; of a share group its members, too."
    verbs.add("describe GROUP", about, _describe, reads=True, clusters=True)
    about = "Show the members of a group and their partitions."
    verbs.add("members GROUP", about, _members, reads=True, clusters=True)
    about = "Show how the committed offsets of an empty group would change; --apply changes them."
    reset = verbs.add("reset-offsets GROUP", about, _reset)
    reset.add_argument("--topic", metavar="TOPIC", help="only this one (default: all that the group has committed for)")
    reset.add_argument("--partition", type=whole(0), metavar="P", help="only this one")
    to = reset.add_mutually_exclusive_group(required=True)
    to.add_argument("--to-earliest", action="store_true", help="the first message there is")
    to.add_argument("--to-latest", action="store_true", help="past the last message")
    to.add_argument("--to-offset", type=whole(0), metavar="OFFSET", help="this offset")
    to.add_argument("--to-timestamp", type=whole(0), metavar="UNIX_MS", help="the first message from then on")
    to.add_argument("--shift-by", type=integer, metavar="N", help="this many messages forward; may be negative")
    to.add_argument("--to-group", metavar="GROUP", help="what another group has committed")
    reset.add_argument("--apply", action="store_true", help="without it nothing is changed")
    verbs.does("delete GROUP", DeleteGroup, "Deleted {group}.", asks=_delete_question)
    return verbs.command()


def _generation(group: GroupView) -> int | None:
    return group.generation if group.generation >= 0 else None


def _list(broker: Broker, options: argparse.Namespace) -> None:
    rows = []
    for group in broker.ask(ListGroups()):
        rows.append((group.name, group.state, _generation(group), len(group.members), group.lag, group.lag_unknown))
    shared = [
        (group.name, group.state, group.epoch, len(group.members), sum(at.lag for at in group.offsets))
        for group in broker.ask(ListShareGroups())
    ]
    if rows or not shared:
        print_rows(("Group", "State", "Generation", "Members", "Lag", "Lag not known"), rows, options, none=_NO_GROUP)
    if shared:
        if rows and not options.json:
            print()
        print_rows(("Share group", "State", "Group epoch", "Members", "Lag"), shared, options, none="")


def _asked(broker: Broker, request: Request[T], group: str) -> T | ShareGroupView:
    """The answer about a group of consumers, or else about the share group of that name."""
    try:
        return broker.ask(request)
    except BrokerError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise
    return broker.ask(DescribeShareGroup(group=group))


def _describe_share_group(group: ShareGroupView, options: argparse.Namespace) -> None:
    columns = ("Topic", "Partition", "Start offset", "End offset", "In flight", "Lag")
    rows = [(at.topic, at.partition, at.start_offset, at.end_offset, at.in_flight, at.lag) for at in group.offsets]
    facts: list[tuple[str, object]] = [
        ("Share group", group.name),
        ("State", group.state),
        ("Group epoch", group.epoch),
        ("Members", len(group.members)),
    ]
    print_described(facts, "Offsets", columns, rows, options, none=f"{group.name} reads nothing.")
    if group.members and not options.json:
        print()
        _print_share_members(group, options)


def _print_share_members(group: ShareGroupView, options: argparse.Namespace) -> None:
    rows = [(member.client, member.member_id, member.epoch, " ".join(member.topics)) for member in group.members]
    columns = ("Client", "Member id", "Member epoch", "Topics")
    print_rows(columns, rows, options, none=f"{group.name} has no members; it is {group.state}.")


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    group = _asked(broker, DescribeGroup(group=options.group), options.group)
    if isinstance(group, ShareGroupView):
        _describe_share_group(group, options)
        return
    columns = ("Topic", "Partition", "Owner", "Committed", "End offset", "Lag", "Lag s")
    rows = [
        (
            at.topic,
            at.partition,
            at.owner or None,
            at.committed,
            at.end_offset,
            at.lag,
            None if at.lag_ns is None else at.lag_ns // NS_PER_MS / 1_000,
        )
        for at in group.offsets
    ]
    facts: list[tuple[str, object]] = [
        ("Group", group.name),
        ("State", group.state),
        ("Generation", _generation(group)),
        ("Assignor", group.assignor or None),
        ("Members", len(group.members)),
    ]
    none = f"{group.name} has committed nothing."
    print_described(facts, "Offsets", columns, rows, options, none=none)


def _members(broker: Broker, options: argparse.Namespace) -> None:
    found = _asked(broker, DescribeGroup(group=options.group), options.group)
    if isinstance(found, ShareGroupView):
        _print_share_members(found, options)
        return
    rows = [
        (
            member.client,
            member.member_id,
            member.instance_id or None,
            " ".join(f"{topic}/{partition}" for topic, partition in member.partitions),
        )
        for member in found.members
    ]
    columns = ("Client", "Member id", "Instance id", "Partitions")
    print_rows(columns, rows, options, none=f"{options.group} has no members; it is {found.state}.")


def reset_of(options: argparse.Namespace, partitions: list[PartitionPlace]) -> ResetOffsets:
    target: dict[str, object] = {"form": "group", "from_group": options.to_group}
    if options.to_earliest:
        target = {"form": "earliest"}
    elif options.to_latest:
        target = {"form": "latest"}
    elif options.to_offset is not None:
        target = {"form": "offset", "offset": options.to_offset}
    elif options.to_timestamp is not None:
        target = {"form": "timestamp", "timestamp_ms": options.to_timestamp}
    elif options.shift_by is not None:
        target = {"form": "shift-by", "offset": options.shift_by}
    return ResetOffsets(group=options.group, partitions=partitions, dry_run=not options.apply, **target)  # type: ignore[arg-type]


def _chosen(broker: Broker, options: argparse.Namespace) -> list[PartitionPlace]:
    if options.topic is not None:
        parts = broker.ask(DescribeTopic(topic=options.topic)).partitions
        found = [(options.topic, part.partition) for part in parts]
    else:
        name = options.to_group or options.group
        found = [(at.topic, at.partition) for at in broker.ask(DescribeGroup(group=name)).offsets]
    chosen = [place for place in found if options.partition is None or place[1] == options.partition]
    if found and not chosen:
        there = ", ".join(sorted({str(partition) for _, partition in found}))
        told = f"There is no partition {options.partition} to reset; there are {there}."
        raise CommandError(told, Exit.NOT_FOUND)
    return [PartitionPlace(topic=topic, partition=partition) for topic, partition in chosen]


def _reset(broker: Broker, options: argparse.Namespace) -> None:
    changes = broker.ask(reset_of(options, _chosen(broker, options))).changes
    columns = ("Topic", "Partition", "From", "To", "Change")
    rows = [(one.topic, one.partition, one.from_offset, one.to_offset, one.change) for one in changes]
    print_rows(columns, rows, options, none="Nothing would change." if not options.apply else "No change.")
    if rows and not options.apply and not options.json:
        print("Nothing was changed; --apply does it.")


def _delete_question(broker: Broker, options: argparse.Namespace) -> str:
    group = broker.ask(DescribeGroup(group=options.group))
    return f"Forget {group.name} and its offsets in {counted(len(group.offsets), 'partition')}"
