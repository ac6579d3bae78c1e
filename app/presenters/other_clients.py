from __future__ import annotations

import math
from typing import NamedTuple

from app.presenters.active_faults import program_state, reader_state
from app.presenters.backpressure import gates
from app.presenters.rates import Rates
from app.sessions.history.series import received, sent
from broker_core.snapshots import Snapshot


class OtherProducer(NamedTuple):
    """A producer of another program at one moment.

    `state` is blocked or that of `program_state`, and stopped after the end of the session. `topics` are the topics and
    queues it published to within the last seconds, or waits for. `published` is in messages, None for unknown.
    """

    name: str
    state: str
    topics: tuple[str, ...]
    published: int | None


class OtherConsumer(NamedTuple):
    """A member of `group` that belongs to another program."""

    name: str
    state: str
    group: str


def other_consumers(snapshot: Snapshot, rates: Rates) -> tuple[OtherConsumer, ...]:
    actors = {actor.name for actor in snapshot.actors}
    found: dict[str, OtherConsumer] = {}
    for group in snapshot.groups:
        for name in (member.client for member in group.members if member.client not in actors):
            per_s = rates.of(received(name), snapshot.time_ns)
            found.setdefault(
                name, OtherConsumer(name, reader_state(snapshot.faults, name, per_s, group.state), group.name)
            )
    return tuple(found.values())


def other_producers(snapshot: Snapshot, rates: Rates) -> tuple[OtherProducer, ...]:
    series, now_ns = rates.series, snapshot.time_ns
    topics = series.other_producers(now_ns)
    blocked: dict[str, list[str]] = {}
    actors = {actor.name for actor in snapshot.actors}
    for gate, _kind in gates(snapshot):
        for name, _since_ns in gate.blocked:
            if name not in actors and not series.is_own(name):
                blocked.setdefault(name, []).append(gate.target)
    ended, found = series.has_ended(now_ns), []
    for name in dict.fromkeys((*topics, *blocked)):
        state = program_state(snapshot.faults, name, rates.of(sent(name), now_ns))
        (published,) = series.values(sent(name), (series.line(now_ns),))
        found.append(
            OtherProducer(
                name,
                "stopped" if ended else "blocked" if name in blocked else state,
                tuple(dict.fromkeys((*topics.get(name, ()), *blocked.get(name, ())))),
                None if math.isnan(published) else int(published),
            )
        )
    return tuple(found)
