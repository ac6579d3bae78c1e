from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from broker_core.errors import BrokerError, ErrorCode
from broker_core.recording import schema
from broker_core.recording.metadata import CRASHED, FAILED, Metadata, checked_metadata
from spark_reports.errors import NotFound, ReportError
from spark_reports.sessions import corruption

MAX_SCENARIO_CHARS = 1_000_000


@dataclass(frozen=True)
class SessionInfo:
    """Data known before any event is read. `problems` are sentences about why it is incomplete, `notes` anything else.
    `parts` are the files to read, as Spark takes them; `scenario` is "" if unreadable.
    """

    location: str
    metadata: Metadata
    problems: tuple[str, ...] = ()
    parts: dict[str, list[str]] = field(default_factory=dict)
    scenario: str = ""
    notes: tuple[str, ...] = ()
    events: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """Problems and notes, for the reader of the report."""
        return (*self.problems, *self.notes)


def inspect(location: str) -> SessionInfo:
    """Judge a session folder without Spark, before Java starts. Raises `ReportError`: not a session, an unknown
    version, or not sealed.
    """
    folder = Path(location)
    try:
        metadata, problems = checked_metadata(folder)
    except BrokerError as error:
        raise (NotFound if error.code is ErrorCode.NOT_A_SESSION else ReportError)(str(error)) from None
    if any(schema.unsealed(folder, name) for name in schema.FOLDERS):
        raise ReportError(
            f"The session {location} is still being recorded or was never closed: stop it, or open it once to repair "
            "it."
        )
    judged = {name: corruption.judged(folder, name) for name in schema.FOLDERS}
    wrong = [problem for one in judged.values() for problem in one.problems]
    events = sum(part.events for one in judged.values() for part in one.parts)
    is_failed = metadata.ended == FAILED
    if not problems and not wrong and not is_failed and metadata.events is not None:
        wrong += corruption.miscounted(events, metadata.events)
    problems += wrong
    if metadata.ended == CRASHED:
        problems.append(schema.DIED)
    if is_failed:
        problems.append(f"The recording failed before the end. {metadata.error}".strip())
    if metadata.extra.get("gaps"):
        problems.append("Not everything was observed: gaps are marked among the events and on the time axes.")
    # Plain paths: Spark decodes no %20.
    parts = {name: [f"file://{part.path.resolve().as_posix()}" for part in one.parts] for name, one in judged.items()}
    return SessionInfo(location, metadata, tuple(problems), parts, _scenario(folder), events=events)


def _scenario(folder: Path) -> str:
    try:
        with (folder / schema.SCENARIO_FILE).open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_SCENARIO_CHARS)
    except OSError:
        return ""
