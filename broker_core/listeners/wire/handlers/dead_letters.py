"""Dead letters."""

from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Operation
from broker_core.listeners.wire.rows import Caller, How, Need, Row, Waiting, kind_of
from broker_core.snapshots import DeadLetterView
from broker_core.wire import dead_letters as api
from broker_core.wire.queues import Count

MOST_LETTERS = 1_000
_AT_A_TIME = 16
MOST_LISTED_BYTES = 4 * 1_048_576
MOST_OFFSETS = 10_000


def list_letters(caller: Caller, request: api.ListDeadLetters, _now_ns: int) -> api.DeadLetters:
    """A page, of bounded size."""
    letters = caller.broker.dead_letters(request.queue)
    found: list[DeadLetterView] = []
    most, offset, size_bytes = min(request.limit, MOST_LETTERS), request.offset, 0
    while len(found) < most and size_bytes < MOST_LISTED_BYTES:
        wanted = min(_AT_A_TIME, most - len(found))
        page = letters.list(request.only, offset, wanted)
        found += page
        size_bytes += sum(len(letter.key or b"") + len(letter.value or b"") for letter in page)
        if len(page) < wanted:
            return api.DeadLetters(tuple(found), None)
        offset = page[-1].offset + 1
    return api.DeadLetters(tuple(found), offset)


def by_cause(caller: Caller, request: api.DeadLettersByCause, _now_ns: int) -> api.Causes:
    """See `DeadLetters.by_cause`."""
    return api.Causes(caller.broker.dead_letters(request.queue).by_cause(request.queue))


def redrive(caller: Caller, request: api.Redrive, now_ns: int) -> api.RedriveReply:
    """See `Broker.redrive`."""
    result = caller.broker.redrive(
        now_ns, request.queue, request.offsets, client=caller.principal.name, edits=request.edits
    )
    return api.RedriveReply(result.redriven, api.refusals(result.refused))


def preview(caller: Caller, request: api.PreviewRedrive, _now_ns: int) -> api.Preview:
    """See `DeadLetters.preview`."""
    found = caller.broker.dead_letters(request.queue).preview(request.offsets, request.edits)
    return api.Preview(found.redrivable, api.refusals(found.refused))


def purge(caller: Caller, request: api.PurgeDeadLetters, now_ns: int) -> api.PurgeReply:
    """See `DeadLetters.purge`."""
    found = caller.broker.dead_letters(request.queue).purge(now_ns, request.offsets, caller.principal.name)
    return api.PurgeReply(found.purged, api.refusals(found.refused))


def undo_redrive(caller: Caller, request: api.UndoRedrive, now_ns: int) -> Waiting:
    """See `Broker.undo_redrive`."""
    reply = caller.broker.undo_redrive(now_ns, request.queue, client=caller.principal.name)
    return Waiting(reply, lambda back: Count(len(back)))


def undo_purge(caller: Caller, request: api.UndoPurgeDeadLetters, now_ns: int) -> Count:
    """See `DeadLetters.undo_purge`."""
    return Count(caller.broker.dead_letters(request.queue).undo_purge(now_ns, caller.principal.name))


def _reads(broker: Broker, request: api.ListDeadLetters | api.DeadLettersByCause) -> list[Need]:
    return [(Operation.READ, kind_of(broker, request.queue), request.queue)]


def _changes(broker: Broker, request: api.UndoRedrive | api.UndoPurgeDeadLetters) -> list[Need]:
    return [(Operation.ADMIN, kind_of(broker, request.queue), request.queue)]


def _changes_some(broker: Broker, request: api.Redrive | api.PurgeDeadLetters) -> list[Need]:
    if request.offsets is not None and len(request.offsets) > MOST_OFFSETS:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{len(request.offsets)} dead letters; send {MOST_OFFSETS}")
    return [(Operation.ADMIN, kind_of(broker, request.queue), request.queue)]


ROWS = (
    Row(api.ListDeadLetters, How.AT_ONCE, _reads, list_letters),
    Row(api.DeadLettersByCause, How.AT_ONCE, _reads, by_cause),
    Row(api.Redrive, How.AT_ONCE, _changes_some, redrive),
    Row(api.PreviewRedrive, How.AT_ONCE, _changes_some, preview),
    Row(api.PurgeDeadLetters, How.AT_ONCE, _changes_some, purge),
    Row(api.UndoRedrive, How.WAITS, _changes, undo_redrive),
    Row(api.UndoPurgeDeadLetters, How.AT_ONCE, _changes, undo_purge),
)
