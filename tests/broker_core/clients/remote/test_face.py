"""The remote face of a broker has what clients use of the broker's, under the same names."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import broker_core.clients
from broker_core.broker.broker import Broker
from broker_core.clients.remote.broker import RemoteBroker
from broker_core.clients.remote.face import RemoteFace
from broker_core.clients.remote.groups import RemoteGroups
from broker_core.clients.remote.queues import RemoteDeadLetters, RemoteQueue
from broker_core.engine.host import BrokerHost
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.queue import Queue

CLIENTS = [
    Path(broker_core.clients.__path__[0]) / f"{name}.py"
    for name in (
        "admin",
        "batch_sender",
        "consumer",
        "group_consumer",
        "inbox",
        "membership",
        "producer",
        "queue_consumer",
        "schema_admin",
        "sender",
    )
]


def used(of: str) -> set[str]:
    """The attributes that clients ask of something whose name ends with `of`."""
    found = set()
    for path in CLIENTS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                owner = ast.unparse(node.value)
                if owner.split(".")[-1].lstrip("_") == of:
                    found.add(node.attr)
    return found


def test_clients_find_what_they_use():
    on_the_broker = used("broker")
    assert {"publish_batch", "fetch", "take", "create_topic", "revision"} <= on_the_broker
    missing = {name for name in on_the_broker if not hasattr(RemoteFace, name)}
    # What `__init__` sets, and what a sender stores where the broker is in this process.
    assert missing <= {"groups", "fetches", "producer_ids", "damage", "paced_redrives", "publish"}
    on_the_host = used("host") - {"lock", "loop", "broker", "open_batches"}
    assert {"call", "admin", "wait", "kept"} <= on_the_host
    assert all(hasattr(RemoteBroker, name) for name in on_the_host), on_the_host


@pytest.mark.parametrize(
    ("remote", "local"),
    [
        (RemoteFace, Broker),
        (RemoteBroker, BrokerHost),
        (RemoteGroups, GroupCoordinator),
        (RemoteQueue, Queue),
        (RemoteDeadLetters, DeadLetters),
    ],
)
def test_methods_take_the_same_arguments(remote: type, local: type):
    for name, theirs in inspect.getmembers(remote, inspect.isfunction):
        ours = getattr(local, name, None)
        if name.startswith("_") or not inspect.isfunction(ours) or name in BY_FACE:
            continue
        wanted, given = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
        assert set(given) <= set(wanted) or any(each.kind is each.VAR_KEYWORD for each in wanted.values()), name
        needed = {
            key for key, each in wanted.items() if each.default is each.empty and each.kind is not each.VAR_KEYWORD
        }
        assert needed <= set(given), name


# Of groups, these are called by the face, which leaves out the time.
BY_FACE = {
    "join",
    "sync",
    "leave",
    "commit",
    "reset",
    "close",
    "list",
    "by_cause",
    "preview",
    "redrive",
    "undo_redrive",
}
