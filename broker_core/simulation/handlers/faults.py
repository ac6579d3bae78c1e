from __future__ import annotations

from functools import partial

import msgspec

from broker_core.operations.faults import BeginFault, EndFault
from broker_core.simulation.actions import faults
from broker_core.simulation.handlers.plan import Handler, Plan, refuse


class FaultHandler(Handler):
    """Leaves the work to the injector, to the rules, and to the faults that requests from outside meet."""

    def _begin_rule(self, action: faults.FailMatching) -> Plan:
        context, broker, rules = self._context, self._context.broker, self._context.rules
        actor = context.actors.get(action.at)
        places = {*context.groups, *broker.queues.names(), *broker.topics.names(), *broker.groups.groups()}
        if actor is None and action.at not in places:
            raise refuse(f"there is no {action.at!r} in this session")
        if actor is not None and actor.processing_time is None:
            raise refuse(f"{action.at} processes no messages")
        named = rules.named(action)
        return Plan(named, lambda: rules.begin(named), faults.EndRule(named.rule))

    def _end_rule(self, action: faults.EndRule) -> Plan:
        rules = self._context.rules
        return Plan(action, lambda: rules.end(action.rule), rules.rule(action.rule))

    def _break_requests(self, action: faults.BreakRequests) -> Plan:
        fault = self._context.broker.client_faults.named(action.fault)
        begin = partial(self._context.handle, fault)
        return Plan(faults.BreakRequests(fault), begin, faults.EndRequestFault(fault.name))

    def _end_request_fault(self, action: faults.EndRequestFault) -> Plan:
        ended = self._context.broker.client_faults.fault(action.name)
        end = partial(self._context.handle, EndFault(fault=action.name))
        return Plan(action, end, faults.BreakRequests(BeginFault(**msgspec.structs.asdict(ended))))

    def _fault(self, action: faults.AnyFault) -> Plan:
        injector = self._context.faults
        injector.check(action)
        client = getattr(action, "client", "")
        return Plan(action, lambda: injector.do(action), action.inverse, "Set the fault again.", client=client)
