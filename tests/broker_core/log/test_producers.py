"""Idempotence: the last five batches of each producer are known; anything else out of turn is refused."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import MemoryFiles
from broker_core.log.batch import SEQUENCES, ProducerStamp
from broker_core.log.partition_log import PartitionLog
from broker_core.log.producers import FORGOTTEN_AFTER_NS

from .logs import batch, open_log, values


def send(log: PartitionLog, sequence: int, *names: str, epoch: int = 0, now_ns: int = 0):
    return log.append_batch(now_ns, batch(*(names or ("x",))), producer=ProducerStamp(1, epoch, sequence))


def refusal(log: PartitionLog, sequence: int, epoch: int = 0) -> ErrorCode:
    with pytest.raises(BrokerError) as caught:
        send(log, sequence, epoch=epoch)
    return caught.value.code


@pytest.mark.promise("10")
def test_each_of_the_last_five_batches_is_recognised_with_its_own_offset():
    log = open_log(MemoryFiles())
    for n in range(8):
        send(log, 2 * n, f"a{n}", f"b{n}")
    for n in range(3, 8):
        again = send(log, 2 * n, f"a{n}", f"b{n}")
        assert (again.duplicate, again.base_offset, again.count, again.size_bytes) == (True, 2 * n, 2, 6)
    assert log.end_offset == 16
    assert refusal(log, 4) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_gap_or_a_batch_of_another_size_is_out_of_order():
    log = open_log(MemoryFiles())
    send(log, 0, "a", "b")
    assert refusal(log, 3) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refusal(log, 0) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert values(log) == [b"a", b"b"]


def test_a_new_epoch_starts_at_zero_and_fences_the_old_one():
    log = open_log(MemoryFiles())
    send(log, 0)
    assert refusal(log, 1, epoch=1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 0, epoch=1).duplicate is False
    assert refusal(log, 1, epoch=0) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_after_the_last_sequence_number_comes_zero():
    log = open_log(MemoryFiles())
    send(log, SEQUENCES - 1)
    assert send(log, 0).base_offset == 1
    assert send(log, SEQUENCES - 1).duplicate


def test_a_refused_batch_is_not_remembered():
    log = open_log(MemoryFiles(), max_message_bytes=200)
    with pytest.raises(BrokerError) as caught:
        send(log, 0, "x" * 300)
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
    assert send(log, 0, "x").base_offset == 0


def test_a_producer_that_was_silent_for_a_day_may_start_anywhere():
    log = open_log(MemoryFiles(), segment_bytes=1)
    send(log, 0)
    later_ns = FORGOTTEN_AFTER_NS + 1
    log.append_batch(later_ns, batch("somebody else"))
    assert send(log, 40, now_ns=later_ns).base_offset == 2
