"""uvicorn's server, stopped by its listener and not by signals, and never held up by a client."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from uvicorn import Config, Server

from broker_core.listeners.listener import close_server

_GRACE_S = 2.0
_LOOK_S = 0.02


class ListenerServer(Server):
    """Serves until `closing` is set. `on_started` is called when it does."""

    def __init__(self, config: Config, closing: asyncio.Event, on_started: Callable[[], object]) -> None:
        super().__init__(config)
        self._closing = closing
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        await super().startup(sockets)
        self._on_started()

    async def main_loop(self) -> None:
        """Serve; the date in the headers is renewed by uvicorn's tick."""
        await self.on_tick(0)
        while not self._closing.is_set():
            try:
                await asyncio.wait_for(self._closing.wait(), 1.0)
            except TimeoutError:
                await self.on_tick(0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no connection, give requests that are being served a short time, and cut the others."""
        for server in self.servers:
            await close_server(server)
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
