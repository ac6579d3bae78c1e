"""`session.json`: what a session is, before a single event is read."""

from __future__ import annotations

import datetime
import os
import platform
import uuid
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.session import schema

RUNNING, FINISHED, STOPPED, CRASHED, FAILED = "running", "finished", "stopped", "crashed", "failed"
ENDED = (RUNNING, FINISHED, STOPPED, CRASHED, FAILED)


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `session.json`.

    `clock` is virtual or wall. `ended` is running, finished (by itself), stopped (by a person), crashed
    (nobody closed it) or failed (the recording broke; `error` says how). `duration_ns` is session time.
    `events` counts the recorded events; both are None until the end. `totals` has the fields of
    `snapshots.Totals`.
    """

    format: str = schema.FORMAT
    format_version: int = schema.FORMAT_VERSION
    session_id: str = ""
    scenario: str = ""
    seed: int | None = None
    clock: str = "virtual"
    versions: dict[str, str] = {}
    started_at: str = ""
    ended_at: str | None = None
    ended: str = RUNNING
    duration_ns: int | None = None
    events: int | None = None
    totals: dict[str, int] | None = None
    error: str = ""
    extra: dict[str, Any] = {}


def now_utc() -> str:
    """The wall clock, ISO-8601 in UTC with milliseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_metadata(**fields: Any) -> Metadata:
    """Metadata of a session that begins now."""
    try:
        brokerscope = version("brokerscope")
    except PackageNotFoundError:
        brokerscope = "unknown"
    versions = {"brokerscope": brokerscope, "python": platform.python_version()}
    return Metadata(session_id=str(uuid.uuid4()), versions=versions, started_at=now_utc(), **fields)


def write_metadata(folder: Path, metadata: Metadata) -> None:
    """Replace `session.json` in one step. Raises OSError."""
    text = msgspec.json.format(msgspec.json.encode(metadata), indent=2)
    partial = folder / (schema.SESSION_FILE + ".partial")
    with partial.open("wb") as file:
        file.write(text + b"\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / schema.SESSION_FILE)


def read_metadata(folder: Path) -> Metadata:
    """The metadata of the session in `folder`.

    Raises `BrokerError`: NOT_A_SESSION where there is none or it cannot be read, UNKNOWN_SESSION_VERSION for
    a newer format.
    """
    path = folder / schema.SESSION_FILE
    if not folder.is_dir():
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{folder} is not a folder")
    try:
        raw = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{folder} has no {schema.SESSION_FILE}") from None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{path} cannot be read ({error})") from None
    if not isinstance(raw, dict) or raw.get("format") != schema.FORMAT:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{path} describes something else")
    if raw.get("format_version") not in schema.READABLE_VERSIONS:
        found = str(raw.get("format_version"))[:40]
        raise BrokerError(
            ErrorCode.UNKNOWN_SESSION_VERSION,
            f"{folder} is version {found}, this program reads {' and '.join(map(str, schema.READABLE_VERSIONS))}",
        )
    try:
        return msgspec.convert(raw, Metadata)
    except msgspec.ValidationError as error:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{path} cannot be understood ({error})") from None
