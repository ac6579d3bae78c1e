from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import msgspec

from app.cli.errors import CommandError, with_hint
from app.cli.folders import folder
from app.cli.numbers import above_zero
from app.cli.output import print_json
from app.cli.parser import Command, Parser, with_exits
from app.cli.signals import ended_by_signals
from app.cli.target import add_access, broker_elsewhere, patterns, properties, token_of
from app.cli.waiting import note
from app.environment.exits import Exit, exit_of
from app.environment.paths import called, new_session_folder
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind
from broker_core.observation.kafka.config import is_cluster
from broker_core.observation.observed_session import ObservedSession
from broker_core.observation.peer import KNOWABLE, Peer
from broker_core.observation.peers import peer_at
from broker_core.snapshots import GroupView

_POLL_S = 0.2
_KNOWN_FROM_OUTSIDE = ("published", "acknowledged", "rebalances")


def command() -> Command:
    parser = Parser(
        prog="brokerscope watch",
        description="Observe a broker that runs elsewhere and record it. The last line of output is a JSON summary.",
        **with_exits(),
    )
    add_elsewhere(parser)
    parser.add_argument("--until", type=above_zero, metavar="S", help="end after this many seconds (default: Ctrl+C)")
    return parser, _run


def add_elsewhere(parser: argparse.ArgumentParser) -> None:
    """The address of a broker that runs elsewhere, what it takes to come in, and how it is recorded."""
    parser.add_argument(
        "broker",
        type=broker_elsewhere,
        metavar="BROKER",
        help="HOST:PORT of a Kafka cluster, or the URL of a broker started with brokerscope serve",
    )
    parser.add_argument("--session", type=folder, metavar="DIR", help="folder for the recording (default: a new one)")
    parser.add_argument(
        "--without",
        choices=("hosts",),
        help="record no host addresses: they are called host-1, host-2 and so on (client names stay)",
    )
    add_access(parser)
    cluster = parser.add_argument_group("a Kafka cluster, which is only read")
    cluster.add_argument(
        "--config", type=properties, metavar="FILE", help="client.properties: how to connect, with user and password"
    )
    cluster.add_argument("--every", type=above_zero, metavar="S", help="seconds between polls (default: 1)")
    for name in ("topics", "groups"):
        cluster.add_argument(
            f"--{name}",
            type=patterns,
            metavar="NAMES",
            help=f"only these {name}; separated by commas, * for any characters (default: all)",
        )


def peer_of(options: argparse.Namespace) -> Peer:
    """What the options of `add_elsewhere` mean, not connected yet. Raises CommandError, BrokerError."""
    given = {name: getattr(options, name) for name in ("config", "every", "topics", "groups")}
    given = {name: value for name, value in given.items() if value is not None}
    if is_cluster(options.broker):
        given["every_s"] = given.pop("every", 1.0)
        return peer_at(options.broker, **given)
    if given:
        raise CommandError(f"--{next(iter(given))} is for a Kafka cluster, HOST:PORT, which {options.broker} is not.")
    return peer_at(options.broker, token=token_of(options), ca_file=options.tls_ca)


def _run(options: argparse.Namespace) -> int:
    try:
        peer = peer_of(options)
        name = "watched" if options.without else f"watched-{called(peer.address)}"
        where = options.session or new_session_folder(Path(name))
        watched = _Watched(peer, where, hides_hosts=bool(options.without))
        try:
            with ended_by_signals():
                watched.wait(options.until)
        except KeyboardInterrupt:
            pass
        finally:
            watched.session.close()
    except BrokerError as error:
        raise refused(options, error) from error
    print_json(watched.summary())
    if watched.session.error:
        raise CommandError(watched.session.error, Exit.PARTLY)
    return 0


def refused(options: argparse.Namespace, error: BrokerError) -> CommandError:
    return CommandError(str(error) if is_cluster(options.broker) else with_hint(error), exit_of(error))


class _Watched:
    """A session, and what of it nobody else counts."""

    def __init__(self, peer: Peer, where: Path, *, hides_hosts: bool) -> None:
        self._gaps = 0
        self._began_s = time.monotonic()
        self.session = ObservedSession(peer, folder=where, hides_hosts=hides_hosts, sinks=[self._tell])

    def _tell(self, event: Event) -> None:
        if event.kind is EventKind.GAP:
            self._gaps += 1
            note(f"{event.time_ns / NS_PER_S:.1f} s: not observed: {event.cause}")

    def wait(self, until_s: float | None) -> None:
        session, said = self.session, ""
        while not session.error and (until_s is None or time.monotonic() - self._began_s < until_s):
            if session.problem != said:
                said = session.problem
                note(said or "It answers again.")
            time.sleep(_POLL_S)

    def summary(self) -> dict[str, Any]:
        session = self.session
        peer, last = session.peer, session.latest
        totals: dict[str, int] = msgspec.to_builtins(last.totals)
        if not peer.knows("deliveries"):
            totals = {name: totals[name] for name in _KNOWN_FROM_OUTSIDE}
        return {
            "broker": peer.address,
            "name": peer.facts.name,
            "observed_s": round(last.time_ns / NS_PER_S, 3),
            "topics": len(last.topics),
            "partitions": sum(len(topic.partitions) for topic in last.topics),
            **totals,
            "groups": {group.name: _group(group) for group in last.groups},
            "gaps": self._gaps,
            "problem": session.problem,
            "not_known": [word for word in KNOWABLE if not peer.knows(word)],
            "look_s": round(peer.facts.look_s, 3),
            "session": str(session.folder),
        }


def _group(group: GroupView) -> dict[str, Any]:
    ages_ns = [at.lag_ns for at in group.offsets if at.lag_ns is not None]
    return {
        "state": group.state,
        "members": len(group.members),
        "lag": group.lag,
        "lag_ms": max(ages_ns) // NS_PER_MS if ages_ns else None,
        "lag_not_known": group.lag_unknown,
    }
