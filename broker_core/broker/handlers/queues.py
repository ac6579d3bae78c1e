from __future__ import annotations

from broker_core.broker.broker import Broker, Handlers
from broker_core.broker.browsing import asked_test
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.guarded.redrive import RedriveRun
from broker_core.operations import dead_letters, guarded, messages, queues
from broker_core.queues.dead_letter_record import without_dead_headers
from broker_core.queues.lease import Held
from broker_core.snapshots import QueueView

_LEASES_SHOWN = 100


def _create_queue(broker: Broker, now_ns: int, request: queues.CreateQueue, _client: str) -> QueueView:
    broker.queues.create(
        now_ns, request.name, request.settings, flow=request.flow, log=request.log.on(broker.logs.config)
    )
    return _queue(broker, now_ns, request.name)


def _create_subscription(broker: Broker, now_ns: int, request: queues.CreateSubscription, _client: str) -> QueueView:
    broker.queues.subscribe(
        now_ns, request.name, request.topic, request.settings, max_messages=request.max_messages, policy=request.policy
    )
    return _queue(broker, now_ns, request.name)


def _queue(broker: Broker, now_ns: int, name: str) -> QueueView:
    return broker.views.queue(now_ns, name, _LEASES_SHOWN, 0)


def _queue_config(
    broker: Broker, _now_ns: int, request: queues.QueueConfiguration, _client: str
) -> queues.QueueConfigAnswer:
    name = request.queue
    subscription = broker.queues.subscription(name)
    if subscription is None:
        flow = broker.backpressure.config(name)
    else:
        most = subscription.max_messages
        flow = None if most is None else FlowConfig(max_messages=most, policy=subscription.policy)
    topic = None if subscription is None else subscription.topic
    return queues.QueueConfigAnswer(topic=topic, settings=broker.queues.queue(name).config, flow=flow)


def _settle_lease(broker: Broker, now_ns: int, request: queues.SettleLease, _client: str) -> queues.Settled:
    queue, until_ns = broker.queues.queue(request.queue), None
    held = Held(request.partition, request.offset, request.holder, request.attempt)
    if request.act == "ack":
        queue.ack(now_ns, held)
    elif request.act == "extend":
        until_ns = queue.extend(now_ns, held, request.lease_ms)
    elif request.act == "release":
        queue.release(now_ns, held, "released by hand")
    else:
        queue.nack(now_ns, held, request.cause, requeue=request.act == "nack")
    return queues.Settled(deadline_ns=until_ns)


def _list_dead_letters(
    broker: Broker, _now_ns: int, request: dead_letters.ListDeadLetters, _client: str
) -> dead_letters.Letters:
    kept = broker.queues.dead_letters(request.queue)
    found = kept.list(request.accepts, request.offset, request.limit)
    return dead_letters.Letters(
        count=kept.count(request.queue), dead_letters=[dead_letters.Letter.of(each, request.encoding) for each in found]
    )


def _redrive(broker: Broker, now_ns: int, request: dead_letters.Redrive, client: str) -> dead_letters.RedriveAnswer:
    name, kept = request.queue, broker.queues.dead_letters(request.queue)
    if request.rate_per_s is not None and request.edits:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a redrive at a rate cannot have edits; leave out rate_per_s")
    there = kept.preview([edit.offset for edit in request.edits]).redrivable
    headers = {each.offset: without_dead_headers(each.message.headers) for each in there}
    edits = {edit.offset: edit.on(headers.get(edit.offset, ())) for edit in request.edits}
    offsets = _offsets(broker, request)
    if left := sorted(edits.keys() - offsets):
        about = f"the edit of dead letter {left[0]} is for none that is redriven; leave it out"
        raise BrokerError(ErrorCode.INVALID_REQUEST, about)
    if request.dry_run:
        return dead_letters.RedriveAnswer.planned(kept.preview(offsets, edits), len(offsets))
    if request.rate_per_s is not None:
        return dead_letters.RedriveAnswer.of(
            broker.redrives.start_paced(now_ns, name, offsets, request.rate_per_s, client=client)
        )
    return dead_letters.RedriveAnswer.done_with(
        broker.redrives.redrive(now_ns, name, offsets, client=client, edits=edits), len(offsets)
    )


