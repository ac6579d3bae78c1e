"""Quotas of clients: how many bytes a second they may send and fetch, by user and client id, as in Kafka (KIP-13)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator
from typing import Literal

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.token_bucket import TokenBucket

QuotaKey = Literal["producer_byte_rate", "consumer_byte_rate"]
DEFAULT = ""  # in place of a name: everybody who has no quota of the same kind by name
# A client chooses its id, so that the number of buckets needs a limit.
_MAX_BUCKETS = 10_000


class QuotaEntity(msgspec.Struct, frozen=True):
    """Who a quota is for: a `user`, a `client_id`, or a user with that client id. None: any."""

    user: str | None = None
    client_id: str | None = None

    def __str__(self) -> str:
        named = {"user": self.user, "client id": self.client_id}
        parts = [f"{kind} {name}" if name else f"every {kind}" for kind, name in named.items() if name is not None]
        return " with ".join(parts)


class ClientQuota(msgspec.Struct, frozen=True):
    """A limit of `bytes_per_s` for `key`."""

    entity: QuotaEntity
    key: QuotaKey
    bytes_per_s: float


class ClientQuotas:
    """The quotas of a broker. The most precise that fits holds, a user's before a client id's.

    What they limit are token buckets of one second. A user's quota is shared by all of its clients; each user and each
    client id under a default has a bucket of its own.
    """

    def __init__(self) -> None:
        self._quotas: dict[tuple[QuotaEntity, QuotaKey], ClientQuota] = {}
        self._buckets: OrderedDict[tuple[QuotaEntity, QuotaEntity, QuotaKey], TokenBucket] = OrderedDict()

    @property
    def any(self) -> bool:
        return bool(self._quotas)

    @property
    def all(self) -> tuple[ClientQuota, ...]:
        return tuple(self._quotas.values())

    def put(self, quota: ClientQuota) -> None:
        """Set a quota, in place of the one for the same entity and key. Raises INVALID_REQUEST."""
        check(quota)
        self._forget(quota.entity, quota.key)
        self._quotas[quota.entity, quota.key] = quota

    def remove(self, entity: QuotaEntity, key: QuotaKey) -> None:
        self._quotas.pop((entity, key), None)
        self._forget(entity, key)

    def spend(self, now_ns: int, user: str, client_id: str, key: QuotaKey, size_bytes: int) -> int:
        """Count `size_bytes`. Returns the nanoseconds until the client is within its quota again."""
        for entity in _entities(user, client_id):
            quota = self._quotas.get((entity, key))
            if quota is not None:
                return self._bucket(quota, user, client_id).spend(now_ns, size_bytes)
        return 0

    def _bucket(self, quota: ClientQuota, user: str, client_id: str) -> TokenBucket:
        of = QuotaEntity(
            None if quota.entity.user is None else user, None if quota.entity.client_id is None else client_id
        )
        name = quota.entity, of, quota.key
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = TokenBucket(quota.bytes_per_s, max(1.0, quota.bytes_per_s))
            if len(self._buckets) > _MAX_BUCKETS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(name)
        return bucket

    def _forget(self, entity: QuotaEntity, key: QuotaKey) -> None:
        for name in [name for name in self._buckets if name[0] == entity and name[2] == key]:
            del self._buckets[name]


def check(quota: ClientQuota) -> None:
    """Raises INVALID_REQUEST for a quota that cannot be."""
    if quota.entity == QuotaEntity():
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a quota is for a user, a client-id, or both")
    if not 0 < quota.bytes_per_s < math.inf:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{quota.key} is more than 0, and not {quota.bytes_per_s}")


def _entities(user: str, client_id: str) -> Iterator[QuotaEntity]:
    """Who a quota can be for that holds for this client, the most precise first, as in Kafka."""
    for name in (user, DEFAULT):
        for client in (client_id, DEFAULT, None):
            yield QuotaEntity(name, client)
    yield QuotaEntity(None, client_id)
    yield QuotaEntity(None, DEFAULT)
