"""The bug of billing is found in virtual time, and the mended one holds in virtual time and with a real consumer."""

import pytest
from billing import Billing, BillingTooEarly
from confluent_kafka import Consumer

from broker_core.testing import given_schedule

ORDERS = [b"order %d" % number for number in range(40)]


def bill(broker, billing):
    """Two consumers write the invoices of all orders."""
    written = []
    broker.create_topic("orders", partitions=4)
    for number, order in enumerate(ORDERS):
        broker.publish("orders", order, key=str(number), at_s=number / 10)
    broker.add_consumers(lambda consumer: billing(consumer, written.extend).run(), "billing", count=2)
    broker.run()
    return written


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="it commits before it writes")
@given_schedule(kinds=["leave"])
def test_the_first_version_loses_orders_in_a_rebalance(broker):
    assert sorted(set(bill(broker, BillingTooEarly))) == sorted(ORDERS)


@given_schedule(schedules=100)
def test_every_order_is_billed_whatever_goes_wrong(broker):
    assert sorted(set(bill(broker, Billing))) == sorted(ORDERS)


def test_a_real_consumer_bills_and_commits(broker):
    broker.create_topic("orders", partitions=4)
    broker.publish("orders", *ORDERS)
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "billing",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    written = []
    Billing(consumer, written.extend).run(lambda: len(written) < len(ORDERS))
    consumer.close()
    assert sorted(written) == sorted(ORDERS)
    assert broker.audit().everything_done()
