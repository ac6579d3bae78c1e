"""What a session is shown from: a simulation, a recording, or a broker that runs elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from broker_core.engine.runner import Engine, EngineStatus
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from broker_core.recording.playback import Playback
from broker_core.recording.recorder import Recorder
from broker_core.simulation.actions import UserAction
from broker_core.simulation.handlers import Performed
from broker_core.simulation.replay import RecordedAction
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import ConnectionView, Snapshot

T = TypeVar("T")


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


class Source(Protocol):
    """`engine` is None where time is not ours to drive, and `recorder` where nothing is recorded now."""

    scenario: Scenario
    has_present: bool

    @property
    def folder(self) -> Path | None:
        """Where it is recorded."""

    @property
    def engine(self) -> Engine | None: ...

    @property
    def recorder(self) -> Recorder | None: ...

    @property
    def status(self) -> EngineStatus: ...

    @property
    def standing(self) -> Standing | None:
        """What the badge says; None where the status says it all."""

    @property
    def latest(self) -> Snapshot:
        """The present."""

    @property
    def end_ns(self) -> int:
        """How far it has come."""

    @property
    def seed(self) -> int | None: ...

    @property
    def started_at(self) -> datetime:
        """The wall time of session time 0."""

    @property
    def outside_clients(self) -> bool:
        """Whether other programs take part, or took part."""

    @property
    def connections(self) -> Sequence[ConnectionView]:
        """Those of clients of a broker elsewhere, as they are now."""

    @property
    def goes_on(self) -> str:
        """What it takes for anything to happen, in a sentence."""

    def open_playback(self) -> Playback:
        """Its earlier moments."""

    def ask(self, request: Request[T]) -> Future[T]:
        """The answer to a request that changes nothing; its callbacks run in another thread, or at once."""

    def perform(self, action: UserAction) -> Future[Performed]:
        """Do it. The future gets the `BrokerError` of what cannot be done."""

    def why_not(self, what: type[Any]) -> str:
        """Why a kind of action, or `Engine`'s driving of time, is not possible here at all; "" where it is."""

    def why_no_branch(self) -> str:
        """Why it cannot be run again; "" where it can."""

    def inputs(self) -> Inputs:
        """Only where `why_no_branch` says nothing."""

    def knows(self, word: str) -> bool:
        """Whether figures of this word of `observation.peer.KNOWABLE` are known."""

    def close(self, *, finished: bool = False) -> None:
        """End the session and seal its recording. Raises the `BrokerError` of a recording that failed."""
