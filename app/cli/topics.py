"""`brokerscope topics`: list, describe, create, delete, configure, add partitions, delete records."""

from __future__ import annotations

import argparse

import msgspec

from app.cli.config_options import add_flow, add_log, flow_of, log_of
from app.cli.errors import CommandError
from app.cli.numbers import integer, whole
from app.cli.output import print_facts, print_rows, say
from app.cli.target import counts_since_start
from app.cli.verbs import Command, Verbs
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.clients.schema_admin import SchemaAdmin
from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.plurals import counted
from broker_core.snapshots import GateView, TopicView
from resources.outcomes import OUTCOMES

PUBLISHED = "Published since start"


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("topics", "Topics of a broker.")
    verbs.add("list", "All topics.", _list, reads=True)
    describe = verbs.add("describe", "Partitions, configuration and limits of a topic.", _describe, reads=True)
    _add_topic(describe)
    create = verbs.add("create", "A new topic.", _create)
    create.add_argument("topic", metavar="TOPIC", help="letters, digits and . _ -")
    create.add_argument("--partitions", type=integer, default=1, metavar="N", help="default: 1")
    create.add_argument(
        "--partitioner",
        choices=("crc32", "murmur2"),
        default="crc32",
        help="how keys choose partitions (default: crc32)",
    )
    add_log(create)
    add_flow(create)
    _add_topic(verbs.add("delete", "Delete a topic and its messages.", _delete, asks=_delete_question))
    configure = verbs.add("configure", "Change settings of a topic; what is not given stays.", _configure)
    _add_topic(configure)
    add_log(configure)
    add_flow(configure)
    more = verbs.add("add-partitions", "Give a topic more partitions.", _add_partitions)
    _add_topic(more)
    more.add_argument("--total", type=integer, required=True, metavar="N", help="how many it has then")
    trim = verbs.add(
        "delete-records", "Delete the oldest messages of partitions.", _delete_records, asks=_delete_records_question
    )
    _add_topic(trim)
    trim.add_argument("--partition", type=whole(0), metavar="P", help="only this one (default: all)")
    trim.add_argument(
        "--before", type=whole(-1), required=True, metavar="OFFSET", help="everything below it; -1 is the end"
    )
    return verbs.command()


def _add_topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", help="its name")


def messages_of(view: TopicView) -> int:
    """How many are there now, as far as offsets tell: compaction leaves gaps."""
    return sum(part.messages_count for part in view.partitions)


