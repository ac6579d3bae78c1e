from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.files import BreakableFiles
from broker_core.simulation.actions.faults import (
    Crash,
    DropHeartbeats,
    EndFaults,
    Fault,
    FillDisk,
    HoldSchedule,
    JumpClock,
    Pause,
    Restart,
    SlowDown,
)
from broker_core.simulation.actor import Actor
from broker_core.simulation.consumer import ConsumerActor
from broker_core.snapshots import FaultView
from broker_core.timers import Timer

_DISK = ""  # the client of faults that are nobody's


class _Lasting(msgspec.Struct):
    what: str
    since_ns: int
    until_ns: int | None
    over: Callable[[], object]  # ends it, and emits the event
    timer: Timer | None


class FaultInjector:
    """Begins and ends faults; each begin and end is a `fault` event with the client and the fault.

    The wall clock: everything in the broker goes by session time, which only moves forward, and the wall clock is
    read once, when the session begins. So a jump moves `clock_jump_s`, what the machine's clock would say, and
    nothing else.
    """

    def __init__(self, loop: Loop, events: EventStream, actors: Mapping[str, Actor], files: BreakableFiles) -> None:
        self.clock_jump_s = 0.0
        self._loop = loop
        self._events = events
        self._actors = actors
        self._files = files
        self._lasting: dict[tuple[str, str], _Lasting] = {}  # by client and what it is
        self._held, self._late_ns = False, 0
        self._waiting: list[tuple[int, Callable[[int], object]]] = []  # of the schedule: when it was due

    def check(self, fault: Fault) -> None:
        """Raises INVALID_REQUEST if `fault` cannot be done now."""
        match fault:
            case Crash() | Pause() | SlowDown():
                actor = self._actor(fault.client)
                if actor.crashed:
                    self._refuse(f"{actor.name} has crashed; restart it first")
                if isinstance(fault, Crash | Pause) and actor.state in {"idle", "stopped"}:
                    self._refuse(f"{actor.name} is {'on the bench' if actor.state == 'idle' else 'finished'}")
                if isinstance(fault, Pause) and actor.paused:
                    self._refuse(f"{actor.name} is paused already")
            case DropHeartbeats():
                self._consumer(fault.client)
            case Restart():
                if not self._actor(fault.client).crashed:
                    self._refuse(f"{fault.client} has not crashed")
            case EndFaults():
                if not any(client == fault.client for client, _ in self._lasting):
                    self._refuse(f"nothing is wrong with {fault.client or 'the disk'}")
            case FillDisk() if self._files.full:
                self._refuse("the disk is full already")

    def do(self, fault: Fault) -> None:
        match fault:
            case Crash():
                actor = self._actor(fault.client)
                self._end_all(actor.name)
                self._begin(actor.name, "crash", fault.for_s, actor.restart, "restarted")
                actor.crash()
            case Restart() | EndFaults():
                self._end_all(fault.client)
            case Pause():
                actor = self._actor(fault.client)
                self._begin(actor.name, "pause", fault.for_s, actor.resume)
                actor.pause()
            case SlowDown():
                actor = self._actor(fault.client)
                self._begin(
                    actor.name,
                    f"slow down {fault.factor:g} times",
                    fault.for_s,
                    lambda: setattr(actor, "slowness", 1.0),
                    slot="slow",
                )
                actor.slowness = fault.factor
            case DropHeartbeats():
                consumer = self._consumer(fault.client)
                self._begin(consumer.name, "heartbeats dropped", fault.for_s, lambda: consumer.mute(False))
                consumer.mute(True)
            case FillDisk():
                self._begin(_DISK, "disk full", fault.for_s, lambda: setattr(self._files, "full", False))
                self._files.full = True
            case JumpClock():
                self.clock_jump_s += fault.by_s
                self._emit(_DISK, f"wall clock set by {fault.by_s:+g} s")
            case HoldSchedule():
                self._held = fault.on
                if not fault.on and self._waiting:
                    waiting, self._waiting = self._waiting, []
                    self._late_ns = self._loop.now_ns - waiting[0][0]
                    for due_ns, do in waiting:
                        self._again(due_ns, do)

    def postpone(self, due_ns: int, do: Callable[[int], object]) -> bool:
        """Whether what the schedule has at `due_ns` waits; `do(due_ns)` is called again when it need not any more."""
        if self._held:
            self._waiting.append((due_ns, do))
        elif self._loop.now_ns < due_ns + self._late_ns:
            self._again(due_ns, do)
        else:
            return False
        return True

    def _again(self, due_ns: int, do: Callable[[int], object]) -> None:
        self._loop.timers.at(due_ns + self._late_ns, lambda _at: do(due_ns))

    # -- inside

    def _begin(
        self, client: str, what: str, for_s: float | None, end: Callable[[], object], ended: str = "", slot: str = ""
    ) -> None:
        """`what` begins, in place of another in the same slot."""
        place = (client, slot or what)
        self._drop(place)
        ended = ended or f"{what} is over"

        def over() -> None:
            self._emit(client, ended, {"ended": place[1]})
            end()

        now_ns, timer, until_ns = self._loop.now_ns, None, None
        if for_s is not None:
            until_ns = now_ns + ns_from_s(for_s)
            timer = self._loop.timers.at(until_ns, lambda _at: self._end(place))
        self._lasting[place] = _Lasting(what, now_ns, until_ns, over, timer)
        self._emit(client, what, {"fault": place[1], "until_ns": until_ns})

    def _end(self, place: tuple[str, str]) -> None:
        over = self._lasting[place].over
        self._drop(place)
        over()

    def _drop(self, place: tuple[str, str]) -> bool:
        lasting = self._lasting.pop(place, None)
        if lasting is not None and lasting.timer is not None:
            lasting.timer.cancel()
        return lasting is not None

    def _end_all(self, client: str) -> None:
        for place in [place for place in self._lasting if place[0] == client]:
            self._end(place)

    def moved(self, client: str) -> None:
        """A person has put `client` somewhere else, which starts it anew: a crash or a pause of it is over."""
        for what in ("crash", "pause"):
            if self._drop((client, what)):
                self._emit(client, f"{what} is over", {"ended": what})

    def forget(self, client: str) -> None:
        """`client` is going away: it is neither slow nor muted where it comes back."""
        self.moved(client)
        self._end_all(client)

    def check_disk(self) -> None:
        """Raises STORAGE_ERROR while the disk takes nothing more."""
        if self._files.full:
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full; end that first")

    def views(self) -> tuple[FaultView, ...]:
        return tuple(
            FaultView(client, fault, each.what, each.since_ns, each.until_ns)
            for (client, fault), each in self._lasting.items()
        )

    def _emit(self, client: str, cause: str, detail: dict[str, object] | None = None) -> None:
        self._events.emit(self._loop.now_ns, EventKind.FAULT, client=client, cause=cause, detail=detail)

    def _actor(self, name: str) -> Actor:
        return must(self._actors.get(name), ErrorCode.INVALID_REQUEST, f"there is no {name!r} in this session")

    def _consumer(self, name: str) -> ConsumerActor:
        actor = self._actor(name)
        if not isinstance(actor, ConsumerActor):
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{name!r} is not a consumer, so it sends no heartbeats")
        return actor

    @staticmethod
    def _refuse(why: str) -> None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, why)
