from __future__ import annotations

import argparse
from typing import Any

import msgspec

from app.cli.errors import CommandError
from app.cli.numbers import whole
from app.cli.output import print_described, print_rows, say
from app.cli.parser import Command
from app.cli.request_options import add_field, add_group, given
from app.cli.target import Broker, is_from_outside, is_running
from app.cli.verbs import Verbs
from broker_core.flow.config import FlowConfig
from broker_core.operations.topics import (
    AddPartitions,
    ConfigureTopic,
    CreateTopic,
    DeleteRecords,
    DeleteTopic,
    DescribeTopic,
    ListTopics,
    LogSettings,
    TopicConfig,
)
from broker_core.plurals import counted
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import GateView, TopicView
from resources.outcomes import OUTCOMES

PUBLISHED = "Published since start"


def command() -> Command:
    verbs = Verbs("topics", "Topics of a broker.", "name of the topic")
    verbs.add("list", ListTopics, _list, reads=True, clusters=True)
    about = "Show partitions, configuration and limits of a topic."
    verbs.add("describe TOPIC", about, _describe, reads=True, clusters=True)
    create = verbs.add("create", CreateTopic, _create)
    create.add_argument("topic", metavar="TOPIC", help="letters, digits and . _ -")
    add_field(create, CreateTopic, "partitions")
    add_field(create, CreateTopic, "partitioner")
    add_log(create)
    add_flow(create)
    schema = create.add_argument_group("schema")
    add_field(schema, SchemaRule, "subject", "--schema", required=False, default=argparse.SUPPRESS, metavar="SUBJECT")
    add_field(schema, SchemaRule, "mode", "--schema-mode")
    verbs.does("delete TOPIC", DeleteTopic, "Deleted {topic}.", asks=_delete_question)
    configure = verbs.add("configure TOPIC", "Change settings of a topic; the others stay.", _configure)
    add_log(configure)
    add_flow(configure)
    more = verbs.add("add-partitions TOPIC", AddPartitions, _add_partitions)
    add_field(more, AddPartitions, "total")
    trim = verbs.add("delete-records TOPIC", DeleteRecords, _delete_records, asks=_delete_records_question)
    trim.add_argument("--partition", type=whole(0), metavar="P", help="only this one (default: all)")
    trim.add_argument(
        "--before", type=whole(-1), required=True, metavar="OFFSET", help="everything below it; -1 is the end"
    )
    return verbs.command()


def add_log(parser: argparse.ArgumentParser) -> None:
    add_group(parser, LogSettings, "how messages are kept (none: no limit)")


def add_flow(parser: argparse.ArgumentParser) -> None:
    add_group(parser, FlowConfig, "how many messages are accepted (none: no limit)", {"rate_per_s": "--rate"})


def flow_of(options: argparse.Namespace, present: FlowConfig | None = None) -> FlowConfig | None:
    """`present` with the options of `add_flow`; None if none was given."""
    found = given(options, FlowConfig)
    if found.get("rate_per_s", 0) is None:
        found.setdefault("burst", None)  # it goes with the rate
    return msgspec.structs.replace(present or FlowConfig(), **found) if found else None


def _list(broker: Broker, options: argparse.Namespace) -> None:
    running = is_running(broker)
    rows = [
        (
            topic.name,
            len(topic.partitions),
            topic.messages_count,
            None if is_from_outside(options) else sum(part.size_bytes for part in topic.partitions),
            *((topic.published,) if running else ()),
        )
        for topic in broker.ask(ListTopics())
    ]
    columns = ("Topic", "Partitions", "Messages", "Bytes", *((PUBLISHED,) if running else ()))
    print_rows(columns, rows, options, none="There is no topic; brokerscope topics create makes one.")


def struct_facts(config: msgspec.Struct) -> list[tuple[str, object]]:
    return [(name.replace("_", " ").capitalize(), value) for name, value in msgspec.structs.asdict(config).items()]


