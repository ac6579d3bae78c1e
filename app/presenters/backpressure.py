from __future__ import annotations

from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.rates import Rates
from app.sessions.event_text import kind_word
from app.sessions.history.series import of_actor
from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from broker_core.snapshots import ActorView, GateView, GroupView, Snapshot
from widgets.formats import count, duration, per_second, session_time
from widgets.i18n import localized, mark, tr
from widgets.panels.backpressure import BackpressurePanel, BlockChain, ChainLink, GaugeFacts, Limits

NEARLY_FULL = 0.8
_POLICIES = {
    "block": mark("blocks producers"),
    "reject": mark("rejects when full"),
    "drop_newest": mark("drops the newest"),
    "drop_oldest": mark("drops the oldest"),
    "priority_evict": mark("evicts by priority"),
}
# What a policy does with messages that find no room, as events call it; those that wait are blocked.
_OUTCOMES = {"reject": "rejected", "drop_newest": "dropped", "drop_oldest": "evicted", "priority_evict": "evicted"}
# An idle client counts as the slowest.
STANDING = ("crashed", "paused")
_ORDER = {"Full": 0, "Limited": 1, "Open": 2}


def gates(snapshot: Snapshot) -> list[tuple[GateView, str]]:
    of_topics = [(topic.gate, "topic") for topic in snapshot.topics if topic.gate is not None]
    return of_topics + [(queue.gate, "queue") for queue in snapshot.queues if queue.gate is not None]


def gate_of(snapshot: Snapshot, target: str) -> GateView | None:
    topics = (topic.gate for topic in snapshot.topics if topic.name == target)
    queues = (queue.gate for queue in snapshot.queues if queue.name == target)
    return next((gate for gate in (*queues, *topics) if gate is not None), None)


def gate_state(gate: GateView | None) -> str:
    """Full while a producer waits or the limit is reached, Limited near it or without tokens, else Open; "" for None.

    If only the rate is limited nothing can be full: producers wait for tokens there.
    """
    if gate is None:
        return ""
    share = _share(gate)
    if (gate.blocked and not only_rate(gate)) or (share is not None and share >= 1.0):
        return "Full"
    if gate.blocked or (share is not None and share >= NEARLY_FULL) or (gate.tokens is not None and gate.tokens < 1):
        return "Limited"
    return "Open"


def only_rate(gate: GateView) -> bool:
    return not gate.limit and gate.rate_limit_per_s is not None


def _share(gate: GateView) -> float | None:
    return None if not gate.limit else gate.depth / gate.limit


def _tokens(gate: GateView) -> str:
    if gate.tokens is None:
        return ""
    tokens = localized(f"{max(0.0, gate.tokens):,.0f}")
    return tr("{number} token", number=tokens) if tokens == "1" else tr("{number} tokens", number=tokens)


def producer_state(actor: ActorView) -> str:
    if actor.outcome and actor.state in {"running", "waiting"}:
        return kind_word(EventKind(actor.outcome)).lower()
    return actor.state


def turned_away(actor: ActorView) -> dict[str, int]:
    return {"rejected": actor.rejected, "dropped": actor.dropped, "dead_lettered": actor.failed}


def turned_away_words(actor: ActorView) -> str:
    parts = [
        f"{count(number)} {tr(kind_word(EventKind(kind))).lower()}"
        for kind, number in turned_away(actor).items()
        if number
    ]
    return ", ".join(parts)


def _slowest(gate: GateView, kind: str) -> str:
    """Whose unread messages are the depth: a topic's slowest group, or all that a queue has not finished with."""
    if kind == "queue":
        return tr("Includes ready, delayed and in-flight messages")
    return (
        tr("Slowest reader: {slowest}", slowest=gate.slowest)
        if gate.slowest and gate.depth
        else tr("No reader is behind")
    )


