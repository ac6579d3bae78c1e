"""Settings of the transaction coordinator."""

from __future__ import annotations

from broker_core.settings import Settings, TimeMs, WaitMs


class TransactionConfig(Settings, frozen=True):
    """`max_timeout_ms` is Kafka's transaction.max.timeout.ms, `id_expiration_ms` its transactional.id.expiration.ms."""

    max_timeout_ms: WaitMs = 900_000
    id_expiration_ms: TimeMs = 604_800_000
