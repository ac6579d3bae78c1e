from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app.cli.output import note, print_json
from app.cli.parser import Command, CommandError, Parser, arguments, described, parser_of, with_hint
from app.cli.signals import ended_by_signals
from app.cli.target import broker_elsewhere, cluster, patterns, properties, tls_of, token_of
from app.environment.exits import Exit, exit_of
from app.environment.paths import called, keep_ports, kept_ports, new_session_folder
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind
from broker_core.observation.kafka.config import connection_config, is_cluster
from broker_core.observation.observed_session import ObservedSession
from broker_core.observation.peer import KNOWABLE, Peer
from broker_core.observation.peers import peer_at
from broker_core.plurals import counted
from broker_core.snapshots import CLASSIC, GroupView, may_be_marker

if TYPE_CHECKING:
    from broker_core.listeners.between.peer import BetweenPeer

_POLL_S = 0.2
_KNOWN_FROM_OUTSIDE = ("published", "acknowledged", "rebalances")
_NOTED = {
    EventKind.INCIDENT: "{cause}",
    EventKind.NODE_GONE: "node {node} is gone: {cause}",
    EventKind.NODE_SEEN: "node {node} is {cause}",
    EventKind.CONTROLLER_MOVED: "the controller is node {node}{why}",
    EventKind.LEADERS_MOVED: "leaders moved: {partitions}{why}",
    EventKind.IN_SYNC_SHRUNK: "in sync shrunk: {partitions}{why}",
    EventKind.IN_SYNC_GROWN: "in sync grown: {partitions}{why}",
}


def command() -> Command:
    parser = described("watch")
    add_elsewhere(parser)
    arguments(parser, "watch")
    return parser, _run


def add_elsewhere(parser: argparse.ArgumentParser) -> None:
    """The address of a broker that runs elsewhere, what it takes to come in, and how it is recorded."""
    arguments(parser, "elsewhere", {"elsewhere": broker_elsewhere})
    cluster = parser.add_argument_group("a Kafka cluster, which is only read")
    arguments(cluster, "elsewhere-cluster", {"properties": properties})
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
        return observe(peer_of(options), options, "watched", Watched)
    except BrokerError as error:
        raise refused(options, error) from error


def observe(peer: Peer, options: argparse.Namespace, word: str, kind: Callable[..., Watched]) -> int:
    """Record `peer` until it is time, and print the summary. Raises BrokerError, CommandError."""
    where = options.session or new_session_folder(Path(word if options.without else f"{word}-{called(peer.address)}"))
    watched = kind(peer, where, hides_hosts=bool(options.without))
    try:
        with ended_by_signals():
            watched.wait(options.until)
    except KeyboardInterrupt:
        pass
    finally:
        watched.session.close()
    print_json(watched.summary())
    if watched.session.error:
        raise CommandError(watched.session.error, Exit.PARTLY)
    return 0


def refused(options: argparse.Namespace, error: BrokerError) -> CommandError:
    return CommandError(str(error) if is_cluster(options.broker) else with_hint(error), exit_of(error))


class Watched:
    """Observes a broker until it is told to end; counts the gaps of the observation and prints what happens."""

    def __init__(self, peer: Peer, where: Path, *, hides_hosts: bool) -> None:
        self._gaps = 0
        self._began_s = time.monotonic()
        self.session = ObservedSession(peer, folder=where, hides_hosts=hides_hosts, sinks=[self._tell])

    def _tell(self, event: Event) -> None:
        if event.kind is EventKind.GAP:
            self._gaps += 1
            note(f"{event.time_ns / NS_PER_S:.1f} s: not observed: {event.cause}")
        elif event.kind in _NOTED:
            note(f"{event.time_ns / NS_PER_S:.1f} s: {_line(event)}")

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
            "groups": {group.name: _group(group, of_cluster=bool(last.nodes)) for group in last.groups},
            **(session.tally.summary() if last.nodes else {}),
            "gaps": self._gaps,
            "problem": session.problem,
            "not_known": [word for word in KNOWABLE if not peer.knows(word)],
            "look_s": round(peer.facts.look_s, 3),
            "session": str(session.folder),
        }


def _line(event: Event) -> str:
    why, partitions = f" ({event.cause})" if event.cause else "", counted(event.count, "partition")
    return _NOTED[event.kind].format(cause=event.cause, why=why, partitions=partitions, node=event.told.get("node"))


def _group(group: GroupView, *, of_cluster: bool) -> dict[str, Any]:
    ages_ns = [at.lag_ns for at in group.offsets if at.lag_ns is not None]
    return {
        "type": group.kind or CLASSIC,
        "state": group.state,
        "members": len(group.members),
        "lag": group.lag,
        "lag_ms": max(ages_ns) // NS_PER_MS if ages_ns else None,
        "lag_not_known": group.lag_unknown,
        # Partitions of which a transaction's marker may count.
        "lag_may_be_marker": sum(map(may_be_marker, group.offsets)) if of_cluster else 0,
    }


def between_parser() -> Parser:
    from broker_core.listeners.between.peer import DEFAULT_PORT  # loads the listener, which watching does not need

    parser = parser_of("between", {"cluster": cluster, "properties": properties})
    parser.set_defaults(port=DEFAULT_PORT)
    return parser


def between_peer(options: argparse.Namespace, told: Callable[[str], object] = note) -> BetweenPeer:
    """Raises INVALID_CONFIG, CommandError."""
    from broker_core.listeners.between.peer import BetweenPeer

    config = connection_config(options.broker, options.config)
    return BetweenPeer(
        config,
        address=options.address,
        port=options.port,
        token=token_of(options) or "",
        logs_in=options.login or (options.share_login and bool(config.mechanism)),
        shared=options.share_login,
        tls=tls_of(options),
        places=kept_ports,
        keep=keep_ports,
        told=told,
    )


def run_between(options: argparse.Namespace) -> int:
    try:
        return observe(between_peer(options), options, "between", partial(_Between, as_json=options.json))
    except BrokerError as error:
        raise refused(options, error) from error


class _Between(Watched):
    def __init__(self, peer: BetweenPeer, where: Path, *, hides_hosts: bool, as_json: bool) -> None:
        super().__init__(peer, where, hides_hosts=hides_hosts)
        gc.collect()
        gc.freeze()  # a look at all that was loaded would hold up the bytes
        self._peer = peer
        nodes = {str(node): f"{peer.ports.address}:{port}" for node, (port, _place) in peer.ports.nodes.items()}
        if as_json:
            told = {"bootstrap_servers": peer.bootstrap_servers, "nodes": nodes, "cluster": peer.facts.name}
            print_json(told | ({"rights": peer.facts.rights} if peer.facts.rights else {}))
            return
        note(f"bootstrap.servers={peer.bootstrap_servers} leads to {peer.address}, and what goes through is seen.")
        if peer.facts.rights:
            note(f"Whoever connects there has the rights of {peer.facts.rights}.")

    def summary(self) -> dict[str, Any]:
        return {
            **super().summary(),
            "deliveries": self.session.latest.totals.delivered,
            "added_ms": list(self._peer.added_ms),
            "not_seen": self._peer.not_seen,
            "published_before": self._peer.published_before,
            "not_answered": self._peer.not_answered,
        }
