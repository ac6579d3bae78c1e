"""CreateAcls: rules for topics, groups, transactional ids and the cluster; a restart keeps them.

They hold beside those of the access file, for HTTP too. What a rule cannot express, and what would keep the client from
altering ACLs, is INVALID_REQUEST with the reason.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.acl_bindings import acl_of, must_still_rule
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, failed
from broker_core.listeners.kafka.codec import Body

KEY = 30


def handle(call: Call, request: Any) -> Answer:
    """Each ACL has an answer of its own."""
    try:
        call.must(ADMIN, "broker")
    except BrokerError as error:
        return {"results": [failed(error) for _ in request.creations]}
    return Later(lambda: _all(call, request.creations))


def _all(call: Call, creations: tuple[Any, ...]) -> Body:
    return {"results": [_create(call, asked) for asked in creations]}


def _create(call: Call, asked: Any) -> dict[str, Any]:
    def create(_now_ns: int) -> None:
        acls = call.broker.acls
        must_still_rule(call, (*acls.all, acl))
        acls.add([acl])

    try:
        acl = acl_of(asked)
        call.shared.host.admin(create)
    except BrokerError as error:
        return failed(error)
    return {"error_code": 0, "error_message": None}
