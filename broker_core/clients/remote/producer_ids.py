"""Ids of idempotent producers, from afar."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

from broker_core.clients.remote.link import Link
from broker_core.wire.produce import InitProducer, ProducerIdentity


class RemoteProducerIds:
    """Ids for idempotent producers."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._may_wait = threading.local()

    def waiting(self, action: Callable[[int], Any], now_ns: int) -> Any:
        """Run `action`, in which `register` may wait for the broker."""
        self._may_wait.now = True
        try:
            return action(now_ns)
        finally:
            self._may_wait.now = False

    def register(self, name: str = "") -> tuple[int, int]:
        """See `ProducerIds.register`.

        Where it may not wait, because a producer that is in doubt needs a new one at once, the id is a random one,
        which no log has seen: of 2^61, far from those that brokers count up.
        """
        if getattr(self._may_wait, "now", False):
            found = self._link.ask(InitProducer(name), ProducerIdentity, repeat=True)
            return found.producer_id, found.epoch
        return (1 << 61) | secrets.randbits(61), 0
