"""Faults of clients' requests. Their beginning and end are events."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection
from functools import cache
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from broker_core.clock import ns_from_s
from broker_core.errors import ConfigError, ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.faults.kafka_names import JOIN, KAFKA_APIS, KAFKA_ERRORS, TO_COORDINATOR, TO_LEADER
from broker_core.jitter import Jitter
from broker_core.messages import TopicPartition
from broker_core.names import free_name
from broker_core.plurals import counted, ordinal
from broker_core.replies import Reply
from broker_core.settings import NotNegative, Positive, Settings, TimeS, WaitMsNumber
from broker_core.snapshots import FAULT_PREFIX, FaultView
from broker_core.timers import Timer, Timers

Effect = Literal[
    "delay",
    "error",
    "drop",
    "lose_reply",
    "cut_reply",
    "throttle",
    "hold",
    "leader_change",
    "coordinator_change",
    "bandwidth",
    "slice",
]

#: What effects need besides, in the order in which it is typed.
NEEDS: dict[str, tuple[str, ...]] = {
    "error": ("error",),
    "delay": ("delay_ms",),
    "throttle": ("delay_ms",),
    "bandwidth": ("bytes_per_s",),
    "slice": ("slice_bytes", "delay_ms"),
}

_EFFECTS_WITH = {
    **{name: [each for each in NEEDS if name in NEEDS[each]] for names in NEEDS.values() for name in names},
    "jitter_ms": ["delay"],
}
Pattern = Annotated[str, Meta(max_length=249, description='A name, with "*" for any characters; "" is every one')]
_PIECES_PER_S = 20  # of a reply at a bandwidth
_WORDS: dict[str, str] = {
    "drop": "connection dropped",
    "lose_reply": "reply lost",
    "cut_reply": "reply cut in the middle",
    "hold": "held",
    "leader_change": "leader change told",
    "coordinator_change": "coordinator change told",
}
# What a broker answers that has just lost its part: which requests, and with which error of Kafka's.
_CHANGES: dict[str, tuple[Collection[str], str]] = {
    "leader_change": (TO_LEADER, "NOT_LEADER_OR_FOLLOWER"),
    "coordinator_change": (TO_COORDINATOR, "NOT_COORDINATOR"),
}


class ClientRequest(msgspec.Struct, frozen=True):
    """A request as a listener knows it before serving it.

    `api` is Kafka's name of the API. A heartbeat by which a member joins (KIP-848) is a JoinGroup, too: `joins`.
    """

    client: str
    api: str
    group: str = ""
    topics: Collection[str] = ()
    joins: bool = False
    partitions: Collection[TopicPartition] = ()  # of these topics


class ClientFault(Settings, frozen=True, kw_only=True):
    """A fault with `effect` on requests that match all of `client`, `group`, `topic`, `partition` and `api`.

    All but `partition` are names with `*` for any characters; "" matches every request. A request is affected as a
    whole, also if only one of its partitions matches. Of the matching requests, the first
    `skip` pass; then each `every`-th is affected, with `probability` as drawn by `seed`, at most `times` of them (None:
    no limit), for `for_s` seconds (None: until the fault is ended).

    - delay: served after `delay_ms`, give or take up to `jitter_ms`, as drawn by `seed`.
    - error: not served; the reply is `error`, one of Kafka's names.
    - drop: not served; the connection is closed.
    - lose_reply: served; the connection is closed instead of a reply, so that the client may retry.
    - cut_reply: served; the connection is closed after half of the reply.
    - throttle: served; the reply has `throttle_time_ms` = `delay_ms`, and the next request waits that long.
    - hold: served when the fault ends.
    - leader_change: what goes to the leader of a partition is not served; the reply is NOT_LEADER_OR_FOLLOWER.
    - coordinator_change: what goes to the coordinator of a group or transactional id is not served; the reply is
      NOT_COORDINATOR.
    - bandwidth: served after the time that its bytes take at `bytes_per_s`; its reply comes at that rate.
    - slice: served; the reply comes in pieces of `slice_bytes`, each after `delay_ms`.

    After a change of leader or coordinator clients look for the new one, which is this broker again. A consumer of
    librdkafka up to 2.16 that is told so while it asks for its offsets (OffsetFetch) does not ask again, and reads
    nothing until its next rebalance; that is its own (issue 5586), with Kafka, too.

    Raises INVALID_CONFIG.
    """

    effect: Effect
    client: Pattern = ""
    group: Pattern = ""
    topic: Pattern = ""
    partition: NotNegative | None = None
    api: Annotated[str, Meta(max_length=60, examples=["Produce"], description='Kafka\'s name; "" is every API')] = ""
    error: Annotated[str, Meta(max_length=60, examples=["NOT_LEADER_OR_FOLLOWER"])] = ""
    delay_ms: WaitMsNumber = 0
    jitter_ms: WaitMsNumber = 0
    bytes_per_s: NotNegative = 0
    slice_bytes: NotNegative = 0
    skip: NotNegative = 0
    every: Positive = 1
    probability: Annotated[float, Meta(ge=0, le=1)] = 1.0
    seed: NotNegative = 0
    times: Positive | None = None
    for_s: TimeS | None = None
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, effects in _EFFECTS_WITH.items():
            if name in NEEDS.get(self.effect, ()) and not getattr(self, name):
                raise ConfigError(f"effect {self.effect} needs {name}")
            if getattr(self, name) and self.effect not in effects:
                raise ConfigError(f"{name} only goes with effect {' or '.join(effects)}")
        if self.error and self.error not in KAFKA_ERRORS:
            raise ConfigError(f"error {self.error!r} is not one of Kafka's; {_nearest(self.error, KAFKA_ERRORS)}")
        if self.api and not any(_fits(self.api, name) for name in KAFKA_APIS):
            raise ConfigError(f"api {self.api!r} is not one of the APIs served here; {_nearest(self.api, KAFKA_APIS)}")

    @property
    def answer(self) -> str:
        """The error of Kafka's that affected requests are answered with; "" for none."""
        return _CHANGES[self.effect][1] if self.effect in _CHANGES else self.error

    def matches(self, request: ClientRequest) -> bool:
        if self.effect in _CHANGES and request.api not in _CHANGES[self.effect][0]:
            return False
        return (
            _fits(self.client, request.client)
            and _fits(self.group, request.group)
            and (_fits(self.api, request.api) or (request.joins and _fits(self.api, JOIN)))
            and (not self.topic or any(_fits(self.topic, topic) for topic in request.topics))
            and (
                self.partition is None
                or any(number == self.partition and _fits(self.topic, topic) for topic, number in request.partitions)
            )
        )

    def late_s(self, request_bytes: int) -> float:
        if self.effect == "bandwidth":
            return request_bytes / self.bytes_per_s
        return self.delay_ms / 1_000 if self.effect == "delay" else 0

    def piece(self, rest_bytes: int) -> tuple[int, float]:
        """For the effects bandwidth and slice: bytes of a reply to send next, and seconds to wait after them."""
        if self.effect == "slice":
            return self.slice_bytes, self.delay_ms / 1_000
        size_bytes = min(rest_bytes, max(1, self.bytes_per_s // _PIECES_PER_S))
        return size_bytes, size_bytes / self.bytes_per_s

    @property
    def what(self) -> str:
        if self.effect == "error":
            effect = self.error
        elif self.effect in {"delay", "throttle"}:
            effect = f"{self.effect} of {self.delay_ms:g} ms"
            effect += f", give or take {self.jitter_ms:g} ms" if self.jitter_ms else ""
        elif self.effect == "bandwidth":
            effect = f"at {self.bytes_per_s} bytes/s"
        elif self.effect == "slice":
            effect = f"reply in pieces of {counted(self.slice_bytes, 'byte')}, each after {self.delay_ms:g} ms"
        else:
            effect = _WORDS[self.effect]
        where = " ".join(
            part
            for part in (
                self.api or "every request",
                self.client and f"of {self.client}",
                self.topic and f"to {self.topic}",
                "" if self.partition is None else f"for partition {self.partition}",
                self.group and f"in {self.group}",
            )
            if part
        )
        often = "" if self.every == 1 else f", every {ordinal(self.every)}"
        often += "" if self.probability == 1 else f", {self.probability:.0%} of them"
        most = "" if self.times is None else f", {counted(self.times, 'time')}"
        return f"{effect}: {where}{often}{most}"


def _nearest(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, cutoff=0)[0]
    return f"did you mean {near}? The testing reference lists all"


def _fits(pattern: str, name: str) -> bool:
    return not pattern or _compiled(pattern).fullmatch(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL)


MAX_ENDED_COUNTS = 1_000
# The fault that a request which is due meets instead; None for none.
Substitute = Callable[[ClientRequest, ClientFault], ClientFault | None]


class _Running(msgspec.Struct):
    fault: ClientFault
    what: str
    since_ns: int
    until_ns: int | None
    timer: Timer | None
    ended: Reply[int]  # with the time
    draw: Callable[[], float]
    substitute: Substitute | None = None
    matched: int = 0
    met: int = 0


F = TypeVar("F", bound=ClientFault)


class ClientFaults:
    """The active faults. Requests are counted in order, so that the same requests are affected in each run."""

    def __init__(self, events: EventStream, timers: Timers) -> None:
        self._events = events
        self._timers = timers
        self._running: dict[str, _Running] = {}
        self._ended_counts: dict[str, int] = {}  # how many requests faults met that have ended, by their name

    def named(self, fault: F) -> F:
        """`fault` with a name. Raises INVALID_REQUEST if the name is taken, INVALID_TOPIC if it is invalid."""
        return msgspec.structs.replace(fault, name=free_name(fault.name, "fault", self._running))

    def begin(
        self, now_ns: int, fault: ClientFault, *, substitute: Substitute | None = None, what: str = ""
    ) -> ClientFault:
        """Activate `fault`. Returns it with its name. Raises as `named`.

        Each request that is due meets `substitute(request, fault)` instead if that is given; `what` describes it.
        """
        fault = self.named(fault)
        until_ns, timer = None, None
        if fault.for_s is not None:
            until_ns = now_ns + ns_from_s(fault.for_s)
            timer = self._timers.at(until_ns, lambda at_ns: self.end(at_ns, fault.name))
        self._running[fault.name] = _Running(
            fault, what or fault.what, now_ns, until_ns, timer, Reply(), Jitter(fault.seed), substitute
        )
        detail = {"fault": FAULT_PREFIX + fault.name, "until_ns": until_ns, "client_fault": msgspec.to_builtins(fault)}
        self._emit(now_ns, fault, what or fault.what, detail)
        return fault

    def end(self, now_ns: int, name: str) -> None:
        """End a fault; requests that it held are served. Raises UNKNOWN_FAULT if there is none."""
        running = self._find(name)
        del self._running[name]
        self._ended_counts[name] = running.met
        while len(self._ended_counts) > MAX_ENDED_COUNTS:
            del self._ended_counts[next(iter(self._ended_counts))]
        if running.timer is not None:
            running.timer.cancel()
        met = f" after {running.met} requests" if running.met != 1 else " after one request"
        self._emit(now_ns, running.fault, f"fault {name} is over{met}", {"ended": FAULT_PREFIX + name})
        running.ended.resolve(now_ns)

    def fault(self, name: str) -> ClientFault:
        """The active fault `name`. Raises UNKNOWN_FAULT if there is none."""
        return self._find(name).fault

    def ended(self, name: str) -> Reply[int]:
        """A reply that is settled with the time when the fault ends. Raises UNKNOWN_FAULT if there is none."""
        return self._find(name).ended

    def met(self, name: str) -> int:
        """How many requests the fault `name` has affected, of the active ones and the last thousand; 0 for others."""
        return self._running[name].met if name in self._running else self._ended_counts.get(name, 0)

    @property
    def any(self) -> bool:
        return bool(self._running)

    def judge(self, now_ns: int, request: ClientRequest) -> ClientFault | None:
        """The first fault that affects `request`. Every matching fault counts the request."""
        found: ClientFault | None = None
        for running in list(self._running.values()):
            fault = running.fault
            if not fault.matches(request):
                continue
            running.matched += 1
            due = running.matched > fault.skip and (running.matched - fault.skip) % fault.every == 0
            # A hold goes on when it has met as many as it may.
            due = due and (fault.times is None or running.met < fault.times)
            if due and found is None and running.draw() < fault.probability:
                found = fault if running.substitute is None else running.substitute(request, fault)
                if found is None:
                    continue
                if found.jitter_ms:
                    # A delay of 0 is none.
                    delay_ms = max(0.001, found.delay_ms + found.jitter_ms * (2 * running.draw() - 1))
                    found = msgspec.structs.replace(found, delay_ms=delay_ms)
                running.met += 1
                if fault.times is not None and running.met >= fault.times and fault.effect != "hold":
                    self.end(now_ns, fault.name)
        return found

    def views(self) -> dict[str, FaultView]:
        """The active faults by name, in the order of their beginning."""
        return {
            name: FaultView(_plain(each.fault.client), FAULT_PREFIX + name, each.what, each.since_ns, each.until_ns)
            for name, each in self._running.items()
        }

    def _emit(self, now_ns: int, fault: ClientFault, cause: str, detail: dict[str, object]) -> None:
        self._events.emit(
            now_ns, EventKind.FAULT, client=_plain(fault.client), topic=_plain(fault.topic), cause=cause, detail=detail
        )

    def _find(self, name: str) -> _Running:
        return must(self._running.get(name), ErrorCode.UNKNOWN_FAULT, name)


def _plain(pattern: str) -> str:
    """`pattern` where it is a plain name, "" for one with wildcards."""
    return "" if "*" in pattern else pattern