def limit_facts(
    flow: FlowConfig | None, gate: GateView | None, options: argparse.Namespace, *, running: bool
) -> list[tuple[str, object]]:
    """The limits, and how often they were met, which a broker that is not `running` does not know."""
    if flow is None or gate is None:
        return [("Limits", None), ("Backpressure", None)] if options.json else [("Limits", None)]
    now: list[tuple[str, object]] = [
        ("Depth", gate.depth),
        ("Slowest reader", gate.slowest or None),
        ("Blocked producers", len(gate.blocked)),
    ]
    if running:
        counts = {"rejected": gate.rejected, "dropped": gate.dropped, "evicted": gate.evicted}
        now += [(f"{OUTCOMES[kind]} since start", number) for kind, number in counts.items()]
    if not options.json:
        return [*struct_facts(flow), *now]
    plain = {name.lower().replace(" ", "_"): value for name, value in now}
    return [("Limits", msgspec.structs.asdict(flow)), ("Backpressure", plain)]


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    name, running = options.topic, is_running(broker)
    topic = broker.ask(DescribeTopic(topic=name))
    outside = is_from_outside(options)
    columns = ("Partition", "Start offset", "End offset", "Messages", "Bytes")
    rows = [
        (part.partition, part.start_offset, part.end_offset, part.messages_count, None if outside else part.size_bytes)
        for part in topic.partitions
    ]
    facts: list[tuple[str, object]] = [("Topic", topic.name), ("Messages", topic.messages_count)]
    if not outside:
        settings = broker.ask(TopicConfig(topic=name))
        rule = settings.rule
        facts += [(PUBLISHED, topic.published)] if running else []
        facts += [("Partitioner", settings.partitioner)]
        facts += [("Schema", rule and rule.subject), ("Schema mode", rule and rule.mode)]
        facts += struct_facts(settings.log)
        facts += limit_facts(settings.flow, settings.gate, options, running=running)
    print_described(facts, "Partitions", columns, rows, options, none="It has no partitions.")


def _create(broker: Broker, options: argparse.Namespace) -> None:
    schema = given(options, SchemaRule)
    if schema and "subject" not in schema:
        raise CommandError("--schema-mode says what becomes of values that a schema refuses; name that with --schema.")
    topic = broker.ask(
        CreateTopic(
            name=options.topic,
            **given(options, CreateTopic, ("partitions", "partitioner")),
            log=LogSettings(**given(options, LogSettings)),
            flow=flow_of(options),
            rule=SchemaRule(**schema) if schema else None,
        )
    )
    name, count = topic.name, len(topic.partitions)
    say(f"Created {name} with {counted(count, 'partition')}.", options, topic=name, partitions=count)


def _delete_question(broker: Broker, options: argparse.Namespace) -> str:
    topic = broker.ask(DescribeTopic(topic=options.topic))
    held = f"{counted(topic.messages_count, 'message')} in {counted(len(topic.partitions), 'partition')}"
    return f"Delete {topic.name} with {held}"


def configure(broker: Broker, name: str, options: argparse.Namespace, present: FlowConfig | None, command: str) -> None:
    """Change what `add_log` and `add_flow` say of a topic, or of a queue's log."""
    log, flow = LogSettings(**given(options, LogSettings)), flow_of(options, present)
    if log == LogSettings() and flow is None:
        raise CommandError(f"Nothing to change was given; brokerscope {command} configure --help says what can be.")
    broker.ask(ConfigureTopic(topic=name, log=log, flow=flow))
    say(f"Configured {name}.", options, **{command.rstrip("s"): name})


def _configure(broker: Broker, options: argparse.Namespace) -> None:
    present = broker.ask(TopicConfig(topic=options.topic)).flow
    configure(broker, options.topic, options, present, "topics")


def _add_partitions(broker: Broker, options: argparse.Namespace) -> None:
    name, count = options.topic, options.total
    broker.ask(AddPartitions(topic=name, total=count))
    say(f"{name} has {counted(count, 'partition')}.", options, topic=name, partitions=count)


def _before(topic: TopicView, options: argparse.Namespace) -> dict[int, int]:
    ends = {part.partition: part.end_offset for part in topic.partitions}
    chosen = list(ends) if options.partition is None else [options.partition]
    return {number: ends.get(number, 0) if options.before == -1 else options.before for number in chosen}


def _delete_records_question(broker: Broker, options: argparse.Namespace) -> str:
    topic = broker.ask(DescribeTopic(topic=options.topic))
    starts = {part.partition: part.start_offset for part in topic.partitions}
    count = sum(max(0, offset - starts.get(number, offset)) for number, offset in _before(topic, options).items())
    return f"Delete {counted(count, 'message')} of {topic.name}"


def _delete_records(broker: Broker, options: argparse.Namespace) -> None:
    before = _before(broker.ask(DescribeTopic(topic=options.topic)), options)
    request = DeleteRecords(topic=options.topic, before={str(number): offset for number, offset in before.items()})
    starts: dict[str, Any] = broker.ask(request)
    rows = sorted((int(number), offset) for number, offset in starts.items())
    print_rows(("Partition", "Start offset"), rows, options, none="It has no partitions.")
