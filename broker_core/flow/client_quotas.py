"""Quotas of clients: how many bytes a second they may send and fetch, by user and client id, as in Kafka (KIP-13)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from broker_core.access import ANY, ClientQuota, QuotaKey
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
    """Those of the quotas that can hold for this client, the most precise first, as in Kafka."""
    for name in (user, ANY):
        for client in (client_id, ANY, None):
            yield name, client, key
    yield None, client_id, key
    yield None, ANY, key
