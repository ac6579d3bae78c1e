"""Queues and subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.broker.handlers.table import CLIENT, Handlers
from broker_core.flow.config import FlowConfig
from broker_core.operations import messages, queues

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


_LEASES_SHOWN = 100


def _list_queues(broker: Broker, now_ns: int, _request: queues.ListQueues) -> queues.QueuesAnswer:
    views = [broker.views.queue(now_ns, name, 0, 0) for name in broker.queues.names()]
    return queues.QueuesAnswer(queues=[queues.QueueAnswer.of(view, now_ns) for view in views])


def _create_queue(broker: Broker, now_ns: int, request: queues.CreateQueue) -> queues.QueueAnswer:
    broker.queues.create(
        now_ns,
        request.name,
        request.settings.config(),
        flow=None if request.flow is None else request.flow.config(),
        log=request.log.on(broker.logs.config),
    )
    return _queue(broker, now_ns, request.name)


def _create_subscription(broker: Broker, now_ns: int, request: queues.CreateSubscription) -> queues.QueueAnswer:
    broker.queues.subscribe(
        now_ns,
        request.name,
        request.topic,
        request.settings.config(),
        max_messages=request.max_messages,
        policy=request.policy,
    )
    return _queue(broker, now_ns, request.name)


def _describe_queue(broker: Broker, now_ns: int, request: queues.DescribeQueue) -> queues.QueueAnswer:
    return _queue(broker, now_ns, request.queue)


def _queue(broker: Broker, now_ns: int, name: str) -> queues.QueueAnswer:
    return queues.QueueAnswer.of(broker.views.queue(now_ns, name, _LEASES_SHOWN, 0), now_ns)


def _queue_config(broker: Broker, now_ns: int, request: queues.QueueConfiguration) -> queues.QueueConfigAnswer:
    name = request.queue
    view, config = broker.views.queue(now_ns, name, 0, 0), broker.queues.queue(name).config
    subscription = broker.queues.subscription(name)
    if subscription is None:
        return queues.QueueConfigAnswer.of(view, None, config, broker.backpressure.config(name))
    limited = subscription.max_messages is not None
    flow = FlowConfig(max_messages=subscription.max_messages, policy=subscription.policy) if limited else None
    return queues.QueueConfigAnswer.of(view, subscription.topic, config, flow)


def _delete_queue(broker: Broker, now_ns: int, request: queues.DeleteQueue) -> None:
    broker.queues.delete(now_ns, request.queue)


def _peek(broker: Broker, _now_ns: int, request: queues.Peek) -> queues.Peeked:
    found = broker.queues.queue(request.queue).peek(request.max_messages)
    return queues.Peeked(messages=[messages.MessageAnswer.of(each, request.encoding) for each in found])


def _purge_queue(broker: Broker, now_ns: int, request: queues.PurgeQueue) -> queues.Messages:
    return queues.Messages(messages=broker.queues.queue(request.queue).purge(now_ns, CLIENT))


def _undo_purge_queue(broker: Broker, now_ns: int, request: queues.UndoPurgeQueue) -> queues.Messages:
    return queues.Messages(messages=broker.queues.queue(request.queue).undo_purge(now_ns, CLIENT))


HANDLERS: Handlers = {
    queues.ListQueues: _list_queues,
    queues.CreateQueue: _create_queue,
    queues.CreateSubscription: _create_subscription,
    queues.DescribeQueue: _describe_queue,
    queues.QueueConfiguration: _queue_config,
    queues.DeleteQueue: _delete_queue,
    queues.Peek: _peek,
    queues.PurgeQueue: _purge_queue,
    queues.UndoPurgeQueue: _undo_purge_queue,
}
