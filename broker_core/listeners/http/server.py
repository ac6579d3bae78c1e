"""uvicorn's server, stopped by its listener and not by signals, and never held up by a client."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from uvicorn import Config, Server

_GRACE_S = 2.0
_LOOK_S = 0.02


class ListenerServer(Server):
    """Serves until `closing` is set. `on_started` is called when it does; `around` runs beside it, until the end."""

    def __init__(
        self,
        config: Config,
        closing: asyncio.Event,
        on_started: Callable[[], object],
        around: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        super().__init__(config)
        self._closing = closing
        self._on_started = on_started
        self._around = around
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """End it, from any thread."""
        self.should_exit = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._closing.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._on_started()

    async def main_loop(self) -> None:
        """Serve until `stop`; the date in the headers is renewed by uvicorn's tick."""
        beside = asyncio.ensure_future(self._around())
        await self.on_tick(0)
        while not self.should_exit:
            try:
                await asyncio.wait_for(self._closing.wait(), 1.0)
            except TimeoutError:
                await self.on_tick(0)
        beside.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let in nobody, let what is under way end in a short while, cut the rest."""
        for server in self.servers:
            server.close()
        for listener in sockets or ():
            listener.close()
        state = self.server_state
        for connection in list(state.connections):
            connection.shutdown()
        deadline_s = asyncio.get_running_loop().time() + _GRACE_S
        while (state.connections or state.tasks) and asyncio.get_running_loop().time() < deadline_s:
            await asyncio.sleep(_LOOK_S)
        for task in list(state.tasks):
            task.cancel()
        for connection in list(state.connections):
            connection.transport.abort()
        while (state.connections or state.tasks) and asyncio.get_running_loop().time() < deadline_s + _GRACE_S:
            await asyncio.sleep(_LOOK_S)
        await self.lifespan.shutdown()
