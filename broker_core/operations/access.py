from __future__ import annotations

import hashlib
from typing import Annotated

import msgspec
from msgspec import Meta

from broker_core.access import DIGESTS, MAX_ITERATIONS, MIN_ITERATIONS, Acl, ClientQuota, Mechanism, QuotaKey, ScramUser
from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_NAME_CHARS
from broker_core.operations.entry import ADMIN, READ, Entry, Right, declaring
from broker_core.operations.request import Request
from broker_core.settings import about

Acls = Annotated[tuple[Acl, ...], Meta(min_length=1, max_length=1_000)]
UserName = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS)]


ENTRIES: list[Entry] = []
_TAG = "Access"
_read_operation = declaring(ENTRIES, tag=_TAG, rights=(Right(READ, "broker"),))
_admin_operation = declaring(
    ENTRIES, tag=_TAG, rights=(Right(ADMIN, "broker"),), mode="slow", saved="catalog", errors=(409,)
)


@_read_operation("GET /v1/acls", "List ACLs: who may do what")
class ListAcls(Request[list[Acl]], frozen=True, kw_only=True):
    """The ACLs, and, if a listener is asked, the rules of its access file as far as ACLs can say the same."""


@_admin_operation("POST /v1/acls", "Create ACLs", repeatable=True)
class CreateAcls(Request[None], frozen=True, kw_only=True):
    """These rules hold beside those of the access file, for Kafka and HTTP. All are created, or none."""

    acls: Acls


@_admin_operation("POST /v1/acls/delete", "Delete ACLs", errors=(404, 409))
class DeleteAcls(Request[None], frozen=True, kw_only=True):
    """All are deleted, or none. A rule of the access file is changed in the file."""

    acls: Acls


@_read_operation("GET /v1/quotas", "List quotas of clients")
class ListQuotas(Request[list[ClientQuota]], frozen=True, kw_only=True):
    """Quotas of users and client ids."""


@_admin_operation("PUT /v1/quotas", "Set a quota of clients", body="quota", repeatable=True)
class SetQuota(Request[None], frozen=True, kw_only=True):
    """A quota in place of the one for the same clients and key. It limits clients of the Kafka listener."""

    quota: ClientQuota


@_admin_operation("DELETE /v1/quotas", "Remove a quota of clients", errors=(404, 409))
class RemoveQuota(Request[None], frozen=True, kw_only=True):
    """The quota for exactly these clients; as in `ClientQuota`."""

    key: QuotaKey
    user: str | None = None
    client_id: str | None = None

    @property
    def any_rate(self) -> ClientQuota:
        """The quota, whatever its rate. Raises MALFORMED_REQUEST for what none can be for."""
        return ClientQuota(self.key, 1, self.user, self.client_id)


@_read_operation("GET /v1/users", "List the users who authenticate by SCRAM")
class ListUsers(Request[list[ScramUser]], frozen=True, kw_only=True):
    """A row for each user and mechanism."""


@_admin_operation("PUT /v1/users/{user}", "Set the password of a user", repeatable=True)
class SetUser(Request[None], frozen=True, kw_only=True):
    """A user with a password for SCRAM, which is given in plain text, or salted by the client, with its `salt`.

    Neither is kept: only the two keys of RFC 5802 by which it is checked.
    """

    user: UserName
    mechanism: Annotated[Mechanism, about("how the password is checked")] = "SCRAM-SHA-256"
    iterations: Annotated[
        int, Meta(ge=MIN_ITERATIONS, le=MAX_ITERATIONS), about("how often the password is hashed")
    ] = MIN_ITERATIONS
    password: str | None = None
    salt: bytes = b""
    salted_password: bytes = b""

    def salted(self, salt: bytes) -> SetUser:
        """With the password salted; as it is if it is salted already. Raises UNACCEPTABLE_CREDENTIAL."""
        if self.password is None:
            return self
        if not self.password:
            raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, f"the password of {self.user} is empty")
        password = self.password.encode("utf-8", "surrogatepass")
        salted = hashlib.pbkdf2_hmac(DIGESTS[self.mechanism], password, salt, self.iterations)
        return msgspec.structs.replace(self, password=None, salt=salt, salted_password=salted)


@_admin_operation("DELETE /v1/users/{user}", "Delete a user", errors=(404, 409))
class DeleteUser(Request[None], frozen=True, kw_only=True):
    """Without a mechanism, the user's credentials for all of them."""

    user: UserName
    mechanism: Annotated[Mechanism | None, about("only the password for this one")] = None
