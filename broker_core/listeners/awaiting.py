"""The hosts that a listener can serve, and replies of their brokers, awaited in its asyncio loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.engine_host import EngineHost
from broker_core.replies import Reply

T = TypeVar("T")
ServedHost = BrokerHost | EngineHost  # a broker by itself, or one in a session that an engine runs


async def awaited(host: ServedHost, reply: Reply[T], cancel: Callable[[Reply[T]], object] | None = None) -> T:
    """The result of `reply`, which any thread may settle. Raises its error.

    If the waiting task is cancelled, `cancel(reply)` is called under the host's lock, so that the broker does not serve
    a closed connection; the reply may be settled already. Listeners are closed before their host: each is settled.
    """
    if reply.done:
        return reply.result()
    loop = asyncio.get_running_loop()
    there: asyncio.Future[None] = loop.create_future()

    def arrive() -> None:
        if not there.done():
            there.set_result(None)

    def settled(_reply: Reply[T]) -> None:
        # Called with the host's lock held, in the thread that settled it, perhaps after the loop has ended.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(arrive)

    host.call(lambda _now: reply.then(settled))
    try:
        await there
    except asyncio.CancelledError:
        if cancel is not None and not host.closing:
            stop = cancel
            host.call(lambda _now: stop(reply))
        raise
    return reply.result()
