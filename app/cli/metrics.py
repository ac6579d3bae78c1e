from __future__ import annotations

import argparse
import sys

import msgspec

from app.cli.numbers import above_zero
from app.cli.output import print_facts, print_rows
from app.cli.parser import Command
from app.cli.request_options import add_field
from app.cli.target import Broker, is_running
from app.cli.verbs import Verbs
from broker_core.clock import NS_PER_MS
from broker_core.operations.groups import ListGroups
from broker_core.operations.observe import DescribeBroker, ListDamage, ListSlowReaders
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import ListTopics


def command() -> Command:
    verbs = Verbs("metrics", "Figures of a broker.")
    verbs.add("list", "Show the figures of now, and those counted since the broker was opened.", _list, reads=True)
    slow = verbs.add("slow", "List groups and queues that are far behind.", _slow, reads=True)
    add_field(slow, ListSlowReaders, "max_lag", default=1_000, help="messages (default: 1000)")
    slow.add_argument("--max-lag-s", type=above_zero, metavar="SECONDS", help="how long the oldest message may wait")
    verbs.add("damage", ListDamage, _damage, reads=True)
    return verbs.command()


def _list(broker: Broker, options: argparse.Namespace) -> None:
    topics, queues = broker.ask(ListTopics()), broker.ask(ListQueues())
    now: list[tuple[str, object]] = [
        ("Topics", len(topics)),
        ("Queues", len(queues)),
        ("Groups", len(broker.ask(ListGroups()))),
        ("Messages in topics", sum(topic.messages_count for topic in topics)),
        ("Messages in queues", sum(queue.ready + queue.delayed + queue.in_flight for queue in queues)),
        ("Dead letters", sum(queue.dead for queue in queues)),
    ]
    if not is_running(broker):
        print_facts(now, options)
        return
    found = broker.ask(DescribeBroker())
    now.append(("Connections", found.connections))
    up_s, totals = found.uptime_ms / 1_000, msgspec.structs.asdict(found.totals)
    if options.json:
        print_facts([*now, ("Uptime s", up_s), ("Since start", totals)], options)
        return
    print_facts(now, options)
    sys.stdout.write(f"\nSince the broker was opened, {up_s:,.0f} s ago:\n\n")
    print_facts([(name.replace("_", " ").capitalize(), value) for name, value in totals.items()], options)


def _slow(broker: Broker, options: argparse.Namespace) -> None:
    max_lag_ms = None if options.max_lag_s is None else round(options.max_lag_s * 1_000)
    rows = [
        (one.reader, one.client or None, f"{one.topic}/{one.partition}", one.lag, one.lag_ns // NS_PER_MS / 1_000)
        for one in broker.ask(ListSlowReaders(max_lag=options.max_lag, max_lag_ms=max_lag_ms))
    ]
    columns = ("Reader", "Client", "Partition", "Lag", "Lag s")
    print_rows(columns, rows, options, none="No group is that far behind.")


def _damage(broker: Broker, options: argparse.Namespace) -> None:
    rows = [(sentence,) for sentence in broker.ask(ListDamage())]
    print_rows(("Damage",), rows, options, none="Nothing is damaged.")
