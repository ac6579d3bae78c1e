from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from broker_core.decoding import from_json, from_msgpack
from broker_core.snapshots import Snapshot, Totals

# In a process of its own: here, other tests have used the types before.
_AT_ONCE = """
import sys, threading
import msgspec
from broker_core.decoding import from_json, from_msgpack
from broker_core.snapshots import Snapshot
found = Snapshot(7, 1)
frames = [(from_msgpack, msgspec.msgpack.encode(found)), (from_json, msgspec.json.encode(found))] * 3
sys.setswitchinterval(1e-6)
together = threading.Barrier(len(frames))
def read(decode, data):
    together.wait()
    assert decode(data, Snapshot) == found
threads = [threading.Thread(target=read, args=frame) for frame in frames]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.parametrize("_time", range(3))
def test_threads_may_be_the_first_to_decode_a_type(_time: int) -> None:
    assert subprocess.run([sys.executable, "-c", _AT_ONCE], check=False, timeout=120).returncode == 0


def test_what_is_no_such_value_is_refused() -> None:
    assert from_json(msgspec.json.encode(Totals()), Totals) == Totals()
    with pytest.raises(msgspec.ValidationError):
        from_msgpack(msgspec.msgpack.encode([1]), Snapshot)
    with pytest.raises(msgspec.DecodeError):
        from_json(b"{", Snapshot)
