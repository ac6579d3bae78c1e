from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from broker_core.limits import MAX_WAIT_MS
from broker_core.settings import WEEK, Settings


class ShareGroupConfig(Settings, frozen=True):
    """Settings of a share group. They apply to the subscriptions that the group makes from then on."""

    record_lock_duration_ms: Annotated[int, Meta(ge=1_000, le=MAX_WAIT_MS, extra=WEEK)] = 30_000
    delivery_count_limit: Annotated[int, Meta(ge=2, le=100)] = 5
    auto_offset_reset: Literal["earliest", "latest"] = "latest"
    isolation_level: Literal["read_uncommitted", "read_committed"] = "read_uncommitted"
    dead_letter_topic: str = ""
