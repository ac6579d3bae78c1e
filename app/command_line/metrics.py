"""`brokerscope metrics`: the figures of a broker, and who is far behind."""

from __future__ import annotations

import argparse

import msgspec

from app.command_line.output import print_facts, print_rows
from app.command_line.verbs import Command, Verbs
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.clients.remote.broker import RemoteBroker


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("metrics", "Figures of a broker.")
    verbs.add("list", "Totals, in messages, and how many of everything there are.", _list)
    slow = verbs.add("slow", "Groups and queues that are far behind.", _slow)
    slow.add_argument("--max-lag", type=int, metavar="N", default=1_000, help="messages (default: 1000)")
    slow.add_argument("--max-lag-s", type=float, metavar="SECONDS", help="how long the oldest may wait")
    verbs.add("damage", "What was found damaged on the disk.", _damage)
    return verbs.command()


def _list(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    if isinstance(host, RemoteBroker):
        reply = host.metrics()
        totals, connections = reply.totals, reply.connections
    else:
        totals, connections = host.call(lambda _now: host.broker.totals()), 0
    facts: list[tuple[str, object]] = [
        (name.replace("_", " ").capitalize(), value) for name, value in msgspec.structs.asdict(totals).items()
    ]
    queues = admin.queues()
    topics = [name for name in admin.topics() if name not in queues]
    facts += [("Topics", len(topics)), ("Queues", len(queues)), ("Groups", len(admin.groups()))]
    print_facts([*facts, ("Connections", connections)], as_json=options.json)


def _slow(host: Host, options: argparse.Namespace) -> None:
    readers = Admin(host).slow_readers(max_lag=options.max_lag, max_lag_s=options.max_lag_s)
    rows = [
        (one.reader, one.client or None, f"{one.topic}/{one.partition}", one.lag, one.lag_ns / 1e9) for one in readers
    ]
    columns = ("Reader", "Client", "Partition", "Lag", "Lag s")
    print_rows(columns, rows, as_json=options.json, none="Nobody is that far behind.")


def _damage(host: Host, options: argparse.Namespace) -> None:
    rows = [(sentence,) for sentence in Admin(host).damage()]
    print_rows(("Damage",), rows, as_json=options.json, none="Nothing is damaged.")
