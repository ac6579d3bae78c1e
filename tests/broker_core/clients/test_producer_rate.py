"""A16: a producer that holds itself to a rate, fractions too, whichever way and from however many threads it sends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from broker_core import Admin, BrokerHost, Message, Producer, ProducerConfig
from broker_core.clients.throttle import Throttle
from broker_core.errors import BrokerError, ErrorCode

WAYS: dict[str, Callable[[Producer], object]] = {
    "send": lambda producer: producer.send("orders", b"x"),
    "publish": lambda producer: producer.publish("orders", b"x"),
    "send_message": lambda producer: producer.send_message("orders", Message(b"x")),
    "publish_many": lambda producer: producer.publish_many("orders", [Message(b"x")]),
}


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as found:
        Admin(found).create_topic("orders")
        yield found


@pytest.mark.promise("A16")
@pytest.mark.parametrize("way", WAYS)
def test_a16_a_producer_keeps_to_its_own_rate_and_its_burst(host: BrokerHost, way: str):
    config = ProducerConfig(rate_per_s=1 / 3, burst=2, max_block_ms=500)
    with Producer(host, config) as producer:
        WAYS[way](producer)
        WAYS[way](producer)
        with pytest.raises(BrokerError, match=r"limited to 0\.333333 messages/s") as refused:
            WAYS[way](producer)
        assert refused.value.code is ErrorCode.THROTTLED
    assert Admin(host).describe_topic("orders").published == 2


def test_a16_threads_share_the_rate_of_their_producer(host: BrokerHost):
    started_s = time.monotonic()
    with Producer(host, ProducerConfig(rate_per_s=100, burst=1)) as producer:
        threads = [threading.Thread(target=lambda: [producer.send("orders", b"x") for _ in range(5)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert time.monotonic() - started_s >= 0.19
    assert Admin(host).describe_topic("orders").published == 20


def test_closing_ends_who_waits_for_its_turn(host: BrokerHost):
    producer = Producer(host, ProducerConfig(rate_per_s=0.001))
    producer.send("orders", b"x")
    told: list[BaseException] = []

    def wait() -> None:
        try:
            producer.send("orders", b"y")
        except BrokerError as error:
            told.append(error)

    config = ProducerConfig(rate_per_s=0.001, max_block_ms=10**9)
    producer.config = config
    waiting = threading.Thread(target=wait)
    waiting.start()
    producer.close()
    waiting.join(10)
    assert not waiting.is_alive()
    assert [error.code for error in told if isinstance(error, BrokerError)] == [ErrorCode.CLOSED]


def test_a_burst_of_many_is_paid_back_in_the_clients_time():
    now_ns = [0]
    throttle = Throttle("p", 10, 5, lambda: now_ns[0])
    throttle.wait(20, 0)  # more than the burst goes from a full bucket
    for at_ms, passes in ((1_400, False), (1_600, True), (1_650, False), (1_700, True)):
        now_ns[0] = at_ms * 1_000_000
        if passes:
            throttle.wait(1, 0)
        else:
            with pytest.raises(BrokerError):
                throttle.wait(1, 0)


@pytest.mark.parametrize("wrong", [{"rate_per_s": 0}, {"rate_per_s": -1}, {"rate_per_s": 1, "burst": 0.5}])
def test_rates_that_make_no_sense_are_refused(wrong: dict[str, float]):
    with pytest.raises(BrokerError, match=r"rate_per_s|burst"):
        ProducerConfig(**wrong)  # type: ignore[arg-type]
