"""`brokerscope topics`: list, describe, create, delete, configure, add partitions, delete records."""

from __future__ import annotations

import argparse

import msgspec

from app.command_line.config_options import add_flow, add_log, flow_of, log_of
from app.command_line.output import print_facts, print_rows, say
from app.command_line.verbs import Command, Verbs
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.errors import BrokerError, ErrorCode
from broker_core.plurals import counted


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("topics", "Topics of a broker.")
    verbs.add("list", "All topics.", _list)
    verbs.add("describe", "Partitions and configuration of a topic.", _describe).add_argument("topic")
    create = verbs.add("create", "A new topic.", _create)
    create.add_argument("topic")
    create.add_argument("--partitions", type=int, default=1, metavar="N")
    create.add_argument("--partitioner", choices=("crc32", "murmur2"), default="crc32")
    add_log(create)
    add_flow(create)
    verbs.add("delete", "Delete a topic and its messages.", _delete).add_argument("topic")
    configure = verbs.add("configure", "Change the configuration of a topic.", _configure)
    configure.add_argument("topic")
    add_log(configure)
    add_flow(configure)
    more = verbs.add("add-partitions", "Give a topic more partitions.", _add_partitions)
    more.add_argument("topic")
    more.add_argument("--total", type=int, required=True, metavar="N", help="how many it has then")
    trim = verbs.add("delete-records", "Delete the oldest messages of partitions.", _delete_records)
    trim.add_argument("topic")
    trim.add_argument("--partition", type=int, metavar="P", help="only this one (default: all)")
    trim.add_argument("--before", type=int, required=True, metavar="OFFSET", help="everything below it; -1 is the end")
    return verbs.command()


def _list(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    queues = set(admin.queues())
    views = [admin.describe_topic(name) for name in admin.topics() if name not in queues]
    rows = [
        (
            view.name,
            len(view.partitions),
            sum(part.end_offset - part.start_offset for part in view.partitions),
            sum(part.size_bytes for part in view.partitions),
            view.published,
        )
        for view in views
    ]
    columns = ("Topic", "Partitions", "Messages", "Bytes", "Published")
    print_rows(columns, rows, as_json=options.json, none="There is no topic.")


def _describe(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    view, config = admin.describe_topic(options.topic), admin.topic_config(options.topic)
    columns = ("Partition", "Start offset", "End offset", "Messages", "Bytes")
    rows = [
        (part.partition, part.start_offset, part.end_offset, part.end_offset - part.start_offset, part.size_bytes)
        for part in view.partitions
    ]
    facts: list[tuple[str, object]] = [("Topic", view.name)]
    facts += [(name.replace("_", " ").capitalize(), value) for name, value in msgspec.structs.asdict(config).items()]
    if options.json:
        keys = [column.lower().replace(" ", "_") for column in columns]
        facts.append(("Partitions", [dict(zip(keys, row, strict=True)) for row in rows]))
    print_facts(facts, as_json=options.json)
    if not options.json:
        print()
        print_rows(columns, rows, as_json=False, none="It has no partitions.")


def _create(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    admin.create_topic(options.topic, options.partitions, partitioner=options.partitioner, flow=flow_of(options))
    # The broker's own configuration says how durable a topic is; only what was asked for is changed in it.
    log = log_of(options, admin.topic_config(options.topic))
    if log is not None:
        admin.configure_topic(options.topic, log=log)
    say(
        f"Created {options.topic} with {counted(options.partitions, 'partition')}.",
        as_json=options.json,
        topic=options.topic,
        partitions=options.partitions,
    )


def _delete(host: Host, options: argparse.Namespace) -> None:
    Admin(host).delete_topic(options.topic)
    say(f"Deleted {options.topic}.", as_json=options.json, topic=options.topic)


def _configure(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    log, flow = log_of(options, admin.topic_config(options.topic)), flow_of(options)
    if log is None and flow is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "nothing to change was given; see topics configure --help")
    admin.configure_topic(options.topic, log=log, flow=flow)
    say(f"Configured {options.topic}.", as_json=options.json, topic=options.topic)


def _add_partitions(host: Host, options: argparse.Namespace) -> None:
    Admin(host).create_partitions(options.topic, options.total)
    say(
        f"{options.topic} has {counted(options.total, 'partition')}.",
        as_json=options.json,
        topic=options.topic,
        partitions=options.total,
    )


def _delete_records(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    ends = {part.partition: part.end_offset for part in admin.describe_topic(options.topic).partitions}
    chosen = list(ends) if options.partition is None else [options.partition]
    before = {number: ends.get(number, 0) if options.before == -1 else options.before for number in chosen}
    starts = admin.delete_records(options.topic, before)
    print_rows(
        ("Partition", "Start offset"),
        sorted(starts.items()),
        as_json=options.json,
        none="It has no partitions.",
    )
