from __future__ import annotations

from functools import partial

from broker_core.simulation.actions.faults import (
    AnyFault,
    BreakRequests,
    EndRequestFault,
    EndRule,
    FailMatching,
)
from broker_core.simulation.handlers.plan import Handler, Plan


class FaultHandler(Handler):
    """Leaves the work to the injector, to the rules, and to the faults that requests from outside meet."""

    def _begin_rule(self, action: FailMatching) -> Plan:
        rules = self._context.rules
        named = rules.named(action)
        return Plan(named, lambda: rules.begin(named), EndRule(named.rule))

    def _end_rule(self, action: EndRule) -> Plan:
        rules = self._context.rules
        return Plan(action, lambda: rules.end(action.rule), rules.rule(action.rule))

    def _break_requests(self, action: BreakRequests) -> Plan:
        context, requests = self._context, self._context.broker.client_faults
        fault = requests.named(action.fault)
        begin = partial(requests.begin, context.now_ns, fault)
        return Plan(BreakRequests(fault), begin, EndRequestFault(fault.name))

    def _end_request_fault(self, action: EndRequestFault) -> Plan:
        context, requests = self._context, self._context.broker.client_faults
        ended = requests.fault(action.name)
        return Plan(action, lambda: requests.end(context.now_ns, action.name), BreakRequests(ended))

    def _fault(self, action: AnyFault) -> Plan:
        faults = self._context.faults
        faults.check(action)
        client = getattr(action, "client", "")
        return Plan(action, lambda: faults.do(action), action.inverse, "Set the fault again.", client=client)
