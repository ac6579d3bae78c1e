"""The pace of an adaptive producer: one message at a time, and an interval after each."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.broker import Published
from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.adaptive import AdaptiveConfig, AdaptiveInterval
from broker_core.replies import Reply

_NEVER_NS = 1 << 62


class Pace:
    """`free` says whether the next message may be sent. `go_on()` is called when the interval is over."""

    def __init__(self, config: AdaptiveConfig, loop: Loop, go_on: Callable[[], object]) -> None:
        self.interval = AdaptiveInterval(config.base_ms / 1_000, config.on_refusal_times, config.on_success_divide)
        self.next_ns = 0
        self._loop = loop
        self._go_on = go_on

    @property
    def free(self) -> bool:
        """Whether no message is in progress and the interval is over."""
        return self._loop.now_ns >= self.next_ns

    def begin(self) -> None:
        """A message was sent; the next one waits for its answer."""
        self.next_ns = _NEVER_NS

    def end(self, accepted: bool) -> None:
        """The answer came: the interval begins."""
        interval_s = self.interval.accepted() if accepted else self.interval.refused()
        self.next_ns = self._loop.now_ns + ns_from_s(interval_s)
        self._loop.timers.at(self.next_ns, lambda _at: self._go_on())


def accepted(reply: Reply[Published | None]) -> bool:
    """Whether the broker and every subscription had space for the message."""
    if reply.error is not None:
        return not isinstance(reply.error, BrokerError) or reply.error.code is not ErrorCode.THROTTLED
    published = reply.result()
    return published is not None and not published.missed_by
