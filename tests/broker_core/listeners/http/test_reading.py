"""Decompression (promise 27)."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.http.reading import Inflater

SMALL = GuardConfig(max_decompressed_bytes=1_000_000, max_decompression_ratio=50)


def code_of(action):
    with pytest.raises(BrokerError) as caught:
        action()
    return caught.value.code


@given(st.binary(max_size=3_000), st.lists(st.integers(1, 400), max_size=20), st.sampled_from(["gzip", "deflate"]))
def test_what_was_packed_is_unpacked_in_whatever_pieces_it_comes(data, sizes, encoding):
    packed = gzip.compress(data) if encoding == "gzip" else zlib.compress(data)
    inflater, found = Inflater(encoding, GuardConfig()), b""
    for size in sizes:
        found += inflater.feed(packed[:size])
        packed = packed[size:]
    found += inflater.feed(packed)
    inflater.end()
    assert found == data


@pytest.mark.promise("27")
@pytest.mark.parametrize("size_bytes", [200_000, 500_000_000])
def test_promise_27_a_bomb_is_stopped_before_it_is_unpacked(size_bytes):
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(100_000)) for _ in range(size_bytes // 100_000)) + packer.flush()
    inflater = Inflater("gzip", SMALL)
    assert code_of(lambda: inflater.feed(bomb)) is ErrorCode.REQUEST_TOO_LARGE
    assert inflater._out_bytes <= SMALL.max_decompressed_bytes + 1


def test_promise_27_size_and_ratio_are_limits_each():
    noise = bytes(range(256)) * 8_000  # repeats at a distance of 256: a ratio above 50
    assert code_of(lambda: Inflater("gzip", SMALL).feed(gzip.compress(noise[:900_000]))) is ErrorCode.REQUEST_TOO_LARGE
    wide = GuardConfig(max_decompressed_bytes=1_000_000, max_decompression_ratio=2_000)
    assert len(Inflater("gzip", wide).feed(gzip.compress(noise[:900_000]))) == 900_000
    assert code_of(lambda: Inflater("gzip", wide).feed(gzip.compress(noise))) is ErrorCode.REQUEST_TOO_LARGE


def test_what_is_no_stream_is_unreadable():
    assert code_of(lambda: Inflater("br", SMALL)) is ErrorCode.UNREADABLE
    assert code_of(lambda: Inflater("gzip", SMALL).feed(b"hello")) is ErrorCode.UNREADABLE
    assert code_of(lambda: Inflater("gzip", SMALL).feed(gzip.compress(b"a") + b"more")) is ErrorCode.UNREADABLE
    inflater = Inflater("gzip", SMALL)
    inflater.feed(gzip.compress(b"hello")[:-1])
    assert code_of(inflater.end) is ErrorCode.UNREADABLE
