from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from broker_core.files import checked_root, private
from broker_core.recording import schema
from broker_core.recording.columns import batch_of, is_message
from broker_core.recording.keyframes import KeyframeWriter
from broker_core.recording.lock import SessionLock
from broker_core.recording.metadata import FAILED, FINISHED, file_checksum, new_metadata, now_utc, write_metadata
from broker_core.recording.schema import BATCH_EVENTS, MAX_PENDING_EVENTS
from broker_core.recording.unsealed_stream import UnsealedStream, Written
from broker_core.snapshots import Snapshot

FLUSH_S = 0.5  # if nothing is in the way; a killed program loses `LOST_MAX_EVENTS` at most, whatever is


class Recorder:
    """Writes the event stream to a session folder from its own thread. If the disk is slower than the broker, the call
    waits: memory is bounded and nothing is lost. The first disk failure ends the recording: `error` says it, later
    events are counted as `missed`, and `close` raises it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        scenario_name: str,
        scenario_text: str = "",
        seed: int | None = None,
        clock: str = "virtual",
        started_at: str = "",
        before: Snapshot | None = None,
        extra: Mapping[str, Any] | None = None,
        max_pending: int = MAX_PENDING_EVENTS,
    ) -> None:
        """Begin a session in `folder`, which must be empty or missing. Raises `BrokerError`. `started_at` is the wall
        time of session time 0 (ISO-8601, UTC; default now), `before` the state before the first event.
        """
        self.folder = folder = checked_root(folder)
        self.error: BrokerError | None = None
        self.missed = 0
        self._pending: deque[Event] = deque()
        self._actions: deque[bytes] = deque()
        self._keyframes: deque[Snapshot] = deque()
        self._frames_taken = self._frames_written = 0
        self._max_pending = max_pending
        self._wake_at = min(BATCH_EVENTS, max_pending)
        self._wake = threading.Event()
        self._room = threading.Condition()
        self._refusing = False
        self._closing = False
        self._taken = 0
        self._written = 0
        self._last_ns = 0
        self._lock = SessionLock(folder)
        self.metadata = new_metadata(
            scenario=scenario_name, seed=seed, clock=clock, started_at=started_at or now_utc(), extra=dict(extra or {})
        )
        try:
            self._create(scenario_text)
        except OSError as error:
            raise BrokerError(
                ErrorCode.STORAGE_ERROR, f"cannot record into {folder}: {error.strerror or error}"
            ) from None
        self._unsealed = {name: UnsealedStream(folder, name) for name in schema.FOLDERS}
        self._frames = KeyframeWriter(folder)
        self._events_before = 0 if before is None else before.events
        if before is not None:
            self.keyframe(before)
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def _create(self, scenario_text: str) -> None:
        private.make_directory(self.folder)
        if any(self.folder.iterdir()):
            raise BrokerError(ErrorCode.FOLDER_NOT_EMPTY, f"cannot record into {self.folder}; give another one")
        private.close_to_others(self.folder)
        for name in schema.FOLDERS:
            private.make_directory(self.folder / name)
        self._lock.acquire()
        for name in (schema.SCENARIO_FILE, schema.ACTIONS_FILE):
            private.create(self.folder / name)
        (self.folder / schema.SCENARIO_FILE).write_text(scenario_text, encoding="utf-8")
        self.metadata = msgspec.structs.replace(self.metadata, checksums=self._checksums(schema.SCENARIO_FILE))
        write_metadata(self.folder, self.metadata)

    def __call__(self, event: Event) -> None:
        if self._refusing:
            self.missed += 1
            return
        pending = self._pending
        pending.append(event)
        size = len(pending)
        if size >= self._wake_at:
            if size == self._wake_at:
                self._wake.set()
            elif size >= self._max_pending:
                self._wake.set()
                with self._room:
                    self._room.wait_for(lambda: len(self._pending) < self._max_pending or self._refusing)

    def action(self, time_ns: int, action: Mapping[str, Any]) -> None:
        """Record an action of the user at session time `time_ns`, as JSON values."""
        self._actions.append(msgspec.json.encode({"time_ns": time_ns, "action": action}, enc_hook=str) + b"\n")

    def keyframe(self, snapshot: Snapshot) -> None:
        """Keep the state after the first `snapshot.events` events, all of which were given to this recorder before."""
        if not self._refusing:
            self._keyframes.append(snapshot)
            self._frames_taken += 1

    def note(self, **extra: Any) -> None:
        """Add to the `extra` of the session's metadata, at once; an error of the disk is reported by the recording."""
        self.metadata = msgspec.structs.replace(self.metadata, extra={**self.metadata.extra, **extra})
        with contextlib.suppress(OSError):
            write_metadata(self.folder, self.metadata)

    def unsealed(self, folder: str) -> tuple[Written, ...]:
        """The batches of `folder` that are on disk and not in a sealed segment yet; from any thread."""
        return self._unsealed[folder].written

    def flush(self) -> None:
        """Wait until everything that was taken is on disk, or the recording has failed."""
        target, frames = self._taken + len(self._pending), self._frames_taken
        self._wake.set()
        with self._room:
            self._room.wait_for(lambda: (self._written >= target and self._frames_written >= frames) or self._refusing)

    @property
    def recorded_bytes(self) -> int:
        """Bytes on disk so far, without what else its owner keeps in the folder."""
        total = 0
        for name in (*schema.FOLDERS, schema.KEYFRAMES, schema.UNSEALED):
            for path in (self.folder / name).glob("*"):
                with contextlib.suppress(OSError):  # a stream that is being sealed goes away
                    total += path.stat().st_size
        return total

    def close(self, ended: str = FINISHED, totals: Mapping[str, int] | None = None, time_ns: int | None = None) -> None:
        """Write and seal the rest, once. `totals` is the run's summary with the fields of `snapshots.Totals`, `time_ns`
        the session time of the end (default: the last event). Raises the error of a failed recording.
        """
        if self._closing:
            return
        self._closing = self._refusing = True
        self._wake.set()
        self._thread.join()
        if self.error is None:
            try:
                for stream in self._unsealed.values():
                    stream.seal()
                self._frames.close()
            except (OSError, pa.ArrowException) as error:
                self._fail(error)
        try:
            self._finish(ended, totals, time_ns)
        except OSError as error:
            self._fail(error)
        if self.error is not None:
            raise self.error

    def _finish(self, ended: str, totals: Mapping[str, int] | None, time_ns: int | None) -> None:
        self._lock.release()
        if self.error is None:
            (self.folder / schema.UNSEALED).rmdir()
        metadata = msgspec.structs.replace(
            self.metadata,
            ended=ended if self.error is None else FAILED,
            ended_at=now_utc(),
            duration_ns=max(time_ns or 0, self._last_ns),
            events=self._taken + len(self._pending) + self.missed,
            totals=None if totals is None else dict(totals),
            error="" if self.error is None else str(self.error),
            checksums=self.metadata.checksums | self._checksums(schema.ACTIONS_FILE),
        )
        write_metadata(self.folder, metadata)

    def _checksums(self, name: str) -> dict[str, int]:
        return {name: file_checksum(self.folder / name)}

    def _fail(self, error: Exception) -> None:
        self._refusing = True
        if self.error is None:
            reason = getattr(error, "strerror", None) or str(error)
            about = f"the recording in {self.folder} stopped after {self._written} events: {reason}"
            self.error = BrokerError(ErrorCode.STORAGE_ERROR, about)
        for stream in self._unsealed.values():
            stream.abandon()
        self._frames.close()

    def _run(self) -> None:
        try:
            while True:
                closing = self._closing
                self._drain()
                if closing and not self._pending:
                    return
                if len(self._pending) < BATCH_EVENTS:
                    self._wake.wait(FLUSH_S)
                    self._wake.clear()
        except Exception as error:  # whatever it is, the broker must not wait for a writer that is gone
            self._fail(error)
        with self._room:
            self._room.notify_all()

    def _drain(self) -> None:
        for _ in range(len(self._actions)):
            with (self.folder / schema.ACTIONS_FILE).open("ab") as file:
                file.write(self._actions.popleft())
        left = len(self._pending)
        while left > 0:
            events = [self._pending.popleft() for _ in range(min(left, BATCH_EVENTS))]
            left -= len(events)
            self._taken += len(events)
            with self._room:
                self._room.notify_all()
            messages: list[Event] = []
            control: list[Event] = []
            for event in events:
                (messages if is_message(event) else control).append(event)
            for name, found in ((schema.MESSAGES, messages), (schema.CONTROL, control)):
                if found:
                    self._unsealed[name].append(batch_of(found))
            with self._room:
                self._written += len(events)
                self._room.notify_all()
            self._last_ns = max(self._last_ns, events[-1].time_ns)
        # A keyframe is worth something only behind the events that led to it.
        while self._keyframes and self._keyframes[0].events <= self._events_before + self._written:
            self._frames.write(self._keyframes.popleft())
            self._frames_written += 1
        with self._room:
            self._room.notify_all()
