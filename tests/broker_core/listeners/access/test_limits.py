"""Sizes and counts (promise 20)."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.limits import Budget, GuardConfig


def code_of(action):
    with pytest.raises(BrokerError) as caught:
        action()
    return caught.value.code


@pytest.mark.promise("20")
def test_promise_20_a_declared_length_is_enough_to_refuse():
    limits = GuardConfig(max_body_bytes=100)
    limits.check_body(100)
    assert code_of(lambda: limits.check_body(101)) is ErrorCode.REQUEST_TOO_LARGE
    assert code_of(lambda: limits.check_body(1 << 62)) is ErrorCode.REQUEST_TOO_LARGE


def test_a_limit_of_nothing_is_no_limit_that_anybody_means():
    assert code_of(lambda: GuardConfig(max_connections=0)) is ErrorCode.INVALID_CONFIG


def test_what_all_clients_hold_together_is_bounded():
    budget = Budget(GuardConfig(max_in_flight=2, max_buffered_bytes=100))
    budget.begin()
    budget.begin()
    assert code_of(budget.begin) is ErrorCode.THROTTLED
    budget.hold(60)
    assert code_of(lambda: budget.hold(41)) is ErrorCode.THROTTLED
    budget.end(60)
    budget.begin()
    budget.hold(100)
    budget.end(100)
    budget.end(0)
    assert (budget.requests, budget.bytes) == (0, 0)
