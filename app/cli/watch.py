from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from app.cli.credentials import token_of
from app.cli.notes import note
from app.cli.output import print_json
from app.cli.parser import Command, CommandError, arguments, described, with_hint
from app.cli.signals import ended_by_signals
from app.cli.target_types import TYPES
from app.environment.exits import Exit, exit_of
from app.environment.paths import new_session_folder
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind
from broker_core.observation.kafka.config import is_cluster
from broker_core.observation.observed_session import ObservedSession
from broker_core.observation.peer import KNOWABLE, Peer
from broker_core.observation.peers import peer_at
from broker_core.plurals import counted
from broker_core.snapshots import CLASSIC, GroupView, may_be_marker

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
    return parser, lambda options: observe(peer_of, options, "watched", Watched)


def add_elsewhere(parser: argparse.ArgumentParser) -> None:
    """The address of a broker that runs elsewhere, what it takes to come in, and how it is recorded."""
    arguments(parser, "elsewhere", TYPES)
    cluster = parser.add_argument_group("a Kafka cluster, which is only read")
    arguments(cluster, "elsewhere-cluster", TYPES)


def peer_of(options: argparse.Namespace) -> Peer:
    """The peer that the options of `add_elsewhere` name, not connected yet. Raises CommandError, BrokerError."""
    given = {name: getattr(options, name) for name in ("config", "every", "topics", "groups")}
    given = {name: value for name, value in given.items() if value is not None}
    if is_cluster(options.broker):
        given["every_s"] = given.pop("every", 1.0)
        return peer_at(options.broker, **given)
    if given:
        raise CommandError(f"--{next(iter(given))} is for a Kafka cluster, HOST:PORT, which {options.broker} is not.")
    return peer_at(options.broker, token=token_of(options), ca_file=options.tls_ca)


def observe(
    make: Callable[[argparse.Namespace], Peer], options: argparse.Namespace, word: str, kind: Callable[..., Watched]
) -> int:
    """Record the peer that `make` gives until it is time, and print the summary. Raises CommandError."""
    try:
        peer = make(options)
        name = word if options.without else f"{word}-{peer.address.rpartition('//')[2]}"
        where = options.session or new_session_folder(name)
        watched = kind(peer, where, hides_hosts=bool(options.without))
        note(f"Recording {peer.address} into {where}; Ctrl+C ends it.", as_json=getattr(options, "json", False))
        try:
            with ended_by_signals():
                watched.wait(options.until)
        except KeyboardInterrupt:
            pass
        finally:
            watched.session.close()
        print_json(watched.summary())
    except BrokerError as error:
        raise refused(options, error) from error
    if watched.session.error:
        raise CommandError(watched.session.error, Exit.PARTLY)
    return 0


def refused(options: argparse.Namespace, error: BrokerError) -> CommandError:
    return CommandError(str(error) if is_cluster(options.broker) else with_hint(error), exit_of(error))


class Watched:
    """Observes a broker until it is told to end; counts the gaps of the observation and prints what happens."""

    def __init__(self, peer: Peer, where: Path, *, hides_hosts: bool) -> None:
        self._gaps = 0
        self.session = ObservedSession(peer, folder=where, hides_hosts=hides_hosts, sinks=[self._tell])
        self._began_s = time.monotonic()

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
