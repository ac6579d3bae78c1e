from __future__ import annotations

import argparse

import msgspec

from app.cli.output import Column, Facts, facts_of, payload, print_described, print_rows, rows_of, say, struct_facts
from app.cli.parser import Command, CommandError, argument
from app.cli.target import Broker, is_from_outside, is_running
from app.cli.verbs import Verbs, asking, built, given
from broker_core.flow.config import FlowConfig
from broker_core.operations import queues, topics
from broker_core.operations.topics import ConfigureTopic
from broker_core.plurals import counted
from broker_core.snapshots import GateView, TopicView
from resources.outcomes import OUTCOMES

PUBLISHED = "Published since start"
_DELETE_TOPIC = "Delete {name} with {messages_count:message} in {partitions:partition}"
_DELETE_QUEUE = "Delete {name} with {messages_count:message} and {dead:dead letter}"
_PURGE = "Take {waiting:message} out of {name}"


def command() -> Command:
    verbs = Verbs("topics")
    verbs.add("list", topics.ListTopics, _list, clusters=True)
    verbs.add("describe", topics.DescribeTopic, _describe, clusters=True)
    verbs.does("create", topics.CreateTopic, "Created {topic} with {partitions:partition}.", _partitions)
    verbs.does("delete", topics.DeleteTopic, "Deleted {topic}.", asks=asking(topics.DescribeTopic, _DELETE_TOPIC))
    verbs.add("configure", topics.ConfigureTopic, _configure)
    verbs.does("add-partitions", topics.AddPartitions, "{topic} has {partitions:partition}.", _partitions)
    trim = verbs.add("delete-records", topics.DeleteRecords, _delete_records, asks=_delete_records_question)
    argument(trim, "verbs --partition")
    argument(trim, "topics --before")
    return verbs.command()


def _partitions(topic: TopicView) -> Facts:
    return {"partitions": len(topic.partitions)}


def _size(options: argparse.Namespace) -> Column:
    return "Bytes", (lambda _unknown: None) if is_from_outside(options) else "size_bytes"


def _list(broker: Broker, options: argparse.Namespace) -> None:
    published = [(PUBLISHED, "published")] if is_running(broker) else []
    found = broker.ask(topics.ListTopics())
    rows = rows_of(
        found,
        ("Topic", "name"),
        ("Partitions", lambda topic: len(topic.partitions)),
        ("Messages", "messages_count"),
        _size(options),
        *published,
    )
    print_rows(rows, options, none=f"There is no topic{options.seen}; brokerscope topics create makes one.")


def limit_facts(flow: FlowConfig | None, gate: GateView | None, *, running: bool) -> dict[str, object]:
    """The limits, and how often they were met, which a broker that is not `running` does not know."""
    if flow is None or gate is None:
        return {"Limits": None, "Backpressure": None}
    now = facts_of(gate, "depth", ("Slowest reader", "slowest"), ("Blocked producers", lambda gate: len(gate.blocked)))
    if running:
        now |= {f"{OUTCOMES[kind]} since start": getattr(gate, kind) for kind in ("rejected", "dropped", "evicted")}
    return {"Limits": struct_facts(flow), "Backpressure": now}


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    name, running = options.topic, is_running(broker)
    topic = broker.ask(topics.DescribeTopic(topic=name))
    columns = ("partition", "start_offset", "end_offset", ("Messages", "messages_count"), _size(options))
    facts = facts_of(topic, ("Topic", "name"), ("Messages", "messages_count"))
    if not is_from_outside(options):
        settings = broker.ask(topics.TopicConfiguration(topic=name))
        rule = settings.rule
        facts |= {PUBLISHED: topic.published} if running else {}
        facts |= {
            "Partitioner": settings.partitioner,
            "Schema": rule and rule.subject,
            "Schema mode": rule and rule.mode,
        }
        facts |= struct_facts(settings.log) | limit_facts(settings.flow, settings.gate, running=running)
    print_described(facts, "Partitions", rows_of(topic.partitions, *columns), options, none="It has no partitions.")


def configure(broker: Broker, name: str, options: argparse.Namespace, present: FlowConfig | None, command: str) -> None:
    """Change what was given of a topic's log and limits, or of a queue's; its limits are `present`."""
    log, limits = given(options, topics.LogSettings), given(options, FlowConfig)
    if not log and not limits:
        raise CommandError(f"Nothing to change was given; brokerscope {command} --help says what can be.")
    if limits.get("rate_per_s", 0) is None:
        limits.setdefault("burst", None)  # it goes with the rate
    flow = msgspec.structs.replace(present or FlowConfig(), **limits) if limits else None
    broker.ask(topics.ConfigureTopic(topic=name, log=topics.LogSettings(**log), flow=flow))


