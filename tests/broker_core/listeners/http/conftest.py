"""A door in front of a broker in memory, and a client of it."""

import contextlib

import pytest

from broker_core.engine.host import BrokerHost
from broker_core.listeners.http.listener import HttpDoor
from tests.broker_core.listeners.http.client import Client


@pytest.fixture
def opened():
    """Opens doors that are closed at the end: `opened(**door settings)`, with a host of its own or `host`."""
    with contextlib.ExitStack() as stack:

        def open_one(host=None, **named):
            found = host or stack.enter_context(BrokerHost())
            return stack.enter_context(HttpDoor(found, **named))

        yield open_one


@pytest.fixture
def door(opened):
    """A door as it is by default."""
    return opened()


@pytest.fixture
def call(door):
    """A client of `door`."""
    client = Client(door.port)
    yield client
    client.close()


@pytest.fixture
def connect():
    """Makes clients that hang up at the end: `connect(door, **client settings)`."""
    made = []

    def make(door, **named):
        made.append(Client(door.port, **named))
        return made[-1]

    yield make
    for client in made:
        client.close()
