from __future__ import annotations

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.reading import Cursor

ARRAY = b"\x04abc"  # of three elements of a byte


def tagged(count: int) -> bytes:
    """As many tagged fields, each with the array."""
    return bytes([count]) + (b"\0" + bytes([len(ARRAY)]) + ARRAY) * count


def test_arrays_in_tagged_fields_count_with_the_others():
    known = {0: ("letters", lambda cursor: cursor.take(cursor.count(True)))}
    found: dict[str, object] = {}
    Cursor(tagged(2), 0, 1 + 6).tags(known, found)
    assert found == {"letters": b"abc"}
    # Of the two fields themselves, one counts.
    with pytest.raises(BrokerError) as refused:
        Cursor(tagged(2), 0, 6).tags(known, found)
    assert refused.value.code is ErrorCode.REQUEST_TOO_LARGE
