"""Logs for the tests of this folder."""

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import FileSystem, MemoryFiles
from broker_core.log.batch import parse_header
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message

EPOCH_MS = 1_700_000_000_000
MS = 1_000_000


def open_log(files: FileSystem, **config) -> PartitionLog:
    return PartitionLog(files, "t-0", "t", 0, config=LogConfig(**config), epoch_ms=EPOCH_MS)


def batch(*names: str) -> list[Message]:
    return [Message(name.encode(), name[:1].encode()) for name in names]


def values(log: PartitionLog, offset: int = 0, count: int = 1_000) -> list[bytes | None]:
    return [message.value for message in log.read(offset, max_messages=count)]


def stored_batches(
    log: PartitionLog, offset: int, end_offset: int | None = None, max_bytes: int = 1 << 30
) -> list[bytes]:
    """The batches of `log.read_bytes`, each by itself."""
    found = log.read_bytes(offset, max_bytes, log.high_watermark if end_offset is None else end_offset)
    left, batches = b"".join(found.pieces), []
    assert len(found) == len(left)
    while left:
        header = parse_header(left)
        assert header is not None
        batches.append(left[: header.size_bytes])
        left = left[header.size_bytes :]
        assert left or header.end_offset == found.end_offset
    return batches


def copy_of(files: MemoryFiles) -> MemoryFiles:
    """The same files once more: what a process finds that starts now."""
    other = MemoryFiles()
    other.makedirs("t-0")
    for name in files.listdir("t-0"):
        path = f"t-0/{name}"
        other.write_whole(path, files.read(path, 0, files.size(path)), durable=False)
    return other


def readable(log: PartitionLog) -> dict[int, bytes | None]:
    """Every message that can be read, by offset, going on behind what is lost."""
    found: dict[int, bytes | None] = {}
    offset = log.start_offset
    while offset < log.high_watermark:
        try:
            messages = log.read(offset, max_messages=1_000)
        except BrokerError as error:
            assert error.code is ErrorCode.DAMAGED, error
            offset = next(lost.end_offset for lost in log.lost if lost.end_offset > offset)
            continue
        if not messages:
            break
        for message in messages:
            assert message.offset not in found
            assert message.offset >= offset
            found[message.offset] = message.value
        offset = messages[-1].offset + 1
    return found
