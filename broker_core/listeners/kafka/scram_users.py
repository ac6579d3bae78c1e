from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from broker_core.access import Mechanism, ScramCredential, ScramUser
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access import changes
from broker_core.listeners.kafka.call import ADMIN, FEW_ELEMENTS, READ, Answer, Call, api, failed, outcome
from broker_core.operations.access import DeleteUser, SetUser

if TYPE_CHECKING:
    from kio.schema.alter_user_scram_credentials.v0.request import AlterUserScramCredentialsRequest
    from kio.schema.describe_user_scram_credentials.v0.request import DescribeUserScramCredentialsRequest

MECHANISMS: Final[dict[int, Mechanism]] = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
NUMBERS: Final = {mechanism: number for number, mechanism in MECHANISMS.items()}


@api("DescribeUserScramCredentials", 50, 0, 0, most_elements=FEW_ELEMENTS)
def _describe_user_scram_credentials(call: Call, request: DescribeUserScramCredentialsRequest) -> Answer:
    """The users that AlterUserScramCredentials made, with mechanisms and iterations; without names, all of them."""
    call.must(READ, "broker")
    users: dict[str, list[ScramUser]] = {}
    for credential in call.broker.access.credentials.all:
        users.setdefault(credential.user.user, []).append(credential.user)
    asked = Counter(each.name for each in request.users or ()) or Counter(users.keys())
    rows = [_user(name, users.get(name, []), times) for name, times in asked.items()]
    return {"results": rows, "error_message": ""}


def _user(name: str, credentials: list[ScramUser], times: int) -> dict[str, Any]:
    if times > 1 or not credentials:
        code = ErrorCode.DUPLICATE_RESOURCE if times > 1 else ErrorCode.RESOURCE_NOT_FOUND
        return {"user": name, **failed(BrokerError(code, name))}
    rows = [{"mechanism": NUMBERS[each.mechanism], "iterations": each.iterations} for each in credentials]
    return {"user": name, "credential_infos": rows}


@api("AlterUserScramCredentials", 51, 0, 0, most_elements=FEW_ELEMENTS)
def _alter_user_scram_credentials(call: Call, request: AlterUserScramCredentialsRequest) -> Answer:
    """Users with passwords of their own for SCRAM (KIP-554); a restart keeps them.

    The client sends the salted password, of which the two keys of RFC 5802 are kept. Iterations are 4,096 to
    16,384, as in Kafka. A user is a principal in rules, ACLs and quotas. A principal whose token stands in the
    access file is no user. All that is asked for the user is done, or nothing.
    """
    changes: dict[str, list[Any]] = {}
    asked: list[Any] = [*request.deletions, *request.upsertions]
    for each in asked:
        changes.setdefault(each.name, []).append(each)
    return call.later("results", lambda user: outcome(_alter, call, user, changes[user], user=user), changes)


def _alter(call: Call, user: str, asked: list[Any]) -> None:
    call.must(ADMIN, "broker")
    if len({each.mechanism for each in asked}) < len(asked):
        raise BrokerError(ErrorCode.DUPLICATE_RESOURCE, user)
    for request in [_request(call, user, each) for each in asked]:
        changes.ask(call.context.host, call.context.access, call.principal, request, call.client)


def _request(call: Call, user: str, asked: Any) -> SetUser | DeleteUser:
    """Raises what is wrong with it, before anything of the user is changed."""
    mechanism = MECHANISMS.get(asked.mechanism)
    if mechanism is None:
        raise BrokerError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, f"there are {', '.join(MECHANISMS.values())}")
    if not hasattr(asked, "salted_password"):
        if call.broker.access.credentials.find((user, mechanism)) is None:
            raise BrokerError(ErrorCode.RESOURCE_NOT_FOUND, f"{user} with {mechanism}")
        return DeleteUser(user=user, mechanism=mechanism)
    salt, salted = bytes(asked.salt), bytes(asked.salted_password)
    ScramCredential.of_salted(user, mechanism, asked.iterations, salt, salted)
    return SetUser(user=user, mechanism=mechanism, iterations=asked.iterations, salt=salt, salted_password=salted)