def gate_turned_away(gate: GateView) -> str:
    blocked = tr("Blocked {time} in all", time=duration(gate.blocked_ns_total))
    counts = {"rejected": gate.rejected, "dropped": gate.dropped, "evicted": gate.evicted}
    words = {kind: f"{tr(kind_word(EventKind(kind)))} {count(number)}" for kind, number in counts.items()}
    own = _OUTCOMES.get(gate.policy, "")
    parts = [words[own]] if own else [blocked]
    parts += [words[kind] for kind, number in counts.items() if number and kind != own]
    parts += [blocked] if own and gate.blocked_ns_total else []
    return " · ".join(parts)


def gauge_facts(gate: GateView, kind: str, now_ns: int, *, changeable: bool = True) -> GaugeFacts:
    """The gate of a subscription is made with it, and not `changeable`."""
    depth = (
        tr("{depth:,} of {limit:,}", depth=gate.depth, limit=gate.limit)
        if gate.limit
        else tr("{depth:,}, no limit", depth=gate.depth)
    )
    rates = tr("No rate limit")
    if gate.rate_limit_per_s is not None:
        tokens = _tokens(gate)
        rates = tr("At most {rate} messages/s", rate=per_second(gate.rate_limit_per_s)) + (
            tr(" · {tokens} left", tokens=tokens) if tokens else ""
        )
        if only_rate(gate):
            depth = f"{per_second(gate.rate_limit_per_s)}/s" + (f", {tokens}" if tokens else "")
    return GaugeFacts(
        target=gate.target,
        kind=kind,
        state=gate_state(gate),
        depth=depth,
        share=_share(gate),
        policy=tr(_POLICIES.get(gate.policy, gate.policy)),
        rate=rates,
        slowest=_slowest(gate, kind),
        blocked=tuple(
            tr("{name} for {time}", name=name, time=duration(now_ns - since_ns)) for name, since_ns in gate.blocked
        ),
        turned_away=gate_turned_away(gate),
        limits=Limits(gate.limit, gate.rate_limit_per_s, gate.policy) if changeable else None,
    )


def gauges(snapshot: Snapshot) -> tuple[GaugeFacts, ...]:
    subscriptions = {actor.target for actor in snapshot.actors if actor.target not in actor.topics}
    facts = [
        gauge_facts(gate, kind, snapshot.time_ns, changeable=gate.target not in subscriptions)
        for gate, kind in gates(snapshot)
    ]
    return tuple(sorted(facts, key=lambda one: (_ORDER[one.state], one.kind, one.target)))


def block_chains(snapshot: Snapshot, rates: Rates) -> tuple[BlockChain, ...]:
    """A chain for every producer that waits, the longest wait first."""
    found: list[tuple[int, BlockChain]] = []
    for gate, kind in gates(snapshot):
        behind = _behind(snapshot, gate, kind, rates)
        for producer, since_ns in gate.blocked:
            links = (ChainLink(producer, f"producer:{producer}"), *behind)
            since = tr(
                "since {time}, for {length}", time=session_time(since_ns), length=duration(snapshot.time_ns - since_ns)
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
    lag: dict[str, int] = {}
    for at in group.offsets:
        if at.topic == topic and at.owner:
            lag[at.owner] = lag.get(at.owner, 0) + (at.lag or 0)
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
    return actor.state in STANDING or actor.processed + actor.failed > 0 or now_ns - actor.since_ns >= NS_PER_S


def _working(actor: ActorView, per_s: float) -> str:
    if actor.state in STANDING:
        return tr("{name} is {state}", name=actor.name, state=tr(actor.state))
    return tr("{name} does {rate} messages/s", name=actor.name, rate=per_second(per_s))


class BackpressurePresenter(PanelPresenter[BackpressurePanel]):
    panel_class = BackpressurePanel

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self._rates = sources.rates

    def show(self, snapshot: Snapshot) -> None:
        self.panel.chains.set_chains(block_chains(snapshot, self._rates))
        self.panel.set_gauges(gauges(snapshot))
