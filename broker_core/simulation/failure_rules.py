from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_core.errors import ErrorCode, must
from broker_core.messages import StoredMessage
from broker_core.names import free_name
from broker_core.simulation.actions.faults import Crash, FailMatching, Fault
from broker_core.simulation.lasting_faults import LastingFaults

# Whom a rule makes crash comes back after this long, as under a supervisor.
CRASH_S = 5.0


class _Rule(msgspec.Struct):
    rule: FailMatching
    matched: int = 0


class FailureRules:
    """Each counts what matches it in the order in which it was processed, so that a rerun fails the same messages."""

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
        name = f"rule {rule.rule}"
        self._rules[rule.rule] = _Rule(rule)
        self.lasting.begin(
            rule.at, name, rule.what, rule.for_s, lambda: self._rules.pop(rule.rule), ended=f"{name} is over"
        )

    def end(self, name: str) -> None:
        self.lasting.end((self._rules[name].rule.at, f"rule {name}"))


def _matches(rule: FailMatching, places: tuple[str, ...], message: StoredMessage) -> bool:
    return (
        rule.at in places
        and (rule.key is None or message.key == rule.key.encode())
        and (not rule.text or rule.text.encode() in (message.value or b""))
    )
