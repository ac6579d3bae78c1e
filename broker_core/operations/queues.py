from __future__ import annotations

from functools import partial
from typing import Annotated

from msgspec import Meta

from broker_core.flow.config import FlowConfig
from broker_core.operations.entry import Entry, listed
from broker_core.operations.fields import Encoding, Name, NewName, Positive
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.request import Request, Result
from broker_core.operations.rights import ADMIN, READ, Right, Visible
from broker_core.operations.topics import LogSettings
from broker_core.queues.config import QueueConfig
from broker_core.queues.subscription import BacklogPolicy
from broker_core.settings import about
from broker_core.snapshots import QueueView

# -- results


class QueueConfigAnswer(Result, frozen=True, kw_only=True):
    """The settings of a queue. `topic` is what a subscription reads, null for a queue with a log of its own."""

    topic: str | None
    settings: QueueConfig
    flow: FlowConfig | None


class QueuesAnswer(Result, frozen=True, kw_only=True):
    queues: list[QueueView]


class Peeked(Result, frozen=True, kw_only=True):
    messages: list[MessageAnswer]


class Messages(Result, frozen=True, kw_only=True):
    messages: int


# -- requests


class ListQueues(Request[QueuesAnswer], frozen=True, kw_only=True):
    """Queues and subscriptions."""


class CreateQueue(Request[QueueView], frozen=True, kw_only=True):
    name: NewName
    settings: QueueConfig = QueueConfig()
    flow: FlowConfig | None = None
    log: LogSettings = LogSettings()


class CreateSubscription(Request[QueueView], frozen=True, kw_only=True):
    """A queue that gets every message of `topic` from now on; at most `max_messages` wait in it.

    At that limit, producers of the topic wait (block) or are refused (reject), or a message is left out of this
    subscription only. Of its `priorities` the most urgent is delivered first.
    """

    name: NewName
    topic: Name
    settings: QueueConfig = QueueConfig()
    max_messages: Annotated[Positive | None, about("most messages that wait in it")] = None
    policy: Annotated[
        BacklogPolicy,
        about("what happens when it is full: producers wait or are refused, or messages are left out of it alone"),
    ] = "drop_newest"


class DescribeQueue(Request[QueueView], frozen=True, kw_only=True):
    queue: Name


class QueueConfiguration(Request[QueueConfigAnswer], frozen=True, kw_only=True):
    queue: Name


class DeleteQueue(Request[None], frozen=True, kw_only=True):
    queue: Name


class Peek(Request[Peeked], frozen=True, kw_only=True):
    queue: Name
    max_messages: Annotated[int, Meta(ge=1, le=1_000), about("most messages")] = 10
    encoding: Encoding = "text"


class PurgeQueue(Request[Messages], frozen=True, kw_only=True):
    queue: Name


class UndoPurgeQueue(Request[Messages], frozen=True, kw_only=True):
    queue: Name


_READ, _ADMIN = (Right(READ, "queue", "queue"),), (Right(ADMIN, "queue", "queue"),)
_TAG = "Queues"
_look = partial(Entry, tag=_TAG, rights=_READ)
_change = partial(Entry, tag=_TAG, rights=_ADMIN, mode="slow", saved="catalog", errors=(409,))
_empty = partial(Entry, tag=_TAG, rights=_ADMIN, errors=(409,))

ENTRIES = (
    listed(ListQueues, "GET /v1/queues", "List queues and subscriptions", _TAG, Visible("queues", "queue")),
    _change(CreateQueue, "POST /v1/queues", "Create a queue", rights=(Right(ADMIN, "queue", "name"),), created=True),
    _change(
        CreateSubscription,
        "POST /v1/subscriptions",
        "Create a subscription: a queue that gets every message of a topic",
        rights=(Right(ADMIN, "queue", "name"), Right(READ, "topic", "topic")),
        created=True,
        errors=(404, 409),
    ),
    _look(DescribeQueue, "GET /v1/queues/{queue}", "Describe a queue: its counts, settings and leases"),
    _look(QueueConfiguration, "GET /v1/queues/{queue}/config", "Show the settings of a queue", called="queue_config"),
    _change(
        DeleteQueue, "DELETE /v1/queues/{queue}", "Delete a queue or subscription, its messages and its dead letters"
    ),
    _look(Peek, "GET /v1/queues/{queue}/messages", "Show the next messages of a queue without taking them"),
    _empty(PurgeQueue, "POST /v1/queues/{queue}/purge", "Remove all messages that are not leased"),
    _empty(
        UndoPurgeQueue,
        "POST /v1/queues/{queue}/undo-purge",
        "Restore what the last purge removed, up to five minutes later",
    ),
)
