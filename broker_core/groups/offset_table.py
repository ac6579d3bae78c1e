"""The SQLite file of committed offsets. Rows have checksums, because SQLite does not detect changed values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import crc32c
import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import private
from broker_core.groups.offset_journal import FlushedRows, GroupRow, MembersRow, OffsetRow

R = TypeVar("R", OffsetRow, GroupRow, MembersRow)
MEMORY = ":memory:"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS offsets (
    grp TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL, metadata TEXT NOT NULL, leader_epoch INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (grp, topic, partition)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS groups (
    grp TEXT PRIMARY KEY, generation INTEGER NOT NULL, members INTEGER NOT NULL, checksum INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (
    grp TEXT PRIMARY KEY, members BLOB NOT NULL, checksum INTEGER NOT NULL)
    WITHOUT ROWID;
"""
_GONE = (None, b"")  # in the column after the key: of a row that was deleted
#: (name, primary key, rows) of each table.
_TABLES: tuple[tuple[str, tuple[str, ...], type[Any]], ...] = (
    ("offsets", ("grp", "topic", "partition"), OffsetRow),
    ("groups", ("grp",), GroupRow),
    ("members", ("grp",), MembersRow),
)
# Errors caused by the disk or another process. Any other error of these fixed statements means a corrupt file.
_OUTSIDE = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_MISUSE,
    }
)


def _checksum(*row: object) -> int:
    return crc32c.crc32c(msgspec.msgpack.encode(row))


class CorruptTable(Exception):
    """The file is not an SQLite database any more, or has invalid rows."""


class OffsetTable:
    """Rows of offsets and groups. Raises `CorruptTable`, or `BrokerError` (STORAGE_ERROR) for disk errors."""

    def __init__(self, path: str, *, durable: bool) -> None:
        self._path = path
        connection: sqlite3.Connection | None = None
        try:
            if path != MEMORY:
                private.create(Path(path))  # SQLite gives its other files the same mode
            # The broker's lock serializes calls from all threads.
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.create_function("row_checksum", -1, _checksum, deterministic=True)
            connection.executescript(_SCHEMA)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            if connection is not None:
                connection.close()
            raise self._fault("cannot be opened", error) from error
        self.connection = connection

    def read(self) -> FlushedRows:
        try:
            verdict = self.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise CorruptTable(verdict)
            offsets, groups, members = (
                [_row(row, kind) for row in _rows(self.connection, name, key)] for name, key, kind in _TABLES
            )
            return FlushedRows(offsets, groups, members, self.connection.execute("PRAGMA user_version").fetchone()[0])
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._fault("cannot be read", error) from error

    def write(self, changes: FlushedRows) -> None:
        execute, many = self.connection.execute, self.connection.executemany
        try:
            execute("BEGIN IMMEDIATE")
            try:
                for (name, key, kind), rows in zip(_TABLES, changes.rows, strict=True):
                    every = [msgspec.structs.astuple(row) for row in rows]
                    row = ", ".join(f"?{number + 1}" for number in range(len(kind.__struct_fields__)))
                    many(
                        f"INSERT OR REPLACE INTO {name} VALUES ({row}, row_checksum({row}))",
                        [each for each in every if each[len(key)] not in _GONE],
                    )
                    many(
                        f"DELETE FROM {name} WHERE {' AND '.join(f'{column} = ?' for column in key)}",
                        [each[: len(key)] for each in every if each[len(key)] in _GONE],
                    )
                execute(f"PRAGMA user_version = {changes.number}")
                execute("COMMIT")
            except sqlite3.Error:
                if self.connection.in_transaction:
                    execute("ROLLBACK")
                raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._fault("cannot be written", error) from error

    def close(self) -> None:
        self.connection.close()

    def _fault(self, what: str, error: Exception) -> Exception:
        corrupt = not isinstance(error, OSError) and getattr(error, "sqlite_errorcode", 0) & 0xFF not in _OUTSIDE
        if self._path != MEMORY and corrupt:
            return CorruptTable(str(error))
        return BrokerError(ErrorCode.STORAGE_ERROR, f"the offsets in {self._path} {what} ({error})")


def quarantine(path: str) -> str:
    """Rename a corrupt file and its -wal and -shm files. Returns the new name."""
    number = 1
    while Path(f"{path}.damaged-{number}").exists():
        number += 1
    aside = f"{path}.damaged-{number}"
    for suffix in ("", "-wal", "-shm"):
        if Path(path + suffix).exists():
            Path(path + suffix).replace(aside + suffix)
    return aside


def salvage(path: str) -> FlushedRows:
    found = FlushedRows([], [], [])
    for (name, key, kind), rows in zip(_TABLES, found.rows, strict=True):
        with (
            suppress(sqlite3.Error, UnicodeDecodeError),
            closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as old,
        ):
            for row in _rows(old, name, key):
                with suppress(CorruptTable):
                    rows.append(_row(row, kind))
    return found


def _rows(connection: sqlite3.Connection, name: str, key: tuple[str, ...]) -> Iterable[tuple[object, ...]]:
    return connection.execute(f"SELECT * FROM {name} ORDER BY {', '.join(key)}")


def _row(row: tuple[object, ...], kind: type[R]) -> R:
    with suppress(msgspec.ValidationError):
        if None not in row and row[-1] == _checksum(*row[:-1]):
            return msgspec.convert(row[:-1], kind)
    raise CorruptTable(f"a row makes no sense: {row!r}")
