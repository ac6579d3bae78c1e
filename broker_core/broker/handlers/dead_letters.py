"""Dead letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.broker.handlers.table import CLIENT
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import dead_letters, queues
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.dead_letter_record import without_dead_headers
from broker_core.replies import Reply

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


def _list_dead_letters(broker: Broker, _now_ns: int, request: dead_letters.ListDeadLetters) -> dead_letters.Letters:
    kept = broker.queues.dead_letters(request.queue)
    only = DeadLetterFilter(
        queue=request.queue, cause=request.cause, text=request.text, min_redrives=request.min_redrives
    )
    found = kept.list(only, request.offset, request.limit)
    return dead_letters.Letters(
        count=kept.count(request.queue), dead_letters=[dead_letters.Letter.of(each, request.encoding) for each in found]
    )


def _by_cause(broker: Broker, _now_ns: int, request: dead_letters.DeadLettersByCause) -> dead_letters.Causes:
    return dead_letters.Causes(causes=broker.queues.dead_letters(request.queue).by_cause(request.queue))


def _redrive(broker: Broker, now_ns: int, request: dead_letters.Redrive) -> dead_letters.Redriven:
    name, kept = request.queue, broker.queues.dead_letters(request.queue)
    if request.rate_per_s is not None and request.edits:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a redrive at a rate takes no edits; leave rate_per_s away")
    there = kept.preview([edit.offset for edit in request.edits]).redrivable
    headers = {each.offset: without_dead_headers(each.message.headers) for each in there}
    edits = {edit.offset: edit.on(headers.get(edit.offset, ())) for edit in request.edits}
    offsets = _offsets(broker, request)
    if request.dry_run:
        return dead_letters.Redriven.planned(kept.preview(offsets, edits), len(offsets))
    if request.rate_per_s is not None:
        return dead_letters.Redriven.of(
            broker.redrives.start_paced(now_ns, name, offsets, request.rate_per_s, client=CLIENT)
        )
    return dead_letters.Redriven.done_with(
        broker.redrives.redrive(now_ns, name, offsets, client=CLIENT, edits=edits), len(offsets)
    )


def _offsets(broker: Broker, request: dead_letters.Redrive | dead_letters.PurgeLetters) -> list[int]:
    """The offsets of the request, or of all dead letters of its cause."""
    if request.offsets is not None:
        return request.offsets
    only = DeadLetterFilter(queue=request.queue, cause=request.cause)
    return [each.offset for each in broker.queues.dead_letters(request.queue).list(only, limit=None)]


def _redrive_progress(broker: Broker, _now_ns: int, request: dead_letters.RedriveProgress) -> dead_letters.Redriven:
    broker.queues.dead_letters(request.queue)
    return dead_letters.Redriven.of(broker.redrives.paced.last(request.queue))


def _stop_redrive(broker: Broker, _now_ns: int, request: dead_letters.StopRedrive) -> dead_letters.Redriven:
    broker.queues.dead_letters(request.queue)
    paced = broker.redrives.paced.last(request.queue)
    paced.cancel()
    return dead_letters.Redriven.of(paced)


def _purge_letters(broker: Broker, now_ns: int, request: dead_letters.PurgeLetters) -> dead_letters.PurgedLetters:
    result = broker.queues.dead_letters(request.queue).purge(now_ns, _offsets(broker, request), CLIENT)
    return dead_letters.PurgedLetters(
        purged=result.purged, refused=[dead_letters.RefusedLetter.of(each) for each in result.refused]
    )


def _undo_redrive(broker: Broker, now_ns: int, request: dead_letters.UndoRedrive) -> Reply[queues.Messages]:
    back = broker.redrives.undo(now_ns, request.queue, client=CLIENT)
    return back.map(lambda places: queues.Messages(messages=len(places)))


def _undo_purge(broker: Broker, now_ns: int, request: dead_letters.UndoPurgeDeadLetters) -> queues.Messages:
    return queues.Messages(messages=broker.queues.dead_letters(request.queue).undo_purge(now_ns, CLIENT))
