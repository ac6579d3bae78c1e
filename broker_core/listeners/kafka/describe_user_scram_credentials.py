"""DescribeUserScramCredentials: the users that AlterUserScramCredentials made, with their mechanisms and iterations."""

from __future__ import annotations

from typing import Any

from broker_core.broker.scram_credentials import ScramCredential
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import READ, Answer, Call, failed
from broker_core.listeners.kafka.scram_mechanisms import NUMBERS

KEY = 50


def handle(call: Call, request: Any) -> Answer:
    """Each user has an answer of its own; without names, all users."""
    try:
        call.must(READ, "broker")
    except BrokerError as error:
        return {**failed(error), "results": ()}
    users: dict[str, list[ScramCredential]] = {}
    for credential in call.broker.scram_credentials.all:
        users.setdefault(credential.user, []).append(credential)
    asked = [each.name for each in request.users or ()] or list(users)
    rows = [_user(name, users.get(name, []), asked.count(name)) for name in dict.fromkeys(asked)]
    return {"error_code": 0, "error_message": None, "results": rows}


def _user(name: str, credentials: list[ScramCredential], times: int) -> dict[str, Any]:
    if times > 1 or not credentials:
        code = ErrorCode.DUPLICATE_RESOURCE if times > 1 else ErrorCode.RESOURCE_NOT_FOUND
        return {"user": name, **failed(BrokerError(code, name)), "credential_infos": ()}
    rows = [{"mechanism": NUMBERS[each.mechanism], "iterations": each.iterations} for each in credentials]
    return {"user": name, "error_code": 0, "error_message": None, "credential_infos": rows}
