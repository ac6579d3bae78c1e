from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.errors import ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.messages import StoredMessage
from broker_core.names import free_name
from broker_core.simulation.actions.faults import Crash, FailMatching, Fault
from broker_core.snapshots import RULE_PREFIX, FaultView
from broker_core.timers import Timer

# Whom a rule makes crash comes back after this long, as under a supervisor.
CRASH_S = 5.0


class _Lasting(msgspec.Struct):
    view: FaultView
    over: Callable[[], object]  # ends it, and emits the event
    timer: Timer | None


class LastingFaults:
    """Faults that have begun, by client and fault; each begin and end is a `fault` event."""

    def __init__(self, loop: Loop, events: EventStream) -> None:
        self._loop = loop
        self._events = events
        self._lasting: dict[tuple[str, str], _Lasting] = {}

    def begin(
        self, client: str, fault: str, what: str, for_s: float | None, end: Callable[[], object], *, ended: str = ""
    ) -> None:
        """`what` begins, in place of another of the same client and `fault`; with `for_s` it ends by itself."""
        place = (client, fault)
        self.drop(place)

        def over() -> None:
            self.emit(client, ended or f"{what} is over", {"ended": fault})
            end()

        now_ns, timer, until_ns = self._loop.now_ns, None, None
        if for_s is not None:
            until_ns = now_ns + ns_from_s(for_s)
            timer = self._loop.timers.at(until_ns, lambda _at: self.end(place))
        self._lasting[place] = _Lasting(FaultView(client, fault, what, now_ns, until_ns), over, timer)
        self.emit(client, what, {"fault": fault, "until_ns": until_ns})

    def end(self, place: tuple[str, str]) -> None:
        over = self._lasting[place].over
        self.drop(place)
        over()

    def drop(self, place: tuple[str, str]) -> bool:
        """Forget it without an event; whether it lasted."""
        lasting = self._lasting.pop(place, None)
        if lasting is not None and lasting.timer is not None:
            lasting.timer.cancel()
        return lasting is not None

    def of(self, client: str) -> list[tuple[str, str]]:
        return [place for place in self._lasting if place[0] == client]

    def views(self) -> tuple[FaultView, ...]:
        return tuple(each.view for each in self._lasting.values())

    def emit(self, client: str, cause: str, detail: dict[str, object] | None = None) -> None:
        self._events.emit(self._loop.now_ns, EventKind.FAULT, client=client, cause=cause, detail=detail)


class _Rule(msgspec.Struct):
    rule: FailMatching
    matched: int = 0


class FailureRules:
    """Rules by which messages fail. Each counts matches in processing order, so a rerun fails the same messages."""

    def __init__(self, do: Callable[[Fault], object], lasting: LastingFaults) -> None:
        """`do(fault)` begins another fault."""
        self._do = do
        self.lasting = lasting
        self._rules: dict[str, _Rule] = {}

    # -- asked by actors

    def failing(self, client: str, target: str, message: StoredMessage) -> FailMatching | None:
        """The rule by which `client`, a reader of `target`, fails at `message`; each rule that matches counts it."""
        found: FailMatching | None = None
        for each in self._rules.values():
            if _matches(each.rule, (client, target, message.topic), message):
                each.matched += 1
                if found is None and each.matched % each.rule.every == 0:
                    found = each.rule
        return found

    def crash(self, client: str) -> None:
        self._do(Crash(client, CRASH_S))

    # -- begun and ended

    def named(self, rule: FailMatching) -> FailMatching:
        """`rule` with a name. Raises INVALID_REQUEST if its name is taken."""
        return msgspec.structs.replace(rule, rule=free_name(rule.rule, "rule", self._rules))

    def rule(self, name: str) -> FailMatching:
        """Raises INVALID_REQUEST if there is no such rule."""
        return must(self._rules.get(name), ErrorCode.INVALID_REQUEST, f"there is no rule {name!r}").rule

    def begin(self, rule: FailMatching) -> None:
        name = RULE_PREFIX + rule.rule
        self._rules[rule.rule] = _Rule(rule)
        self.lasting.begin(
            rule.at, name, rule.what, rule.for_s, lambda: self._rules.pop(rule.rule), ended=f"{name} is over"
        )

    def end(self, name: str) -> None:
        self.lasting.end((self._rules[name].rule.at, RULE_PREFIX + name))


def _matches(rule: FailMatching, places: tuple[str, ...], message: StoredMessage) -> bool:
    return (
        rule.at in places
        and (rule.key is None or message.key == rule.key.encode())
        and (not rule.text or rule.text.encode() in (message.value or b""))
    )
