"""Faults and rules, and how each is undone."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.faults.client_faults import ClientFaults
from broker_core.simulation.actions.faults import (
    AnyFault,
    BreakRequests,
    EndRequestFault,
    EndRule,
    FailMatching,
    RuleAction,
)
from broker_core.simulation.failure_rules import FailureRules
from broker_core.simulation.fault_injector import FaultInjector
from broker_core.simulation.handlers.plan import Plan


class FaultHandler:
    """Leaves the work to the injector and to the rules."""

    def __init__(
        self, faults: FaultInjector, rules: FailureRules, requests: ClientFaults, now_ns: Callable[[], int]
    ) -> None:
        """`requests` are the faults that requests from outside meet; `now_ns()` is the session's time."""
        self._faults = faults
        self._rules = rules
        self._requests = requests
        self._now_ns = now_ns

    def prepare(self, action: AnyFault | RuleAction) -> Plan:
        """Raises INVALID_REQUEST where it cannot be done now."""
        match action:
            case FailMatching():
                named = self._rules.named(action)
                return Plan(named, lambda: self._rules.begin(named), EndRule(named.rule))
            case EndRule():
                rule = self._rules.rule(action.rule)
                return Plan(action, lambda: self._rules.end(action.rule), rule)
            case BreakRequests():
                fault = self._requests.named(action.fault)
                return Plan(
                    BreakRequests(fault),
                    lambda: _nothing(self._requests.begin(self._now_ns(), fault)),
                    EndRequestFault(fault.name),
                )
            case EndRequestFault():
                ended = self._requests.fault(action.name)
                return Plan(action, lambda: self._requests.end(self._now_ns(), action.name), BreakRequests(ended))
            case _:
                self._faults.check(action)
                client = getattr(action, "client", "")
                return Plan(action, lambda: self._faults.do(action), action.inverse, _FINAL, client=client)


_FINAL = "Set the fault again."


def _nothing(_value: object) -> None:
    """A plan's own sentence says enough."""
