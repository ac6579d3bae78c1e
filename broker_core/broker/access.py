"""What is kept about clients: ACLs, SCRAM users, and quotas by user and client id, as in Kafka (KIP-13)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import msgspec

from broker_core.access import ANY, ROW_TYPES, AccessTable, Acl, Acls, ClientQuota, QuotaKey, ScramCredential
from broker_core.events import EventStream
from broker_core.flow.token_bucket import TokenBucket

# A client chooses its id, so that the number of buckets needs a limit.
_MAX_BUCKETS = 10_000
_Identity = tuple[str | None, str | None, QuotaKey]  # of a quota


class ClientQuotas:
    """The quotas of a broker. The most precise that fits holds, a user's before a client id's.

    What they limit are token buckets of one second. A user's quota is shared by all of its clients; each user and each
    client id under a default has a bucket of its own.
    """

    def __init__(self) -> None:
        self._quotas: dict[_Identity, ClientQuota] = {}
        self._buckets: OrderedDict[tuple[_Identity, str, str], TokenBucket] = OrderedDict()

    @property
    def any(self) -> bool:
        return bool(self._quotas)

    @property
    def all(self) -> tuple[ClientQuota, ...]:
        return tuple(self._quotas.values())

    def put(self, quota: ClientQuota) -> None:
        self._forget(quota)
        self._quotas[quota.identity] = quota

    def remove(self, quota: ClientQuota) -> None:
        self._quotas.pop(quota.identity, None)
        self._forget(quota)

    def find(self, identity: _Identity) -> ClientQuota | None:
        return self._quotas.get(identity)

    def spend(self, now_ns: int, user: str, client_id: str, key: QuotaKey, size_bytes: int) -> int:
        """Count `size_bytes`. Returns the nanoseconds until the client is within its quota again."""
        for identity in _identities(user, client_id, key):
            quota = self._quotas.get(identity)
            if quota is not None:
                return self._bucket(identity, quota, user, client_id).spend(now_ns, size_bytes)
        return 0

    def _bucket(self, identity: _Identity, quota: ClientQuota, user: str, client_id: str) -> TokenBucket:
        name = identity, "" if quota.user is None else user, "" if quota.client_id is None else client_id
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = TokenBucket(quota.bytes_per_s, max(1.0, quota.bytes_per_s))
            if len(self._buckets) > _MAX_BUCKETS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(name)
        return bucket

    def _forget(self, quota: ClientQuota) -> None:
        for name in [name for name in self._buckets if name[0] == quota.identity]:
            del self._buckets[name]


def _identities(user: str, client_id: str, key: QuotaKey) -> Iterator[_Identity]:
    """The keys of the quotas that can apply to a client, the most specific first, as in Kafka."""
    for name in (user, ANY):
        for client in (client_id, ANY, None):
            yield name, client, key
    yield None, client_id, key
    yield None, ANY, key


Row = Acl | ClientQuota | ScramCredential


class StoredAccess:
    """The ACLs, quotas and SCRAM users of a broker. The event of a change has the row in its detail, without keys."""

    def __init__(self, events: EventStream) -> None:
        self.acls = Acls()
        self.quotas = ClientQuotas()
        self.credentials: AccessTable[ScramCredential] = AccessTable()
        self._stores: dict[type, Any] = {Acl: self.acls, ClientQuota: self.quotas, ScramCredential: self.credentials}
        self._events = events

    def restore(self, *rows: Row) -> None:
        """`put` without events."""
        for row in rows:
            self._stores[type(row)].put(row)

    def put(self, now_ns: int, row: Row, client: str) -> None:
        self.restore(row)
        self._tell(now_ns, row, client, removed=False)

    def remove(self, now_ns: int, row: Row, client: str) -> None:
        self._stores[type(row)].remove(row)
        self._tell(now_ns, row, client, removed=True)

    def _tell(self, now_ns: int, row: Row, client: str, *, removed: bool) -> None:
        shown = row.user if isinstance(row, ScramCredential) else row
        word = next(word for word, kind in ROW_TYPES.items() if kind is type(shown))
        detail = {"access": word, "removed": removed, "row": msgspec.to_builtins(shown)}
        self._events.emit_action(now_ns, client=client, cause=shown.told(removed), detail=detail)
