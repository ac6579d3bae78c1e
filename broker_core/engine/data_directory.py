"""The data directory of a broker: lock, catalog, and the states of queues.

broker.lock            held while a process uses the directory
catalog.json           topics, queues and their settings, see `broker_core.broker.catalog`, with a CRC-32C
catalog.json.copy      the same, for when that is damaged or missing
offsets.sqlite         committed offsets, with the generations and members of groups
offsets.sqlite.journal what is not in that yet, see `broker_core.groups.offset_journal`
queue-journal/         changes of queues since their states were saved, see `broker_core.queues.journal`
queue-states/<queue>   CRC-32C (4 bytes, big-endian) and MessagePack of `KeptQueue`
transaction-state/     transactional ids, see `broker_core.transactions.transaction`
<topic>-<partition>/   the logs
reserve                disk space that is released when a full disk would prevent deleting messages

Directories have mode 0700, files 0600.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Collection
from pathlib import Path

import crc32c
import msgspec

from broker_core.broker.catalog import Catalog
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import DiskFiles, FileSystem, ReadOnlyFiles, ReservedFiles, private
from broker_core.files.wrapped_files import RESERVE_FILE
from broker_core.groups.offsets import OffsetStore
from broker_core.log.segment import LOG_SUFFIX
from broker_core.queues import journal
from broker_core.queues.dead_letters import DeadLettersState
from broker_core.queues.queue_state import QueueState
from broker_core.transactions import transaction

OFFSETS_FILE = "offsets.sqlite"
_LOCK_FILE = "broker.lock"
_CATALOG_FILE = "catalog.json"
_CATALOG_COPY = "catalog.json.copy"
_STATES = "queue-states"
_CHECKSUM = struct.Struct(">I")
_PARTITION = re.compile(r"(.+)-([0-9]+)")

_CATALOG_HEAD = b'{"checksum": "%08x", "catalog":\n'
_CATALOG_HEAD_PATTERN = re.compile(rb'\{"checksum": "([0-9a-f]{8})", "catalog":\n')


def _read_catalog(data: bytes) -> Catalog:
    head = _CATALOG_HEAD_PATTERN.match(data)
    if head is None:
        raise ValueError("it does not begin with a checksum")
    text = data[head.end() : -2]
    if int(head[1], 16) != crc32c.crc32c(text) or data[-2:] != b"}\n":
        raise ValueError("its checksum is wrong")
    return msgspec.json.decode(text, type=Catalog)


def is_data_directory(path: Path) -> bool:
    return os.path.isfile(path / _LOCK_FILE)  # False for an invalid name


class KeptQueue(msgspec.Struct, frozen=True):
    """The saved state of a queue with its dead letter queue, or of the dead letter queue of a topic."""

    queue: QueueState | None  # None for the dead letter queue of a topic
    dead_letters: DeadLettersState


_STATE_DECODER = msgspec.msgpack.Decoder(KeptQueue)


def files_of(
    root: Path | str, *, read_only: bool, wrap: Callable[[FileSystem], FileSystem] = lambda disk: disk
) -> ReservedFiles | ReadOnlyFiles:
    """The files of the data directory `root`. Raises STORAGE_ERROR.

    The directory is created if it is missing. Access for other users is removed, unless it has other content. With
    `read_only`, nothing is created or changed. What is written goes through `wrap(disk)`.
    """
    if not read_only:
        disk = DiskFiles(root)
        _close_to_others(disk.root)
        return ReservedFiles(wrap(disk))
    files = ReadOnlyFiles(root)
    if not is_data_directory(files.root):
        raise BrokerError(ErrorCode.STORAGE_ERROR, f"{str(root)!r} is not a data directory; there is nothing to read")
    return files


def offsets_of(files: ReservedFiles | ReadOnlyFiles, root: Path | str, *, durable: bool) -> OffsetStore:
    """The store of committed offsets in the data directory `root`. Raises STORAGE_ERROR."""
    path = Path(root) / OFFSETS_FILE
    if isinstance(files, ReadOnlyFiles):
        return OffsetStore.read_only(path, files)
    return files.spending(lambda: OffsetStore(path, durable=durable))


def _close_to_others(root: Path) -> None:
    own = {_LOCK_FILE, _STATES, RESERVE_FILE, journal.DIRECTORY, transaction.DIRECTORY, "lost+found"}
    foreign = [
        path.name
        for path in root.iterdir()
        if path.name not in own
        and not path.name.startswith((OFFSETS_FILE, _CATALOG_FILE))
        and not _PARTITION.fullmatch(path.name)
    ]
    private.close_to_others(root, foreign[0] if foreign else "")


class DataDirectory:
    """Holds the lock of the directory; raises DIRECTORY_IN_USE. With `durable`, each save waits for the disk."""

    def __init__(self, files: FileSystem, *, durable: bool) -> None:
        self.files = files
        self._durable = durable
        self._unlock = files.lock(_LOCK_FILE)
        self._saved: bytes | None = None
        self.findings: list[str] = []  # sentences about what was damaged or missing, and what was done
        files.makedirs(_STATES)
        self.refill_reserve()

    def refill_reserve(self) -> None:
        if isinstance(self.files, ReservedFiles):
            self.files.refill()

    def catalog(self) -> Catalog:
        """The saved catalog, or its copy; an empty one if there is neither. Raises DAMAGED."""
        why = f"{_CATALOG_FILE} is missing"
        try:
            if self.files.exists(_CATALOG_FILE):
                return self._read(_CATALOG_FILE)
        except (msgspec.MsgspecError, ValueError) as error:
            why = f"{_CATALOG_FILE} is damaged ({error})"
            if not self.files.exists(_CATALOG_COPY):
                raise BrokerError(ErrorCode.DAMAGED, f"{why}; restore it, the logs beside it are intact") from error
        if not self.files.exists(_CATALOG_COPY):
            return Catalog()
        try:
            found = self._read(_CATALOG_COPY)
        except (msgspec.MsgspecError, ValueError) as error:
            about = f"{why}, and so is {_CATALOG_COPY} ({error}); restore one, the logs beside them are intact"
            raise BrokerError(ErrorCode.DAMAGED, about) from error
        self._saved = None
        self.findings.append(f"{why}: its copy is used, and what was created or deleted last may be missing from that")
        return found

    def _read(self, path: str) -> Catalog:
        self._saved = self.files.read(path, 0, self.files.size(path))
        return _read_catalog(self._saved)

    def missing(self, catalog: Catalog) -> list[str]:
        """A sentence for each partition of the catalog that has no segment: even an empty one has."""
        names = [f"{each.name}-{number}" for each in catalog.topics for number in range(each.partitions)]
        for each in catalog.queues:
            names += (f"{each.name}-{number}" for number in range(each.config.priorities))
            names.append(f"{each.config.dead_letter_topic_of(each.name)}-0")
        return [f"{name} has no segments left: its messages are lost" for name in names if not self._segments(name)]

    def unknown_directories(self, known: Collection[str]) -> dict[str, list[str]]:
        """Directories of partitions with messages that are not `known`, by the name of their topic."""
        found: dict[str, list[str]] = {}
        for name in self.files.listdir(""):
            match = _PARTITION.fullmatch(name)
            if (
                match
                and name not in known
                and not name.startswith(OFFSETS_FILE)
                and any(self.files.size(path) for path in self._segments(name))
            ):
                found.setdefault(match[1], []).append(name)
        return found

    def _segments(self, directory: str) -> list[str]:
        if not self.files.exists(directory):
            return []
        return [f"{directory}/{name}" for name in self.files.listdir(directory) if name.endswith(LOG_SUFFIX)]

    def save_catalog(self, catalog: Catalog) -> bool:
        """Save the catalog. False if it is unchanged. Raises STORAGE_ERROR."""
        text = msgspec.json.format(msgspec.json.encode(catalog), indent=2)
        data = _CATALOG_HEAD % crc32c.crc32c(text) + text + b"}\n"
        if data == self._saved:
            return False
        self.files.write_whole(_CATALOG_FILE, data, durable=self._durable)
        self.files.write_whole(_CATALOG_COPY, data, durable=False)
        self._saved = data
        return True

    def queue_state(self, queue: str) -> KeptQueue | None:
        """The saved state of the queue, None if there is none. Raises DAMAGED, after renaming the file."""
        path = f"{_STATES}/{queue}"
        if not self.files.exists(path):
            return None
        data = self.files.read(path, 0, self.files.size(path))
        try:
            if _CHECKSUM.unpack_from(data)[0] != crc32c.crc32c(data[_CHECKSUM.size :]):
                raise ValueError("its checksum is wrong")
            return _STATE_DECODER.decode(data[_CHECKSUM.size :])
        except (ValueError, struct.error) as error:
            self.files.rename(path, f"{path}.damaged")
            raise BrokerError(
                ErrorCode.DAMAGED,
                f"the state of queue {queue} ({error}): kept as {path}.damaged, all messages are delivered again",
            ) from error

    def save_queue_state(self, queue: str, kept: KeptQueue) -> None:
        data = msgspec.msgpack.encode(kept)
        checksum = _CHECKSUM.pack(crc32c.crc32c(data))
        self.files.write_whole(f"{_STATES}/{queue}", checksum + data, durable=self._durable)

    def forget_queue(self, queue: str) -> None:
        self.files.remove(f"{_STATES}/{queue}")

    def close(self) -> None:
        self.files.close()
        self._unlock()
