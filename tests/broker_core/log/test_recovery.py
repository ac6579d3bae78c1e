"""Promise 3: a torn tail is cut exactly. Promise 4: no wrong byte is ever served, and what is lost is named."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import MemoryFiles
from broker_core.log.batch import ProducerStamp, encode_batch
from broker_core.log.compaction import Compaction
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message

from .logs import EPOCH_MS, MS, batch, copy_of, open_log, readable, values

SEALED = {"durability": "file", "segment_bytes": 400, "index_interval_bytes": 120}


def filled(files: MemoryFiles, *, closed: bool) -> dict[int, bytes | None]:
    log = open_log(files, **SEALED)
    for n in range(9):
        log.append_batch(n * MS, batch(f"{n} first", f"{n} second", f"{n} third"))
    if closed:
        log.close()
    return readable(log)


def names(files: MemoryFiles, suffix: str) -> list[str]:
    return [f"t-0/{name}" for name in files.listdir("t-0") if name.endswith(suffix)]


def lost_offsets(log: PartitionLog) -> set[int]:
    return {offset for lost in log.lost for offset in range(lost.start_offset, lost.end_offset)}


@pytest.mark.promise("3")
def test_a_tail_cut_at_any_byte_of_the_last_three_batches_leaves_exactly_the_whole_ones():
    files = MemoryFiles()
    log = open_log(files, durability="file")
    ends = []
    for n in range(6):
        log.append_batch(n * MS, batch(f"{n} one", f"{n} two"))
        ends.append(log.size_bytes)
    (path,) = names(files, ".log")
    for size in range(ends[2], ends[5]):
        torn = copy_of(files)
        torn.truncate(path, size)
        again = open_log(torn, durability="file")
        whole = sum(end <= size for end in ends)
        assert again.end_offset == 2 * whole
        assert again.recovery.cut_bytes == size - ends[whole - 1]
        assert bool(again.recovery.notes) == (again.recovery.cut_bytes > 0)
        assert again.lost == ()
        again.append_batch(9 * MS, batch("after"))
        expected = [b"%d %s" % (n, what) for n in range(whole) for what in (b"one", b"two")] + [b"after"]
        assert values(again) == expected
        assert values(open_log(copy_of(torn), durability="file")) == expected


def test_a_tail_cut_below_the_checkpoint_is_damage_and_its_offsets_are_not_given_away():
    files = MemoryFiles()
    log = open_log(files, durability="file")
    for n in range(6):
        log.append_batch(n * MS, batch(f"{n} one", f"{n} two"))
    log.close()
    (path,) = names(files, ".log")
    files.truncate(path, files.size(path) - 1)
    again = open_log(files, durability="file")
    assert [(one.start_offset, one.end_offset) for one in again.lost] == [(10, 12)]
    assert "10 to 11" in again.recovery.notes[0]
    assert again.append_batch(9 * MS, batch("after")).base_offset == 12
    assert len(readable(again)) == 11
    once_more = open_log(files, durability="file")
    assert [(one.start_offset, one.end_offset) for one in once_more.lost] == [(10, 12)]
    assert readable(once_more) == readable(again)


@pytest.mark.promise("4")
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("share", [pytest.param(1, marks=pytest.mark.long), 13])
def test_no_flipped_bit_in_any_file_ever_serves_a_wrong_record(closed, share):
    files = MemoryFiles()
    expected = filled(files, closed=closed)
    assert len(names(files, ".index")) >= 2
    last = names(files, ".log")[-1]
    for path in [f"t-0/{name}" for name in files.listdir("t-0")]:
        data = files.read(path, 0, files.size(path))
        for bit in range(0, len(data) * 8, share):
            broken = copy_of(files)
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            broken.write_whole(path, flipped, durable=False)
            log = open_log(broken, **SEALED)
            found = readable(log)
            assert all(expected[offset] == value for offset, value in found.items()), (path, bit)
            missing = expected.keys() - found.keys()
            named = lost_offsets(log)
            if missing - named:
                # Nothing vouches for what was not checkpointed: it counts as unfinished, and the report says so.
                assert not closed
                assert path == last
                assert log.recovery.cut_bytes > 0
            assert missing or log.recovery.notes or path.endswith((".index", "checkpoint")), (path, bit)
            if not path.endswith(".log"):
                assert not missing, (path, bit)
                assert log.recovery.notes, (path, bit)


@pytest.mark.promise("4")
@pytest.mark.parametrize("batch_number", range(9))
def test_damage_in_the_middle_names_the_lost_offsets_and_the_rest_is_read(batch_number):
    files = MemoryFiles()
    expected = filled(files, closed=False)
    first = batch_number * 3
    base = max(int(name[4:24]) for name in names(files, ".log") if int(name[4:24]) <= first)
    path = f"t-0/{base:020d}.log"
    data = bytearray(files.read(path, 0, files.size(path)))
    at = bytes(data).index(b"%d second" % batch_number)
    data[at] ^= 1
    files.write_whole(path, data, durable=False)
    files.remove("t-0/checkpoint")
    log = open_log(files, **SEALED)
    if batch_number == 8:  # the last one is a torn tail, as far as anybody can tell
        assert (log.end_offset, log.recovery.cut_bytes > 0) == (24, True)
        return
    assert [(one.start_offset, one.end_offset) for one in log.lost] == [(first, first + 3)]
    assert path in log.lost[0].cause
    with pytest.raises(BrokerError, match=f"offsets {first} to {first + 2} .*continue at {first + 3}") as caught:
        log.read(first, max_messages=1)
    assert caught.value.code is ErrorCode.DAMAGED
    assert readable(log) == {offset: value for offset, value in expected.items() if not first <= offset < first + 3}
    assert len(log.read(0, max_messages=100)) == first if first else True
    assert base not in [segment.base_offset for segment in log.compactable()]
    log.close()
    assert path.replace(".log", ".index") not in names(files, ".index")


def test_damage_behind_the_checkpoint_is_found_when_it_is_read():
    files = MemoryFiles()
    expected = filled(files, closed=True)
    path = names(files, ".log")[0]
    data = bytearray(files.read(path, 0, files.size(path)))
    data[data.index(b"1 second")] ^= 1
    files.write_whole(path, data, durable=False)
    log = open_log(files, **SEALED)
    assert log.recovery.scanned_bytes == 0
    assert not log.lost
    assert len(log.read(0, max_messages=100)) == 3
    assert readable(log).keys() == expected.keys() - {3, 4, 5}
    assert [(one.start_offset, one.end_offset) for one in log.lost] == [(3, 6)]


def test_a_batch_inside_a_damaged_message_is_not_taken_for_a_batch_of_the_log():
    inner, _ = encode_batch(50, EPOCH_MS, [Message(b"forged")])
    files = MemoryFiles()
    log = open_log(files, durability="file")
    log.append_batch(0, [Message(b"ahead " + bytes(inner) + b" behind")])
    log.append_batch(0, batch("real"))
    (path,) = names(files, ".log")
    data = bytearray(files.read(path, 0, files.size(path)))
    data[9] ^= 1  # the length: the way to the next batch is lost, too
    files.write_whole(path, data, durable=False)
    assert readable(open_log(files, durability="file")) == {1: b"real"}


def test_a_missing_segment_is_named():
    files = MemoryFiles()
    expected = filled(files, closed=True)
    second, third = names(files, ".log")[1:3]
    files.remove(second)
    log = open_log(files, **SEALED)
    start, end = int(second[4:24]), int(third[4:24])
    assert [(one.start_offset, one.end_offset) for one in log.lost] == [(start, end)]
    assert readable(log).keys() == expected.keys() - set(range(start, end))


def test_the_last_segment_is_missed_after_a_crash_and_not_after_a_closing():
    for closed in (False, True):
        files = MemoryFiles()
        filled(files, closed=closed)
        *_, last = names(files, ".log")
        assert not open_log(copy_of(files), **SEALED).recovery.notes
        files.remove(last)
        log = open_log(files, **SEALED)
        if closed:
            assert log.lost[-1].start_offset == int(last[4:24])
        else:
            assert f"{last!r} is missing" in log.recovery.notes[-1]


def test_a_log_that_was_closed_is_opened_without_reading_it():
    files = MemoryFiles()
    expected = filled(files, closed=True)
    log = open_log(files, **SEALED)
    assert log.recovery == (0, 0, ())
    assert readable(log) == expected
    assert [run.published_ns for run in log.runs(0, 27)] == [n * MS for n in range(9)]
    assert sum(run.size_bytes for run in log.runs(0, 27)) == sum(len(value or b"") + 1 for value in expected.values())
    assert [log.offset_for_time(n * MS) for n in range(10)] == [*range(0, 27, 3), 27]
    assert log.append_batch(9 * MS, batch("more")).base_offset == 27
    assert readable(open_log(copy_of(files), **SEALED)) == expected | {27: b"more"}


def test_a_closed_log_is_read_on_as_far_as_the_limits_say():
    files = MemoryFiles()
    log = open_log(files, durability="file")
    for n in range(300):
        log.append_batch(n * MS, batch(f"{n} a", f"{n} b"))
    log.close()
    assert len(open_log(files, durability="file").read(0, max_messages=1_000, max_bytes=1 << 40)) == 600


def test_only_what_came_after_the_checkpoint_is_scanned():
    files = MemoryFiles()
    log = open_log(files, durability="file")
    log.append_batch(0, batch("early"))
    log.flush()
    flushed_bytes = log.size_bytes
    log.append_batch(0, batch("late"))
    again = open_log(files, durability="file")
    assert again.recovery.scanned_bytes == log.size_bytes - flushed_bytes
    assert values(again) == [b"early", b"late"]


def test_a_damaged_checkpoint_is_said_aloud_and_nothing_is_lost():
    files = MemoryFiles()
    expected = filled(files, closed=True)
    files.write_whole("t-0/checkpoint", b"rubbish", durable=False)
    log = open_log(files, **SEALED)
    assert "'t-0/checkpoint' fails its checksum" in log.recovery.notes[0]
    assert readable(log) == expected
    assert log.lost == ()


@pytest.mark.parametrize("how", ["damaged", "missing"])
def test_without_a_checkpoint_a_log_begins_with_its_first_segment_and_what_was_deleted_is_not_lost(how):
    files = MemoryFiles()
    filled(files, closed=True)
    log = open_log(files, **SEALED)
    bases = [int(name.rpartition("/")[2].removesuffix(".log")) for name in names(files, ".log")]
    log.delete_before(bases[2])
    log.close()
    if how == "missing":
        files.remove("t-0/checkpoint")
    else:
        files.write_whole("t-0/checkpoint", b"rubbish", durable=False)
    again = open_log(files, **SEALED)
    assert again.start_offset == bases[2]
    assert lost_offsets(again) == set()
    assert min(readable(again)) == bases[2]


@pytest.mark.parametrize("ending", [".tmp", ".cleaned"])
def test_what_was_left_half_written_goes(ending):
    files = MemoryFiles()
    expected = filled(files, closed=True)
    files.write_whole(f"t-0/{0:020d}{ending}", b"half", durable=False)
    assert readable(open_log(files, **SEALED)) == expected
    assert not names(files, ending)


def test_without_a_checkpoint_what_compaction_has_taken_is_not_lost():
    files = MemoryFiles()
    settings = {"durability": "file", "cleanup": "compact", "segment_bytes": 250, "index_interval_bytes": 100}
    log = open_log(files, **settings)
    for n in range(9):
        log.append_batch(n * MS, [Message(b"%d" % n, b"often")])
        log.append_batch(n * MS, [Message(b"%d" % n, b"once %d" % n)])
    Compaction(log, 10 * MS).run()
    log.close()
    expected = readable(log)
    files.remove("t-0/checkpoint")
    for name in names(files, ".index"):
        files.remove(name)
    again = open_log(files, **settings)
    assert (readable(again), lost_offsets(again)) == (expected, set())
    assert len(expected) < 18


def test_damage_below_the_start_of_a_log_is_not_told():
    """Deletion ends inside a segment: what is before its end is gone, whatever its bytes say."""
    files = MemoryFiles()
    filled(files, closed=False)
    log = open_log(files, **SEALED)
    log.delete_before(2)
    log.close()
    path = names(files, ".log")[0]
    for name in names(files, ".index"):
        files.remove(name)
    data = bytearray(files.read(path, 0, files.size(path)))
    data[30] ^= 1  # in the first batch
    files.write_whole(path, bytes(data), durable=False)
    again = open_log(files, **SEALED)
    assert again.start_offset == 2
    assert all(offset >= 2 for offset in lost_offsets(again))


def test_what_was_found_lost_by_reading_stays_told_after_a_restart():
    files = MemoryFiles()
    filled(files, closed=True)
    path = names(files, ".log")[0]
    data = bytearray(files.read(path, 0, files.size(path)))
    data[80] ^= 1
    files.write_whole(path, bytes(data), durable=False)
    log = open_log(files, **SEALED)
    assert lost_offsets(log) == set(), "its index vouches for it"
    with pytest.raises(BrokerError):
        log.read(0, max_messages=1)
    lost = lost_offsets(log)
    assert lost
    log.close()
    assert lost_offsets(open_log(files, **SEALED)) == lost


def test_producers_are_remembered_across_a_crash_and_a_checkpoint():
    files = MemoryFiles()
    log = open_log(files, durability="file")
    for n in range(7):
        if n == 4:
            log.flush()
        log.append_batch(n * MS, batch(f"{n}"), producer=ProducerStamp(7, 3, n))
    for config in ({}, {"segment_bytes": 1}):
        again = open_log(copy_of(files), durability="file", **config)
        assert [last and last.published_ns for _, _, last in again.producers] == [6 * MS], (
            "so that it is forgotten in time"
        )
        for n in range(2, 7):
            assert again.append_batch(9 * MS, batch(f"{n}"), producer=ProducerStamp(7, 3, n)).base_offset == n
        for stamp, code in (
            (ProducerStamp(7, 3, 1), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
            (ProducerStamp(7, 3, 8), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
            (ProducerStamp(7, 2, 7), ErrorCode.INVALID_PRODUCER_EPOCH),
        ):
            with pytest.raises(BrokerError) as caught:
                again.append_batch(9 * MS, batch("x"), producer=stamp)
            assert caught.value.code is code
        assert again.append_batch(9 * MS, batch("x"), producer=ProducerStamp(7, 3, 7)).base_offset == 7


@pytest.mark.promise("4")
def test_every_bit_of_a_compacted_segment_is_guarded_too():
    files = MemoryFiles()
    log = open_log(files, durability="file", cleanup="compact", segment_bytes=250, index_interval_bytes=100)
    for n in range(6):
        log.append_batch(n * MS, [Message(b"%d" % n, b"often"), Message(b"%d" % n, b"once %d" % n)])
    Compaction(log, 10 * MS).run()
    log.close()
    expected = readable(log)
    assert len(expected) < 12
    path = names(files, ".log")[0]
    data = files.read(path, 0, files.size(path))
    for bit in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        broken = copy_of(files)
        broken.write_whole(path, flipped, durable=False)
        again = open_log(broken, durability="file", cleanup="compact")
        found = readable(again)
        assert all(expected.get(offset) == value for offset, value in found.items()), bit
        named = lost_offsets(again)
        assert expected.keys() - found.keys() <= named, bit
        assert named, bit


def test_an_index_of_batches_that_were_cut_off_never_comes_to_stand_for_others():
    files = MemoryFiles()
    log = open_log(files, durability="file")
    for n in range(3):
        log.append_batch(n * MS, batch(f"{n} before"))
        if n == 0:
            first_bytes = log.size_bytes
    log.flush()
    # A power cut: the index is there, the checkpoint and most of the segment are not.
    files.remove("t-0/checkpoint")
    files.truncate(names(files, ".log")[0], first_bytes)
    log = open_log(files, durability="file")
    for n in range(9):
        log.append_batch(n * MS, batch(f"{n} and after", "more"))
    log.delete_before(1)
    again = open_log(copy_of(files), durability="file")
    assert readable(again) == readable(log)
    assert again.lost == ()


def test_batches_that_the_checkpoint_remembers_are_not_remembered_twice():
    files = MemoryFiles()
    log = open_log(files, durability="file", segment_bytes=150)
    for n in range(7):
        log.append_batch(n * MS, batch(f"{n}"), producer=ProducerStamp(7, 0, n))
    log.flush()
    files.remove(names(files, ".index")[-1])
    again = open_log(files, durability="file")
    assert again.recovery.scanned_bytes > 0
    assert again.append_batch(9 * MS, batch("2"), producer=ProducerStamp(7, 0, 2)).duplicate
