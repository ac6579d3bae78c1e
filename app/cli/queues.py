"""`brokerscope queues`: list, describe, create, subscribe, configure, delete, peek, purge."""

from __future__ import annotations

import argparse
from typing import get_args

import msgspec

from app.cli.config_options import add_flow, add_log, add_queue, flow_of, log_of, queue_of
from app.cli.errors import CommandError
from app.cli.numbers import integer, whole
from app.cli.output import json_bytes, print_facts, print_rows, say, text_of
from app.cli.target import counts_since_start
from app.cli.topics import config_facts, configure, limit_facts
from app.cli.verbs import Command, Verbs
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.plurals import counted
from broker_core.queues.subscription import BacklogPolicy
from broker_core.snapshots import QueueView


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("queues", "Queues and subscriptions of a broker.")
    verbs.add("list", "All queues.", _list, reads=True)
    _add_queue(verbs.add("describe", "Counts, settings, limits and leases of a queue.", _describe, reads=True))
    create = verbs.add("create", "A new queue.", _create)
    create.add_argument("queue", metavar="QUEUE", help="letters, digits and . _ -")
    add_queue(create)
    add_log(create)
    add_flow(create)
    subscribe = verbs.add("subscribe", "A subscription: a queue of its own over a topic (fan-out).", _subscribe)
    subscribe.add_argument("queue", metavar="QUEUE", help="letters, digits and . _ -")
    subscribe.add_argument("--topic", required=True, metavar="TOPIC", help="whose messages it gets from now on")
    subscribe.add_argument("--max-messages", type=integer, metavar="N", help="so many wait in it at most")
    subscribe.add_argument(
        "--policy",
        choices=get_args(BacklogPolicy),
        default="drop_newest",
        help="what happens when it is full: producers wait or are refused, or messages are left out of it alone "
        "(default: drop_newest)",
    )
    add_queue(subscribe)
    change = verbs.add(
        "configure", "Change how messages are kept and what is taken; what is not given stays.", _configure
    )
    _add_queue(change)
    add_log(change)
    add_flow(change)
    _add_queue(
        verbs.add("delete", "Delete a queue, its messages and its dead letters.", _delete, asks=_delete_question)
    )
    peek = verbs.add("peek", "The next messages, without taking them.", _peek, reads=True)
    _add_queue(peek)
    peek.add_argument("--count", type=whole(1), default=10, metavar="N", help="how many at most (default: 10)")
    _add_queue(verbs.add("purge", "Take out everything that nobody holds.", _purge, asks=_purge_question))
    _add_queue(verbs.add("undo-purge", "Bring back what the last purge took.", _undo))
    return verbs.command()


