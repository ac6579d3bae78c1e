"""Requests on their way."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import msgspec

from broker_core.errors import BrokerError
from broker_core.wire.body import Body

_log = logging.getLogger(__name__)

Done = Callable[[Any, BrokerError | None], object]


class Call:
    """A request on its way. `done(reply, error)` is called once, under the lock."""

    __slots__ = ("body", "correlation", "deadline_s", "done", "finished", "repeat", "wait_until_s")

    def __init__(self, body: Body, done: Done, deadline_s: float, repeat: bool, wait_until_s: float | None) -> None:
        self.body = body
        self.done = done
        self.deadline_s = deadline_s
        self.repeat = repeat  # send it again where the connection is lost meanwhile
        self.wait_until_s = wait_until_s  # of what waits at the broker: until when it shall
        self.correlation = 0  # 0 while it is not sent
        self.finished = False

    def finish(self, reply: Any, error: BrokerError | None) -> None:
        """Tell who asked, once."""
        if not self.finished:
            self.finished = True
            try:
                self.done(reply, error)
            except Exception:
                # A fault of ours: it must not cost the others their answers.
                _log.exception("an answer to %s could not be dealt with", type(self.body).__name__)

    def due_body(self) -> Body:
        """The request as it is to be sent now: it waits no longer than it has left."""
        if self.wait_until_s is None:
            return self.body
        left_ms = max(0, round((self.wait_until_s - time.monotonic()) * 1_000))
        changed: Body = msgspec.structs.replace(self.body, wait_ms=left_ms)
        return changed


def ignore(_reply: Any, _error: BrokerError | None) -> None:
    """For who does not care what becomes of it."""
