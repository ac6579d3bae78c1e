"""Sources of a session: a simulation, a recording, or a broker that runs elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from broker_core.engine.runner import Engine, EngineStatus, Mode
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.connections import Connections
from broker_core.observation.guard import Guard
from broker_core.operations.request import Request
from broker_core.recording.playback import Playback
from broker_core.recording.recorder import Recorder
from broker_core.simulation.actions import UserAction
from broker_core.simulation.handlers import Performed
from broker_core.simulation.replay import RecordedAction
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import ConnectionView, Snapshot
from widgets.i18n import mark, tr

T = TypeVar("T")

BROKER = mark("Broker")


def closed() -> Future[Any]:
    """The answer of what has ended."""
    future: Future[Any] = Future()
    future.set_exception(BrokerError(ErrorCode.CLOSED, "the session has ended"))
    return future


class Standing(NamedTuple):
    """How a source describes its state: `look`, `word` and `tip` for the badge, `brief` for the status bar. `stale` if
    it was not seen for longer than expected.
    """

    look: str
    word: str
    tip: str
    brief: str
    stale: bool = False


class Inputs(NamedTuple):
    """All that it takes to run a session again."""

    scenario: Scenario
    text: str
    seed: int
    actions: tuple[RecordedAction, ...]
    session_id: str
    name: str


@runtime_checkable
class Guardable(Protocol):
    """A cluster that is locked until somebody opens it: its name, as whom it knows us, and its guard."""

    @property
    def name(self) -> str: ...
    @property
    def principal(self) -> str: ...
    @property
    def guard(self) -> Guard: ...


class Source:
    scenario: Scenario | None = None
    #: What `scenario` describes.
    described = mark("Scenario")
    has_present = False
    #: If it is recorded.
    folder: Path | None = None
    recorder: Recorder | None = None
    #: None if it is no scenario that runs.
    seed: int | None = None
    #: The wall time of session time 0.
    started_at = datetime.fromtimestamp(0, UTC)
    #: The clients that are passed on to a broker elsewhere, with their requests; None if none are.
    passing: Connections | None = None
    #: A sentence that says whose rights they have there; "" if each has its own.
    rights = ""
    #: How programs come to a broker elsewhere, in a sentence; "" if a listener of this window may be opened.
    clients_come = ""
    #: What may be unlocked for a while: a cluster that is not ours.
    guarded: Guardable | None = None
    #: How to make something happen, in a sentence.
    goes_on = ""
    #: None if time is not ours to drive.
    engine: Engine | None = None
    #: Why nothing can be changed in its past, and once it has ended.
    why_past = mark("The past: nothing can be changed here. Alt+Right returns to the present.")
    why_over = mark("The session has already ended.")
    #: What is missing of its recording between other events, in sentences: then nothing is judged.
    missing_events: Sequence[str] = ()

    @property
    def status(self) -> EngineStatus:
        return EngineStatus(Mode.FINISHED, 1.0, self.end_ns, 0.0, "")

    @property
    def standing(self) -> Standing | None:
        return None

    @property
    def latest(self) -> Snapshot:
        return Snapshot(0, 0)

    @property
    def end_ns(self) -> int:
        return 0

    @property
    def outside_clients(self) -> bool:
        """Whether other programs take part, or took part."""
        return False

    @property
    def connections(self) -> Sequence[ConnectionView]:
        """The current client connections of a broker that runs elsewhere."""
        return ()

    def open_playback(self) -> Playback:
        raise AssertionError("no session is open")

    def ask(self, request: Request[T]) -> Future[T]:
        """The answer to a request that changes nothing; its callbacks run in another thread, or at once."""
        return closed()

    def perform(self, action: UserAction) -> Future[Performed]:
        """Do it. The future gets the `BrokerError` of what cannot be done."""
        return closed()

    def why_not(self, what: type[Any]) -> str:
        """Why a kind of action, or `Engine`'s driving of time, is not possible here at all; "" if it is."""
        return ""

    def why_no_branch(self) -> str:
        """Why it cannot be run again; "" if it can."""
        return tr("No session is open.")

    def inputs(self) -> Inputs:
        """What a branch reruns. Only valid if `why_no_branch` returns ""."""
        raise AssertionError(self.why_no_branch())

    def knows(self, word: str) -> bool:
        """Whether figures of this word of `observation.peer.KNOWABLE` are known."""
        return True

    def close(self, *, finished: bool = False) -> None:
        """End the session and seal its recording. Raises the `BrokerError` of a recording that failed."""
