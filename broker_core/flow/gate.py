"""The gate of a topic or queue: it admits messages while depth and rate permit, and otherwise applies its policy.

At any time, in messages: offered = admitted + rejected + dropped + failed + waiting.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.flow.config import FlowConfig
from broker_core.flow.token_bucket import TokenBucket
from broker_core.plurals import counted
from broker_core.replies import Reply
from broker_core.settings import LimitPolicy
from broker_core.snapshots import GateView
from broker_core.timers import Timer, Timers

Depth = Callable[[], tuple[int, int, str]]  # (messages, bytes, slowest reader)
Admit = Callable[[int], object]  # (now_ns): appends the messages of the offer
# (now_ns, messages, bytes, less urgent than this priority or None): evict to free that much, or nothing
Evict = Callable[[int, int, int, int | None], bool]


class OfferResult(enum.StrEnum):
    ADMITTED = "admitted"
    REFUSED = "refused"
    DROPPED = "dropped"


class Answer(enum.Enum):
    PARK = enum.auto()  # the offer waits, first come, first served, until there is space or its deadline passes
    REFUSE = enum.auto()  # the producer gets an error
    DROP = enum.auto()  # the messages are dropped without an error
    EVICT = enum.auto()  # the oldest messages are evicted; where that does not suffice, the new ones are dropped
    EVICT_LESS_URGENT = enum.auto()  # the same, but only less urgent messages are evicted


# (at the depth limit, above the rate). Evicting messages does not lower a rate.
ANSWERS: dict[LimitPolicy, tuple[Answer, Answer]] = {
    "block": (Answer.PARK, Answer.PARK),
    "reject": (Answer.REFUSE, Answer.REFUSE),
    "drop_newest": (Answer.DROP, Answer.DROP),
    "drop_oldest": (Answer.EVICT, Answer.DROP),
    "priority_evict": (Answer.EVICT_LESS_URGENT, Answer.DROP),
}


class GateCounts(msgspec.Struct):
    """Totals in messages. `failed` were admitted, but the append raised an error."""

    offered: int = 0
    admitted: int = 0
    rejected: int = 0
    dropped: int = 0
    failed: int = 0


class Obstacle(msgspec.Struct, frozen=True):
    """The cause why an offer cannot be admitted, and the action. `reader` is the full subscription, if it is one."""

    answer: Answer
    cause: str
    reader: str = ""


class _FullReader(msgspec.Struct):
    """The effect of one full reader: blocked producers with (since_ns, offers), and totals."""

    blocked: dict[str, tuple[int, int]] = {}
    blocked_ns: int = 0
    rejected: int = 0


class _Offer(msgspec.Struct, eq=False):
    client: str
    count: int
    size_bytes: int
    priority: int
    admit: Admit
    reply: Reply[OfferResult]
    deadline_ns: int | None = None
    timer: Timer | None = None
    cause: str = ""  # of its wait
    reader: str = ""  # the full subscription, "" for the target itself


class Gate(msgspec.Struct, eq=False):
    """Backpressure of one topic or queue.

    `evict` makes room (default: new messages are dropped); `reader_obstacle(count)` is the first full reader.
    """

    target: str
    config: FlowConfig
    _depth: Depth
    _events: EventStream
    _timers: Timers
    evict: Evict | None = None
    reader_obstacle: Callable[[int], Obstacle | None] = lambda _count: None
    counts: GateCounts = msgspec.field(default_factory=GateCounts)
    full: bool = False  # whatever its limits, it refuses all
    _bucket: TokenBucket | None = None
    _line: OrderedDict[int, _Offer] = msgspec.field(default_factory=OrderedDict)
    _held: dict[str, _FullReader] = {}  # by reader; "" is the target itself
    _admitting: bool = False
    _wake: Timer | None = None

    def __post_init__(self) -> None:
        self._bucket = _bucket_of(self.config)
        self._held[""] = _FullReader()

    @property
    def waiting(self) -> int:
        return sum(offer.count for offer in self._line.values())

    def offer(
        self,
        now_ns: int,
        client: str,
        count: int,
        size_bytes: int,
        admit: Admit,
        *,
        priority: int = 0,
        deadline_ns: int | None = None,
    ) -> Reply[OfferResult]:
        """`client` offers `count` messages. When they are admitted, `admit(now_ns)` is called, now or later.

        The reply is settled at once unless the offer has to wait. Waiting offers are admitted in order; they fail with
        THROTTLED after `block_timeout_ms`, or at `deadline_ns` if that is earlier. An error raised by `admit` fails the
        reply.
        """
        self.counts.offered += count
        offer = _Offer(client, count, size_bytes, priority, admit, Reply(), deadline_ns)
        obstacle = self._obstacle(offer)
        if self._never_fits(offer):
            what = f"{counted(count, 'message')} of {size_bytes} bytes {'is' if count == 1 else 'are'}"
            self._refuse(now_ns, offer, f"{what} more than {self._limits()}")
        elif self._line and (obstacle is None or not obstacle.reader or obstacle.answer is Answer.PARK):
            offer.reader = next(iter(self._line.values())).reader
            self._park(now_ns, offer, f"others wait for {self.target}")
        elif obstacle is not None:
            offer.reader = obstacle.reader
            self._answer(now_ns, offer, obstacle.answer, obstacle.cause)
        else:
            self._admit_at_rate(now_ns, offer)
        return offer.reply

    def room(self, now_ns: int) -> None:
        """Admit waiting offers, in order, as far as there is room."""
        if self._admitting:
            return  # called by a consumer that was served by an admission; the outer call continues
        self._admitting = True
        try:
            while self._line:
                offer = next(iter(self._line.values()))
                obstacle = self._obstacle(offer)
                if obstacle is not None and obstacle.reader and obstacle.answer is Answer.REFUSE:
                    self._leave(now_ns, offer, obstacle.cause)
                    offer.reader = obstacle.reader
                    self._refuse(now_ns, offer, obstacle.cause)
                    continue
                if obstacle is not None:
                    return
                if self._bucket is not None and (wait_ns := self._bucket.take(now_ns, offer.count)):
                    self._wake_at(now_ns + wait_ns)
                    return
                self._leave(now_ns, offer, "room")
                self._admit(now_ns, offer)
        finally:
            self._admitting = False

    def configure(self, now_ns: int, config: FlowConfig) -> None:
        self.config = config
        self._bucket = _bucket_of(config)
        self.room(now_ns)

    def leave(self, now_ns: int, client: str) -> int:
        """`client` has stopped: fail its waiting offers with CLOSED. Returns the number of their messages."""
        failed = 0
        for offer in [offer for offer in self._line.values() if offer.client == client]:
            if id(offer.reply) in self._line:  # the failure of one may have withdrawn others
                self._give_up(now_ns, offer, ErrorCode.CLOSED, f"{client} has stopped")
                failed += offer.count
        self.room(now_ns)
        return failed

    def withdraw(self, now_ns: int, reply: Reply[OfferResult]) -> bool:
        """Fail the waiting offer of `reply`; False if it does not wait."""
        offer = self._line.get(id(reply))
        if offer is None:
            return False
        self._give_up(now_ns, offer, ErrorCode.REQUEST_TIMED_OUT, f"{offer.client} has withdrawn it")
        self.room(now_ns)
        return True

    def close(self, now_ns: int) -> None:
        while self._line:
            self._give_up(now_ns, next(iter(self._line.values())), ErrorCode.CLOSED, f"{self.target} is deleted")

    def view(self, now_ns: int) -> GateView:
        messages, size_bytes, slowest = self._depth()
        view = GateView(
            target=self.target,
            policy=self.config.policy,
            depth=messages,
            limit=self.config.max_messages,
            rate_limit_per_s=self.config.rate_per_s,
            tokens=None if self._bucket is None else self._bucket.tokens(now_ns),
            slowest=slowest,
            dropped=self.counts.dropped,
            depth_bytes=0 if self.config.max_bytes is None else size_bytes,
            limit_bytes=self.config.max_bytes,
        )
        return self.held_by(now_ns, "", view)

    def held_by(self, now_ns: int, reader: str, view: GateView) -> GateView:
        """`view` with the blocked producers and the rejections of `reader`."""
        held = self._held.get(reader) or _FullReader()
        return msgspec.structs.replace(
            view,
            blocked=tuple((client, since_ns) for client, (since_ns, _) in held.blocked.items()),
            blocked_ns_total=held.blocked_ns + sum(now_ns - since_ns for since_ns, _ in held.blocked.values()),
            rejected=held.rejected,
        )

    # -- inside

    def _obstacle(self, offer: _Offer) -> Obstacle | None:
        if self.full:
            return Obstacle(Answer.REFUSE, f"{self.target} is full")
        config = self.config
        if config.max_messages is None and config.max_bytes is None:
            return self.reader_obstacle(offer.count)
        messages, size_bytes, slowest = self._depth()
        if config.max_messages is not None and messages + offer.count > config.max_messages:
            cause = f"{self.target} is full: {messages} of {config.max_messages} messages"
        elif config.max_bytes is not None and size_bytes + offer.size_bytes > config.max_bytes:
            cause = f"{self.target} is full: {size_bytes} of {config.max_bytes} bytes"
        else:
            return self.reader_obstacle(offer.count)
        return Obstacle(ANSWERS[config.policy][0], f"{cause}, slowest reader {slowest}" if slowest else cause)

    def _never_fits(self, offer: _Offer) -> bool:
        config = self.config
        return (config.max_messages is not None and offer.count > config.max_messages) or (
            config.max_bytes is not None and offer.size_bytes > config.max_bytes
        )

    def _limits(self) -> str:
        limits = [(self.config.max_messages, "message"), (self.config.max_bytes, "byte")]
        allowed = " and ".join(counted(limit, unit) for limit, unit in limits if limit is not None)
        return f"{self.target} can ever take ({allowed})"

    def _answer(self, now_ns: int, offer: _Offer, answer: Answer, cause: str) -> None:
        if answer is Answer.PARK:
            self._park(now_ns, offer, cause)
        elif answer is Answer.REFUSE:
            self._refuse(now_ns, offer, cause)
        elif answer is Answer.DROP or not self._make_room(now_ns, offer, answer):
            self.counts.dropped += offer.count
            self._emit(now_ns, EventKind.DROPPED, offer, cause)
            offer.reply.resolve(OfferResult.DROPPED)
        else:
            self._admit_at_rate(now_ns, offer)

    def _admit_at_rate(self, now_ns: int, offer: _Offer) -> None:
        if self._bucket is not None and self._bucket.take(now_ns, offer.count):
            cause = f"{self.target} takes at most {self.config.rate_per_s:g} messages/s"
            self._answer(now_ns, offer, ANSWERS[self.config.policy][1], cause)
        else:
            self._admit(now_ns, offer)

    def _make_room(self, now_ns: int, offer: _Offer, answer: Answer) -> bool:
        if self.evict is None:
            return False
        messages, size_bytes, _ = self._depth()
        config = self.config
        over = messages + offer.count - config.max_messages if config.max_messages is not None else 0
        over_bytes = size_bytes + offer.size_bytes - config.max_bytes if config.max_bytes is not None else 0
        than = offer.priority if answer is Answer.EVICT_LESS_URGENT else None
        return self.evict(now_ns, max(over, 0), max(over_bytes, 0), than) and self._obstacle(offer) is None

    def _admit(self, now_ns: int, offer: _Offer) -> None:
        try:
            offer.admit(now_ns)
        except Exception as error:  # it must not reach the caller that made space
            self.counts.failed += offer.count
            offer.reply.fail(error)
        else:
            self.counts.admitted += offer.count
            offer.reply.resolve(OfferResult.ADMITTED)

    def _refuse(self, now_ns: int, offer: _Offer, cause: str) -> None:
        self._reject(now_ns, offer, cause)
        offer.reply.resolve(OfferResult.REFUSED)

    def _reject(self, now_ns: int, offer: _Offer, cause: str) -> None:
        self.counts.rejected += offer.count
        self._held.setdefault(offer.reader, _FullReader()).rejected += offer.count
        self._emit(now_ns, EventKind.REJECTED, offer, cause)

    def _park(self, now_ns: int, offer: _Offer, cause: str) -> None:
        self._line[id(offer.reply)] = offer
        offer.cause = cause
        deadline_ns = offer.deadline_ns
        if self.config.block_timeout_ms is not None:
            end_ns = now_ns + ns_from_ms(self.config.block_timeout_ms)
            deadline_ns = end_ns if deadline_ns is None else min(deadline_ns, end_ns)
        if deadline_ns is not None:
            offer.timer = self._timers.at_end_of_wait(deadline_ns, lambda time_ns: self._time_out(time_ns, offer))
        blocked = self._held.setdefault(offer.reader, _FullReader()).blocked
        since_ns, offers = blocked.get(offer.client, (now_ns, 0))
        blocked[offer.client] = (since_ns, offers + 1)
        if not offers:
            self._emit(now_ns, EventKind.PRODUCER_BLOCKED, offer, cause)
        if self._bucket is not None and len(self._line) == 1 and self._obstacle(offer) is None:
            self._wake_at(now_ns + self._bucket.wait_ns(now_ns, offer.count))

    def _leave(self, now_ns: int, offer: _Offer, cause: str) -> None:
        del self._line[id(offer.reply)]
        if offer.timer is not None:
            offer.timer.cancel()
        held = self._held[offer.reader]
        since_ns, offers = held.blocked[offer.client]
        if offers > 1:
            held.blocked[offer.client] = (since_ns, offers - 1)
            return
        del held.blocked[offer.client]
        held.blocked_ns += now_ns - since_ns
        self._emit(now_ns, EventKind.PRODUCER_UNBLOCKED, offer, cause)

    def _time_out(self, now_ns: int, offer: _Offer) -> None:
        obstacle = self._obstacle(offer)
        self._give_up(now_ns, offer, ErrorCode.THROTTLED, offer.cause if obstacle is None else obstacle.cause)
        self.room(now_ns)

    def _give_up(self, now_ns: int, offer: _Offer, code: ErrorCode, cause: str) -> None:
        self._leave(now_ns, offer, cause)
        self._reject(now_ns, offer, cause)
        offer.reply.fail(BrokerError(code, cause))

    def _wake_at(self, deadline_ns: int) -> None:
        if self._wake is not None:
            self._wake.cancel()
        self._wake = self._timers.at(deadline_ns, self.room)

    def _emit(self, now_ns: int, kind: EventKind, offer: _Offer, cause: str) -> None:
        self._events.emit(
            now_ns,
            kind,
            topic=self.target,
            client=offer.client,
            group=offer.reader,
            count=offer.count,
            size_bytes=offer.size_bytes,
            cause=cause,
        )


def _bucket_of(config: FlowConfig) -> TokenBucket | None:
    if config.rate_per_s is None:
        return None
    return TokenBucket(config.rate_per_s, config.burst or max(config.rate_per_s, 1.0))