def _offsets(broker: Broker, request: dead_letters.Redrive | dead_letters.PurgeLetters) -> list[int]:
    if request.offsets is not None:
        return request.offsets
    return [each.offset for each in broker.queues.dead_letters(request.queue).list(request.accepts, limit=None)]


def _redrive_progress(
    broker: Broker, _now_ns: int, request: dead_letters.RedriveProgress, _client: str
) -> dead_letters.RedriveAnswer:
    broker.queues.dead_letters(request.queue)
    return dead_letters.RedriveAnswer.of(broker.redrives.paced.last(request.queue))


def _stop_redrive(
    broker: Broker, _now_ns: int, request: dead_letters.StopRedrive, _client: str
) -> dead_letters.RedriveAnswer:
    broker.queues.dead_letters(request.queue)
    paced = broker.redrives.paced.last(request.queue)
    paced.end()
    return dead_letters.RedriveAnswer.of(paced)


def _redrive_topic(broker: Broker, now_ns: int, request: guarded.RedriveTopic, client: str) -> RedriveRun:
    guarded.check_plan_is_for(request.topic, request.plan.choice.topic)
    return broker.topic_redrives.start(now_ns, request.plan, asked_test(request.plan.choice.where), client)


HANDLERS: Handlers = {
    queues.ListQueues: lambda b, now_ns, r, _client: [b.views.queue(now_ns, name, 0, 0) for name in b.queues.names()],
    queues.CreateQueue: _create_queue,
    queues.CreateSubscription: _create_subscription,
    queues.DescribeQueue: lambda b, now_ns, r, _client: _queue(b, now_ns, r.queue),
    queues.QueueConfiguration: _queue_config,
    queues.DeleteQueue: lambda b, now_ns, r, _client: b.queues.delete(now_ns, r.queue),
    queues.Peek: lambda b, now_ns, r, _client: [
        messages.MessageAnswer.of(each, r.encoding) for each in b.queues.queue(r.queue).peek(r.max_messages)
    ],
    queues.PurgeQueue: lambda b, now_ns, r, client: queues.Messages(
        messages=b.queues.queue(r.queue).purge(now_ns, client)
    ),
    queues.UndoPurgeQueue: lambda b, now_ns, r, client: queues.Messages(
        messages=b.queues.queue(r.queue).undo_purge(now_ns, client)
    ),
    queues.SettleLease: _settle_lease,
    dead_letters.ListDeadLetters: _list_dead_letters,
    dead_letters.DeadLettersByCause: lambda b, now_ns, r, _client: b.queues.dead_letters(r.queue).by_cause(r.queue),
    dead_letters.Redrive: _redrive,
    dead_letters.RedriveProgress: _redrive_progress,
    dead_letters.StopRedrive: _stop_redrive,
    guarded.PlanTopicRedrive: lambda b, now_ns, r, _client: b.topic_redrives.plan(
        now_ns, r.choice, asked_test(r.where), r.rate_per_s
    ),
    guarded.RedriveTopic: _redrive_topic,
    guarded.TopicRedriveProgress: lambda b, now_ns, r, _client: b.topic_redrives.last(r.topic),
    guarded.StopTopicRedrive: lambda b, now_ns, r, _client: b.topic_redrives.stop(now_ns, r.topic),
    dead_letters.PurgeLetters: lambda b, now_ns, r, client: b.queues.dead_letters(r.queue).purge(
        now_ns, _offsets(b, r), client
    ),
    dead_letters.UndoRedrive: lambda b, now_ns, r, client: b.redrives.undo(now_ns, r.queue, client=client).map(
        lambda places: queues.Messages(messages=len(places))
    ),
    dead_letters.UndoPurgeDeadLetters: lambda b, now_ns, r, client: queues.Messages(
        messages=b.queues.dead_letters(r.queue).undo_purge(now_ns, client)
    ),
}
