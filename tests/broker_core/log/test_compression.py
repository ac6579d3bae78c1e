"""Promise 27 for batches: what unpacks to too much is refused before the memory for it is taken."""

from __future__ import annotations

import tracemalloc

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_MESSAGE_BYTES
from broker_core.log.compression import MAX_RATIO, MAX_UNPACKED_BYTES, packed, unpacked

CODECS = ["gzip", "snappy", "lz4", "zstd"]


@pytest.mark.promise("27")
@pytest.mark.parametrize("codec", CODECS)
def test_promise_27_a_bomb_takes_no_more_memory_than_the_limit(codec: str):
    bomb = packed(codec, bytes(MAX_UNPACKED_BYTES + 1))
    limit = min(MAX_UNPACKED_BYTES, max(len(bomb) * MAX_RATIO, MAX_MESSAGE_BYTES))
    tracemalloc.start()
    try:
        with pytest.raises(BrokerError) as refused:
            unpacked(codec, bomb)
        assert tracemalloc.get_traced_memory()[1] < 3 * limit + len(bomb)  # a buffer and the next one
    finally:
        tracemalloc.stop()
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", CODECS)
def test_what_is_at_the_limit_unpacks(codec: str):
    records = bytes(MAX_MESSAGE_BYTES)
    assert unpacked(codec, packed(codec, records)) == records
