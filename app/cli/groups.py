"""`brokerscope groups`: list, describe, reset offsets, delete."""

from __future__ import annotations

import argparse

from app.cli.errors import CommandError
from app.cli.numbers import integer, whole
from app.cli.output import print_facts, print_rows, say
from app.cli.verbs import Command, Verbs
from app.environment.exits import Exit
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.groups.offset_reset import Target
from broker_core.groups.protocol import TopicPartition
from broker_core.plurals import counted


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("groups", "Consumer groups of a broker.")
    verbs.add("list", "All groups.", _list, reads=True)
    _add_group(verbs.add("describe", "State, offsets and lag of a group.", _describe, reads=True))
    _add_group(verbs.add("members", "Who is in a group, and what each owns.", _members, reads=True))
    reset = verbs.add(
        "reset-offsets", "Change what an empty group has committed; shows it, and --apply does it.", _reset
    )
    _add_group(reset)
    reset.add_argument("--topic", metavar="TOPIC", help="only this one (default: all that the group has committed for)")
    reset.add_argument("--partition", type=whole(0), metavar="P", help="only this one")
    to = reset.add_mutually_exclusive_group(required=True)
    to.add_argument("--to-earliest", action="store_true", help="the first message that is there")
    to.add_argument("--to-latest", action="store_true", help="behind the last message")
    to.add_argument("--to-offset", type=whole(0), metavar="OFFSET", help="this offset")
    to.add_argument("--to-timestamp", type=whole(0), metavar="UNIX_MS", help="the first message from then on")
    to.add_argument("--shift-by", type=integer, metavar="N", help="so many messages on; may be negative")
    to.add_argument("--to-group", metavar="GROUP", help="what another group has committed")
    reset.add_argument("--apply", action="store_true", help="without it nothing is changed")
    _add_group(verbs.add("delete", "Forget an empty group and its offsets.", _delete, asks=_delete_question))
    return verbs.command()


def _add_group(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP", help="its name")


def _list(host: Host, options: argparse.Namespace) -> None:
    views = [Admin(host).describe_group(name) for name in Admin(host).groups()]
    rows = [(view.name, view.state, view.generation, len(view.members), view.lag) for view in views]
    print_rows(
        ("Group", "State", "Generation", "Members", "Lag"),
        rows,
        as_json=options.json,
        none="There is no group; a group comes with its first member, as by brokerscope consume TOPIC --group GROUP.",
    )


def _describe(host: Host, options: argparse.Namespace) -> None:
    view = Admin(host).describe_group(options.group)
    columns = ("Topic", "Partition", "Owner", "Committed", "End offset", "Lag", "Lag s")
    rows = [
        (
            at.topic,
            at.partition,
            at.owner or None,
            at.committed,
            at.end_offset,
            at.lag,
            None if at.lag_ns is None else at.lag_ns / 1e9,
        )
        for at in view.offsets
    ]
    facts: list[tuple[str, object]] = [
        ("Group", view.name),
        ("State", view.state),
        ("Generation", view.generation),
        ("Assignor", view.assignor or None),
        ("Members", len(view.members)),
    ]
    if options.json:
        keys = [column.lower().replace(" ", "_") for column in columns]
        print_facts([*facts, ("Offsets", [dict(zip(keys, row, strict=True)) for row in rows])], as_json=True)
        return
    print_facts(facts, as_json=False)
    print()
    print_rows(columns, rows, as_json=False, none=f"{view.name} has committed nothing.")


def _members(host: Host, options: argparse.Namespace) -> None:
    view = Admin(host).describe_group(options.group)
    rows = [
        (
            member.client,
            member.member_id,
            member.instance_id or None,
            " ".join(f"{topic}/{partition}" for topic, partition in member.partitions),
        )
        for member in view.members
    ]
    columns = ("Client", "Member id", "Instance id", "Partitions")
    print_rows(columns, rows, as_json=options.json, none=f"Nobody is in {options.group}; it is {view.state}.")


def target_of(options: argparse.Namespace) -> Target:
    """Where the options of `reset-offsets` lead."""
    if options.to_earliest:
        return Target("earliest")
    if options.to_latest:
        return Target("latest")
    if options.to_offset is not None:
        return Target("offset", offset=options.to_offset)
    if options.to_timestamp is not None:
        return Target("timestamp", timestamp_ms=options.to_timestamp)
    if options.shift_by is not None:
        return Target("shift-by", offset=options.shift_by)
    return Target("group", group=options.to_group)


def _chosen(admin: Admin, options: argparse.Namespace) -> list[TopicPartition]:
    if options.topic is not None:
        numbers = [part.partition for part in admin.describe_topic(options.topic).partitions]
        found = [(options.topic, number) for number in numbers]
    else:
        name = options.to_group or options.group
        found = [(at.topic, at.partition) for at in admin.describe_group(name).offsets]
    chosen = [place for place in found if options.partition is None or place[1] == options.partition]
    if found and not chosen:
        there = ", ".join(sorted({str(partition) for _, partition in found}))
        told = f"There is no partition {options.partition} to reset; there are {there}."
        raise CommandError(told, Exit.NOT_FOUND)
    return chosen


def _reset(host: Host, options: argparse.Namespace) -> None:
    admin, target = Admin(host), target_of(options)
    partitions = _chosen(admin, options)
    act = admin.reset_offsets if options.apply else admin.preview_reset
    changes = act(options.group, target, partitions)
    columns = ("Topic", "Partition", "From", "To", "Change")
    rows = [(one.topic, one.partition, one.from_offset, one.to_offset, one.change) for one in changes]
    print_rows(columns, rows, as_json=options.json, none="Nothing would change." if not options.apply else "No change.")
    if rows and not options.apply and not options.json:
        print("Nothing was changed; --apply does it.")


def _delete_question(host: Host, options: argparse.Namespace) -> str:
    view = Admin(host).describe_group(options.group)
    return f"Forget {view.name} and its offsets in {counted(len(view.offsets), 'partition')}"


def _delete(host: Host, options: argparse.Namespace) -> None:
    Admin(host).delete_group(options.group)
    say(f"Deleted {options.group}.", as_json=options.json, group=options.group)
