from __future__ import annotations

from collections.abc import Callable, Mapping

from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.files import BreakableFiles
from broker_core.simulation.actions import faults
from broker_core.simulation.actor import Actor
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.lasting_faults import LastingFaults

_DISK = ""  # the client of faults that are nobody's


class FaultInjector:
    """Begins and ends faults.

    Everything in the broker goes by session time, which only moves forward, and the wall clock is read once, when the
    session begins. So a jump of the clock changes nothing: it is an event.
    """

    def __init__(self, loop: Loop, lasting: LastingFaults, actors: Mapping[str, Actor], files: BreakableFiles) -> None:
        self._loop = loop
        self.lasting = lasting
        self._actors = actors
        self._files = files
        self._held, self._late_ns = False, 0
        self._waiting: list[tuple[int, Callable[[int], object]]] = []  # of the schedule: when it was due

    def check(self, fault: faults.Fault) -> None:
        """Raises INVALID_REQUEST if `fault` cannot be done now."""
        match fault:
            case faults.Crash() | faults.Pause() | faults.SlowDown():
                actor = self._actor(fault.client)
                if actor.crashed:
                    self._refuse(f"{actor.name} has crashed; restart it first")
                if isinstance(fault, faults.Crash | faults.Pause) and actor.state in {"idle", "stopped"}:
                    self._refuse(f"{actor.name} is {'on the bench' if actor.state == 'idle' else 'finished'}")
                if isinstance(fault, faults.Pause) and actor.paused:
                    self._refuse(f"{actor.name} is already paused")
            case faults.DropHeartbeats():
                self._consumer(fault.client)
            case faults.Restart():
                if not self._actor(fault.client).crashed:
                    self._refuse(f"{fault.client} has not crashed")
            case faults.EndFaults():
                if not self.lasting.of(fault.client):
                    self._refuse(f"nothing is wrong with {fault.client or 'the disk'}")
            case faults.FillDisk() if self._files.full:
                self._refuse("the disk is already full")

    def do(self, fault: faults.Fault) -> None:
        # The fold of a recording knows by the causes of crash and pause in which state a client is.
        match fault:
            case faults.Crash():
                actor = self._actor(fault.client)
                self._end_all(actor.name)
                self.lasting.begin(actor.name, "crash", "crash", fault.for_s, actor.restart, ended="restarted")
                actor.crash()
            case faults.Restart() | faults.EndFaults():
                self._end_all(fault.client)
            case faults.Pause():
                actor = self._actor(fault.client)
                self.lasting.begin(actor.name, "pause", "pause", fault.for_s, actor.resume)
                actor.pause()
            case faults.SlowDown():
                actor = self._actor(fault.client)
                what = f"slow down {fault.factor:g} times"
                self.lasting.begin(actor.name, "slow", what, fault.for_s, lambda: setattr(actor, "slowness", 1.0))
                actor.slowness = fault.factor
            case faults.DropHeartbeats():
                consumer = self._consumer(fault.client)
                what = "heartbeats dropped"
                self.lasting.begin(consumer.name, what, what, fault.for_s, lambda: consumer.mute(False))
                consumer.mute(True)
            case faults.FillDisk():
                what = "disk full"
                self.lasting.begin(_DISK, what, what, fault.for_s, lambda: setattr(self._files, "full", False))
                self._files.full = True
            case faults.JumpClock():
                self.lasting.emit(_DISK, f"wall clock set by {fault.by_s:+g} s")
            case faults.HoldSchedule():
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

    def _end_all(self, client: str) -> None:
        for place in self.lasting.of(client):
            self.lasting.end(place)

    def moved(self, client: str) -> None:
        """A person has put `client` somewhere else, which starts it anew: a crash or a pause of it is over."""
        for what in ("crash", "pause"):
            if self.lasting.drop((client, what)):
                self.lasting.emit(client, f"{what} is over", {"ended": what})

    def forget(self, client: str) -> None:
        """`client` is going away: it is neither slow nor muted where it comes back."""
        self.moved(client)
        self._end_all(client)

    def check_disk(self) -> None:
        """Raises STORAGE_ERROR while the disk takes nothing more."""
        if self._files.full:
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full; end that first")

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
