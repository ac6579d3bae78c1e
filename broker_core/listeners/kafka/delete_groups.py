"""DeleteGroups: forget groups without members, and what they have committed.

Of a share group its subscriptions are deleted; for a while the window can bring them back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, kafka_code
from broker_core.listeners.kafka.codec import Body

KEY = 42


def handle(call: Call, request: Any) -> Answer:
    """Each group has an answer of its own."""
    return Later(lambda: _all(call, request.groups_names))


def _all(call: Call, names: tuple[str, ...]) -> Body:
    return {"results": [{"group_id": name, "error_code": _delete(call, name)} for name in names]}


def _delete(call: Call, name: str) -> int:
    try:
        call.must(ADMIN, "group", name)
        shared = call.broker.share_groups
        delete = shared.delete if name in shared.names() else call.broker.groups.delete
        call.shared.host.admin(partial(delete, group=name))
    except BrokerError as error:
        return kafka_code(error)
    return 0
