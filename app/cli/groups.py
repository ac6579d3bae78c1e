from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from app.cli.errors import CommandError
from app.cli.numbers import integer, whole
from app.cli.output import Column, facts_of, print_described, print_rows, rows_of, say
from app.cli.parser import Command
from app.cli.request_options import built
from app.cli.target import Broker
from app.cli.verbs import Verbs
from app.cli.waiting import note
from app.environment.exits import Exit
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import groups
from broker_core.operations.topics import DescribeTopic
from broker_core.plurals import counted
from broker_core.snapshots import GroupView, OffsetView, ShareGroupView, SlowReader

_NO_GROUP = (
    "There is no group{seen}; a group comes with its first member, as by brokerscope consume TOPIC --group GROUP."
)


def command() -> Command:
    verbs = Verbs("groups", "Consumer groups and share groups of a broker.")
    verbs.add("list", groups.ListGroups, _list, clusters=True)
    about = "Show state, offsets and lag of a group; of a share group its members, too."
    verbs.add("describe", groups.DescribeGroup, _describe, about=about, clusters=True)
    about = "Show the members of a group and their partitions."
    verbs.add("members", groups.DescribeGroup, _members, about=about, clusters=True)
    about = "Show how the committed offsets of an empty group would change; --apply changes them."
    reset = verbs.add("reset-offsets", groups.ResetOffsets, _reset, about=about)
    reset.add_argument("--topic", metavar="TOPIC", help="only this one (default: all that the group has committed for)")
    reset.add_argument("--partition", type=whole(0), metavar="P", help="only this one (default: all)")
    reset.add_argument("--apply", action="store_true", help="change the offsets; without it nothing is changed")
    to = reset.add_argument_group("the new offsets: one of these is needed").add_mutually_exclusive_group(required=True)
    for flag, form, about in (
        ("--to-earliest", "earliest", "the first message there is"),
        ("--to-latest", "latest", "past the last message"),
    ):
        to.add_argument(flag, dest="to", action="store_const", const={"form": form}, help=about)
    for flag, form, field, parse, metavar, about in (
        ("--to-offset", "offset", "offset", whole(0), "OFFSET", "this offset"),
        ("--to-timestamp", "timestamp", "timestamp_ms", whole(0), "UNIX_MS", "the first message from then on"),
        ("--shift-by", "shift-by", "offset", integer, "N", "this many messages forward; may be negative"),
        ("--to-group", "group", "from_group", str, "GROUP", "what another group has committed"),
    ):
        to.add_argument(flag, dest="to", type=_target(form, field, parse), metavar=metavar, help=about)
    kick = verbs.add("kick", groups.KickMember, _kick)
    kick.add_argument("client", metavar="CLIENT", help="the member's client id, as groups members shows it")
    verbs.does("delete", groups.DeleteGroup, "Deleted {group}.", asks=_delete_question)
    return verbs.command()


def lag_s(found: OffsetView | SlowReader) -> float | None:
    return None if found.lag_ns is None else found.lag_ns // NS_PER_MS / 1_000


_MEMBERS: Column = ("Members", lambda group: len(group.members))
_GENERATION: Column = ("Generation", lambda group: group.generation if group.generation >= 0 else None)
_GROUP: tuple[Column, ...] = (("Group", "name"), "state", _GENERATION)
_SHARE_GROUP: tuple[Column, ...] = (("Share group", "name"), "state", ("Group epoch", "epoch"), _MEMBERS)


def _list(broker: Broker, options: argparse.Namespace) -> None:
    found, share_groups = broker.ask(groups.ListGroups()), broker.ask(groups.ListShareGroups())
    rows = rows_of(found, *_GROUP, _MEMBERS, "lag", ("Lag not known", "lag_unknown"))
    lag = ("Lag", lambda group: sum(at.lag for at in group.offsets))
    shared = rows_of(share_groups, *_SHARE_GROUP, lag)
    if rows or not shared:
        print_rows(rows, options, none=_NO_GROUP.format(seen=options.seen))
    if shared:
        if rows and not options.json:
            print()
        print_rows(shared, options)


