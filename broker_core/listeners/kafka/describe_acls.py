"""DescribeAcls: the ACLs that a filter is for, and the rules of the access file as far as ACLs can say the same."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.acl_bindings import Binding, binding_of, bindings_of_file, matching
from broker_core.listeners.kafka.call import READ, Answer, Call, failed

KEY = 29


def handle(call: Call, request: Any) -> Answer:
    """By resource."""
    try:
        call.must(READ, "broker")
        fits = matching(request)
    except BrokerError as error:
        return {**failed(error), "resources": ()}
    bindings = dict.fromkeys((*bindings_of_file(call.shared.access), *map(binding_of, call.broker.acls.all)))
    resources: dict[tuple[int, str, int], list[Binding]] = {}
    for binding in filter(fits, bindings):
        resources.setdefault(binding[:3], []).append(binding)
    rows = [
        {
            "resource_type": resource_type,
            "resource_name": name,
            "pattern_type": pattern_type,
            "acls": [
                {
                    "principal": each.principal,
                    "host": each.host,
                    "operation": each.operation,
                    "permission_type": each.permission_type,
                }
                for each in found
            ],
        }
        for (resource_type, name, pattern_type), found in resources.items()
    ]
    return {"error_code": 0, "error_message": None, "resources": rows}
