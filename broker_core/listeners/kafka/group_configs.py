"""Settings of share groups by Kafka's names (KIP-932, KIP-1191)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from broker_core.broker.share_group_config import ShareGroupConfig
from broker_core.errors import BrokerError, ErrorCode

NAMES = {
    "share.record.lock.duration.ms": "record_lock_duration_ms",
    "share.delivery.count.limit": "delivery_count_limit",
    "share.auto.offset.reset": "auto_offset_reset",
    "share.isolation.level": "isolation_level",
    "errors.deadletterqueue.topic.name": "dead_letter_topic",
}


def with_settings(config: ShareGroupConfig, changes: Iterable[tuple[str, str | None]]) -> ShareGroupConfig:
    """`config` with these settings; None sets one back to its default. Raises INVALID_CONFIG."""
    given: dict[str, object] = {}
    for name, text in changes:
        field = NAMES.get(name)
        if field is None:
            raise BrokerError(
                ErrorCode.INVALID_CONFIG, f"{name!r} is no setting of a group; there are {', '.join(NAMES)}"
            )
        default = getattr(ShareGroupConfig(), field)
        try:
            given[field] = default if text is None else type(default)(text)
        except ValueError as error:
            raise BrokerError(ErrorCode.INVALID_CONFIG, f"{name} {text!r} must be a number") from error
    return msgspec.structs.replace(config, **given)
