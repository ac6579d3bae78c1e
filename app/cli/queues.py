from __future__ import annotations

import argparse

from app.cli.errors import CommandError
from app.cli.messages import bytes_pair
from app.cli.output import print_described, print_rows, say, text_of
from app.cli.parser import Command
from app.cli.request_options import add_field, add_group, given
from app.cli.target import Broker, is_running
from app.cli.topics import add_flow, add_log, configure, flow_of, limit_facts, struct_facts
from app.cli.verbs import Verbs
from broker_core.operations.queues import (
    CreateQueue,
    CreateSubscription,
    DeleteQueue,
    DescribeQueue,
    ListQueues,
    Peek,
    PurgeQueue,
    QueueConfiguration,
    UndoPurgeQueue,
)
from broker_core.operations.topics import LogSettings
from broker_core.operations.values import json_bytes
from broker_core.plurals import counted
from broker_core.queues.config import QueueConfig, RetryPolicy

_RETRY_FLAGS = {
    "kind": "--retry",
    "base_ms": "--retry-delay-ms",
    "max_ms": "--retry-max-ms",
    "factor": "--retry-factor",
}


def command() -> Command:
    verbs = Verbs("queues", "Queues and subscriptions of a broker.", "name of the queue or subscription")
    verbs.add("list", ListQueues, _list, reads=True)
    verbs.add("describe QUEUE", "Show counts, settings, limits and leases of a queue.", _describe, reads=True)
    create = verbs.add("create", CreateQueue, _create)
    create.add_argument("queue", metavar="QUEUE", help="letters, digits and . _ -")
    _add_settings(create)
    add_log(create)
    add_flow(create)
    subscribe = verbs.add("subscribe", CreateSubscription, _subscribe)
    subscribe.add_argument("queue", metavar="QUEUE", help="letters, digits and . _ -")
    subscribe.add_argument("--topic", required=True, metavar="TOPIC", help="topic whose messages it gets from now on")
    add_field(subscribe, CreateSubscription, "max_messages")
    add_field(subscribe, CreateSubscription, "policy")
    _add_settings(subscribe)
    change = verbs.add("configure QUEUE", "Change how messages are kept and how many are accepted.", _configure)
    add_log(change)
    add_flow(change)
    verbs.does("delete QUEUE", DeleteQueue, "Deleted the queue {queue}.", asks=_delete_question)
    peek = verbs.add("peek QUEUE", Peek, _peek, reads=True)
    add_field(peek, Peek, "max_messages", "--count")
    purged, restored = ("purged", "message"), ("restored", "message")
    verbs.does("purge QUEUE", PurgeQueue, "Purged {count} of {queue}.", counts=purged, asks=_purge_question)
    verbs.does("undo-purge QUEUE", UndoPurgeQueue, "Brought back {count} to {queue}.", counts=restored)
    return verbs.command()


def _add_settings(parser: argparse.ArgumentParser) -> None:
    add_group(parser, QueueConfig, "how messages are delivered")
    add_group(parser, RetryPolicy, "how failed deliveries are retried", _RETRY_FLAGS)


def _settings(options: argparse.Namespace) -> QueueConfig:
    return QueueConfig(**given(options, QueueConfig), retry=RetryPolicy(**given(options, RetryPolicy)))


def _list(broker: Broker, options: argparse.Namespace) -> None:
    rows = [
        (
            queue.name,
            broker.ask(QueueConfiguration(queue=queue.name)).topic,
            queue.ready,
            queue.delayed,
            queue.in_flight,
            queue.dead,
            queue.waiting_takers,
            queue.acknowledged,
        )
        for queue in broker.ask(ListQueues())
    ]
    columns = ("Queue", "Reads", "Ready", "Delayed", "In flight", "Dead letters", "Waiting consumers", "Acknowledged")
    print_rows(columns, rows, options, none="There is no queue; brokerscope queues create makes one.")


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    queue = broker.ask(DescribeQueue(queue=options.queue))
    found = broker.ask(QueueConfiguration(queue=options.queue))
    settings = found.settings
    facts: list[tuple[str, object]] = [
        ("Queue", queue.name),
        ("Reads", found.topic),
        ("Priorities", queue.priorities),
        ("Lease ms", queue.lease_ms),
        ("Max attempts", queue.max_attempts or "none"),
        ("Balancing", settings.balancing),
        *((f"Retry {name}".lower().capitalize(), value) for name, value in struct_facts(settings.retry)),
        ("Dead letter topic", settings.dead_letter_topic or None),
        ("Ready", queue.ready),
        ("Delayed", queue.delayed),
        ("In flight", queue.in_flight),
        ("Dead letters", queue.dead),
        ("Waiting consumers", queue.waiting_takers),
        ("Acknowledged", queue.acknowledged),
        ("Redelivered", queue.redelivered),
        ("Dead lettered", queue.dead_lettered),
        ("Redriven", queue.redriven),
    ]
    facts += limit_facts(found.flow, queue.gate, options, running=is_running(broker))
    columns = ("Holder", "Priority", "Offset", "Attempt", "Max attempts")
    most = queue.max_attempts or "none"
    rows = [(one.holder, one.partition, one.offset, one.attempt, most) for one in queue.leases]
    print_described(facts, "Leases", columns, rows, options, none="")


def _create(broker: Broker, options: argparse.Namespace) -> None:
    log = LogSettings(**given(options, LogSettings))
    broker.ask(CreateQueue(name=options.queue, settings=_settings(options), flow=flow_of(options), log=log))
    say(f"Created the queue {options.queue}.", options, queue=options.queue)


def _subscribe(broker: Broker, options: argparse.Namespace) -> None:
    name, topic = options.queue, options.topic
    backlog = given(options, CreateSubscription, ("max_messages", "policy"))
    broker.ask(CreateSubscription(name=name, topic=topic, settings=_settings(options), **backlog))
    say(f"{name} gets every message of {topic} from now on.", options, queue=name, topic=topic)


def _configure(broker: Broker, options: argparse.Namespace) -> None:
    found = broker.ask(QueueConfiguration(queue=options.queue))
    if found.topic:
        raise CommandError(
            f"{options.queue} is a subscription: how messages are kept, and how many are accepted, is set at its topic "
            f"{found.topic}."
        )
    configure(broker, options.queue, options, found.flow, "queues")


def _delete_question(broker: Broker, options: argparse.Namespace) -> str:
    queue = broker.ask(DescribeQueue(queue=options.queue))
    held = counted(queue.ready + queue.delayed + queue.in_flight, "message")
    return f"Delete {queue.name} with {held} and {counted(queue.dead, 'dead letter')}"


def _peek(broker: Broker, options: argparse.Namespace) -> None:
    shown = json_bytes if options.json else text_of
    request = Peek(queue=options.queue, encoding="base64", **given(options, Peek, ("max_messages",)))
    rows = []
    for message in broker.ask(request):
        key, value = bytes_pair(message)
        rows.append((message.partition, message.offset, shown(key), shown(value)))
    none = f"Nothing in {options.queue} can be taken now."
    print_rows(("Priority", "Offset", "Key", "Value"), rows, options, none=none)


def _purge_question(broker: Broker, options: argparse.Namespace) -> str:
    queue = broker.ask(DescribeQueue(queue=options.queue))
    return f"Take {counted(queue.ready + queue.delayed, 'message')} out of {queue.name}"
