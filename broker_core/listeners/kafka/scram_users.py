from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from typing import Any, Final

from broker_core.broker.acls import Mechanism, ScramCredential
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, FEW_ELEMENTS, READ, Answer, Call, api, failed, outcome
from broker_core.listeners.kafka.sasl import MIN_ITERATIONS

MECHANISMS: Final[dict[int, Mechanism]] = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
NUMBERS: Final = {mechanism: number for number, mechanism in MECHANISMS.items()}
DIGESTS: Final[dict[Mechanism, str]] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


@api("DescribeUserScramCredentials", 50, 0, 0, most_elements=FEW_ELEMENTS)
def _describe_user_scram_credentials(call: Call, request: Any) -> Answer:
    """The users that AlterUserScramCredentials made, with mechanisms and iterations; without names, all of them."""
    call.must(READ, "broker")
    users: dict[str, list[ScramCredential]] = {}
    for credential in call.broker.scram_credentials.all:
        users.setdefault(credential.user, []).append(credential)
    asked = Counter(each.name for each in request.users or ()) or Counter(users.keys())
    rows = [_user(name, users.get(name, []), times) for name, times in asked.items()]
    return {"results": rows}


def _user(name: str, credentials: list[ScramCredential], times: int) -> dict[str, Any]:
    if times > 1 or not credentials:
        code = ErrorCode.DUPLICATE_RESOURCE if times > 1 else ErrorCode.RESOURCE_NOT_FOUND
        return {"user": name, **failed(BrokerError(code, name))}
    rows = [{"mechanism": NUMBERS[each.mechanism], "iterations": each.iterations} for each in credentials]
    return {"user": name, "credential_infos": rows}


_MAX_ITERATIONS = 16_384
_MAX_NAME_CHARS = 249
_MAX_SALT_BYTES = 1_024


@api("AlterUserScramCredentials", 51, 0, 0, most_elements=FEW_ELEMENTS)
def _alter_user_scram_credentials(call: Call, request: Any) -> Answer:
    """Users with passwords of their own for SCRAM (KIP-554); a restart keeps them.

    The client sends the salted password, of which the two keys of RFC 5802 are kept. Iterations are 4,096 to
    16,384, as in Kafka. A user is a principal in rules, ACLs and quotas. A principal whose token stands in the
    access file is no user. All that is asked for the user is done, or nothing.
    """
    changes: dict[str, list[Any]] = {}
    for each in (*request.deletions, *request.upsertions):
        changes.setdefault(each.name, []).append(each)
    return call.later("results", lambda user: outcome(_alter, call, user, changes[user], user=user), changes)


def _alter(call: Call, user: str, asked: list[Any]) -> None:
    call.must(ADMIN, "broker")

    def alter(now_ns: int) -> None:
        if len({each.mechanism for each in asked}) < len(asked):
            raise BrokerError(ErrorCode.DUPLICATE_RESOURCE, user)
        kept = call.broker.scram_credentials
        changed = [_changed(call, user, each) for each in asked]
        for each, credential in zip(asked, changed, strict=True):
            mechanism = MECHANISMS[each.mechanism]
            if credential is None:
                kept.remove(user, mechanism)
            else:
                kept.put(credential)
            call.changed(now_ns, f"{'deleted' if credential is None else 'set'} the {mechanism} credential of {user}")

    call.listener.host.admin(alter)


def _changed(call: Call, user: str, asked: Any) -> ScramCredential | None:
    """The new credential, None for a deletion. Raises what is wrong with it."""
    mechanism = MECHANISMS.get(asked.mechanism)
    if mechanism is None:
        raise BrokerError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, f"there are {', '.join(MECHANISMS.values())}")
    if not hasattr(asked, "salted_password"):
        if call.broker.scram_credentials.find(user, mechanism) is None:
            raise BrokerError(ErrorCode.RESOURCE_NOT_FOUND, f"{user} with {mechanism}")
        return None
    digest = DIGESTS[mechanism]
    salt, salted = bytes(asked.salt), bytes(asked.salted_password)
    problems = (
        (not 1 <= len(user) <= _MAX_NAME_CHARS, f"a user name has 1 to {_MAX_NAME_CHARS} characters"),
        (
            not MIN_ITERATIONS <= asked.iterations <= _MAX_ITERATIONS,
            f"iterations are {MIN_ITERATIONS} to {_MAX_ITERATIONS}, and not {asked.iterations}",
        ),
        (not 1 <= len(salt) <= _MAX_SALT_BYTES, f"a salt has 1 to {_MAX_SALT_BYTES} bytes"),
        (len(salted) != hashlib.new(digest).digest_size, f"the salted password is not one of {mechanism}"),
        (
            call.listener.access.token(user) is not None,
            f"the token of {user} stands in the access file; change it there",
        ),
    )
    for wrong, why in problems:
        if wrong:
            raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, why)
    client_key = hmac.digest(salted, b"Client Key", digest)
    stored_key = hashlib.new(digest, client_key).digest()
    return ScramCredential(
        user, mechanism, asked.iterations, salt, stored_key, hmac.digest(salted, b"Server Key", digest)
    )
