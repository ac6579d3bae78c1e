"""Committed offsets: read from memory, stored in SQLite with one transaction per tick."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from broker_core.errors import BrokerError
from broker_core.files import DiskFiles, FileSystem
from broker_core.groups.offset_journal import NUMBERS, FlushedRows, GroupRow, MembersRow, OffsetJournal, OffsetRow
from broker_core.groups.offset_table import MEMORY, CorruptTable, OffsetTable, quarantine, salvage
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.replies import Reply


class GroupNumbers(msgspec.Struct, frozen=True, gc=False):
    """Counters of a group that continue after a restart, so that old members stay fenced."""

    generation: int = 0
    last_member_number: int = 0


class FlushTicket(msgspec.Struct, eq=False):
    """Changes that one thread writes to the disk, without the broker's lock, for all who wait for them."""

    changes: FlushedRows
    _everything: FlushedRows | None
    _table: OffsetTable
    _journal: OffsetJournal | None
    awaited_by: list[Reply[None]]
    journal_written: bool = False
    error: BrokerError | CorruptTable | None = None

    def run(self) -> None:
        """Write to the disk. Never raises: `OffsetStore.end_flush` does."""
        try:
            if self._journal is not None:
                if self._everything is not None:
                    self._journal.rewrite(self._everything)
                else:
                    self._journal.append(self.changes)
                self.journal_written = True
            self._table.write(self.changes)
        except (BrokerError, CorruptTable) as error:
            self.error = error


