"""Quotas by user and client id: which one holds, and how long a client waits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.access import ANY, ClientQuota, QuotaKey
from broker_core.broker import access as client_quotas
from broker_core.broker.access import ClientQuotas
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError

RATE: QuotaKey = "producer_byte_rate"
# The most precise first, with the seconds that 1,100 bytes cost of it.
LEVELS: list[tuple[str | None, str | None]] = [
    ("ann", "app"),
    ("ann", ANY),
    ("ann", None),
    (ANY, "app"),
    (ANY, ANY),
    (ANY, None),
    (None, "app"),
    (None, ANY),
]


def quotas(*made: ClientQuota) -> ClientQuotas:
    found = ClientQuotas()
    for each in made:
        found.put(each)
    return found


@pytest.mark.parametrize("first", range(len(LEVELS)))
def test_the_most_precise_quota_holds(first: int):
    made = quotas(*(ClientQuota(RATE, 10.0 * (n + 1), *entity) for n, entity in reversed(list(enumerate(LEVELS)))))
    for entity in LEVELS[:first]:
        made.remove(ClientQuota(RATE, 1, *entity))
    rate = 10 * (first + 1)
    assert made.spend(0, "ann", "app", RATE, rate * 3) == 2 * NS_PER_S  # one second of it was there


def test_without_a_quota_nobody_waits():
    made = quotas(ClientQuota(RATE, 1.0, "bob"))
    assert made.spend(0, "ann", "app", RATE, 10**9) == 0
    assert made.spend(0, "bob", "app", "consumer_byte_rate", 10**9) == 0


def test_clients_of_a_user_share_and_users_under_a_default_do_not():
    made = quotas(ClientQuota(RATE, 100.0, "ann"), ClientQuota(RATE, 100.0, ANY))
    assert made.spend(0, "ann", "one", RATE, 100) == 0
    assert made.spend(0, "ann", "two", RATE, 100) == NS_PER_S
    assert made.spend(0, "bob", "one", RATE, 100) == 0
    assert made.spend(0, "eve", "one", RATE, 100) == 0


def test_a_new_quota_forgets_the_debt_of_the_old_one():
    made = quotas(ClientQuota(RATE, 1.0, "ann"))
    assert made.spend(0, "ann", "app", RATE, 1_001) == 1_000 * NS_PER_S
    made.put(ClientQuota(RATE, 1_000.0, "ann"))
    assert made.spend(0, "ann", "app", RATE, 1_000) == 0


@given(st.lists(st.tuples(st.integers(0, NS_PER_S), st.integers(1, 10_000)), min_size=1, max_size=30))
def test_who_waits_as_told_keeps_to_the_rate(steps: list[tuple[int, int]]):
    made, now_ns, sent, rate = quotas(ClientQuota(RATE, 1_000.0, "ann")), 0, 0, 1_000
    for later_ns, size in steps:
        now_ns += later_ns
        now_ns += made.spend(now_ns, "ann", "app", RATE, size)
        sent += size
        assert sent <= rate + math.ceil(now_ns * rate / NS_PER_S)  # the burst is one second


def test_client_ids_that_are_made_up_take_bounded_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client_quotas, "_MAX_BUCKETS", 10)
    made = quotas(ClientQuota(RATE, 100.0, None, ANY))
    for number in range(100):
        made.spend(0, "ann", f"app-{number}", RATE, 100)
    assert len(made._buckets) == 10
    assert made.spend(0, "ann", "app-99", RATE, 100) == NS_PER_S  # the last ones are known


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, math.nan])
def test_rates_that_limit_nothing_are_refused(rate: float):
    with pytest.raises(BrokerError):
        quotas(ClientQuota(RATE, rate, "ann"))


def test_a_quota_for_nobody_is_refused():
    with pytest.raises(BrokerError):
        quotas(ClientQuota(RATE, 1.0))
