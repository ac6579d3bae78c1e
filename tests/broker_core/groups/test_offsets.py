"""Committed offsets on disk: one SQLite commit per flush, restarts, damage."""

import sqlite3
from pathlib import Path

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offsets import GroupNumbers, OffsetAndMetadata, OffsetStore
from tests.broker_core.groups.world import GROUP, World


def filled(path: Path, rows: int = 3) -> OffsetStore:
    store = OffsetStore(path)
    for number in range(rows):
        store.commit("g", "commits", number, number * 10, f"note {number}", number)
    store.set_numbers("g", 4, 9)
    store.flush()
    return store


def test_what_was_flushed_is_there_after_a_restart(tmp_path):
    filled(tmp_path / "offsets.sqlite").close()
    again = OffsetStore(tmp_path / "offsets.sqlite")
    assert again.fetch("g", "commits", 2) == OffsetAndMetadata(20, "note 2", 2)
    assert list(again.fetch_all("g")) == [("commits", 0), ("commits", 1), ("commits", 2)]
    assert again.numbers("g") == GroupNumbers(4, 9) and again.groups() == ["g"] and again.damage == ""
    assert list(again.groups_of("commits")) == ["g"]
    again.close()


def test_reads_see_a_commit_at_once_and_the_file_sees_it_at_the_flush(tmp_path):
    path = tmp_path / "offsets.sqlite"
    store = filled(path)
    store.commit("g", "commits", 0, 99)
    assert store.fetch("g", "commits", 0) == OffsetAndMetadata(99)
    other = OffsetStore(path)
    assert other.fetch("g", "commits", 0) == OffsetAndMetadata(0, "note 0", 0)
    other.close()
    assert store.flush() == 1 and store.flush() == 0
    other = OffsetStore(path)
    assert other.fetch("g", "commits", 0) == OffsetAndMetadata(99)
    other.close()


def test_one_flush_is_one_sqlite_commit(tmp_path):
    store = filled(tmp_path / "offsets.sqlite")
    said: list[str] = []
    store._connection.set_trace_callback(said.append)
    for number in range(50):
        store.commit("g", "commits", number, number)
        store.commit("g", "commits", number, number + 1)
    assert said == [] and store.flush() == 50
    assert sum(line == "COMMIT" for line in said) == 1


def test_deletions_are_written_too(tmp_path):
    path = tmp_path / "offsets.sqlite"
    store = filled(path)
    store.commit("other", "issues", 0, 5)
    store.commit("other", "commits", 0, 6)
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


@pytest.mark.parametrize("damage", ["not sqlite", "torn", "zeroed page", "empty header"])
def test_a_damaged_file_is_put_aside_and_a_new_one_is_used(tmp_path, damage):
    path = tmp_path / "offsets.sqlite"
    filled(path, rows=2_000).close()
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
    store = OffsetStore(path)
    assert "was damaged: it is kept as" in store.damage
    assert (tmp_path / "offsets.sqlite.damaged-1").read_bytes() == bytes(data)
    assert all(value.offset == number * 10 for (_, number), value in store.fetch_all("g").items())
    store.commit("g", "commits", 0, 7)
    store.close()
    again = OffsetStore(path)
    assert again.damage == "" and again.fetch("g", "commits", 0) == OffsetAndMetadata(7)
    again.close()


def test_a_row_that_makes_no_sense_is_damage(tmp_path):
    path = tmp_path / "offsets.sqlite"
    filled(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE offsets SET \"offset\" = 'many' WHERE partition = 1")
    connection.commit()
    connection.close()
    store = OffsetStore(path)
    assert "2 committed offsets were saved" in store.damage
    assert store.fetch("g", "commits", 1) is None and store.fetch("g", "commits", 2) is not None
    store.close()


def test_damage_while_running_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "offsets.sqlite"
    store = filled(path)
    store.commit("g", "commits", 5, 55)
    write = store._write
    calls = []

    def broken():
        calls.append(1)
        if len(calls) == 1:
            error = sqlite3.DatabaseError("database disk image is malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        write()

    monkeypatch.setattr(store, "_write", broken)
    store.flush()
    assert "nothing was lost" in store.damage
    store.close()
    again = OffsetStore(path)
    assert sorted(number for _, number in again.fetch_all("g")) == [0, 1, 2, 5]
    assert again.numbers("g") == GroupNumbers(4, 9)
    again.close()


def test_a_full_disk_is_a_clean_error_and_the_changes_wait(tmp_path):
    store = filled(tmp_path / "offsets.sqlite")
    store._connection.execute(f"PRAGMA max_page_count = {store._connection.execute('PRAGMA page_count').fetchone()[0]}")
    for number in range(5_000):
        store.commit("g", "commits", number, number, "x" * 50)
    with pytest.raises(BrokerError) as caught:
        store.flush()
    assert caught.value.code is ErrorCode.STORAGE_ERROR
    assert store.fetch("g", "commits", 4_999) == OffsetAndMetadata(4_999, "x" * 50)
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert store.flush() == 5_000
    store.close()


def test_a_place_that_cannot_hold_a_file_is_a_clean_error(tmp_path):
    with pytest.raises(BrokerError) as caught:
        OffsetStore(tmp_path / "missing" / "offsets.sqlite")
    assert caught.value.code is ErrorCode.STORAGE_ERROR


def test_a_restarted_coordinator_goes_on_with_the_next_generation_and_new_member_ids(tmp_path):
    world = World(OffsetStore(tmp_path / "offsets.sqlite"))
    (client,) = world.group_of(1)
    client.commit(7)
    world.coordinator.offsets.close()
    later = World(OffsetStore(tmp_path / "offsets.sqlite"))
    assert later.coordinator.groups() == [GROUP] and later.state == "Empty"
    assert later.coordinator.committed(GROUP, "commits", 0) == 7
    (again,) = later.group_of(1)
    assert again.generation == 2 and again.member_id != client.member_id
    later.coordinator.offsets.close()
