from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from broker_core.messages import StoredMessage


class Lease(msgspec.Struct, frozen=True, gc=False):
    """`holder` has to finish `message` before `deadline_ns` (session time). `attempt` counts deliveries from 1."""

    queue: str
    partition: int
    offset: int
    holder: str
    attempt: int
    deadline_ns: int
    message: StoredMessage


class Held(msgspec.Struct, frozen=True, gc=False):
    """Names a delivery for which no `Lease` is at hand; without `attempt`, the one that `holder` has now."""

    partition: int
    offset: int
    holder: str
    attempt: int | None = None


def lease_runs(leases: Sequence[Lease]) -> Iterator[tuple[Lease, int]]:
    """(first lease, count) of each run of consecutive offsets that were delivered together."""
    first: Lease | None = None
    count = 0
    for lease in leases:
        if (
            first is not None
            and lease.offset == first.offset + count
            and lease.partition == first.partition
            and lease.attempt == first.attempt
            and lease.holder == first.holder
            and lease.queue == first.queue
        ):
            count += 1
            continue
        if first is not None:
            yield first, count
        first, count = lease, 1
    if first is not None:
        yield first, count
