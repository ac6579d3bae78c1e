"""A session over a broker that runs elsewhere: a thread that looks again and again, and its recording."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec

from broker_core.broker.occurrences import SnapshotState
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind, EventStream, Sink
from broker_core.observation.cluster_tally import ClusterTally
from broker_core.observation.peer import KNOWABLE, Look, Peer
from broker_core.observation.requests import kind_requested, requested, stopped_for, tells_itself, undone_by
from broker_core.operations.groups import HoldMember, ReleaseMember
from broker_core.recording.hidden_hosts import HiddenHosts
from broker_core.recording.keyframes import Cadence
from broker_core.recording.metadata import CLUSTER, KNOWS, OBSERVED, STOPPED, utc
from broker_core.recording.playback import FolderPlayback, MemoryPlayback, Playback
from broker_core.recording.recorder import Recorder
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.alerts import RemoveAlert, SetAlert
from broker_core.simulation.alert_watch import AlertWatch
from broker_core.simulation.handlers import Performed
from broker_core.simulation.handlers.alerts import plan_alert
from broker_core.snapshots import ConnectionView, Snapshot

AGAIN_S: Final = 1.0  # after a look that has failed
_CLOSE_S: Final = 5.0
HERE_ONLY: Final = "This is possible only in a session that runs in this window; this one observes a broker elsewhere."
FINAL: Final = "The broker runs elsewhere and has no operation that undoes this."


class ObservedSession:
    """Begins where `peer` stands now. `folder` is None if nothing is recorded.

    With `hides_hosts` no address of a host is recorded. `latest` is the state last seen, `problem` the sentence of a
    look that has failed, "" after one that has not, and `error` why nothing is observed any more.
    """

    def __init__(
        self,
        peer: Peer,
        *,
        folder: Path | None,
        hides_hosts: bool = False,
        sinks: Sequence[Sink] = (),
        on_keyframe: Callable[[Snapshot], object] = lambda _snapshot: None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Take the first look, and begin. `on_keyframe` gets every keyframe, the first before any event, and one right
        after each gap; `sinks` get every event. Both are called in the observer's thread.

        Raises the `BrokerError` of `Peer.open`, or of a folder that cannot be used.
        """
        self.peer = peer
        self.folder = folder
        self.recorder: Recorder | None = None
        self.problem = self.error = ""
        self.connections: Sequence[ConnectionView] = ()
        self.latest = peer.open()
        self._seen_s = time.monotonic()
        self._events = EventStream()
        self._count = self.latest.events
        self._gaps = 0
        self._memory = MemoryPlayback()
        self.tally = ClusterTally(self.latest)
        own = EventStream()
        own.attach(self._pass_on)
        self._alerts = AlertWatch(None, own, lambda: SnapshotState(self.latest))
        self._lock = threading.Lock()  # of what is passed on, and of the alerts
        self._on_keyframe = on_keyframe
        self._cadence = Cadence()
        self._closing = threading.Event()
        self._hidden = HiddenHosts(peer.hosts) if hides_hosts and folder is not None else None
        if folder is not None:
            knows = [word for word in KNOWABLE if peer.knows(word)]
            name = f"{peer.address}, a real cluster" if peer.facts.listens else peer.address
            try:
                self.recorder = Recorder(
                    folder,
                    scenario_name=self._hidden.text(name) if self._hidden else name,
                    clock=OBSERVED,
                    started_at=utc(peer.epoch_ms / 1_000),
                    extra={**(extra or {}), KNOWS: knows},
                )
            except BrokerError:
                peer.close()
                raise
            self._events.attach(self._record if self._hidden else self.recorder)
        self._events.attach(self.tally)
        for sink in sinks:
            self._events.attach(sink)
        self._keyframe(self.latest)
        self._thread = threading.Thread(target=self._run, name="observer", daemon=True)
        self._thread.start()

    @property
    def age_s(self) -> float:
        """Since the last look that succeeded."""
        return time.monotonic() - self._seen_s

    def playback(self) -> Playback:
        """The earlier moments of the session."""
        return self._memory if self.folder is None else FolderPlayback(self.folder, self.recorder)

    def why_not(self, action: type[Any]) -> str:
        """Why a kind of action cannot be done from here, in a sentence; "" if it can."""
        if action in {SetAlert, RemoveAlert}:
            return ""
        request = kind_requested(action)
        return HERE_ONLY if request is None else self.peer.why_not(request)

    def perform(self, action: UserAction) -> Performed:
        """Have the broker do it; waits for its answer. Raises its `BrokerError`. Alerts are watched for here."""
        if isinstance(action, SetAlert | RemoveAlert):
            return self._watch(action)
        with ExitStack() as after:
            for member in stopped_for(action, self.latest):
                self.peer.ask(HoldMember(**member))
                after.callback(self.peer.ask, ReleaseMember(**member))
            answer: Any = self.peer.ask(requested(action, self.latest, self.peer.epoch_ms))
        sentence, refused = action.sentence, getattr(answer, "refused", ())
        if refused:
            sentence += f"; {len(refused)} stay, the first because: {refused[0].message.rstrip('.')}"
        if not tells_itself(action):
            with self._lock:
                self._acted(action)
        return Performed(action, sentence, undone_by(action), FINAL)

    def _watch(self, action: SetAlert | RemoveAlert) -> Performed:
        with self._lock:
            groups, queues = ([each.name for each in views] for views in (self.latest.groups, self.latest.queues))
            clients = [each.name for each in self.latest.actors]
            things = {"group": groups, "queue": queues, "client": clients}
            plan = plan_alert(action, self._alerts, things, self.latest.time_ns)
            self._acted(action)
            plan.do()
        return Performed(action, action.sentence, plan.inverse)

    def _acted(self, action: UserAction) -> None:
        """Record the user's action, after what was already seen of its effects."""
        detail: dict[str, Any] = msgspec.to_builtins(action)
        self._pass_on(Event(0, self.latest.time_ns, EventKind.USER_ACTION, cause=action.sentence, detail=detail))

    def close(self) -> None:
        """End the session and its recording, not the broker. Raises the `BrokerError` of a recording that failed.

        The second call does nothing.
        """
        if self._closing.is_set():
            return
        self._closing.set()
        self.peer.close()
        self._thread.join(_CLOSE_S)
        if self._thread.is_alive():
            self._note_gap()
        elif (rest := self.peer.rest()) is not None:
            self._take(rest)
        self._note_cluster()
        if self.recorder is not None:
            # What is recorded does not add up to what the broker has counted where a part of it was not seen.
            totals = None if self._gaps else msgspec.to_builtins(self.latest.totals)
            self.recorder.close(STOPPED, totals=totals, time_ns=self.latest.time_ns)

    # -- in the observer's thread

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                look = self.peer.look()
            except BrokerError as error:
                self.problem = str(error)
                self._closing.wait(AGAIN_S)
                continue
            except Exception as error:
                # Whatever it is, the window tells of it, and what was seen stays.
                self.error = f"{self.peer.address} is not observed any more: {error!r}"
                raise
            self.problem, self._seen_s = "", time.monotonic()
            if look is not None:  # what it was told while it was being closed, too
                with self._lock:
                    self._take(look)

    def _take(self, look: Look) -> None:
        if self._hidden is not None:
            self._hidden.know(self.peer.hosts)
        if look.gap:
            self._note_gap()
            began_ns = self.latest.time_ns
            first = look.events[0].time_ns if look.events else look.snapshot.time_ns
            self._pass_on(Event(0, first, EventKind.GAP, cause=look.gap, detail={"from_ns": began_ns}))
        for event in look.events:
            self._pass_on(event)
        for event in self.tally.looked(look.snapshot.time_ns):
            self._pass_on(event)
            self._note_cluster()
        self.latest, self.connections = look.snapshot, look.connections
        self._alerts.look(self.latest.time_ns)
        self.latest = msgspec.structs.replace(self.latest, events=self._count)
        if look.gap or self._cadence.due(self.latest.time_ns, self._count):
            self._keyframe(self.latest)

    def _note_gap(self) -> None:
        self._gaps += 1
        if self.recorder is not None:
            self.recorder.note(gaps=self._gaps)

    def _note_cluster(self) -> None:
        if self.recorder is not None and self.latest.nodes:
            summary = self.tally.summary()
            self.recorder.note(**{CLUSTER: self._hidden.struct(summary) if self._hidden else summary})

    def _pass_on(self, event: Event) -> None:
        self._events.pass_on(msgspec.structs.replace(event, seq=self._count))
        self._count += 1

    def _record(self, event: Event) -> None:
        assert self.recorder is not None and self._hidden is not None
        self.recorder(self._hidden.struct(event))

    def _keyframe(self, snapshot: Snapshot) -> None:
        recorded = self._hidden.struct(snapshot) if self._hidden else snapshot
        (self._memory if self.recorder is None else self.recorder).keyframe(recorded)
        self._on_keyframe(snapshot)
        self._cadence.took(snapshot.time_ns, snapshot.events, 0)