def _configure(broker: Broker, options: argparse.Namespace) -> None:
    settings = broker.ask(topics.TopicConfiguration(topic=options.topic))
    configure(broker, options.topic, options, settings.flow, "topics configure")
    say("Configured {topic}.", options, topic=options.topic)


def _before(topic: TopicView, options: argparse.Namespace) -> dict[int, int]:
    ends = {part.partition: part.end_offset for part in topic.partitions}
    chosen = list(ends) if options.partition is None else [options.partition]
    return {number: ends.get(number, 0) if options.before == -1 else options.before for number in chosen}


def _delete_records_question(broker: Broker, options: argparse.Namespace) -> str:
    topic = broker.ask(topics.DescribeTopic(topic=options.topic))
    starts = {part.partition: part.start_offset for part in topic.partitions}
    count = sum(max(0, offset - starts.get(number, offset)) for number, offset in _before(topic, options).items())
    return f"Delete {counted(count, 'message')} of {topic.name}"


def _delete_records(broker: Broker, options: argparse.Namespace) -> None:
    before = _before(broker.ask(topics.DescribeTopic(topic=options.topic)), options)
    request = topics.DeleteRecords(topic=options.topic, before={str(number): at for number, at in before.items()})
    starts = sorted((int(number), offset) for number, offset in broker.ask(request).items())
    rows = [{"Partition": number, "Start offset": offset} for number, offset in starts]
    print_rows(rows, options, none="It has no partitions.")


_COUNTS: tuple[Column, ...] = (
    "ready",
    "delayed",
    "in_flight",
    ("Dead letters", "dead"),
    ("Waiting consumers", "waiting_takers"),
    "acknowledged",
)


def queues_command() -> Command:
    verbs = Verbs("queues")
    none = "There is no queue{seen}; brokerscope queues create makes one."
    verbs.lists("list", queues.ListQueues, none, ("Queue", "name"), "reads", *_COUNTS)
    verbs.add("describe", queues.DescribeQueue, _describe_queue)
    verbs.does("create", queues.CreateQueue, "Created the queue {queue}.")
    told = "{queue} gets every message of {topic} from now on."
    verbs.does("subscribe", queues.CreateSubscription, told, lambda queue: {"topic": queue.topic})
    verbs.add("configure", ConfigureTopic, _configure_queue, kind="queue")
    verbs.does(
        "delete", queues.DeleteQueue, "Deleted the queue {queue}.", asks=asking(queues.DescribeQueue, _DELETE_QUEUE)
    )
    verbs.add("peek", queues.Peek, _peek)
    purged, asks = "Purged {purged:message} of {queue}.", asking(queues.DescribeQueue, _PURGE)
    verbs.does("purge", queues.PurgeQueue, purged, lambda found: {"purged": found.messages}, asks=asks)
    verbs.undoes("purge", queues.UndoPurgeQueue, "restored", "Brought back {restored:message} to {queue}.")
    return verbs.command()


def _describe_queue(broker: Broker, options: argparse.Namespace) -> None:
    queue = broker.ask(queues.DescribeQueue(queue=options.queue))
    found = broker.ask(queues.QueueConfiguration(queue=options.queue))
    facts = facts_of(queue, ("Queue", "name"), "reads") | struct_facts(found.settings)
    facts |= facts_of(queue, "dead_letter_topic", *_COUNTS, "redelivered", "dead_lettered", "redriven")
    facts |= limit_facts(found.flow, queue.gate, running=is_running(broker))
    most = ("Max attempts", lambda _lease: found.settings.max_attempts)
    leases = rows_of(queue.leases, "holder", ("Priority", "partition"), "offset", "attempt", most)
    print_described(facts, "Leases", leases, options)


def _configure_queue(broker: Broker, options: argparse.Namespace) -> None:
    name = options.topic
    found = broker.ask(queues.QueueConfiguration(queue=name))
    if found.topic:
        raise CommandError(
            f"{name} is a subscription: how many messages may wait in it is chosen when it is created, and how they "
            f"are kept is set at its topic {found.topic}."
        )
    configure(broker, name, options, found.flow, "queues configure")
    say("Configured {queue}.", options, queue=name)


def _peek(broker: Broker, options: argparse.Namespace) -> None:
    found = broker.ask(built(queues.Peek, options, encoding="base64"))
    rows = [facts_of(each, ("Priority", "partition"), "offset") | payload(each, as_json=options.json) for each in found]
    print_rows(rows, options, none=f"Nothing in {options.queue} can be taken now.")
