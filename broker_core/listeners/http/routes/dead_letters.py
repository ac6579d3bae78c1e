"""Dead letters: look, redrive, purge, undo."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from broker_core.clients.admin import RunningRedrive
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import ADMIN, READ, Call
from broker_core.listeners.http.messages import shown_headers
from broker_core.listeners.http.models import dead_letters as shapes
from broker_core.listeners.http.models.basics import Encoding, Name
from broker_core.listeners.http.models.queues import Messages
from broker_core.listeners.http.routing import Operations
from broker_core.listeners.http.values import bytes_of, retyped, shown_value, stored_value, text_of
from broker_core.messages import Headers
from broker_core.queues.dead_letter_edit import DeadLetterEdit
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.dead_letter_record import without_dead_headers
from broker_core.queues.dead_letters import RedriveResult, Refused
from broker_core.snapshots import DeadLetterView

operation = Operations("Dead letters")


@operation("GET", "/v1/dead-letters/{queue}", shapes.Letters, query=shapes.LetterQuery)
async def list_dead_letters(call: Call) -> shapes.Letters:
    """Dead letters of a queue, or of a topic whose schema refuses messages, the oldest first."""
    name = _bin(call)
    query = call.query(shapes.LetterQuery)
    only = DeadLetterFilter(queue=name, cause=query.cause, text=query.text, min_redrives=query.min_redrives)
    found = await call.slow(lambda: call.context.admin.dead_letters(name, only, offset=query.offset, limit=query.limit))
    count = call.host.call(lambda _now: call.broker.dead_letters(name).count(name))
    return shapes.Letters(count=count, dead_letters=[letter(each, query.encoding) for each in found])


@operation("GET", "/v1/dead-letters/{queue}/causes", shapes.Causes)
async def dead_letters_by_cause(call: Call) -> shapes.Causes:
    """How many died of each cause, the most frequent first."""
    return shapes.Causes(causes=call.context.admin.dead_letters_by_cause(_bin(call)))


@operation("POST", "/v1/dead-letters/{queue}/redrive", shapes.Redriven, body=shapes.Redrive, errors=(409,))
async def redrive(call: Call) -> shapes.Redriven:
    """Put dead letters back to where they came from, changed or as they were.

    Each is appended to its origin first and taken out of the bin after, so an interrupted redrive loses nothing.
    """
    body = await call.body(shapes.Redrive)
    name = _bin(call, administer=not body.dry_run)
    if body.rate_per_s is not None and body.edits:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a redrive at a rate takes no edits; leave rate_per_s away")

    def run() -> shapes.Redriven:
        admin, redrives = call.context.admin, call.context.redrives
        edits = _edits(call, name, body.edits)
        offsets = body.offsets if body.offsets is not None else _of_cause(call, name, body.cause)
        if body.dry_run:
            preview = admin.preview_redrive(name, offsets, edits)
            rows = [
                shapes.RedrivenAnswer(offset=each.offset, to_topic=each.origin_topic, to_partition=None, to_offset=None)
                for each in preview.redrivable
            ]
            return _answer(rows, preview.refused, len(offsets), applied=False)
        if body.rate_per_s is not None:
            redrives[name] = admin.redrive_paced(name, offsets, body.rate_per_s)
            return _running(redrives[name])
        return _done(admin.redrive(name, offsets, edits), len(offsets))

    return await call.slow(run)


@operation("GET", "/v1/dead-letters/{queue}/redrive", shapes.Redriven)
async def redrive_progress(call: Call) -> shapes.Redriven:
    """How far the last redrive at a rate is."""
    return _running(_paced(call, _bin(call)))


@operation("DELETE", "/v1/dead-letters/{queue}/redrive", shapes.Redriven)
async def stop_redrive(call: Call) -> shapes.Redriven:
    """Stop the redrive at a rate; the rest stays where it is."""
    running = _paced(call, _bin(call, administer=True))
    running.cancel()
    return _running(running)


@operation("POST", "/v1/dead-letters/{queue}/purge", shapes.PurgedLetters, body=shapes.PurgeLetters, errors=(409,))
async def purge_dead_letters(call: Call) -> shapes.PurgedLetters:
    """Take dead letters out of the bin."""
    body = await call.body(shapes.PurgeLetters)
    name = _bin(call, administer=True)

    def run() -> shapes.PurgedLetters:
        offsets = body.offsets if body.offsets is not None else _of_cause(call, name, body.cause)
        result = call.context.admin.purge_dead_letters(name, offsets)
        return shapes.PurgedLetters(purged=result.purged, refused=_refused(result.refused))

    return await call.slow(run)


@operation("POST", "/v1/dead-letters/{queue}/undo-redrive", Messages)
async def undo_redrive(call: Call) -> Messages:
    """Take back the last redrive, unless it is more than five minutes ago: what nobody has taken yet is dead again.

    What went back to a topic, of a subscription or because of a schema, cannot be taken back: its readers have it.
    """
    name = _bin(call, administer=True)
    return Messages(messages=await call.slow(lambda: call.context.admin.undo_redrive(name)))


@operation("POST", "/v1/dead-letters/{queue}/undo-purge", Messages)
async def undo_purge_dead_letters(call: Call) -> Messages:
    """Bring back what the last purge took, unless that is more than five minutes ago."""
    return Messages(messages=call.context.admin.undo_purge_dead_letters(_bin(call, administer=True)))


def letter(view: DeadLetterView, wanted: Encoding) -> shapes.Letter:
    """A dead letter as it is answered."""
    value, encoding = shown_value(view.value, view.headers, wanted)
    key, key_encoding = text_of(view.key)
    if not encoding == key_encoding == wanted:
        value, encoding = shown_value(view.value, (), "base64")
        key = shown_value(view.key, (), "base64")[0]
        encoding = "base64"
    return shapes.Letter(
        offset=view.offset,
        queue=view.queue,
        origin_topic=view.origin_topic,
        origin_partition=view.origin_partition,
        origin_offset=view.origin_offset,
        cause=view.cause,
        redrives=view.redrives,
        published_ns=view.published_ns,
        dead_ns=view.dead_ns,
        key=key,
        value=value,
        headers=shown_headers(view.headers),
        encoding=encoding,
        attempts=[
            shapes.AttemptAnswer(
                holder=each.holder, delivered_ns=each.delivered_ns, ended_ns=each.ended_ns, outcome=each.outcome
            )
            for each in view.attempts
        ],
    )


def _bin(call: Call, *, administer: bool = False) -> str:
    """The queue or topic of the path, if the caller may look at it, or more. Raises FORBIDDEN, UNKNOWN_QUEUE."""
    name: str = call.path("queue", Name)
    call.must_log(ADMIN if administer else READ, name)
    call.host.call(lambda _now: call.broker.dead_letters(name))
    return name


def _of_cause(call: Call, name: str, cause: str) -> list[int]:
    only = DeadLetterFilter(queue=name, cause=cause)
    return [each.offset for each in call.context.admin.dead_letters(name, only, limit=None)]


def _edits(call: Call, name: str, edits: Sequence[shapes.Edit]) -> dict[int, DeadLetterEdit]:
    there = call.context.admin.preview_redrive(name, [edit.offset for edit in edits]).redrivable
    headers = {each.offset: without_dead_headers(each.message.headers) for each in there}
    return {edit.offset: _edited(edit, headers.get(edit.offset, ())) for edit in edits}


def _edited(edit: shapes.Edit, headers: Headers) -> DeadLetterEdit:
    value: bytes | UnsetType | None = UNSET
    if edit.value is not UNSET:
        value, kind = stored_value(edit.value, edit.encoding, ())
        headers = retyped(headers, kind, edit.encoding)
    if edit.headers is None:
        headers = ()
    elif edit.headers is not UNSET:
        named = {each: text.encode() for each, text in edit.headers.items() if text is not None}
        headers = (*(header for header in headers if header[0] not in edit.headers), *named.items())
    key = UNSET if edit.key is UNSET else bytes_of(edit.key, edit.encoding)
    return DeadLetterEdit(value, key, headers, edit.ttl_ms, edit.priority)


def _paced(call: Call, name: str) -> RunningRedrive:
    found = call.context.redrives.get(name)
    if found is None:
        raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"no redrive of {name} at a rate was asked for")
    return found


def _running(paced: RunningRedrive) -> shapes.Redriven:
    result = paced.result
    if result is not None:
        return _done(result, paced.total)
    return shapes.Redriven(applied=True, running=True, total=paced.total, done=paced.done, redriven=[], refused=[])


def _done(result: RedriveResult, total: int) -> shapes.Redriven:
    rows = [
        shapes.RedrivenAnswer(
            offset=each.offset, to_topic=each.to_topic, to_partition=each.to_partition, to_offset=each.to_offset
        )
        for each in result.redriven
    ]
    return _answer(rows, result.refused, total, applied=True)


def _answer(
    rows: list[shapes.RedrivenAnswer], refused: tuple[Refused, ...], total: int, *, applied: bool
) -> shapes.Redriven:
    return shapes.Redriven(
        applied=applied,
        running=False,
        total=total,
        done=len(rows) + len(refused),
        redriven=rows,
        refused=_refused(refused),
    )


def _refused(refused: tuple[Refused, ...]) -> list[shapes.RefusedLetter]:
    return [
        shapes.RefusedLetter(offset=each.offset, error=each.error.code.name, message=str(each.error))
        for each in refused
    ]
