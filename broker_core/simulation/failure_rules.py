from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from broker_core.broker.broker import Broker
from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.messages import StoredMessage
from broker_core.names import check_name
from broker_core.simulation.actions.faults import FailMatching
from broker_core.simulation.actor import Actor
from broker_core.snapshots import FaultView
from broker_core.timers import Timer

# Whom a rule makes crash comes back after this long, as under a supervisor.
CRASH_S = 5.0


class _Rule(msgspec.Struct):
    rule: FailMatching
    since_ns: int
    until_ns: int | None
    timer: Timer | None
    matched: int = 0


class FailureRules(msgspec.Struct, eq=False):
    """Each counts what matches it in the order in which it was processed, so that a rerun fails the same messages.

    `crash(client, for_s)` takes a client down.
    """

    _loop: Loop
    _events: EventStream
    _broker: Broker
    _actors: Mapping[str, Actor]
    _groups: Mapping[str, object]
    _crash: Callable[[str, float], object]
    _rules: dict[str, _Rule] = {}

    # -- asked by actors

    def failing(self, actor: Actor, message: StoredMessage) -> FailMatching | None:
        """The rule by which `actor` fails at `message` now; every rule that matches counts it."""
        found: FailMatching | None = None
        for each in self._rules.values():
            if _matches(each.rule, actor, message):
                each.matched += 1
                if found is None and each.matched % each.rule.every == 0:
                    found = each.rule
        return found

    def crash(self, actor: Actor) -> None:
        self._crash(actor.name, CRASH_S)

    # -- begun and ended

    def named(self, rule: FailMatching) -> FailMatching:
        """`rule` with a name. Raises INVALID_REQUEST if it can fail nobody, or its name is taken."""
        actor = self._actors.get(rule.at)
        broker = self._broker
        places = {*self._groups, *broker.queues.names(), *broker.topics.names(), *broker.groups.groups()}
        if actor is None and rule.at not in places:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no {rule.at!r} in this session")
        if actor is not None and actor.takes is None:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{rule.at} processes no messages")
        if not rule.rule:
            number = 1
            while f"rule-{number}" in self._rules:
                number += 1
            return msgspec.structs.replace(rule, rule=f"rule-{number}")
        check_name(rule.rule, "rule")
        if rule.rule in self._rules:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is a rule {rule.rule} already")
        return rule

    def rule(self, name: str) -> FailMatching:
        """Raises INVALID_REQUEST if there is no such rule."""
        return must(self._rules.get(name), ErrorCode.INVALID_REQUEST, f"there is no rule {name!r}").rule

    def begin(self, rule: FailMatching) -> None:
        now_ns, timer, until_ns = self._loop.now_ns, None, None
        if rule.for_s is not None:
            until_ns = now_ns + ns_from_s(rule.for_s)
            timer = self._loop.timers.at(until_ns, lambda _at: self.end(rule.rule))
        self._rules[rule.rule] = _Rule(rule, now_ns, until_ns, timer)
        detail = {"fault": f"rule {rule.rule}", "until_ns": until_ns}
        self._events.emit(now_ns, EventKind.FAULT, client=rule.at, cause=rule.what, detail=detail)

    def end(self, name: str) -> None:
        ended = self._rules.pop(name)
        if ended.timer is not None:
            ended.timer.cancel()
        self._events.emit(
            self._loop.now_ns,
            EventKind.FAULT,
            client=ended.rule.at,
            cause=f"rule {name} is over",
            detail={"ended": f"rule {name}"},
        )

    def views(self) -> tuple[FaultView, ...]:
        return tuple(
            FaultView(each.rule.at, f"rule {name}", each.rule.what, each.since_ns, each.until_ns)
            for name, each in self._rules.items()
        )


def _matches(rule: FailMatching, actor: Actor, message: StoredMessage) -> bool:
    return (
        rule.at in (actor.name, actor.target, message.topic)
        and (rule.key is None or message.key == rule.key.encode())
        and (not rule.text or rule.text.encode() in (message.value or b""))
    )
