from __future__ import annotations

from app.presenters.panel_presenter import PanelPresenter
from app.sessions.event_text import kind_word
from app.sessions.history.series import SessionSeries, of_actor
from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from broker_core.snapshots import ActorView, GateView, GroupView, Snapshot
from widgets.formats import byte_size, count, duration, per_second, session_time
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
    """The gate of `target`: the queue's if a topic has the same name, too; None if it has none."""
    return next((gate for gate, _kind in reversed(gates(snapshot)) if gate.target == target), None)


def gate_state(gate: GateView | None) -> str:
    """Full while a producer waits or the limit is reached, Limited near it or without tokens, else Open; "" for None.

    If only the rate is limited nothing can be full: producers wait for tokens there.
    """
    if gate is None:
        return ""
    share = _share(gate) or 0.0
    if (gate.blocked and not only_rate(gate)) or share >= 1:
        return "Full"
    if gate.blocked or share >= NEARLY_FULL or (gate.tokens is not None and gate.tokens < 1):
        return "Limited"
    return "Open"


def only_rate(gate: GateView) -> bool:
    return _share(gate) is None and gate.rate_limit_per_s is not None


def _share(gate: GateView) -> float | None:
    """What is used of the limit in messages or of that in bytes, whichever is more; None without both."""
    used = ((gate.depth, gate.limit), (gate.depth_bytes, gate.limit_bytes))
    return max((depth / limit for depth, limit in used if limit), default=None)


def _depth(gate: GateView) -> str:
    """What is used of each limit, in words."""
    if _share(gate) is None:
        return tr("{depth}, no limit", depth=count(gate.depth))
    used = [(count(gate.depth), count(gate.limit))] if gate.limit else []
    used += [(byte_size(gate.depth_bytes), byte_size(gate.limit_bytes))] if gate.limit_bytes else []
    return ", ".join(tr("{depth} of {limit}", depth=depth, limit=limit) for depth, limit in used)


def _tokens(gate: GateView) -> str:
    tokens = localized(f"{max(0.0, gate.tokens or 0.0):,.0f}")
    return tr("{number} token", number=tokens) if tokens == "1" else tr("{number} tokens", number=tokens)


def producer_state(actor: ActorView) -> str:
    if actor.outcome and actor.state in {"running", "waiting"}:
        return kind_word(EventKind(actor.outcome)).lower()
    return actor.state


def turned_away(actor: ActorView) -> dict[str, int]:
    return {"rejected": actor.rejected, "dropped": actor.dropped, "dead_lettered": actor.failed}


def turned_away_words(actor: ActorView) -> str:
    return ", ".join(
        f"{count(number)} {tr(kind_word(EventKind(kind))).lower()}"
        for kind, number in turned_away(actor).items()
        if number
    )


def _slowest(gate: GateView, kind: str) -> str:
    """Whose unread messages make up the depth: the topic's slowest group, or all that a queue has not finished."""
    if kind == "queue":
        return tr("Includes ready, delayed and in-flight messages")
    if gate.slowest and gate.depth:
        return tr("Slowest reader: {slowest}", slowest=gate.slowest)
    return tr("No reader is behind")


def _turned_away(gate: GateView) -> str:
    blocked = tr("Blocked {time} in all", time=duration(gate.blocked_ns_total))
    counts = {"rejected": gate.rejected, "dropped": gate.dropped, "evicted": gate.evicted}
    words = {kind: f"{tr(kind_word(EventKind(kind)))} {count(number)}" for kind, number in counts.items()}
    own = _OUTCOMES.get(gate.policy, "")
    parts = [words[own]] if own else [blocked]
    parts += [words[kind] for kind, number in counts.items() if number and kind != own]
    parts += [blocked] if own and gate.blocked_ns_total else []
    return " · ".join(parts)


def gate_detail(gate: GateView | None) -> str:
    """What a card says of a gate that limits the depth."""
    if gate is None or _share(gate) is None:
        return ""
    return tr(", depth {depth}", depth=_depth(gate)) + f"\n{_turned_away(gate)}"


