"""`brokerscope metrics`: the figures of a broker, and who is far behind."""

from __future__ import annotations

import argparse

from app.cli.numbers import above_zero, whole
from app.cli.output import print_facts, print_rows
from app.cli.topics import messages_of
from app.cli.verbs import Command, Verbs
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("metrics", "Figures of a broker.")
    verbs.add("list", "What is there now, and what was counted since the broker was opened.", _list, reads=True)
    slow = verbs.add("slow", "Groups and queues that are far behind.", _slow, reads=True)
    slow.add_argument("--max-lag", type=whole(0), metavar="N", default=1_000, help="messages (default: 1000)")
    slow.add_argument("--max-lag-s", type=above_zero, metavar="SECONDS", help="how long the oldest may wait")
    verbs.add("damage", "What was found damaged on the disk.", _damage, reads=True)
    return verbs.command()


def _list(host: Host, options: argparse.Namespace) -> None:
    admin = Admin(host)
    topics = [admin.describe_topic(name) for name in admin.topics()]
    queues = [admin.describe_queue(name) for name in admin.queues()]
    now: list[tuple[str, object]] = [
        ("Topics", len(topics)),
        ("Queues", len(queues)),
        ("Groups", len(admin.groups())),
        ("Messages in topics", sum(map(messages_of, topics))),
        ("Messages in queues", sum(view.ready + view.delayed + view.in_flight for view in queues)),
        ("Dead letters", sum(view.dead for view in queues)),
    ]
    print_facts(now, as_json=options.json)


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
