from __future__ import annotations

import argparse

from app.cli.output import Column, facts_of, payload, print_described, print_rows, rows_of, say, struct_facts
from app.cli.parser import Command, CommandError
from app.cli.target import Broker, is_running
from app.cli.topics import configure, limit_facts
from app.cli.verbs import Verbs, built
from broker_core.operations import queues
from broker_core.operations.topics import ConfigureTopic
from broker_core.plurals import counted

_COUNTS: tuple[Column, ...] = (
    "ready",
    "delayed",
    "in_flight",
    ("Dead letters", "dead"),
    ("Waiting consumers", "waiting_takers"),
    "acknowledged",
)


def command() -> Command:
    verbs = Verbs("queues")
    none = "There is no queue{seen}; brokerscope queues create makes one."
    verbs.lists("list", queues.ListQueues, none, ("Queue", "name"), "reads", *_COUNTS)
    verbs.add("describe", queues.DescribeQueue, _describe)
    verbs.does("create", queues.CreateQueue, "Created the queue {queue}.")
    told = "{queue} gets every message of {topic} from now on."
    verbs.does("subscribe", queues.CreateSubscription, told, lambda queue: {"topic": queue.topic})
    verbs.add("configure", ConfigureTopic, _configure, kind="queue")
    verbs.does("delete", queues.DeleteQueue, "Deleted the queue {queue}.", asks=_delete_question)
    verbs.add("peek", queues.Peek, _peek)
    purged, restored = "Purged {purged:message} of {queue}.", "Brought back {restored:message} to {queue}."
    verbs.does("purge", queues.PurgeQueue, purged, lambda found: {"purged": found.messages}, asks=_purge_question)
    verbs.does("undo-purge", queues.UndoPurgeQueue, restored, lambda found: {"restored": found.messages})
    return verbs.command()


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    queue = broker.ask(queues.DescribeQueue(queue=options.queue))
    found = broker.ask(queues.QueueConfiguration(queue=options.queue))
    facts = facts_of(queue, ("Queue", "name"), "reads") | struct_facts(found.settings)
    facts |= facts_of(queue, *_COUNTS, "redelivered", "dead_lettered", "redriven")
    facts |= limit_facts(found.flow, queue.gate, running=is_running(broker))
    most = ("Max attempts", lambda _lease: found.settings.max_attempts)
    leases = rows_of(queue.leases, "holder", ("Priority", "partition"), "offset", "attempt", most)
    print_described(facts, "Leases", leases, options)


def _configure(broker: Broker, options: argparse.Namespace) -> None:
    name = options.topic
    found = broker.ask(queues.QueueConfiguration(queue=name))
    if found.topic:
        raise CommandError(
            f"{name} is a subscription: how many messages may wait in it is chosen when it is created, and how they "
            f"are kept is set at its topic {found.topic}."
        )
    configure(broker, name, options, found.flow, "queues configure")
    say("Configured {queue}.", options, queue=name)


def _delete_question(broker: Broker, options: argparse.Namespace) -> str:
    queue = broker.ask(queues.DescribeQueue(queue=options.queue))
    held = counted(queue.ready + queue.delayed + queue.in_flight, "message")
    return f"Delete {queue.name} with {held} and {counted(queue.dead, 'dead letter')}"


def _peek(broker: Broker, options: argparse.Namespace) -> None:
    found = broker.ask(built(queues.Peek, options, encoding="base64"))
    rows = [facts_of(each, ("Priority", "partition"), "offset") | payload(each, as_json=options.json) for each in found]
    print_rows(rows, options, none=f"Nothing in {options.queue} can be taken now.")


def _purge_question(broker: Broker, options: argparse.Namespace) -> str:
    queue = broker.ask(queues.DescribeQueue(queue=options.queue))
    return f"Take {counted(queue.ready + queue.delayed, 'message')} out of {queue.name}"