def _add_queue(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("queue", metavar="QUEUE", help="its name, or that of a subscription")


def _reads(view: QueueView) -> str | None:
    """The topic that a subscription reads; None for a queue of its own."""
    return None if view.topic == view.name else view.topic


def _list(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    rows = [
        (
            view.name,
            _reads(view),
            view.ready,
            view.delayed,
            view.in_flight,
            view.dead,
            view.waiting_takers,
            view.acknowledged,
        )
        for view in map(admin.describe_queue, admin.queues())
    ]
    columns = ("Queue", "Reads", "Ready", "Delayed", "In flight", "Dead letters", "Waiting takers", "Acknowledged")
    print_rows(columns, rows, as_json=options.json, none="There is no queue; brokerscope queues create makes one.")


def _describe(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    view, config = admin.describe_queue(options.queue), admin.queue_config(options.queue)
    facts: list[tuple[str, object]] = [
        ("Queue", view.name),
        ("Reads", _reads(view)),
        ("Priorities", view.priorities),
        ("Lease ms", view.lease_ms),
        ("Max attempts", view.max_attempts or "none"),
        ("Balancing", config.balancing),
        *((f"Retry {name}".lower().capitalize(), value) for name, value in config_facts(config.retry)),
        ("Dead letter topic", view.dead_letter_topic),
        ("Ready", view.ready),
        ("Delayed", view.delayed),
        ("In flight", view.in_flight),
        ("Dead letters", view.dead),
        ("Waiting takers", view.waiting_takers),
        ("Acknowledged", view.acknowledged),
        ("Redelivered", view.redelivered),
        ("Dead lettered", view.dead_lettered),
        ("Redriven", view.redriven),
    ]
    facts += limit_facts(_limits(admin, view), view.gate, running=counts_since_start(host), as_json=options.json)
    columns = ("Holder", "Priority", "Offset", "Attempt", "Max attempts")
    rows = [(one.holder, one.partition, one.offset, one.attempt, one.max_attempts or "none") for one in view.leases]
    if options.json:
        keys = [column.lower().replace(" ", "_") for column in columns]
        facts.append(("Leases", [dict(zip(keys, row, strict=True)) for row in rows]))
    print_facts(facts, as_json=options.json)
    if rows and not options.json:
        print()
        print_rows(columns, rows, as_json=False, none="")


def _limits(admin: Admin, view: QueueView) -> FlowConfig | None:
    if _reads(view) is None:
        return admin.flow_config(view.name)
    if view.gate is None:
        return None
    return msgspec.convert({"max_messages": view.gate.limit, "policy": view.gate.policy}, FlowConfig)


def _create(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    log_of(options, LogConfig())  # what is not allowed is refused before there is a queue
    admin.create_queue(options.queue, queue_of(options), flow=flow_of(options))
    log = log_of(options, admin.topic_config(options.queue))
    if log is not None:
        admin.configure_topic(options.queue, log=log)
    say(f"Created the queue {options.queue}.", as_json=options.json, queue=options.queue)


def _subscribe(host: Host, options: argparse.Namespace) -> None:
    Admin(host).create_subscription(
        options.queue, options.topic, queue_of(options), max_messages=options.max_messages, policy=options.policy
    )
    say(
        f"{options.queue} gets every message of {options.topic} from now on.",
        as_json=options.json,
        queue=options.queue,
        topic=options.topic,
    )


def _configure(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    if topic := _reads(admin.describe_queue(options.queue)):
        raise CommandError(
            f"{options.queue} is a subscription: how messages are kept, and what is taken, is set at its topic {topic}."
        )
    configure(admin, options.queue, options, "queues")


def _delete_question(host: Host, options: argparse.Namespace) -> str:
    view = Admin(host).describe_queue(options.queue)
    held = counted(view.ready + view.delayed + view.in_flight, "message")
    return f"Delete {view.name} with {held} and {counted(view.dead, 'dead letter')}"


def _delete(host: Host, options: argparse.Namespace) -> None:
    Admin(host).delete_queue(options.queue)
    say(f"Deleted the queue {options.queue}.", as_json=options.json, queue=options.queue)


def _peek(host: Host, options: argparse.Namespace) -> None:
    shown = json_bytes if options.json else text_of
    rows = [
        (message.partition, message.offset, shown(message.key), shown(message.value))
        for message in Admin(host).peek_queue(options.queue, options.count)
    ]
    none = f"Nothing in {options.queue} can be taken now."
    print_rows(("Priority", "Offset", "Key", "Value"), rows, as_json=options.json, none=none)


def _purge_question(host: Host, options: argparse.Namespace) -> str:
    view = Admin(host).describe_queue(options.queue)
    return f"Take {counted(view.ready + view.delayed, 'message')} out of {view.name}"


def _purge(host: Host, options: argparse.Namespace) -> None:
    count = Admin(host).purge_queue(options.queue)
    say(f"Purged {counted(count, 'message')} of {options.queue}.", as_json=options.json, purged=count)


def _undo(host: Host, options: argparse.Namespace) -> None:
    count = Admin(host).undo_purge_queue(options.queue)
    say(f"Brought back {counted(count, 'message')} to {options.queue}.", as_json=options.json, restored=count)
