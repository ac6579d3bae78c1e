"""By when a connection must have said something, and read something."""

from __future__ import annotations

import time

from broker_core.listeners.access.limits import GuardConfig


class Deadlines:
    """Of one connection. Times in seconds of the monotonic clock; None where nothing is waited for."""

    def __init__(self, limits: GuardConfig) -> None:
        self._limits = limits
        self.heard_s = time.monotonic()
        self._hello_s: float | None = self.heard_s  # since when it ought to say hello
        self._frame_s: float | None = None  # since when a frame is on its way
        self._stuck_s: float | None = None  # since when it does not read

    def heard(self, partial: bool) -> None:
        """Bytes have come; they end in the middle of a frame where that is `partial`."""
        self.heard_s = time.monotonic()
        self._frame_s = (self._frame_s or self.heard_s) if partial else None

    def greeted(self) -> None:
        """It has said hello."""
        self._hello_s = None

    def stuck(self, is_stuck: bool) -> None:
        """It reads, or does not read, what is written."""
        self._stuck_s = time.monotonic() if is_stuck else None

    def missed(self, now_s: float) -> str:
        """What it has not done in time, or ""."""
        limits = self._limits
        for since_s, limit_ms, what in (
            (self._hello_s, limits.header_timeout_ms, "it did not say hello"),
            (self._frame_s, limits.body_timeout_ms, "it did not end a frame"),
            (self.heard_s, limits.idle_timeout_ms, "it said nothing"),
            (self._stuck_s, limits.write_timeout_ms, "it did not read its replies"),
        ):
            if since_s is not None and (now_s - since_s) * 1_000 > limit_ms:
                return f"{what} for {limit_ms / 1_000:g} s"
        return ""
