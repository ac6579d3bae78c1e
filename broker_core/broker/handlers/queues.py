from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.operations import dead_letters, messages, queues
from broker_core.queues.dead_letter_record import without_dead_headers
from broker_core.queues.dead_letters import PurgeResult
from broker_core.replies import Reply
from broker_core.snapshots import QueueView

_LEASES_SHOWN = 100


def _list_queues(broker: Broker, now_ns: int, _request: queues.ListQueues) -> list[QueueView]:
    return [broker.views.queue(now_ns, name, 0, 0) for name in broker.queues.names()]


def _create_queue(broker: Broker, now_ns: int, request: queues.CreateQueue) -> QueueView:
    broker.queues.create(
        now_ns,
        request.name,
        request.settings,
        flow=request.flow,
        log=request.log.on(broker.logs.config),
    )
    return _queue(broker, now_ns, request.name)


def _create_subscription(broker: Broker, now_ns: int, request: queues.CreateSubscription) -> QueueView:
    broker.queues.subscribe(
        now_ns,
        request.name,
        request.topic,
        request.settings,
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


def _peek(broker: Broker, _now_ns: int, request: queues.Peek) -> list[messages.MessageAnswer]:
    found = broker.queues.queue(request.queue).peek(request.max_messages)
    return [messages.MessageAnswer.of(each, request.encoding) for each in found]


def _purge_queue(broker: Broker, now_ns: int, request: queues.PurgeQueue, client: str) -> queues.Messages:
    return queues.Messages(messages=broker.queues.queue(request.queue).purge(now_ns, client))


def _undo_purge_queue(broker: Broker, now_ns: int, request: queues.UndoPurgeQueue, client: str) -> queues.Messages:
    return queues.Messages(messages=broker.queues.queue(request.queue).undo_purge(now_ns, client))


def _list_dead_letters(broker: Broker, _now_ns: int, request: dead_letters.ListDeadLetters) -> dead_letters.Letters:
    kept = broker.queues.dead_letters(request.queue)
    found = kept.list(request.filter, request.offset, request.limit)
    return dead_letters.Letters(
        count=kept.count(request.queue), dead_letters=[dead_letters.Letter.of(each, request.encoding) for each in found]
    )


def _by_cause(broker: Broker, _now_ns: int, request: dead_letters.DeadLettersByCause) -> dict[str, int]:
    return broker.queues.dead_letters(request.queue).by_cause(request.queue)


def _redrive(broker: Broker, now_ns: int, request: dead_letters.Redrive, client: str) -> dead_letters.Redriven:
    name, kept = request.queue, broker.queues.dead_letters(request.queue)
    if request.rate_per_s is not None and request.edits:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a redrive at a rate cannot have edits; leave out rate_per_s")
    there = kept.preview([edit.offset for edit in request.edits]).redrivable
    headers = {each.offset: without_dead_headers(each.message.headers) for each in there}
    edits = {edit.offset: edit.on(headers.get(edit.offset, ())) for edit in request.edits}
    offsets = _offsets(broker, request)
    if request.dry_run:
        return dead_letters.Redriven.planned(kept.preview(offsets, edits), len(offsets))
    if request.rate_per_s is not None:
        return dead_letters.Redriven.of(
            broker.redrives.start_paced(now_ns, name, offsets, request.rate_per_s, client=client)
        )
    return dead_letters.Redriven.done_with(
        broker.redrives.redrive(now_ns, name, offsets, client=client, edits=edits), len(offsets)
    )


def _offsets(broker: Broker, request: dead_letters.Redrive | dead_letters.PurgeLetters) -> list[int]:
    if request.offsets is not None:
        return request.offsets
    return [each.offset for each in broker.queues.dead_letters(request.queue).list(request.filter, limit=None)]


def _redrive_progress(broker: Broker, _now_ns: int, request: dead_letters.RedriveProgress) -> dead_letters.Redriven:
    broker.queues.dead_letters(request.queue)
    return dead_letters.Redriven.of(broker.redrives.paced.last(request.queue))


def _stop_redrive(broker: Broker, _now_ns: int, request: dead_letters.StopRedrive) -> dead_letters.Redriven:
    broker.queues.dead_letters(request.queue)
    paced = broker.redrives.paced.last(request.queue)
    paced.cancel()
    return dead_letters.Redriven.of(paced)


def _purge_letters(broker: Broker, now_ns: int, request: dead_letters.PurgeLetters, client: str) -> PurgeResult:
    return broker.queues.dead_letters(request.queue).purge(now_ns, _offsets(broker, request), client)


def _undo_redrive(
    broker: Broker, now_ns: int, request: dead_letters.UndoRedrive, client: str
) -> Reply[queues.Messages]:
    back = broker.redrives.undo(now_ns, request.queue, client=client)
    return back.map(lambda places: queues.Messages(messages=len(places)))


def _undo_purge(
    broker: Broker, now_ns: int, request: dead_letters.UndoPurgeDeadLetters, client: str
) -> queues.Messages:
    return queues.Messages(messages=broker.queues.dead_letters(request.queue).undo_purge(now_ns, client))