def gauge_facts(gate: GateView, kind: str, now_ns: int, *, changeable: bool = True) -> GaugeFacts:
    """The gate of a subscription is made with it, and not `changeable`."""
    depth = _depth(gate)
    rates = tr("No rate limit")
    if gate.rate_limit_per_s is not None:
        rate, tokens = per_second(gate.rate_limit_per_s), _tokens(gate)
        rates = tr("At most {rate} messages/s", rate=rate) + tr(" · {tokens} left", tokens=tokens)
        if only_rate(gate):
            depth = f"{rate}/s, {tokens}"
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
        turned_away=_turned_away(gate),
        limits=Limits(gate.limit, gate.rate_limit_per_s, gate.policy) if changeable else None,
    )


def gauges(snapshot: Snapshot) -> tuple[GaugeFacts, ...]:
    subscriptions = {("queue", queue.name) for queue in snapshot.queues if queue.reads}
    facts = [
        gauge_facts(gate, kind, snapshot.time_ns, changeable=(kind, gate.target) not in subscriptions)
        for gate, kind in gates(snapshot)
    ]
    return tuple(sorted(facts, key=lambda one: (_ORDER[one.state], one.kind, one.target)))


def block_chains(snapshot: Snapshot, series: SessionSeries) -> tuple[BlockChain, ...]:
    """A chain for every producer that waits, the longest wait first."""
    found: list[tuple[int, BlockChain]] = []
    for gate, kind in gates(snapshot):
        behind = _behind(snapshot, gate, kind, series)
        for producer, since_ns in gate.blocked:
            links = (ChainLink(producer, f"producer:{producer}"), *behind)
            since = tr(
                "since {time}, for {length}", time=session_time(since_ns), length=duration(snapshot.time_ns - since_ns)
            )
            found.append((since_ns, BlockChain(links, since)))
    return tuple(chain for _, chain in sorted(found, key=lambda each: each[0]))


def _behind(snapshot: Snapshot, gate: GateView, kind: str, series: SessionSeries) -> list[ChainLink]:
    place = f"{kind}:{gate.target}"
    if only_rate(gate) or (gate.tokens is not None and gate.tokens < 1 and (_share(gate) or 0) < 1):
        per_s = per_second(gate.rate_limit_per_s or 0)
        return [ChainLink(tr("{name} takes {rate} messages/s", name=gate.target, rate=per_s), place)]
    links = [ChainLink(tr("{name} is full: {depth}", name=gate.target, depth=_depth(gate)), place)]
    if kind == "queue":
        slowest = _slowest_worker(snapshot, gate.target, series)
    else:
        group = snapshot.group(gate.slowest)
        if gate.slowest:
            links.append(ChainLink(tr("slowest reader {name}", name=gate.slowest), f"group:{gate.slowest}"))
        slowest = None if group is None else _slowest_member(snapshot, group, gate.target)
    if slowest is not None:
        working = _working(slowest, series.rate(of_actor(slowest), snapshot.time_ns))
        links.append(ChainLink(working, f"{slowest.role}:{slowest.name}"))
    return links


def _slowest_member(snapshot: Snapshot, group: GroupView, topic: str) -> ActorView | None:
    lag: dict[str, int] = {}
    for at in group.offsets:
        if at.topic == topic and at.owner:
            lag[at.owner] = lag.get(at.owner, 0) + (at.lag or 0)
    return snapshot.actor(max(lag, key=lambda name: (lag[name], name), default=""))


def _slowest_worker(snapshot: Snapshot, queue: str, series: SessionSeries) -> ActorView | None:
    workers = [
        actor
        for actor in snapshot.actors
        if actor.role == "worker" and actor.target == queue and _can_be_judged(actor, snapshot.time_ns)
    ]

    def speed(actor: ActorView) -> tuple[bool, float, str]:
        return actor.state not in STANDING, series.rate(of_actor(actor), snapshot.time_ns), actor.name

    return min(workers, key=speed, default=None)


def _can_be_judged(actor: ActorView, now_ns: int) -> bool:
    return actor.state in STANDING or actor.processed + actor.failed > 0 or now_ns - actor.since_ns >= NS_PER_S


def _working(actor: ActorView, per_s: float) -> str:
    if actor.state in STANDING:
        return tr("{name} is {state}", name=actor.name, state=tr(actor.state))
    return tr("{name} does {rate} messages/s", name=actor.name, rate=per_second(per_s))


class BackpressurePresenter(PanelPresenter[BackpressurePanel]):
    panel_class = BackpressurePanel

    def show(self, snapshot: Snapshot) -> None:
        self.panel.chains.set_chains(block_chains(snapshot, self._controller.collectors.series))
        self.panel.set_gauges(gauges(snapshot))
