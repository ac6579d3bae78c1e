from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.observation.kafka import calls
from broker_core.observation.kafka.calls import check


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KafkaError.not_leader_or_follower, ErrorCode.REQUEST_TIMED_OUT),
        (KafkaError.unknown_topic_id, ErrorCode.REQUEST_TIMED_OUT),
        (KafkaError.broker_not_available, ErrorCode.REQUEST_TIMED_OUT),
        (KafkaError.transaction_abortable, ErrorCode.REQUEST_TIMED_OUT),
        (KafkaError.corrupt_message, ErrorCode.INVALID_REQUEST),
        (KafkaError.producer_fenced, ErrorCode.PRODUCER_FENCED),
        (KafkaError.group_authorization_failed, ErrorCode.UNAUTHORIZED),
    ],
)
def test_what_is_tried_again(error: KafkaError, code: ErrorCode):
    with pytest.raises(BrokerError) as found:
        check(error, "Produce", "orders")
    assert found.value.code is code


@pytest.mark.parametrize(("takes_s", "times"), [(0.0, 60), (5.0, 4), (25.0, 4)])
def test_a_call_is_tried_again_however_long_it_goes_well_before_it_fails(
    monkeypatch: pytest.MonkeyPatch, takes_s: float, times: int
):
    """But not for ever."""
    now_s, failed = [0.0], [0]

    def passes(seconds: float) -> None:
        now_s[0] += seconds

    def fails(most: int) -> str:
        passes(takes_s)
        if failed[0] == most:
            return "read"
        failed[0] += 1
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "orders")

    monkeypatch.setattr(calls, "time", SimpleNamespace(monotonic=lambda: now_s[0], sleep=passes))
    patient = calls.Calls(Mock(metadata=lambda: SimpleNamespace(topics=[])))
    assert patient.patiently(lambda: fails(times)) == "read"
    with pytest.raises(BrokerError):
        patient.patiently(lambda: fails(1_000))
