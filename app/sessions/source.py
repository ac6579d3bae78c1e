"""Sources of a session: a simulation, a recording, or a broker that runs elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from broker_core.engine.runner import Engine, EngineStatus, Mode
from broker_core.errors import BrokerError, ErrorCode
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
    """How a source says what is shown: `look`, `word` and `tip` of the badge, `brief` for the status bar.

    What is `stale` has not been seen for longer than it should have been.
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


class Source:
    scenario: Scenario | None = None
    #: What `scenario` describes.
    described = mark("Scenario")
    has_present = False
    #: If it is recorded.
    folder: Path | None = None
    #: None if time is not ours to drive.
    engine: Engine | None = None

    @property
    def recorder(self) -> Recorder | None:
        """None if nothing is recorded now."""
        return None

    @property
    def status(self) -> EngineStatus:
        return EngineStatus(Mode.FINISHED, 1.0, self.end_ns, 0.0, "")

    @property
    def standing(self) -> Standing | None:
        """The badge; None if the status is enough."""
        return None

    @property
    def latest(self) -> Snapshot:
        return Snapshot(0, 0)

    @property
    def end_ns(self) -> int:
        return 0

    @property
    def seed(self) -> int | None:
        return None

    @property
    def started_at(self) -> datetime:
        """The wall time of session time 0."""
        return datetime.fromtimestamp(0, UTC)

    @property
    def outside_clients(self) -> bool:
        """Whether other programs take part, or took part."""
        return False

    @property
    def connections(self) -> Sequence[ConnectionView]:
        """Those of clients of a broker elsewhere, as they are now."""
        return ()

    @property
    def goes_on(self) -> str:
        """A sentence that says how to make something happen."""
        return ""

    def open_playback(self) -> Playback:
        """Its earlier moments."""
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
        """Only if `why_no_branch` says nothing."""
        raise AssertionError(self.why_no_branch())

    def knows(self, word: str) -> bool:
        """Whether figures of this word of `observation.peer.KNOWABLE` are known."""
        return True

    def close(self, *, finished: bool = False) -> None:
        """End the session and seal its recording. Raises the `BrokerError` of a recording that failed."""
