from __future__ import annotations

from broker_core.access import ScramCredential
from broker_core.broker.broker import Broker, Handlers
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.operations import access


def _create_acls(broker: Broker, now_ns: int, request: access.CreateAcls, client: str) -> None:
    for acl in dict.fromkeys(request.acls):
        if broker.access.acls.find(acl) is None:
            broker.access.put(now_ns, acl, client)


def _delete_acls(broker: Broker, now_ns: int, request: access.DeleteAcls, client: str) -> None:
    kept = broker.access.acls
    for acl in request.acls:
        others = ", ".join(str(other) for other in kept.all if other.principal == acl.principal) or "none"
        must(kept.find(acl), ErrorCode.RESOURCE_NOT_FOUND, f"{acl}; ACLs of {acl.principal}: {others}")
    for acl in dict.fromkeys(request.acls):
        broker.access.remove(now_ns, acl, client)


def _remove_quota(broker: Broker, now_ns: int, request: access.RemoveQuota, client: str) -> None:
    asked = request.any_rate
    about = f"the {asked.key} of {asked.entity}"
    quota = must(broker.access.quotas.find(asked.identity), ErrorCode.RESOURCE_NOT_FOUND, about)
    broker.access.remove(now_ns, quota, client)


def _set_user(broker: Broker, now_ns: int, request: access.SetUser, client: str) -> None:
    if request.password is not None:  # a salt is a random number, and the broker leaves nothing to chance
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, "salt the password first, by SetUser.salted")
    if not request.salted_password:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, "give a password, or the salted password with its salt")
    credential = ScramCredential.of_salted(
        request.user, request.mechanism, request.iterations, request.salt, request.salted_password
    )
    broker.access.put(now_ns, credential, client)


def _delete_user(broker: Broker, now_ns: int, request: access.DeleteUser, client: str) -> None:
    found = [
        credential
        for credential in broker.access.credentials.all
        if credential.user.user == request.user and request.mechanism in {None, credential.user.mechanism}
    ]
    if not found:
        about = f"{request.user} with {request.mechanism}" if request.mechanism else request.user
        raise BrokerError(ErrorCode.RESOURCE_NOT_FOUND, about)
    for credential in found:
        broker.access.remove(now_ns, credential, client)


HANDLERS: Handlers = {
    access.ListAcls: lambda b, now_ns, r, _client: list(b.access.acls.all),
    access.CreateAcls: _create_acls,
    access.DeleteAcls: _delete_acls,
    access.ListQuotas: lambda b, now_ns, r, _client: list(b.access.quotas.all),
    access.SetQuota: lambda b, now_ns, r, client: b.access.put(now_ns, r.quota, client),
    access.RemoveQuota: _remove_quota,
    access.ListUsers: lambda b, now_ns, r, _client: [each.user for each in b.access.credentials.all],
    access.SetUser: _set_user,
    access.DeleteUser: _delete_user,
}
