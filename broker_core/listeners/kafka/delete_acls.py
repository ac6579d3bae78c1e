"""DeleteAcls: delete the ACLs that filters are for.

Rules of the access file are changed in the file: each that a filter is for is answered with INVALID_REQUEST, as is what
would keep the client from altering ACLs.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.acl_bindings import Binding, binding_of, bindings_of_file, matching, must_still_rule
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, failed
from broker_core.listeners.kafka.codec import Body

KEY = 31
_DONE = {"error_code": 0, "error_message": None}
_IN_THE_FILE = failed(BrokerError(ErrorCode.INVALID_REQUEST, "the rule stands in the access file; change it there"))


def handle(call: Call, request: Any) -> Answer:
    """Each filter has an answer of its own."""
    try:
        call.must(ADMIN, "broker")
    except BrokerError as error:
        return {"filter_results": [{**failed(error), "matching_acls": ()} for _ in request.filters]}
    return Later(lambda: _all(call, request.filters))


def _all(call: Call, filters: tuple[Any, ...]) -> Body:
    return {"filter_results": [_delete(call, asked) for asked in filters]}


def _delete(call: Call, asked: Any) -> dict[str, Any]:
    found: dict[Binding, dict[str, Any]] = {}

    def delete(_now_ns: int) -> None:
        fits, acls = matching(asked), call.broker.acls
        gone = [acl for acl in acls.all if fits(binding_of(acl))]
        must_still_rule(call, [acl for acl in acls.all if acl not in gone])
        acls.remove(gone)
        found.update({binding: _IN_THE_FILE for binding in bindings_of_file(call.shared.access) if fits(binding)})
        found.update({binding_of(acl): _DONE for acl in gone})

    try:
        call.shared.host.admin(delete)
    except BrokerError as error:
        return {**failed(error), "matching_acls": ()}
    return {**_DONE, "matching_acls": [{**binding._asdict(), **outcome} for binding, outcome in found.items()]}
