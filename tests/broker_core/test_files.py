"""Both sides of the file system port behave alike."""

import contextlib
import errno
import os
import random
import signal

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import DiskFiles, FileSystem, MemoryFiles, disk_files, private


@pytest.fixture(params=["memory", "disk"])
def files(request, tmp_path) -> FileSystem:
    return MemoryFiles() if request.param == "memory" else DiskFiles(tmp_path)


def test_appends_come_back(files):
    files.makedirs("a/b")
    file = files.open_append("a/b/log")
    assert [file.append(b"one"), file.append(memoryview(b"three")), file.size] == [0, 3, 8]
    assert files.read("a/b/log", 0, 100) == b"onethree"
    assert files.read("a/b/log", 3, 2) == b"th"
    assert files.read("a/b/log", 99, 5) == b""
    assert files.size("a/b/log") == 8
    file.begin_sync()()
    file.close()
    assert files.open_append("a/b/log").append(b"!") == 8


def test_a_file_is_replaced_as_a_whole(files):
    files.write_whole("whole", b"a long old content", durable=False)
    files.write_whole("whole", b"new", durable=True)
    assert files.read("whole", 0, 100) == b"new"
    assert files.listdir("") == ["whole"]


@pytest.mark.parametrize("size", [10, 5_000, 70_000])
def test_pieces_are_what_was_read(files, size):
    file = files.open_append("log")
    for letter in (b"a", b"b", b"c"):
        file.append(bytearray(letter * size))
    ranges = [(0, size), (size, size), (size // 2, size), (2 * size, size), (0, 9 * size), (size - 1, 1), (3 * size, 1)]
    found = [(files.pieces("log", *each), files.read("log", *each)) for each in ranges]
    file.append(b"more")
    files.truncate("log", 5)
    assert [b"".join(pieces) for pieces, _ in found] == [data for _, data in found]
    assert found[2][1] == b"a" * (size - size // 2) + b"b" * (size // 2)
    assert [len(data) for _, data in found] == [size] * 4 + [3 * size, 1, 0]


def test_names_can_be_listed_moved_and_removed(files):
    files.makedirs("d/e")
    assert files.exists("d/e")
    for name in ("z", "a"):
        files.open_append(f"d/{name}").append(name.encode())
    assert files.listdir("d") == ["a", "e", "z"]
    assert files.listdir("nowhere") == []
    files.rename("d/a", "d/z")
    files.rename("d/z", "d/z")
    assert files.read("d/z", 0, 9) == b"a"
    files.truncate("d/z", 0)
    assert files.size("d/z") == 0
    files.remove("d/z")
    files.remove("d/z")
    files.remove("d/e")
    files.fsync_dir("d")
    assert files.listdir("d") == []
    assert not files.exists("d/z")


@pytest.mark.promise("23")
@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "a/../../out", "a\\..\\b", "nul\0l"])
def test_no_path_leaves_the_root(files, path):
    for act in (
        lambda: files.open_append(path),
        lambda: files.write_whole(path, b"", durable=False),
        lambda: files.makedirs(path),
    ):
        with pytest.raises(BrokerError, match="leads out of the data directory"):
            act()


def test_a_missing_file_is_an_error_that_names_it(files):
    for act in (lambda: files.read("gone", 0, 1), lambda: files.size("gone"), lambda: files.truncate("gone", 0)):
        with pytest.raises(BrokerError, match=r"'gone'.* is missing") as caught:
            act()
        assert caught.value.code is ErrorCode.STORAGE_ERROR


def test_a_name_that_the_disk_refuses_is_one_sentence(tmp_path):
    with pytest.raises(BrokerError, match="File name too long") as caught:
        DiskFiles(tmp_path).exists("x" * 300)
    assert caught.value.code is ErrorCode.STORAGE_ERROR


def test_a_directory_is_opened_once(files):
    release = files.lock("lock")
    with pytest.raises(BrokerError) as caught:
        files.lock("lock")
    assert caught.value.code is ErrorCode.DIRECTORY_IN_USE
    release()
    release()
    files.lock("lock")()


def test_only_a_lock_that_somebody_holds_is_in_use(tmp_path, monkeypatch):
    def refused(_descriptor, _operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refused)
    with pytest.raises(BrokerError, match="No locks available") as caught:
        DiskFiles(tmp_path).lock("lock")
    assert caught.value.code is ErrorCode.STORAGE_ERROR
    assert open_below(tmp_path) == 0


def test_another_process_cannot_take_the_directory_either_until_this_one_dies(tmp_path):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        DiskFiles(tmp_path).lock("lock")
        os.write(writing, b"x")
        signal.pause()
    os.read(reading, 1)
    with pytest.raises(BrokerError) as caught:
        DiskFiles(tmp_path).lock("lock")
    assert caught.value.code is ErrorCode.DIRECTORY_IN_USE
    assert str(tmp_path) in str(caught.value)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    DiskFiles(tmp_path).lock("lock")()


def open_below(folder):
    """How many descriptors of this process lead to files in `folder`; other tests' threads have theirs."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # it may be closed by now
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return sum(path.startswith(f"{folder}/") for path in found)


def test_many_files_share_few_descriptors(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_files, "MAX_OPEN_DESCRIPTORS", 8)
    files = DiskFiles(tmp_path)
    appenders = [files.open_append(f"f{n}") for n in range(50)]
    dice = random.Random(1)
    expected = [b""] * 50
    for _ in range(500):
        n = dice.randrange(50)
        appenders[n].append(b"%d," % n)
        expected[n] += b"%d," % n
    assert open_below(tmp_path) <= 8
    assert [files.read(f"f{n}", 0, 1_000) for n in range(50)] == expected
    files.close()
    assert open_below(tmp_path) == 0


@pytest.mark.promise("5")
@pytest.mark.parametrize("sizes", [[3, 2, 95], [1, 0], [5, OSError(28, "full")]])
def test_short_writes_are_noticed(tmp_path, monkeypatch, sizes):
    files = DiskFiles(tmp_path)
    file = files.open_append("log")
    file.append(b"before")
    steps = iter(sizes)
    real = os.pwrite

    def short(descriptor, data, position):
        step = next(steps)
        if isinstance(step, OSError):
            raise step
        return real(descriptor, bytes(data)[:step], position)

    monkeypatch.setattr(os, "pwrite", short)
    if sum(step for step in sizes if isinstance(step, int)) >= 100:
        file.append(b"x" * 100)
        assert files.read("log", 0, 200) == b"before" + b"x" * 100
        return
    with pytest.raises(BrokerError, match="the disk is full") as caught:
        file.append(b"x" * 100)
    assert caught.value.code is ErrorCode.STORAGE_ERROR
    monkeypatch.setattr(os, "pwrite", real)
    assert (file.size, files.size("log")) == (6, 6)
    file.append(b" after")
    assert files.read("log", 0, 200) == b"before after"


def test_a_sync_covers_what_was_appended_even_where_the_descriptor_was_given_back(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(disk_files, "_sync_data", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    files = DiskFiles(tmp_path)
    file = files.open_append("log")
    file.append(b"abc")
    sync = file.begin_sync()
    files.close()
    sync()
    assert synced == [3]


def test_an_error_of_the_device_is_one_sentence(tmp_path, monkeypatch):
    def broken(descriptor):
        raise OSError(5, "EIO")

    monkeypatch.setattr(disk_files, "_sync_data", broken)
    file = DiskFiles(tmp_path).open_append("log")
    with pytest.raises(BrokerError, match=r"^The disk refused: 'log': the device reports an error\.$"):
        file.begin_sync()()


def test_small_and_large_pieces_come_back_wherever_they_are_read(files):
    numbers = random.Random(4)
    file, whole = files.open_append("log"), bytearray()
    for _ in range(60):
        piece = numbers.randbytes(numbers.choice([1, 50, 40_000, 70_000]))
        assert file.append(bytearray(piece)) == len(whole)
        whole += piece
    assert file.size == files.size("log") == len(whole)
    for _ in range(300):
        offset, length = numbers.randrange(len(whole)), numbers.choice([1, 61, 100_000, len(whole)])
        assert files.read("log", offset, length) == whole[offset : offset + length]
    files.truncate("log", 100_001)
    assert files.open_append("log").append(b"end") == 100_001
    assert files.read("log", 99_999, 9) == whole[99_999:100_001] + b"end"


@pytest.mark.skipif(os.name != "posix", reason="the system has no modes")
def test_what_is_made_is_its_owners_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        files = DiskFiles(tmp_path / "root")
        files.makedirs("a/b")
        files.open_append("a/b/log").append(b"x")
        files.write_whole("whole", b"x", durable=False)
        files.lock("lock")()
    finally:
        os.umask(before)
    made = [tmp_path / "root", *(tmp_path / "root").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o600}


def test_a_write_that_had_no_room_leaves_nothing_behind(tmp_path, monkeypatch):
    files = DiskFiles(tmp_path)
    files.write_whole("whole", b"old", durable=False)

    def full(_descriptor, _data, _position):
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as broken, pytest.raises(BrokerError, match="the disk is full"):
        broken.setattr(os, "pwrite", full)
        files.write_whole("whole", b"new", durable=False)
    with monkeypatch.context() as broken, pytest.raises(BrokerError, match="the disk is full"):
        broken.setattr(os, "pwrite", lambda _descriptor, _data, _position: 0)
        files.write_whole("whole", b"new", durable=False)
    assert files.listdir("") == ["whole"]
    assert files.read("whole", 0, 9) == b"old"


def test_a_file_of_the_longest_name_is_replaced(tmp_path):
    private.replace(tmp_path / ("\u00e4" * 125 + ".html"), b"new")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"new"]


def test_all_files_are_closed_even_if_the_system_refuses_one(tmp_path, monkeypatch):
    files = DiskFiles(tmp_path)
    descriptors = {name: (files.open_append(name), files.descriptor(name))[1] for name in "abc"}
    close = os.close

    def refuse(descriptor: int) -> None:
        close(descriptor)
        if descriptor == descriptors["b"]:
            raise OSError(errno.EIO, "EIO")

    monkeypatch.setattr(os, "close", refuse)
    with pytest.raises(BrokerError, match="'b': the device reports an error"):
        files.close()
    monkeypatch.undo()
    for descriptor in descriptors.values():
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)
