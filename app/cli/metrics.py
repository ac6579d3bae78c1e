from __future__ import annotations

import argparse
import sys

from app.cli.argument_types import above_zero
from app.cli.groups import lag_s
from app.cli.output import print_facts, struct_facts
from app.cli.parser import Command, argument
from app.cli.target import Broker, is_running
from app.cli.verbs import Verbs, add_field
from broker_core.operations.groups import ListGroups
from broker_core.operations.observe import DescribeBroker, ListConnections, ListDamage, ListSlowReaders
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import ListTopics


def command() -> Command:
    verbs = Verbs("metrics")
    verbs.add("list", DescribeBroker, _list)
    none = "No group is that far behind."
    place = ("Partition", lambda one: f"{one.topic}/{one.partition}")
    columns = ("reader", "client", place, "lag", ("Lag s", lag_s))
    slow = verbs.lists("slow", ListSlowReaders, none, *columns, fields=())
    add_field(
        slow, ListSlowReaders, "max_lag", default=1_000, help="list what is more than N messages behind (default: 1000)"
    )
    argument(slow, "metrics --max-lag-s", type=lambda text: round(above_zero(text) * 1_000))
    shown = ("id", "listener", "peer", "client", "software", "group", "principal")
    verbs.lists("connections", ListConnections, "There are no connections.", *shown)
    verbs.lists("damage", ListDamage, "Nothing is damaged.", ("Damage", str))
    return verbs.command()


def _list(broker: Broker, options: argparse.Namespace) -> None:
    topics, queues = broker.ask(ListTopics()), broker.ask(ListQueues())
    now: dict[str, object] = {
        "Topics": len(topics),
        "Queues": len(queues),
        "Groups": len(broker.ask(ListGroups())),
        "Messages in topics": sum(topic.messages_count for topic in topics),
        "Messages in queues": sum(queue.messages_count for queue in queues),
        "Dead letters": sum(queue.dead for queue in queues),
    }
    if not is_running(broker):
        print_facts(now, options)
        return
    found = broker.ask(DescribeBroker())
    now["Connections"] = found.connections
    up_s, totals = found.uptime_ms / 1_000, struct_facts(found.totals)
    if options.json:
        print_facts({**now, "Uptime s": up_s, "Since start": totals}, options)
        return
    print_facts(now, options)
    sys.stdout.write(f"\nSince the broker was opened, {up_s:,.0f} s ago:\n\n")
    print_facts(totals, options)
