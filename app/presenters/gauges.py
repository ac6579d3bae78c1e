"""Gates of topics and queues as gauges."""

from __future__ import annotations

from app.sessions.event_text import kind_word
from broker_core.events import EventKind
from broker_core.snapshots import ActorView, GateView, Snapshot
from resources.units import per_second
from widgets.formats import count, duration
from widgets.i18n import mark, tr
from widgets.panels.backpressure import GaugeFacts
from widgets.panels.gauge_controls import Limits

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
_ORDER = {"Full": 0, "Limited": 1, "Open": 2}


def gates(snapshot: Snapshot) -> list[tuple[GateView, str]]:
    """Every gate of a snapshot, and whether it is that of a topic or a queue."""
    of_topics = [(topic.gate, "topic") for topic in snapshot.topics if topic.gate is not None]
    return of_topics + [(queue.gate, "queue") for queue in snapshot.queues if queue.gate is not None]


def gate_of(snapshot: Snapshot, target: str) -> GateView | None:
    """The gate of a topic or queue; None where nothing limits it."""
    topics = (topic.gate for topic in snapshot.topics if topic.name == target)
    queues = (queue.gate for queue in snapshot.queues if queue.name == target)
    return next((gate for gate in (*queues, *topics) if gate is not None), None)


def gate_state(gate: GateView | None) -> str:
    """Full while somebody waits or the limit is reached, Limited near it or without tokens, else Open; "" for None.

    Where only the rate is limited nothing can be full: who waits there waits for tokens.
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
    """Whether a gate limits the rate and not the depth."""
    return not gate.limit and gate.rate_limit_per_s is not None


def _share(gate: GateView) -> float | None:
    return None if not gate.limit else gate.depth / gate.limit


def _tokens(gate: GateView) -> str:
    if gate.tokens is None:
        return ""
    number = f"{max(0.0, gate.tokens):,.0f}"
    return tr("{number} token", number=number) if number == "1" else tr("{number} tokens", number=number)


def producer_state(actor: ActorView) -> str:
    """The state of a producer; what becomes of what it sends, where that is not taken and it goes on all the same."""
    if actor.outcome and actor.state in {"running", "waiting"}:
        return kind_word(EventKind(actor.outcome)).lower()
    return actor.state


def turned_away(actor: ActorView) -> dict[str, int]:
    """What was not taken of what a producer sent, in messages by what became of it."""
    return {"rejected": actor.rejected, "dropped": actor.dropped, "dead_lettered": actor.failed}


def turned_away_words(actor: ActorView) -> str:
    """As in "3 rejected, 12 dropped"; "" where all was taken."""
    parts = [
        f"{count(number)} {tr(kind_word(EventKind(kind))).lower()}"
        for kind, number in turned_away(actor).items()
        if number
    ]
    return ", ".join(parts)


def _slowest(gate: GateView, kind: str) -> str:
    """Whose unread messages are the depth: a topic's slowest group, or all that a queue has not finished with."""
    if kind == "queue":
        return tr("Ready, delayed and in flight count")
    return (
        tr("Slowest reader: {slowest}", slowest=gate.slowest)
        if gate.slowest and gate.depth
        else tr("No reader is behind")
    )


def gate_turned_away(gate: GateView) -> str:
    """The outcome that the policy is for, then whatever else became of messages."""
    blocked = tr("Blocked {time} in all", time=duration(gate.blocked_ns_total))
    counts = {"rejected": gate.rejected, "dropped": gate.dropped, "evicted": gate.evicted}
    words = {kind: f"{tr(kind_word(EventKind(kind)))} {count(number)}" for kind, number in counts.items()}
    own = _OUTCOMES.get(gate.policy, "")
    parts = [words[own]] if own else [blocked]
    parts += [words[kind] for kind, number in counts.items() if number and kind != own]
    parts += [blocked] if own and gate.blocked_ns_total else []
    return " · ".join(parts)


def gauge_facts(gate: GateView, kind: str, now_ns: int, *, changeable: bool = True) -> GaugeFacts:
    """One gate as texts. That of a subscription is made with it, and not `changeable`."""
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
        rejected=count(gate.rejected),
        dropped=count(gate.dropped),
        evicted=count(gate.evicted),
        blocked_total=duration(gate.blocked_ns_total),
        turned_away=gate_turned_away(gate),
        limits=Limits(gate.limit, gate.rate_limit_per_s, gate.policy) if changeable else None,
    )


def gauges(snapshot: Snapshot) -> tuple[GaugeFacts, ...]:
    """Every gate of a snapshot, those that hold somebody back first."""
    subscriptions = {actor.target for actor in snapshot.actors if actor.target not in actor.topics}
    facts = [
        gauge_facts(gate, kind, snapshot.time_ns, changeable=gate.target not in subscriptions)
        for gate, kind in gates(snapshot)
    ]
    return tuple(sorted(facts, key=lambda one: (_ORDER[one.state], one.kind, one.target)))