def _asked(broker: Broker, group: str) -> GroupView | ShareGroupView:
    """The group of consumers, or else the share group of that name."""
    try:
        return broker.ask(groups.DescribeGroup(group=group))
    except BrokerError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise
    return broker.ask(groups.DescribeShareGroup(group=group))


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    group = _asked(broker, options.group)
    if isinstance(group, GroupView):
        facts = facts_of(group, *_GROUP, "assignor", _MEMBERS)
        columns = ("topic", "partition", "owner", "committed", "end_offset", "lag")
        none = f"{group.name} has committed nothing."
        print_described(facts, "Offsets", rows_of(group.offsets, *columns, ("Lag s", lag_s)), options, none=none)
        return
    rows = rows_of(group.offsets, "topic", "partition", "start_offset", "end_offset", "in_flight", "lag")
    print_described(facts_of(group, *_SHARE_GROUP), "Offsets", rows, options, none=f"{group.name} reads nothing.")
    if group.members and not options.json:
        print()
        _print_members(group, options)


def _print_members(group: GroupView | ShareGroupView, options: argparse.Namespace) -> None:
    if isinstance(group, GroupView):
        columns: tuple[Column, ...] = ("instance_id", ("Partitions", lambda member: _places(member.partitions)))
    else:
        columns = (("Member epoch", "epoch"), ("Topics", lambda member: " ".join(member.topics)))
    rows = rows_of(group.members, "client", "member_id", *columns)
    print_rows(rows, options, none=f"{group.name} has no members; it is {group.state}.")


def _places(partitions: Iterable[tuple[str, int]]) -> str:
    return " ".join(f"{topic}/{partition}" for topic, partition in partitions)


def _members(broker: Broker, options: argparse.Namespace) -> None:
    _print_members(_asked(broker, options.group), options)


def _target(form: str, field: str, parse: Callable[[str], object]) -> Callable[[str], dict[str, object]]:
    """For argparse: the fields of `ResetOffsets` that an option sets."""
    return lambda text: {"form": form, field: parse(text)}


def _chosen(broker: Broker, options: argparse.Namespace) -> list[groups.PartitionPlace]:
    if options.topic is not None:
        parts = broker.ask(DescribeTopic(topic=options.topic)).partitions
        found = [(options.topic, part.partition) for part in parts]
    else:
        name = options.to.get("from_group", options.group)
        found = [(at.topic, at.partition) for at in broker.ask(groups.DescribeGroup(group=name)).offsets]
    chosen = [place for place in found if options.partition is None or place[1] == options.partition]
    if found and not chosen:
        there = ", ".join(sorted({str(partition) for _, partition in found}))
        told = f"There is no partition {options.partition} to reset; there are {there}."
        raise CommandError(told, Exit.NOT_FOUND)
    return [groups.PartitionPlace(topic=topic, partition=partition) for topic, partition in chosen]


def _reset(broker: Broker, options: argparse.Namespace) -> None:
    places, preview = _chosen(broker, options), not options.apply
    request = groups.ResetOffsets(group=options.group, partitions=places, dry_run=preview, **options.to)
    changes = broker.ask(request).changes
    rows = rows_of(changes, "topic", "partition", ("From", "from_offset"), ("To", "to_offset"), "change")
    asked = options.to["offset"] if options.to["form"] == "offset" else None
    for change in changes:
        if asked not in {None, change.to_offset}:
            place = f"{change.topic}/{change.partition}"
            note(f"{place} has no offset {asked}; the nearest is {change.to_offset}.", as_json=options.json)
    print_rows(rows, options, none="Nothing would change." if preview else "No change.")
    if rows and preview and not options.json:
        print("Nothing was changed; --apply does it.")


def _kick(broker: Broker, options: argparse.Namespace) -> None:
    broker.ask(built(groups.KickMember, options))
    say("Removed {client} from {group}.", options, group=options.group, client=options.client)


def _delete_question(broker: Broker, options: argparse.Namespace) -> str:
    group = broker.ask(groups.DescribeGroup(group=options.group))
    return f"Forget {group.name} and its offsets in {counted(len(group.offsets), 'partition')}"
