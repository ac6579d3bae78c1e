"""Committed offsets on disk: one SQLite commit per flush, restarts, damage."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path
from unittest.mock import Mock

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import DiskFiles
from broker_core.groups.offset_journal import FlushedRows, GroupRow, OffsetJournal, OffsetRow
from broker_core.groups.offset_table import CorruptTable
from broker_core.groups.offsets import GroupNumbers, OffsetStore
from broker_core.messages import OffsetAndMetadata
from tests.broker_core.groups.group_setup import GROUP, GroupSetup
from tests.long_form import both, form


def commit(store: OffsetStore, group: str, topic: str, partition: int, *value) -> None:
    store.commit(group, topic, partition, OffsetAndMetadata(*value))


def filled(path: Path, rows: int = 3) -> OffsetStore:
    store = OffsetStore(path)
    for number in range(rows):
        commit(store, "g", "commits", number, number * 10, f"note {number}", number)
    store.set_numbers("g", 4, 9)
    store.flush()
    return store


@pytest.mark.parametrize("kept", [b"members", None])
def test_members_are_waited_for_too(tmp_path: Path, kept: bytes | None):
    store = OffsetStore(tmp_path / "offsets.sqlite")
    store.members_of = lambda _group: kept
    store.note_members("g")
    waiting = store.flushed()
    assert not waiting.done
    store.flush()
    assert waiting.done and store.flushed().done
    store.close()
    assert dict(OffsetStore(tmp_path / "offsets.sqlite").members()) == ({} if kept is None else {"g": kept})


def test_members_that_could_not_be_written_come_with_the_next_flush(tmp_path: Path, monkeypatch):
    store = OffsetStore(tmp_path / "offsets.sqlite")
    store.members_of = lambda _group: b"members"
    store.note_members("g")
    with monkeypatch.context() as patch:
        patch.setattr(store._table, "write", Mock(side_effect=BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")))
        with pytest.raises(BrokerError):
            store.flush()
    assert store.flush() == 1
    store.close()
    assert dict(OffsetStore(tmp_path / "offsets.sqlite").members()) == {"g": b"members"}


def test_a_store_in_memory_is_never_waited_for():
    store = OffsetStore()
    store.note_members("g")
    assert store.flushed().done


def test_what_was_flushed_is_there_after_a_restart(tmp_path):
    filled(tmp_path / "offsets.sqlite").close()
    again = OffsetStore(tmp_path / "offsets.sqlite")
    assert again.fetch("g", "commits", 2) == OffsetAndMetadata(20, "note 2", 2)
    assert list(again.fetch_all("g")) == [("commits", 0), ("commits", 1), ("commits", 2)]
    assert again.numbers("g") == GroupNumbers(4, 9) and again.groups() == ["g"] and again.corruption == ""
    assert list(again.groups_of("commits")) == ["g"]
    again.close()


def test_reads_see_a_commit_at_once_and_the_file_sees_it_at_the_flush(tmp_path):
    path = tmp_path / "offsets.sqlite"
    store = filled(path)
    commit(store, "g", "commits", 0, 99)
    assert store.fetch("g", "commits", 0) == OffsetAndMetadata(99)
    other = OffsetStore(path)
    assert other.fetch("g", "commits", 0) == OffsetAndMetadata(0, "note 0", 0)
    other.close()
    assert store.flush() == 1 and store.flush() == 0
    other = OffsetStore(path)
    assert other.fetch("g", "commits", 0) == OffsetAndMetadata(99)
    other.close()


@pytest.mark.promise("A15")
def test_one_flush_is_one_sqlite_commit(tmp_path):
    store = filled(tmp_path / "offsets.sqlite")
    said: list[str] = []
    store._table.connection.set_trace_callback(said.append)
    for number in range(50):
        commit(store, "g", "commits", number, number)
        commit(store, "g", "commits", number, number + 1)
    assert said == [] and store.flush() == 50
    assert sum(line == "COMMIT" for line in said) == 1


def test_deletions_are_written_too(tmp_path):
    path = tmp_path / "offsets.sqlite"
    store = filled(path)
    commit(store, "other", "issues", 0, 5)
    commit(store, "other", "commits", 0, 6)
    store.delete("g", "commits", 1)
    store.delete("g", "commits", 77)
    store.delete_topic("issues")
    store.close()
    again = OffsetStore(path)
    assert list(again.fetch_all("g")) == [("commits", 0), ("commits", 2)]
    assert list(again.fetch_all("other")) == [("commits", 0)]
    assert list(again.groups_of("issues")) == []
    again.delete_group("g")
    again.close()
    last = OffsetStore(path)
    assert last.groups() == ["other"] and last.numbers("g") == GroupNumbers()
    last.close()


DAMAGES = ["not sqlite", "torn", "zeroed page", "empty header"]


def damaged(path: Path, damage: str) -> bytes:
    data = bytearray(path.read_bytes())
    if damage == "not sqlite":
        data[:] = b"these are not the offsets you are looking for" * 100
    elif damage == "torn":
        del data[len(data) // 2 :]
    elif damage == "zeroed page":
        data[8192:12288] = bytes(4096)
    else:
        data[:100] = bytes(100)
    path.write_bytes(data)
    return bytes(data)


@pytest.mark.promise("28")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_put_aside_and_rebuilt_from_its_journal_without_loss(tmp_path, damage):
    path = tmp_path / "offsets.sqlite"
    store = filled(path, rows=2_000)
    commit(store, "g", "commits", 0, 1)
    store.flush()
    store.delete("g", "commits", 1)
    store.close()
    data = damaged(path, damage)
    store = OffsetStore(path)
    assert store.corruption == (
        f"{path} was damaged: it is kept as {path}.damaged-1, and a new one is rebuilt from its journal"
    )
    assert (tmp_path / "offsets.sqlite.damaged-1").read_bytes() == data
    expected = {("commits", number): number * 10 for number in range(2_000)} | {("commits", 0): 1}
    del expected["commits", 1]
    assert {key: value.offset for key, value in store.fetch_all("g").items()} == expected
    assert store.numbers("g") == GroupNumbers(4, 9)
    commit(store, "g", "commits", 0, 7)
    store.close()
    again = OffsetStore(path)
    assert again.corruption == "" and again.fetch("g", "commits", 0) == OffsetAndMetadata(7)
    again.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_without_a_journal_what_can_be_read_is_saved(tmp_path, damage):
    path = tmp_path / "offsets.sqlite"
    filled(path, rows=2_000).close()
    (tmp_path / "offsets.sqlite.journal").unlink()
    damaged(path, damage)
    store = OffsetStore(path)
    saved = store.fetch_all("g")
    assert f"rebuilt from {len(saved)} offsets that could still be read" in store.corruption
    assert all(
        value == OffsetAndMetadata(number * 10, f"note {number}", number) for (_, number), value in saved.items()
    )
    assert (len(saved) > 0) == (damage == "zeroed page")
    store.close()


def test_a_missing_file_is_rebuilt_from_its_journal(tmp_path):
    path = tmp_path / "offsets.sqlite"
    filled(path).close()
    path.unlink()
    store = OffsetStore(path)
    assert store.corruption == f"{path} was missing; it is rebuilt from its journal"
    assert len(store.fetch_all("g")) == 3
    store.close()


def test_a_row_that_makes_no_sense_is_damage(tmp_path):
    path = tmp_path / "offsets.sqlite"
    filled(path).close()
    (tmp_path / "offsets.sqlite.journal").unlink()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE offsets SET \"offset\" = 'many' WHERE partition = 1")
    connection.commit()
    connection.close()
    store = OffsetStore(path)
    assert "2 offsets that could still be read" in store.corruption
    assert store.fetch("g", "commits", 1) is None and store.fetch("g", "commits", 2) is not None
    store.close()


def test_a_journal_cut_at_any_byte_gives_a_state_that_was_flushed(tmp_path):
    files = DiskFiles(tmp_path)
    journal = OffsetJournal(files, "j", durable=True)
    frames = [FlushedRows([OffsetRow("g", "t", number, number)], [GroupRow("g", number)]) for number in range(4)]
    journal.rewrite(frames[0])
    ends = [files.size("j")]
    for frame in frames[1:]:
        journal.append(frame)
        ends.append(files.size("j"))
    assert list(journal.read()) == frames
    data = (tmp_path / "j").read_bytes()
    for cut in range(len(data)):
        (tmp_path / "cut").write_bytes(data[:cut])
        read = list(OffsetJournal(files, "cut", durable=False).read())
        assert read == frames[: sum(end <= cut for end in ends)]
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 0x10
        (tmp_path / "flipped").write_bytes(flipped)
        assert (
            list(OffsetJournal(files, "flipped", durable=False).read()) == frames[: sum(end <= place for end in ends)]
        )
    files.write_whole("j", data + bytes(64), durable=False)
    assert list(journal.read()) == frames, "zeros behind them are no flush"
    journal.close()


def test_the_journal_is_written_anew_when_most_of_it_is_history(tmp_path):
    store = filled(tmp_path / "offsets.sqlite")
    for number in range(400):
        commit(store, "g", "commits", 0, number, "x" * 1_000)
        store.flush()
    assert (tmp_path / "offsets.sqlite.journal").stat().st_size < 300_000
    store.close()
    (tmp_path / "offsets.sqlite").unlink()
    again = OffsetStore(tmp_path / "offsets.sqlite")
    assert again.fetch("g", "commits", 0) == OffsetAndMetadata(399, "x" * 1_000)
    again.close()


def test_damage_while_running_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "offsets.sqlite"
    store = filled(path)
    commit(store, "g", "commits", 5, 55)

    def broken(changes):
        raise CorruptTable("database disk image is malformed")

    monkeypatch.setattr(store._table, "write", broken)
    store.flush()
    assert "nothing was lost" in store.corruption
    store.close()
    again = OffsetStore(path)
    assert sorted(number for _, number in again.fetch_all("g")) == [0, 1, 2, 5]
    assert again.numbers("g") == GroupNumbers(4, 9)
    again.close()


def test_a_full_disk_is_a_clean_error_and_the_changes_wait(tmp_path):
    store = filled(tmp_path / "offsets.sqlite")
    store._table.connection.execute(
        f"PRAGMA max_page_count = {store._table.connection.execute('PRAGMA page_count').fetchone()[0]}"
    )
    for number in range(5_000):
        commit(store, "g", "commits", number, number, "x" * 50)
    with pytest.raises(BrokerError) as caught:
        store.flush()
    assert caught.value.code is ErrorCode.STORAGE_ERROR
    assert store.fetch("g", "commits", 4_999) == OffsetAndMetadata(4_999, "x" * 50)
    store._table.connection.execute("PRAGMA max_page_count = 1000000")
    assert store.flush() == 5_000
    store.close()


def test_a_place_that_cannot_hold_a_file_is_a_clean_error(tmp_path):
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(BrokerError) as caught:
        OffsetStore(tmp_path / "file" / "offsets.sqlite")
    assert caught.value.code is ErrorCode.STORAGE_ERROR


def test_a_restarted_coordinator_goes_on_with_the_next_generation_and_new_member_ids(tmp_path):
    setup = GroupSetup(OffsetStore(tmp_path / "offsets.sqlite"))
    (client,) = setup.group_of(1)
    client.commit(7)
    setup.coordinator.offsets.close()
    later = GroupSetup(OffsetStore(tmp_path / "offsets.sqlite"))
    assert later.coordinator.groups() == [GROUP] and later.state == "Empty"
    assert later.coordinator.committed(GROUP, "commits", 0) == 7
    (again,) = later.group_of(1)
    assert again.generation == 2 and again.member_id != client.member_id
    later.coordinator.offsets.close()


def check_flipped_bits(tmp_path: Path, step: int) -> None:
    path = tmp_path / "good" / "offsets.sqlite"
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as small:
        small.execute("PRAGMA page_size = 512")
        small.execute("VACUUM")
    filled(path, rows=5).close()
    with contextlib.closing(OffsetStore(path)) as store:
        good = dict(store.fetch_all("g"))
    data, journal = path.read_bytes(), (path.parent / "offsets.sqlite.journal").read_bytes()
    said = 0
    for bit in range(0, len(data) * 8, step):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        place = tmp_path / str(bit)
        place.mkdir()
        (place / "offsets.sqlite").write_bytes(flipped)
        (place / "offsets.sqlite.journal").write_bytes(journal)
        with contextlib.closing(OffsetStore(place / "offsets.sqlite")) as store:
            assert dict(store.fetch_all("g")) == good, bit
            assert store.numbers("g") == GroupNumbers(4, 9), bit
            said += bool(store.corruption)
        shutil.rmtree(place)
    assert said > len(data) * 8 // step // 10


@pytest.mark.promise("4", "28")
@both
def test_promises_4_and_28_no_flipped_bit_of_the_file_gives_another_offset(tmp_path):
    check_flipped_bits(tmp_path, form(131, 13))


@pytest.mark.soak
def test_promises_4_and_28_no_bit_at_all(tmp_path):
    check_flipped_bits(tmp_path, 1)


def test_a_group_that_was_deleted_is_not_brought_back_by_the_journal(tmp_path: Path):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    commit(store, "kept", "t", 0, 1)
    commit(store, "gone", "t", 0, 2)
    store.flush()
    store.delete_group("gone")
    store.close()
    assert OffsetStore.read_only(path, DiskFiles(tmp_path)).groups() == ["kept"]
    path.unlink()
    again = OffsetStore(path)
    assert again.groups() == ["kept"]
    again.close()


def committed(store: OffsetStore, partition: int = 0) -> int | None:
    found = store.fetch("billing", "orders", partition)
    return None if found is None else found.offset


@pytest.mark.promise("28")
@pytest.mark.parametrize("damage", ["cut", "removed", "emptied"])
def test_promise_28_a_cut_write_ahead_log_loses_no_commit_and_is_said(tmp_path: Path, damage: str):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    for offset in range(10):
        commit(store, "billing", "orders", offset, offset + 1)
        store.flush()
    # As after the death of the process: what is in the log alone is not yet in the file.
    kept = tmp_path / "kept"
    shutil.copytree(tmp_path, kept, ignore=shutil.ignore_patterns("kept"))
    store.close()
    wal = kept / "offsets.sqlite-wal"
    wal.unlink() if damage == "removed" else os.truncate(wal, 0 if damage == "emptied" else wal.stat().st_size // 2)
    found = OffsetStore(kept / "offsets.sqlite")
    assert [committed(found, number) for number in range(10)] == list(range(1, 11))
    assert "-wal" in found.corruption
    assert "rebuilt from its journal" in found.corruption
    commit(found, "billing", "orders", 0, 100)
    found.close()
    again = OffsetStore(kept / "offsets.sqlite")
    assert (again.corruption, committed(again)) == ("", 100)
    again.close()


def test_a_death_between_journal_and_file_is_no_damage(tmp_path: Path):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    for offset in (1, 2):
        commit(store, "billing", "orders", 0, offset)
        store.flush()
    for _ in range(50):
        store.flush()  # of nothing, as a tick does
    commit(store, "billing", "orders", 0, 3)
    ticket = store.begin_flush()
    assert ticket is not None and store._journal is not None
    store._journal.append(ticket.changes)
    store.abandon()
    found = OffsetStore(path)
    assert (found.corruption, committed(found)) == ("", 3), "the journal has it"
    found.close()


def test_a_death_after_a_failed_flush_is_no_damage(tmp_path: Path, monkeypatch):
    path = tmp_path / "offsets.sqlite"
    store = OffsetStore(path)
    commit(store, "billing", "orders", 0, 1)
    store.flush()
    commit(store, "billing", "orders", 0, 3)
    assert store._journal is not None
    with monkeypatch.context() as full:
        full.setattr(store._journal, "append", Mock(side_effect=BrokerError(ErrorCode.STORAGE_ERROR, "full")))
        with pytest.raises(BrokerError):
            store.flush()
    ticket = store.begin_flush()
    assert ticket is not None
    store._journal.append(ticket.changes)
    store.abandon()
    found = OffsetStore(path)
    assert (found.corruption, committed(found)) == ("", 3), "the journal has it"
    found.close()


def test_a_store_whose_last_flush_fails_is_closed(tmp_path, monkeypatch):
    store = filled(tmp_path / "offsets.db")
    abandon = Mock(wraps=store.abandon)
    monkeypatch.setattr(store, "flush", Mock(side_effect=BrokerError(ErrorCode.STORAGE_ERROR)))
    monkeypatch.setattr(store, "abandon", abandon)
    with pytest.raises(BrokerError):
        store.close()
    abandon.assert_called_once_with()
