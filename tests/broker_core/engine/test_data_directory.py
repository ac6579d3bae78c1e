"""Promise 4: no flipped bit in what a data directory remembers is taken for something else."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from broker_core.broker.catalog import Catalog, QueueEntry, TopicEntry
from broker_core.engine.data_directory import DataDirectory, KeptQueue
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import MemoryFiles
from broker_core.log.config import LogConfig
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLettersState

CATALOG = Catalog(
    topics=(TopicEntry("orders", 6, "crc32", LogConfig(), None, None),),
    queues=(QueueEntry("jobs", QueueConfig(), LogConfig(), None, None),),
)
KEPT = KeptQueue(None, DeadLettersState(7, ((0, 3), (5, 2)), {"jobs": 2}, 1, 0))
READ: dict[str, Callable[[DataDirectory], object]] = {
    "catalog.json": lambda directory: directory.catalog(),
    "queue-states/jobs": lambda directory: directory.queue_state("jobs"),
}


def directory() -> tuple[MemoryFiles, DataDirectory]:
    files = MemoryFiles()
    found = DataDirectory(files, durable=False)
    assert found.save_catalog(CATALOG)
    found.save_queue_state("jobs", KEPT)
    return files, found


@pytest.mark.promise("4")
@pytest.mark.parametrize("path", READ)
def test_promise_4_every_flipped_bit_and_every_cut_is_named(path: str):
    files, found = directory()
    files.remove("catalog.json.copy")
    good, data = READ[path](found), files.read(path, 0, files.size(path))
    assert good in (CATALOG, KEPT)
    broken = [data[:size] for size in range(len(data))]
    for bit in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        broken.append(bytes(flipped))
    for each in broken:
        files.write_whole(path, each, durable=False)
        with pytest.raises(BrokerError, match=r"catalog\.json|queue jobs") as damaged:
            READ[path](found)
        assert damaged.value.code is ErrorCode.DAMAGED


def test_a_catalog_of_the_version_without_a_checksum_is_read_and_then_has_one():
    files, found = directory()
    files.write_whole("catalog.json", msgspec.json.format(msgspec.json.encode(CATALOG)), durable=False)
    assert found.catalog() == CATALOG
    assert found.save_catalog(CATALOG)
    assert files.read("catalog.json", 0, 12) == b'{"checksum":'
    assert found.catalog() == CATALOG
    assert not found.save_catalog(CATALOG)
    assert msgspec.json.decode(files.read("catalog.json", 0, files.size("catalog.json")))["catalog"]["topics"]
