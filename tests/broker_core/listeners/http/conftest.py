"""A listener in front of a broker in memory, and a client of it."""

import contextlib

import pytest

from broker_core.engine.broker_host import BrokerHost
from broker_core.listeners.http.listener import HttpListener
from tests.broker_core.listeners.http.client import Client


@pytest.fixture
def opened():
    """Opens listeners that are closed at the end: `opened(**listener settings)`, with a host of its own or `host`."""
    with contextlib.ExitStack() as stack:

        def open_one(host=None, **named):
            found = host or stack.enter_context(BrokerHost())
            return stack.enter_context(HttpListener(found, **named))

        yield open_one


@pytest.fixture
def listener(opened):
    """A listener as it is by default."""
    return opened()


@pytest.fixture
def call(listener):
    """A client of `listener`."""
    client = Client(listener.port)
    yield client
    client.close()


@pytest.fixture
def connect():
    """Makes clients that hang up at the end: `connect(listener, **client settings)`."""
    made = []

    def make(listener, **named):
        made.append(Client(listener.port, **named))
        return made[-1]

    yield make
    for client in made:
        client.close()