def _list(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    running = counts_since_start(host)
    rows = [
        (
            view.name,
            len(view.partitions),
            messages_of(view),
            sum(part.size_bytes for part in view.partitions),
            *((view.published,) if running else ()),
        )
        for view in map(admin.describe_topic, admin.topics())
    ]
    columns = ("Topic", "Partitions", "Messages", "Bytes", *((PUBLISHED,) if running else ()))
    print_rows(columns, rows, as_json=options.json, none="There is no topic; brokerscope topics create makes one.")


def config_facts(config: msgspec.Struct) -> list[tuple[str, object]]:
    """All of it, by its names."""
    return [(name.replace("_", " ").capitalize(), value) for name, value in msgspec.structs.asdict(config).items()]


def limit_facts(
    flow: FlowConfig | None, gate: GateView | None, *, running: bool, as_json: bool
) -> list[tuple[str, object]]:
    """What holds producers back, and how often it has, which a broker that is not `running` does not know."""
    if flow is None or gate is None:
        return [("Limits", None), ("Backpressure", None)] if as_json else [("Limits", None)]
    now: list[tuple[str, object]] = [
        ("Depth", gate.depth),
        ("Slowest reader", gate.slowest or None),
        ("Blocked producers", len(gate.blocked)),
    ]
    if running:
        counts = {"rejected": gate.rejected, "dropped": gate.dropped, "evicted": gate.evicted}
        now += [(f"{OUTCOMES[kind]} since start", number) for kind, number in counts.items()]
    if not as_json:
        return [*config_facts(flow), *now]
    plain = {name.lower().replace(" ", "_"): value for name, value in now}
    return [("Limits", msgspec.structs.asdict(flow)), ("Backpressure", plain)]


def _describe(host: Host, options: argparse.Namespace) -> None:
    admin, name = Admin(host), options.topic
    view, rule = admin.describe_topic(name), SchemaAdmin(host).rule(name)
    columns = ("Partition", "Start offset", "End offset", "Messages", "Bytes")
    rows = [
        (part.partition, part.start_offset, part.end_offset, part.messages_count, part.size_bytes)
        for part in view.partitions
    ]
    facts: list[tuple[str, object]] = [("Topic", view.name), ("Messages", messages_of(view))]
    facts += [(PUBLISHED, view.published)] if counts_since_start(host) else []
    facts += [("Partitioner", admin.partitioner(name))]
    facts += [("Schema", None if rule is None else rule.subject), ("Schema mode", None if rule is None else rule.mode)]
    facts += config_facts(admin.topic_config(name))
    flow, running = admin.flow_config(name), counts_since_start(host)
    facts += limit_facts(flow, view.gate, running=running, as_json=options.json)
    if options.json:
        keys = [column.lower().replace(" ", "_") for column in columns]
        facts.append(("Partitions", [dict(zip(keys, row, strict=True)) for row in rows]))
    print_facts(facts, as_json=options.json)
    if not options.json:
        print()
        print_rows(columns, rows, as_json=False, none="It has no partitions.")


def _create(host: Host, options: argparse.Namespace) -> None:
    admin, flow = Admin(host), flow_of(options)
    log_of(options, LogConfig())  # what is not allowed is refused before there is a topic
    admin.create_topic(options.topic, options.partitions, partitioner=options.partitioner, flow=flow)
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


def _delete_question(host: Host, options: argparse.Namespace) -> str:
    view = Admin(host).describe_topic(options.topic)
    held = f"{counted(messages_of(view), 'message')} in {counted(len(view.partitions), 'partition')}"
    return f"Delete {view.name} with {held}"


def _delete(host: Host, options: argparse.Namespace) -> None:
    Admin(host).delete_topic(options.topic)
    say(f"Deleted {options.topic}.", as_json=options.json, topic=options.topic)


def configure(admin: Admin, name: str, options: argparse.Namespace, command: str) -> None:
    """Change what `add_log` and `add_flow` say of a topic, or of a queue's log."""
    log, flow = log_of(options, admin.topic_config(name)), flow_of(options, admin.flow_config(name))
    if log is None and flow is None:
        raise CommandError(f"Nothing to change was given; brokerscope {command} configure --help says what can be.")
    admin.configure_topic(name, log=log, flow=flow)
    say(f"Configured {name}.", as_json=options.json, **{command.rstrip("s"): name})


def _configure(host: Host, options: argparse.Namespace) -> None:
    configure(Admin(host), options.topic, options, "topics")


def _add_partitions(host: Host, options: argparse.Namespace) -> None:
    Admin(host).create_partitions(options.topic, options.total)
    say(
        f"{options.topic} has {counted(options.total, 'partition')}.",
        as_json=options.json,
        topic=options.topic,
        partitions=options.total,
    )


def _before(view: TopicView, options: argparse.Namespace) -> dict[int, int]:
    """Below which offset messages go, by partition."""
    ends = {part.partition: part.end_offset for part in view.partitions}
    chosen = list(ends) if options.partition is None else [options.partition]
    return {number: ends.get(number, 0) if options.before == -1 else options.before for number in chosen}


def _delete_records_question(host: Host, options: argparse.Namespace) -> str:
    view = Admin(host).describe_topic(options.topic)
    before = _before(view, options)
    starts = {part.partition: part.start_offset for part in view.partitions}
    count = sum(max(0, offset - starts.get(number, offset)) for number, offset in before.items())
    return f"Delete {counted(count, 'message')} of {view.name}"


def _delete_records(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    before = _before(admin.describe_topic(options.topic), options)
    starts = admin.delete_records(options.topic, before)
    print_rows(
        ("Partition", "Start offset"),
        sorted(starts.items()),
        as_json=options.json,
        none="It has no partitions.",
    )
