"""A message in somebody's hands."""

from __future__ import annotations

import msgspec

from broker_core.messages import StoredMessage


class Lease(msgspec.Struct, frozen=True, gc=False):
    """A message that `holder` must finish before `deadline_ns`; `attempt` counts deliveries from 1."""

    queue: str
    partition: int
    offset: int
    holder: str
    attempt: int
    deadline_ns: int
    message: StoredMessage
