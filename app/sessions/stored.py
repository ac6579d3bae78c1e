from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec
import pyarrow as pa

from app.sessions.source import BROKER, Inputs, Source
from broker_core.clock import s_from_ns
from broker_core.errors import BrokerError, ScenarioError
from broker_core.events import EventStream, Sink
from broker_core.recording import schema
from broker_core.recording.event_index import EventIndex
from broker_core.recording.metadata import OBSERVED, RUNNING, Metadata
from broker_core.recording.playback import FolderPlayback, Playback
from broker_core.recording.reader import open_session, seal
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.replay import RecordedAction, recorded_action
from broker_core.simulation.scenario import Scenario, parse_scenario
from broker_core.snapshots import Snapshot
from widgets.i18n import mark, tr

T = TypeVar("T")

SCENARIO_PATH = "scenario_path"  # in the metadata's `extra`
BRANCHED_FROM = "branched_from"


def origin_of(metadata: Metadata) -> str:
    """The name of the folder of the session that it was branched from; "" for none."""
    left = metadata.extra.get(BRANCHED_FROM)
    return str(left.get("name", "")) if isinstance(left, dict) else ""


class StoredSession(Source):
    """The session in `folder`. It is sealed first where it was left open.

    Raises `BrokerError`: NOT_A_SESSION, UNKNOWN_SESSION_VERSION, STORAGE_ERROR.
    """

    why_past = mark("A recorded session is read-only.")
    goes_on = mark("This is a recorded session: choose another moment on the timeline.")

    def __init__(self, folder: Path) -> None:
        session = open_session(folder)
        if not session.recording and (session.metadata.ended == RUNNING or not session.sealed):
            with suppress(BrokerError):  # a folder that cannot be written is still read, stream by stream
                session = seal(folder)
        self.folder: Path = folder
        self.metadata = session.metadata
        self.seed: int = session.metadata.seed or 0
        with suppress(ValueError):
            self.started_at = datetime.fromisoformat(session.metadata.started_at)
        self.recording = session.recording
        self.event_count = session.event_count
        self.problems = list(session.problems)
        self.missing_events = self.problems if session.lacks_events else ()
        self.playback = FolderPlayback(folder)
        if not session.recording:
            self.playback.keyframes.check()
        if self.playback.keyframes.problem:
            self.problems.append(self.playback.keyframes.problem)
        self.text = session.scenario_text
        self.scenario: Scenario
        self.scenario, self._scenario_problem = _scenario(self.text, session.metadata)
        if self._scenario_problem and session.metadata.clock == OBSERVED:
            self.described = BROKER
        self._plain_actions = session.actions
        if not self.outside_clients:
            self.why_past = mark("A recorded session is read-only. Branch here (Ctrl+B) to continue from it.")
        self._end_ns = session.metadata.duration_ns or self.playback.end().time_ns

    @property
    def end_ns(self) -> int:
        return self._end_ns

    @property
    def outside_clients(self) -> bool:
        return self.metadata.clock != "virtual" or bool(self.metadata.extra.get("outside_clients"))

    def open_playback(self) -> Playback:
        return self.playback

    def inputs(self) -> Inputs:
        """Raises msgspec.ValidationError for an action that this version does not know."""
        session_id, name = self.metadata.session_id, self.folder.name
        return Inputs(self.scenario, self.text, self.seed, tuple(self.actions()), session_id, name)

    def knows(self, word: str) -> bool:
        return self.metadata.knows(word)

    @property
    def scenario_path(self) -> Path:
        """Where its scenario was, for the data files beside it; the copy in the folder where that is gone."""
        original = Path(str(self.metadata.extra.get(SCENARIO_PATH, "")))
        return original if original.is_file() else self.folder / schema.SCENARIO_FILE

    def actions(self) -> list[RecordedAction]:
        return [recorded_action(time_ns, plain) for time_ns, plain in self._plain_actions]

    def why_no_branch(self) -> str:
        if self.outside_clients:
            return tr("External clients took part in this session: it can be replayed, but not rerun.")
        if self._scenario_problem:
            return tr("Its scenario cannot be run again: {problem}", problem=self._scenario_problem)
        find = DataFiles(self.scenario_path)
        try:
            for producer in self.scenario.producers:
                name = getattr(producer.arrivals, "file", None)
                if isinstance(name, str):
                    find(name)
            self.actions()
        except ScenarioError as error:
            return str(error)
        except (msgspec.ValidationError, msgspec.MsgspecError) as error:
            return tr("It contains an action that this version does not know: {error}", error=error)
        return ""

    def summary(self) -> str:
        """The state of the recording, with its errors, in a sentence or two."""
        what = tr(
            "Opened {title}, {seconds:.0f} s recorded.",
            title=self.metadata.scenario or self.folder.name,
            seconds=s_from_ns(self.end_ns),
        )
        return " ".join([what, *self.problems])


def _scenario(text: str, metadata: Metadata) -> tuple[Scenario, str]:
    try:
        return parse_scenario(text, schema.SCENARIO_FILE), ""
    except ScenarioError as error:
        observed = tr("A broker that runs elsewhere, seen from here.")
        missing = tr("The scenario cannot be shown: its file cannot be read.")
        about = observed if metadata.clock == OBSERVED else missing
        until_s = max(1.0, s_from_ns(metadata.duration_ns or 0))
        return Scenario(title=metadata.scenario or tr("A session"), about=about, until_s=until_s), str(error)


# The window draws between two bunches of events.
BUNCH = 1_000
PAUSE_S = 0.002
#: Of a longer session some keyframes are passed over.
KEYFRAMES_MAX = 2_000


class Reading:
    """Hands every event of the session in `folder` to `sinks`, in order, from a thread of its own."""

    def __init__(
        self,
        folder: Path,
        sinks: Sequence[Sink],
        done: Callable[[], object],
        keyframes: Iterable[Snapshot] = (),
        on_keyframe: Callable[[Snapshot], object] = lambda _snapshot: None,
    ) -> None:
        """`done()` is called at the end, in the thread that reads.

        `on_keyframe` gets each of `keyframes` after the events before it.
        """
        self._folder = folder
        self._stream = EventStream()
        for sink in sinks:
            self._stream.attach(sink)
        self._done = done
        self._keyframes = iter(keyframes)
        self._on_keyframe = on_keyframe
        self._closing = False
        self.thread = threading.Thread(target=self._work, name="reading", daemon=True)
        self.thread.start()

    def close(self) -> None:
        self._closing = True

    def _work(self) -> None:
        try:
            due = next(self._keyframes, None)
            for read, event in enumerate(EventIndex(self._folder).events(0), 1):
                if self._closing:
                    return
                while due is not None and due.events <= event.seq:
                    self._on_keyframe(due)
                    due = next(self._keyframes, None)
                self._stream.pass_on(event)
                if read % BUNCH == 0:
                    time.sleep(PAUSE_S)
        except (OSError, pa.ArrowException):
            # What cannot be read is said where the session is opened; what comes before is there.
            pass
        self._done()
