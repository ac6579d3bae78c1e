from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.queues.dead_letters import Redriven, RedriveResult, Refused
from broker_core.replies import Reply
from broker_core.timers import Timer, Timers


class PacedRedrives:
    """The last redrive of each queue, which may be running."""

    def __init__(self) -> None:
        self._last: dict[str, PacedRedrive] = {}

    def running(self, queue: str) -> PacedRedrive | None:
        found = self._last.get(queue)
        return None if found is None or found.reply.done else found

    def last(self, queue: str) -> PacedRedrive:
        """The queue's redrive that is under way, or its last one. Raises UNKNOWN_DEAD_LETTER if there was none."""
        about = f"no redrive of {queue} at a rate was requested"
        return must(self._last.get(queue), ErrorCode.UNKNOWN_DEAD_LETTER, about)

    def forget(self, queue: str) -> None:
        """The queue was deleted: what is under way is cancelled, and nothing is known of earlier ones."""
        last = self._last.pop(queue, None)
        if last is not None:
            last.end()

    def check(self, queue: str) -> None:
        if self.running(queue) is not None:
            about = f"a redrive of {queue} is in progress; stop it, or let it finish"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about)

    def start(self, now_ns: int, queue: str, paced: PacedRedrive) -> None:
        self.check(queue)
        self._last[queue] = paced
        paced.start(now_ns)


class PacedRedrive:
    """Redrives dead letters one by one at `rate_per_s`, the first at once. `reply` is settled at the end."""

    def __init__(
        self, timers: Timers, offsets: Iterable[int], rate_per_s: float, redrive: Callable[[int, int], RedriveResult]
    ) -> None:
        """Raises INVALID_REQUEST if the rate is not positive."""
        if not 0 < rate_per_s < float("inf"):
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"a redrive at {rate_per_s} a second")
        self.reply: Reply[RedriveResult] = Reply()
        self._timers = timers
        self._offsets = tuple(dict.fromkeys(offsets))
        self.letter_count = len(self._offsets)
        self._interval_ns = NS_PER_S / Fraction(rate_per_s)
        self._redrive = redrive
        self._redriven: list[Redriven] = []
        self._refused: list[Refused] = []
        self._started_ns = 0
        self._timer: Timer | None = None

    @property
    def handled_count(self) -> int:
        return len(self._redriven) + len(self._refused)

    def start(self, now_ns: int) -> None:
        self._started_ns = now_ns
        self._step(now_ns)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.reply.resolve(RedriveResult(tuple(self._redriven), tuple(self._refused)))

    def _step(self, now_ns: int) -> None:
        if self.handled_count < self.letter_count:
            offset = self._offsets[self.handled_count]
            try:
                result = self._redrive(now_ns, offset)
            except BrokerError as error:
                # One that is refused does not stop the others.
                result = RedriveResult((), (Refused.of(offset, error),))
            self._redriven += result.redriven
            self._refused += result.refused
        if self.handled_count < self.letter_count:
            # Counted from the start, so that rounding errors do not accumulate.
            self._timer = self._timers.at(self._started_ns + int(self.handled_count * self._interval_ns), self._step)
        else:
            self.end()
