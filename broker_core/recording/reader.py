"""Opens a session folder, names missing files, and reads the others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.recording import schema
from broker_core.recording.event_index import EventIndex
from broker_core.recording.lock import SessionLock, is_recording
from broker_core.recording.metadata import CRASHED, FAILED, RUNNING, Metadata, checked_metadata, write_metadata
from broker_core.recording.unsealed_stream import seal_stream, stream_batches


class Session:
    """A session folder. `problems` names in sentences whatever is missing; everything else can be read.

    `lacks_events`: some are missing, so that nothing can be judged by the rest.
    """

    def __init__(self, folder: Path, metadata: Metadata, problems: Iterable[str] = ()) -> None:
        self.folder = folder
        self.metadata = metadata
        self.recording = is_recording(folder)
        self.problems = list(problems)
        self.index = EventIndex(folder)
        self._streams: dict[str, list[Path]] = {}
        self.event_count = 0
        self._last_seq = -1
        for name in schema.FOLDERS:
            self._look(name)
        self._judge()

    def _look(self, name: str) -> None:
        if not (self.folder / name).is_dir():
            self.problems.append(f"The folder {name} is missing.")
        self.problems += filter(None, map(schema.part_problem, schema.parts(self.folder, name)))
        for group in self.index.sealed(name):
            self.event_count += group.events
            self._last_seq = max(self._last_seq, group.last_seq)
        self._streams[name] = schema.unsealed(self.folder, name)
        for path in self._streams[name]:
            rows, last_seq, missing = _stream_rows(path)
            self.event_count += rows
            self._last_seq = max(self._last_seq, last_seq)
            if missing and not self.recording:
                self.problems.append(f"tail/{path.name} {missing}.")

    def _judge(self) -> None:
        metadata = self.metadata
        if metadata.ended == CRASHED or (metadata.ended == RUNNING and not self.recording):
            self.problems.append(schema.DIED)
        if metadata.ended == FAILED:
            self.problems.append(f"The recording failed before the end. {metadata.error}")
        # In a session that was not closed, events are numbered without gaps.
        events = self._last_seq + 1 if metadata.events is None else metadata.events
        self.lacks_events = self.event_count < max(events, self._last_seq + 1)
        if events != self.event_count and (metadata.events is not None or not self.recording):
            self.problems.append(f"{events - self.event_count} of {events} events are missing.")

    @property
    def sealed(self) -> bool:
        """True if everything is in the folders that Spark reads."""
        return not any(self._streams.values())

    @property
    def scenario_text(self) -> str:
        try:
            return (self.folder / schema.SCENARIO_FILE).read_text(encoding="utf-8")
        except OSError:
            return ""

    @property
    def actions(self) -> list[tuple[int, dict[str, Any]]]:
        """(session time in ns, action) of everything that the user did, in order, without a torn last line."""
        try:
            lines = (self.folder / schema.ACTIONS_FILE).read_bytes().splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                row = msgspec.json.decode(line)
                found.append((row["time_ns"], row["action"]))
            except (msgspec.DecodeError, KeyError, TypeError):
                break
        return found

    @property
    def last_sealed_ns(self) -> int:
        return max((group.last_ns for name in schema.FOLDERS for group in self.index.sealed(name)), default=0)


def _stream_rows(path: Path) -> tuple[int, int, str]:
    """Rows in the whole batches of a stream, the number of the last event in them, and what is missing beside them."""
    rows, last_seq = 0, -1
    try:
        for batch in stream_batches(path):
            rows += batch.num_rows
            last_seq = batch.column("seq")[-1].as_py()
    except EOFError as error:
        return rows, last_seq, str(error)
    return rows, last_seq, ""


def open_session(folder: Path) -> Session:
    """The session in `folder`. Raises `BrokerError`: NOT_A_SESSION, UNKNOWN_SESSION_VERSION."""
    return Session(folder, *checked_metadata(folder))


def seal(folder: Path) -> Session:
    """Complete a session that was not closed, and mark it as crashed. Raises as `open_session`; DIRECTORY_IN_USE while
    it is recorded, STORAGE_ERROR.
    """
    session = open_session(folder)
    if session.sealed and session.metadata.ended != RUNNING:
        return session
    lock = SessionLock(folder)
    _, lost = checked_metadata(folder)  # it is about to be overwritten: report its damage now
    try:
        if not lock.acquire():
            raise BrokerError(ErrorCode.DIRECTORY_IN_USE, f"{folder} is still being recorded; stop the session first")
        for name in schema.FOLDERS:
            for path in schema.unsealed(folder, name):
                if missing := seal_stream(folder, name, path):
                    lost.append(f"tail/{path.name} {missing}.")
        lock.release()
        for path in (folder / schema.UNSEALED).iterdir():
            path.unlink()  # superseded streams and half-written segments
        (folder / schema.UNSEALED).rmdir()
        if session.metadata.ended == RUNNING:
            metadata = msgspec.structs.replace(
                session.metadata, ended=CRASHED, duration_ns=open_session(folder).last_sealed_ns
            )
            write_metadata(folder, metadata)
    except OSError as error:
        raise BrokerError(ErrorCode.STORAGE_ERROR, f"cannot seal {folder}: {error.strerror or error}") from None
    finally:
        lock.release()
    sealed = open_session(folder)
    sealed.problems = list(dict.fromkeys([*lost, *sealed.problems]))
    return sealed
