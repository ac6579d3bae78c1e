"""What blocks a producer, followed to its end: the limit, the slowest reader, and who of it is the slowest."""

from __future__ import annotations

from app.presenters.gauges import gates, only_rate
from app.presenters.rates import Rates
from app.sessions.history.series import of_actor
from broker_core.clock import NS_PER_S
from broker_core.snapshots import ActorView, GateView, GroupView, Snapshot
from resources.units import per_second
from widgets.formats import duration, session_time
from widgets.i18n import tr
from widgets.panels.block_chains import BlockChain, ChainLink

# Who does not work at all is slower than anybody.
STANDING = ("crashed", "paused")


def block_chains(snapshot: Snapshot, rates: Rates) -> tuple[BlockChain, ...]:
    """A chain for every producer that waits, the longest wait first."""
    found: list[tuple[int, BlockChain]] = []
    for gate, kind in gates(snapshot):
        behind = _behind(snapshot, gate, kind, rates)
        for producer, since_ns in gate.blocked:
            links = (ChainLink(producer, f"producer:{producer}"), *behind)
            since = tr(
                "since {time}, for {length}",
                time=session_time(since_ns),
                length=duration(snapshot.time_ns - since_ns),
            )
            found.append((since_ns, BlockChain(links, since)))
    return tuple(chain for _, chain in sorted(found, key=lambda each: each[0]))


def _behind(snapshot: Snapshot, gate: GateView, kind: str, rates: Rates) -> list[ChainLink]:
    place = f"{kind}:{gate.target}"
    if only_rate(gate) or (gate.tokens is not None and gate.tokens < 1 and gate.depth < (gate.limit or 1 << 60)):
        per_s = per_second(gate.rate_limit_per_s or 0)
        return [ChainLink(tr("{name} takes {rate} messages/s", name=gate.target, rate=per_s), place)]
    depth, limit = f"{gate.depth:,}", f"{gate.limit:,}" if gate.limit else tr("its limit")
    links = [ChainLink(tr("{name} is full: {depth} of {limit}", name=gate.target, depth=depth, limit=limit), place)]
    if kind == "queue":
        slowest = _slowest_worker(snapshot, gate.target, rates)
    else:
        group = next((each for each in snapshot.groups if each.name == gate.slowest), None)
        if gate.slowest:
            links.append(ChainLink(tr("slowest reader {name}", name=gate.slowest), f"group:{gate.slowest}"))
        slowest = None if group is None else _slowest_member(snapshot, group, gate.target)
    if slowest is not None:
        links.append(
            ChainLink(
                _working(slowest, rates.of(of_actor(slowest), snapshot.time_ns)), f"{slowest.role}:{slowest.name}"
            )
        )
    return links


def _slowest_member(snapshot: Snapshot, group: GroupView, topic: str) -> ActorView | None:
    """Who owns most of what is behind."""
    lag: dict[str, int] = {}
    for at in group.offsets:
        if at.topic == topic and at.owner:
            behind = at.end_offset - (at.committed or 0)
            lag[at.owner] = lag.get(at.owner, 0) + behind
    most = max(lag, key=lambda name: (lag[name], name), default="")
    return next((actor for actor in snapshot.actors if actor.name == most), None)


def _slowest_worker(snapshot: Snapshot, queue: str, rates: Rates) -> ActorView | None:
    workers = [
        actor
        for actor in snapshot.actors
        if actor.role == "worker" and actor.target == queue and _can_be_judged(actor, snapshot.time_ns)
    ]

    def speed(actor: ActorView) -> tuple[bool, float, str]:
        return actor.state not in STANDING, rates.of(of_actor(actor), snapshot.time_ns), actor.name

    return min(workers, key=speed, default=None)


def _can_be_judged(actor: ActorView, now_ns: int) -> bool:
    """Nobody is slow who has had no time to do anything yet."""
    return actor.state in STANDING or actor.processed + actor.failed > 0 or now_ns - actor.since_ns >= NS_PER_S


def _working(actor: ActorView, per_s: float) -> str:
    if actor.state in STANDING:
        return tr("{name} is {state}", name=actor.name, state=tr(actor.state))
    return tr("{name} does {rate} messages/s", name=actor.name, rate=per_second(per_s))
