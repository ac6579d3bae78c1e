"""`brokerscope queues`: list, describe, create, subscribe, delete, peek, purge."""

from __future__ import annotations

import argparse

from app.command_line.config_options import add_flow, add_queue, flow_of, queue_of
from app.command_line.numbers import whole
from app.command_line.output import json_bytes, print_facts, print_rows, say, text_of
from app.command_line.verbs import Command, Verbs
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.plurals import counted


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("queues", "Queues and subscriptions of a broker.")
    verbs.add("list", "All queues.", _list)
    verbs.add("describe", "Counts and leases of a queue.", _describe).add_argument("queue")
    create = verbs.add("create", "A new queue.", _create)
    create.add_argument("queue")
    add_queue(create)
    add_flow(create)
    subscribe = verbs.add("subscribe", "A subscription: a queue of its own over a topic (fan-out).", _subscribe)
    subscribe.add_argument("queue")
    subscribe.add_argument("--topic", required=True)
    add_queue(subscribe)
    verbs.add("delete", "Delete a queue, its messages and its dead letters.", _delete).add_argument("queue")
    peek = verbs.add("peek", "The next messages, without taking them.", _peek)
    peek.add_argument("queue")
    peek.add_argument("--count", type=whole(1), default=10, metavar="N")
    verbs.add("purge", "Take out everything that nobody holds.", _purge).add_argument("queue")
    verbs.add("undo-purge", "Bring back what the last purge took.", _undo).add_argument("queue")
    return verbs.command()


def _list(host: Host, options: argparse.Namespace) -> None:
    views = [Admin(host).describe_queue(name) for name in Admin(host).queues()]
    rows = [
        (view.name, view.ready, view.delayed, view.in_flight, view.dead, view.waiting_takers, view.acknowledged)
        for view in views
    ]
    columns = ("Queue", "Ready", "Delayed", "In flight", "Dead letters", "Waiting takers", "Acknowledged")
    print_rows(columns, rows, as_json=options.json, none="There is no queue.")


def _describe(host: Host, options: argparse.Namespace) -> None:
    view = Admin(host).describe_queue(options.queue)
    facts: list[tuple[str, object]] = [
        ("Queue", view.name),
        ("Priorities", view.priorities),
        ("Lease ms", view.lease_ms),
        ("Max attempts", view.max_attempts),
        ("Ready", view.ready),
        ("Delayed", view.delayed),
        ("In flight", view.in_flight),
        ("Dead letters", view.dead),
        ("Acknowledged", view.acknowledged),
        ("Redelivered", view.redelivered),
        ("Redriven", view.redriven),
    ]
    print_facts(facts, as_json=options.json)
    if view.leases and not options.json:
        print()
        rows = [(one.holder, one.partition, one.offset, f"{one.attempt} of {one.max_attempts}") for one in view.leases]
        print_rows(("Holder", "Priority", "Offset", "Attempt"), rows, as_json=False, none="")


def _create(host: Host, options: argparse.Namespace) -> None:
    Admin(host).create_queue(options.queue, queue_of(options), flow=flow_of(options))
    say(f"Created the queue {options.queue}.", as_json=options.json, queue=options.queue)


def _subscribe(host: Host, options: argparse.Namespace) -> None:
    Admin(host).create_subscription(options.queue, options.topic, queue_of(options))
    say(
        f"{options.queue} gets every message of {options.topic} from now on.",
        as_json=options.json,
        queue=options.queue,
        topic=options.topic,
    )


def _delete(host: Host, options: argparse.Namespace) -> None:
    Admin(host).delete_queue(options.queue)
    say(f"Deleted the queue {options.queue}.", as_json=options.json, queue=options.queue)


def _peek(host: Host, options: argparse.Namespace) -> None:
    shown = json_bytes if options.json else text_of
    rows = [
        (message.partition, message.offset, shown(message.key), shown(message.value))
        for message in Admin(host).peek_queue(options.queue, options.count)
    ]
    print_rows(("Priority", "Offset", "Key", "Value"), rows, as_json=options.json, none="The queue is empty.")


def _purge(host: Host, options: argparse.Namespace) -> None:
    count = Admin(host).purge_queue(options.queue)
    say(f"Purged {counted(count, 'message')} of {options.queue}.", as_json=options.json, purged=count)


def _undo(host: Host, options: argparse.Namespace) -> None:
    count = Admin(host).undo_purge_queue(options.queue)
    say(f"Brought back {counted(count, 'message')} to {options.queue}.", as_json=options.json, restored=count)
