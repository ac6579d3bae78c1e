"""Server-sent events: what a listener leaves behind."""

from __future__ import annotations

import asyncio
import contextlib

from broker_core import BrokerHost
from broker_core.listeners.http.routes.connections import Subscriber


def test_who_goes_while_nothing_happens_leaves_no_task_behind() -> None:
    async def left_behind(host: BrokerHost) -> int:
        stream = Subscriber(host, lambda _event: True, 10).stream(asyncio.Event())
        await anext(stream)
        waiting = asyncio.ensure_future(anext(stream))
        for _ in range(5):
            await asyncio.sleep(0)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        for _ in range(5):
            await asyncio.sleep(0)
        return len(asyncio.all_tasks() - {asyncio.current_task()})

    with BrokerHost() as host:
        assert asyncio.run(left_behind(host)) == 0
