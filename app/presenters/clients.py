from __future__ import annotations

import math
from typing import NamedTuple

from app.presenters.active_faults import program_state, reader_state
from app.presenters.backpressure import gates, producer_state
from app.sessions.history.series import Key, SessionSeries, of_actor, of_member, of_reading, sent
from broker_core.snapshots import ActorView, Snapshot


class Client(NamedTuple):
    """A client at one moment: an `actor` of the scenario, or a part of another program.

    `kind` is producer, consumer or worker. `targets` are its groups or queue, or what it publishes to: another
    program's producer within the last seconds, or waits for. `rate` is the key of what it handles. The state of another
    program's producer is blocked or that of `program_state`, and stopped after the end of the session, or since its
    last connection has ended at `ended_ns`; `published` is in messages, None for unknown.
    """

    kind: str
    name: str
    state: str
    targets: tuple[str, ...]
    rate: Key
    actor: ActorView | None = None
    published: int | None = None
    ended_ns: int | None = None

    @property
    def target(self) -> str:
        return ", ".join(self.targets)


def producers(snapshot: Snapshot, series: SessionSeries) -> list[Client]:
    own = (actor for actor in snapshot.actors if actor.role == "producer")
    return [*map(_of_scenario, own), *other_producers(snapshot, series)]


def readers(snapshot: Snapshot, series: SessionSeries) -> list[Client]:
    own = (actor for actor in snapshot.actors if actor.role != "producer")
    return [*map(_of_scenario, own), *other_consumers(snapshot, series)]


def _of_scenario(actor: ActorView) -> Client:
    targets = (actor.target,) if actor.target else ()
    return Client(actor.role, actor.name, producer_state(actor), targets, of_actor(actor), actor)


def other_consumers(snapshot: Snapshot, series: SessionSeries) -> tuple[Client, ...]:
    actors = {actor.name for actor in snapshot.actors}
    found: dict[str, Client] = {}
    for group in snapshot.groups:
        for name in (member.client for member in group.members if member.client not in actors):
            per_s = series.rate(of_reading(group, name), snapshot.time_ns)
            state = reader_state(snapshot.faults, name, per_s, group)
            first = found.get(name, Client("consumer", name, state, (), of_member(group, name)))
            targets = tuple(dict.fromkeys((*first.targets, group.name)))
            found[name] = first._replace(targets=targets, state=state if first.state == "waiting" else first.state)
    return tuple(found.values())


def other_producers(snapshot: Snapshot, series: SessionSeries) -> tuple[Client, ...]:
    now_ns = snapshot.time_ns
    topics = series.other_producers(now_ns)
    blocked: dict[str, list[str]] = {}
    actors = {actor.name for actor in snapshot.actors}
    for gate, _kind in gates(snapshot):
        for name, _since_ns in gate.blocked:
            if name not in actors and not series.is_own(name):
                blocked.setdefault(name, []).append(gate.target)
    ended, found = series.has_ended(now_ns), []
    for name in dict.fromkeys((*topics, *blocked)):
        state = program_state(snapshot.faults, name, series.rate(sent(name), now_ns))
        (published,), ended_ns = series.values(sent(name), (series.line(now_ns),)), series.ended_ns(name, now_ns)
        found.append(
            Client(
                "producer",
                name,
                "stopped" if ended or ended_ns else "blocked" if name in blocked else state,
                tuple(dict.fromkeys((*topics.get(name, ()), *blocked.get(name, ())))),
                sent(name),
                published=None if math.isnan(published) else int(published),
                ended_ns=ended_ns,
            )
        )
    return tuple(found)