class OffsetStore:
    """Committed offsets by group and partition, and the numbers of each group.

    `path` is a file or ":memory:". Changes are made in memory; `flush` writes them, first to a journal beside the
    file, from which a corrupt file is rebuilt. With `durable`, each flush waits for the disk. Not thread-safe: the
    broker calls it under its lock. `corruption` is a sentence about a corrupt, cut or missing file, otherwise "".
    """

    def __init__(self, path: str | Path = MEMORY, *, durable: bool = False) -> None:
        self._path = str(path)
        self._durable = durable
        self._offsets: dict[str, dict[TopicPartition, OffsetAndMetadata]] = {}
        self._readers: dict[str, dict[str, int]] = {}  # topic -> group -> committed partitions
        self._numbers: dict[str, GroupNumbers] = {}
        self._changed: set[tuple[str, str, int]] = set()
        self._changed_groups: set[str] = set()
        self._members: dict[str, bytes] = {}
        self._changed_members: set[str] = set()
        #: What is to be kept of a group's members, see `coordinator.KeptGroup`; asked when it is written.
        self.members_of: Callable[[str], bytes | None] = lambda _group: None
        self._awaited_by: list[Reply[None]] = []
        self._flushing = False
        self._number = 0  # of the last flush
        self.corruption = ""
        self._journal: OffsetJournal | None = None
        if self._path != MEMORY:
            place = Path(self._path)
            self._journal = OffsetJournal(DiskFiles(place.parent), f"{place.name}.journal", durable=durable)
        self._table = self._open()

    @classmethod
    def read_only(cls, path: Path, files: FileSystem) -> OffsetStore:
        """A store with the offsets of `path` whose changes stay in memory. `files` is its directory."""
        store = cls()
        journal = OffsetJournal(files, f"{path.name}.journal", durable=False)
        # The journal is written first, so it is complete, and reading it needs no lock and no further file.
        if not store._replay(journal):
            store._apply(salvage(str(path)))
        return store

    # -- offsets

    def commit(self, group: str, topic: str, partition: int, value: OffsetAndMetadata) -> None:
        self._put(group, topic, partition, value)
        self._changed.add((group, topic, partition))

    def fetch(self, group: str, topic: str, partition: int) -> OffsetAndMetadata | None:
        committed = self._offsets.get(group)
        return None if committed is None else committed.get((topic, partition))

    def fetch_all(self, group: str) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """All committed offsets of the group, as a live view."""
        return MappingProxyType(self._offsets.get(group, {}))

    def groups(self) -> list[str]:
        return sorted(self._offsets.keys() | self._numbers.keys())

    def groups_of(self, topic: str) -> Collection[str]:
        """Groups with committed offsets in `topic`, as a live view."""
        return self._readers.get(topic, {}).keys()

    def delete(self, group: str, topic: str, partition: int) -> None:
        if self._drop(group, topic, partition):
            self._changed.add((group, topic, partition))

    def delete_topic(self, topic: str) -> None:
        for group in sorted(self.groups_of(topic)):
            for partition in [number for name, number in self._offsets[group] if name == topic]:
                self.delete(group, topic, partition)

    def delete_group(self, group: str) -> None:
        for topic, partition in list(self._offsets.get(group, {})):
            self.delete(group, topic, partition)
        if self._numbers.pop(group, None) is not None:
            self._changed_groups.add(group)

    # -- numbers

    def numbers(self, group: str) -> GroupNumbers:
        return self._numbers.get(group, GroupNumbers())

    def set_numbers(self, group: str, generation: int, last_member_number: int) -> None:
        self._numbers[group] = GroupNumbers(generation, last_member_number)
        self._changed_groups.add(group)

    # -- members

    def note_members(self, group: str) -> None:
        self._changed_members.add(group)

    def members(self) -> Mapping[str, bytes]:
        return dict(self._members)

    # -- the file

    @property
    def awaited(self) -> bool:
        return bool(self._awaited_by)

    def flushed(self) -> Reply[None]:
        """A reply that is settled when all commits and members so far are in the file; it fails with STORAGE_ERROR."""
        changed = self._changed or self._changed_groups or self._changed_members
        if self._path == MEMORY or not (changed or self._flushing):
            return Reply.of(None)
        reply: Reply[None] = Reply()
        self._awaited_by.append(reply)
        return reply

    def flush(self) -> int:
        """Write the changes in one transaction. Returns the number of changed rows.

        Raises `BrokerError` (STORAGE_ERROR) for a disk error; a later call writes the changes then. A corrupt file is
        renamed and written again from memory, without loss.
        """
        ticket = self.begin_flush()
        if ticket is None:
            return 0
        ticket.run()
        self.end_flush(ticket)
        return len(ticket.changes)

    def begin_flush(self) -> FlushTicket | None:
        """The ticket of a flush, None if nothing has changed. One flush at a time.

        Call its `run` in any thread without the broker's lock, then `end_flush` under the lock.
        """
        changes = self._changes()
        self._changed_members.clear()
        awaited_by, self._awaited_by = self._awaited_by, []
        if len(changes) == 0:
            for reply in awaited_by:
                reply.resolve(None)
            return None
        self._number = changes.number
        self._changed.clear()
        self._changed_groups.clear()
        self._flushing = True
        everything = self._everything() if self._journal is not None and self._journal.overgrown else None
        return FlushTicket(changes, everything, self._table, self._journal, awaited_by)

    def end_flush(self, ticket: FlushTicket) -> None:
        """Take note of what a ticket has done, and answer who waited for it. Raises as `flush` does."""
        self._flushing = False
        try:
            self._end_flush(ticket)
        except BrokerError as error:
            for reply in ticket.awaited_by:
                reply.fail(error)
            raise
        for reply in ticket.awaited_by:
            reply.resolve(None)

    def _end_flush(self, ticket: FlushTicket) -> None:
        if isinstance(ticket.error, CorruptTable):
            self._table.close()
            aside = quarantine(self._path)
            self._table = OffsetTable(self._path, durable=self._durable)
            self._table.write(self._everything())
            self.corruption = f"{self._path} was damaged: it is kept as {aside}; nothing was lost"
        elif ticket.error is not None:
            if not ticket.journal_written:
                self._number = (ticket.changes.number - 1) % NUMBERS
            self._changed.update((row.group, row.topic, row.partition) for row in ticket.changes.offsets)
            self._changed_groups.update(row.group for row in ticket.changes.groups)
            for each in ticket.changes.members:
                self._members.pop(each.group, None)
                self._changed_members.add(each.group)
            raise ticket.error

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        self._table.close()
        if self._journal is not None:
            self._journal.close()

    def _open(self) -> OffsetTable:
        table: OffsetTable | None = None
        lost = self._journal is not None and self._journal.exists() and not Path(self._path).exists()
        why = "was damaged"
        try:
            table = OffsetTable(self._path, durable=self._durable)
            found = table.read()
            self._apply(found)
            ahead = 0 if lost else self._ahead(found.number)
            if ahead > 1:
                why = "lacks the last commits, which were in its -wal file"
                raise CorruptTable(why)
            if ahead or lost:
                self._replay(self._journal)
                table.write(self._everything())
            if lost:
                self.corruption = f"{self._path} was missing; it is rebuilt from its journal"
        except CorruptTable:
            if table is not None:
                table.close()
            table = self._rebuild(quarantine(self._path), why)
        if self._journal is not None:
            self._journal.rewrite(self._everything())
        return table

    def _rebuild(self, aside: str, why: str) -> OffsetTable:
        """A new file from the readable rows of the old one and the journal."""
        found = salvage(aside)
        self._apply(found)
        replayed = self._replay(self._journal)
        source = "its journal" if replayed else f"{len(found.offsets)} offsets that could still be read"
        self.corruption = f"{self._path} {why}: it is kept as {aside}, and a new one is rebuilt from {source}"
        table = OffsetTable(self._path, durable=self._durable)
        table.write(self._everything())
        return table

    def _ahead(self, number: int) -> int:
        """How many flushes the journal, written first, has after flush `number`: 1 if the process died in between."""
        if self._journal is None or not self._journal.exists():
            return 0
        last = [number, *(changes.number for changes in self._journal.read())][-1]
        ahead = (last - number) % NUMBERS
        return ahead if ahead < NUMBERS // 2 else 0

    def _replay(self, journal: OffsetJournal | None) -> bool:
        """Apply the journal; False if there is none. Its first frame replaces the whole state."""
        whole = False
        if journal is not None and journal.exists():
            for changes in journal.read():
                if not whole:
                    self._offsets.clear()
                    self._readers.clear()
                    self._numbers.clear()
                    self._members.clear()
                whole = True
                self._apply(changes)
        return whole

    def _apply(self, changes: FlushedRows) -> None:
        self._number = changes.number
        for row in changes.offsets:
            if row.offset is None:
                self._drop(row.group, row.topic, row.partition)
            else:
                value = OffsetAndMetadata(row.offset, row.metadata, row.leader_epoch)
                self._put(row.group, row.topic, row.partition, value)
        for each in changes.groups:
            if each.generation is None:
                self._numbers.pop(each.group, None)
            else:
                self._numbers[each.group] = GroupNumbers(each.generation, each.last_member_number)
        for kept in changes.members:
            self._members[kept.group] = kept.members

    def _put(self, group: str, topic: str, partition: int, value: OffsetAndMetadata) -> None:
        committed = self._offsets.setdefault(group, {})
        if (topic, partition) not in committed:
            partitions = self._readers.setdefault(topic, {})
            partitions[group] = partitions.get(group, 0) + 1
        committed[topic, partition] = value

    def _drop(self, group: str, topic: str, partition: int) -> bool:
        committed = self._offsets.get(group, {})
        if committed.pop((topic, partition), None) is None:
            return False
        if not committed:
            del self._offsets[group]
        partitions = self._readers[topic]
        partitions[group] -= 1
        if not partitions[group]:
            del partitions[group]
        return True

    def _changes(self) -> FlushedRows:
        # Sorted, so that the journal is deterministic.
        return FlushedRows(
            [self._row(*key) for key in sorted(self._changed)],
            [self._group_row(group) for group in sorted(self._changed_groups)],
            [row for group in sorted(self._changed_members) if (row := self._members_row(group)) is not None],
            (self._number + 1) % NUMBERS,
        )

    def _members_row(self, group: str) -> MembersRow | None:
        """Note what is to be kept of its members; None if that is known already."""
        members = self.members_of(group)
        if members is None or members == self._members.get(group, b""):
            return None
        self._members[group] = members
        return MembersRow(group, members)

    def _everything(self) -> FlushedRows:
        return FlushedRows(
            [self._row(group, *key) for group, committed in self._offsets.items() for key in committed],
            [self._group_row(group) for group in self._numbers],
            [MembersRow(group, members) for group, members in self._members.items() if members],
            self._number,
        )

    def _row(self, group: str, topic: str, partition: int) -> OffsetRow:
        value = self.fetch(group, topic, partition)
        if value is None:
            return OffsetRow(group, topic, partition, None)
        return OffsetRow(group, topic, partition, value.offset, value.metadata, value.leader_epoch)

    def _group_row(self, group: str) -> GroupRow:
        numbers = self._numbers.get(group)
        return GroupRow(group, None) if numbers is None else GroupRow(group, *msgspec.structs.astuple(numbers))
