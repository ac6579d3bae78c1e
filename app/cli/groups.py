from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from app.cli.argument_types import between
from app.cli.notes import note
from app.cli.output import Column, facts_of, print_described, print_facts, print_rows, rows_of, say, struct_facts
from app.cli.parser import Command, CommandError, argument, arguments
from app.cli.target import Broker, is_from_outside, must_allow
from app.cli.verbs import Verbs, asking, built
from app.environment.exits import Exit
from broker_core.clock import NS_PER_MS
from broker_core.errors import ErrorCode, Suppress
from broker_core.guarded.offsets import OffsetsPlan
from broker_core.operations import groups
from broker_core.operations.guarded import PlanOffsets, SetOffsets
from broker_core.operations.topics import DescribeTopic
from broker_core.plurals import counted
from broker_core.snapshots import GroupView, OffsetView, ShareGroupView, SlowReader, may_be_marker

_NO_GROUP = (
    "There is no group{seen}; a group comes with its first member, as by brokerscope consume TOPIC --group GROUP."
)
_FORGET = "Forget {name} and its offsets in {offsets:partition}"


def command() -> Command:
    verbs = Verbs("groups")
    verbs.add("list", groups.ListGroups, _list, clusters=True)
    verbs.add("describe", groups.DescribeGroup, _describe, clusters=True)
    verbs.add("members", groups.DescribeGroup, _members, clusters=True)
    verbs.add("settings", groups.GroupConfiguration, _settings)
    verbs.add("configure", groups.ConfigureGroup, _configure)
    reset = verbs.add("reset-offsets", PlanOffsets, _reset, writes="offsets")
    argument(reset, "groups --topic")
    argument(reset, "verbs --partition")
    argument(reset, "groups --apply")
    to = reset.add_argument_group("the new offsets: one of these is needed").add_mutually_exclusive_group(required=True)
    arguments(to, "groups-reset", {form: _target(form, *parsed) for form, parsed in _TARGETS.items()})
    undo = verbs.add("undo-reset", PlanOffsets, _undo_reset, writes="offsets")
    argument(undo, "groups --dry-run")
    argument(verbs.add("kick", groups.KickMember, _kick), "groups client")
    verbs.does("delete", groups.DeleteGroup, "Deleted {group}.", asks=asking(groups.DescribeGroup, _FORGET))
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
    if is_from_outside(options) and any(may_be_marker(at) for group in found for at in group.offsets):
        note("A lag of 1 in a partition: a transaction's marker may count, which is no message.", as_json=options.json)
    if shared:
        if rows and not options.json:
            print()
        print_rows(shared, options)


def _asked(broker: Broker, group: str) -> GroupView | ShareGroupView:
    """The group of consumers, or else the share group of that name."""
    with Suppress(ErrorCode.GROUP_ID_NOT_FOUND):
        return broker.ask(groups.DescribeGroup(group=group))
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


def _settings(broker: Broker, options: argparse.Namespace) -> None:
    print_facts(struct_facts(broker.ask(built(groups.GroupConfiguration, options))), options)


def _configure(broker: Broker, options: argparse.Namespace) -> None:
    request = built(groups.ConfigureGroup, options)
    if request.settings == groups.GroupChanges():
        raise CommandError("Nothing to change was given; brokerscope groups configure --help says what can be.")
    broker.ask(request)
    say("Configured {group}.", options, group=options.group)


# By form: the field of `PlanOffsets` that an option sets beside it.
_TARGETS: dict[str, tuple[str, Callable[[str], object]]] = {
    "offset": ("offset", between(int, 0)),
    "timestamp": ("timestamp_ms", between(int, 0)),
    "shift-by": ("offset", between(int)),
    "group": ("from_group", str),
}


def _target(form: str, field: str, parse: Callable[[str], object]) -> Callable[[str], dict[str, object]]:
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
    if options.apply:
        must_allow(options, "offsets")
    plan = broker.ask(PlanOffsets(group=options.group, partitions=_chosen(broker, options), **options.to))
    asked = options.to["offset"] if options.to["form"] == "offset" else None
    for change in plan.changes:
        if change.new is not None and asked not in {None, change.new.offset}:
            place = f"{change.topic}/{change.partition}"
            note(f"{place} has no offset {asked}; the nearest is {change.new.offset}.", as_json=options.json)
    _tell(plan, options, "No change." if options.apply else "Nothing would change.")
    if options.apply and plan.changes:
        broker.ask(SetOffsets(group=options.group, plan=plan))
    elif plan.changes and not options.json:
        print("Nothing was changed; --apply does it.")


def _undo_reset(broker: Broker, options: argparse.Namespace) -> None:
    if not options.dry_run:
        must_allow(options, "offsets")
    plan = broker.ask(PlanOffsets(group=options.group, form="undo"))
    if not options.dry_run:
        broker.ask(SetOffsets(group=options.group, plan=plan))
    _tell(plan, options, "No change.")


def _tell(plan: OffsetsPlan, options: argparse.Namespace, none: str) -> None:
    old: Column = ("From", lambda change: change.old and change.old.offset)
    new: Column = ("To", lambda change: change.new and change.new.offset)
    columns = ("topic", "partition", old, new, ("Change", "messages"))
    print_rows(rows_of(plan.changes, *columns, ("Traffic s", "traffic_s")), options, none=none)
    if plan.changes and not options.json:
        again, skipped = counted(plan.read_again, "message"), counted(plan.skipped, "message")
        print(f"{plan.group}: {again} read again, {skipped} skipped.")
        if plan.members:
            print(f"It has {counted(len(plan.members), 'member')}, which must stop first: {', '.join(plan.members)}.")


def _kick(broker: Broker, options: argparse.Namespace) -> None:
    broker.ask(built(groups.KickMember, options))
    say("Removed {client} from {group}.", options, group=options.group, client=options.client)
