"""Queues and subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.broker.handlers.table import CLIENT
from broker_core.flow.config import FlowConfig
from broker_core.operations import messages, queues
from broker_core.snapshots import QueueView

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


_LEASES_SHOWN = 100


def _list_queues(broker: Broker, now_ns: int, _request: queues.ListQueues) -> queues.QueuesAnswer:
    return queues.QueuesAnswer(queues=[broker.views.queue(now_ns, name, 0, 0) for name in broker.queues.names()])


def _create_queue(broker: Broker, now_ns: int, request: queues.CreateQueue) -> QueueView:
    broker.queues.create(
        now_ns,
        request.name,
        request.settings.config(),
        flow=None if request.flow is None else request.flow.config(),
        log=request.log.on(broker.logs.config),
    )
    return _queue(broker, now_ns, request.name)


def _create_subscription(broker: Broker, now_ns: int, request: queues.CreateSubscription) -> QueueView:
    broker.queues.subscribe(
        now_ns,
        request.name,
        request.topic,
        request.settings.config(),
        max_messages=request.max_messages,
        policy=request.policy,
    )
    return _queue(broker, now_ns, request.name)


def _describe_queue(broker: Broker, now_ns: int, request: queues.DescribeQueue) -> QueueView:
    return _queue(broker, now_ns, request.queue)


def _queue(broker: Broker, now_ns: int, name: str) -> QueueView:
    return broker.views.queue(now_ns, name, _LEASES_SHOWN, 0)


def _queue_config(broker: Broker, _now_ns: int, request: queues.QueueConfiguration) -> queues.QueueConfigAnswer:
    name = request.queue
    subscription = broker.queues.subscription(name)
    if subscription is None:
        flow = broker.backpressure.config(name)
    elif subscription.max_messages is None:
        flow = None
    else:
        flow = FlowConfig(max_messages=subscription.max_messages, policy=subscription.policy)
    topic = None if subscription is None else subscription.topic
    return queues.QueueConfigAnswer(topic=topic, settings=broker.queues.queue(name).config, flow=flow)


def _delete_queue(broker: Broker, now_ns: int, request: queues.DeleteQueue) -> None:
    broker.queues.delete(now_ns, request.queue)


def _peek(broker: Broker, _now_ns: int, request: queues.Peek) -> queues.Peeked:
    found = broker.queues.queue(request.queue).peek(request.max_messages)
    return queues.Peeked(messages=[messages.MessageAnswer.of(each, request.encoding) for each in found])


def _purge_queue(broker: Broker, now_ns: int, request: queues.PurgeQueue) -> queues.Messages:
    return queues.Messages(messages=broker.queues.queue(request.queue).purge(now_ns, CLIENT))


def _undo_purge_queue(broker: Broker, now_ns: int, request: queues.UndoPurgeQueue) -> queues.Messages:
    return queues.Messages(messages=broker.queues.queue(request.queue).undo_purge(now_ns, CLIENT))
