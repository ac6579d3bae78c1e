from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

from app.cli.errors import CommandError
from app.cli.messages import bytes_pair, edit_of, headers_of
from app.cli.numbers import whole
from app.cli.output import print_facts, print_rows, say, text_of
from app.cli.parser import Command
from app.cli.request_options import add_field, given
from app.cli.signals import exit_of_interrupt
from app.cli.target import Broker
from app.cli.verbs import Verbs
from app.cli.waiting import PATIENCE_S, note
from app.environment.exits import Exit
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.dead_letters import (
    DeadLettersByCause,
    Edit,
    Letter,
    ListDeadLetters,
    PurgeLetters,
    Redrive,
    Redriven,
    RedriveProgress,
    StopRedrive,
    UndoPurgeDeadLetters,
    UndoRedrive,
)
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import ListTopics
from broker_core.operations.values import json_bytes
from broker_core.plurals import counted
from broker_core.queues.dead_letters import Refused

_CONDITIONS = ("cause", "text", "min_redrives")
_PAGE = 1_000
_LOOK_S = 0.1  # how often the progress of a redrive at a rate is asked for


def command() -> Command:
    verbs = Verbs(
        "dlq", "Dead letters of a queue, or of a topic whose schema refuses messages.", "name of the queue or topic"
    )
    listed = verbs.add(
        "list", "List dead letters of a queue, the oldest first; without a queue, how many each has.", _list, reads=True
    )
    listed.add_argument("queue", nargs="?", metavar="QUEUE", help="name of the queue or topic")
    add_field(listed, ListDeadLetters, "limit", default=100)
    _add_conditions(listed)
    verbs.add("causes QUEUE", DeadLettersByCause, _causes, reads=True)
    describe = verbs.add("describe QUEUE", "Show a dead letter with its attempts.", _describe, reads=True)
    describe.add_argument("offset", type=whole(0), metavar="OFFSET", help="its offset among the dead letters")
    redrive = verbs.add("redrive QUEUE", Redrive, _redrive)
    _add_choice(redrive)
    add_field(redrive, Redrive, "dry_run")
    add_field(redrive, Redrive, "rate_per_s", "--rate", metavar="PER_S", default=None)
    redrive.add_argument("--value", metavar="TEXT", help="of one dead letter: send this in place of its value")
    taken_back, restored = ("taken_back", "redriven message"), ("restored", "dead letter")
    verbs.does("undo-redrive QUEUE", UndoRedrive, "Took back {count}.", counts=taken_back)
    purge = verbs.add("purge QUEUE", PurgeLetters, _purge, asks=_purge_question)
    _add_choice(purge)
    verbs.does("undo-purge QUEUE", UndoPurgeDeadLetters, "Brought back {count}.", counts=restored)
    return verbs.command()


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "offsets", type=whole(0), nargs="*", default=[], metavar="OFFSET", help="their offsets, as dlq list shows them"
    )
    parser.add_argument("--all", action="store_true", help="all, or all that match the conditions below")
    _add_conditions(parser)


def _add_conditions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which of them")
    add_field(group, ListDeadLetters, "cause", metavar="CAUSE")
    add_field(group, ListDeadLetters, "text", metavar="TEXT")
    add_field(group, ListDeadLetters, "min_redrives")


def _list(broker: Broker, options: argparse.Namespace) -> None:
    conditions = given(options, ListDeadLetters, _CONDITIONS)
    if options.queue is None:
        if conditions:
            raise CommandError("Conditions are for the dead letters of one queue; name it: brokerscope dlq list QUEUE.")
        _list_queues(broker, options)
        return
    request = ListDeadLetters(queue=options.queue, limit=options.limit, encoding="base64", **conditions)
    shown = json_bytes if options.json else text_of
    rows = []
    for letter in broker.ask(request).dead_letters:
        key, value = bytes_pair(letter)
        rows.append((letter.offset, letter.cause, len(letter.attempts), letter.redrives, shown(key), shown(value)))
    columns = ("Offset", "Cause", "Attempts", "Redrives", "Key", "Value")
    such = "such " if conditions else ""
    print_rows(columns, rows, options, none=f"{options.queue} has no {such}dead letters.")
    if len(rows) == options.limit:
        most = counted(options.limit, "dead letter")
        note(f"There may be more than {most}; --limit N shows more.", as_json=options.json)


def _list_queues(broker: Broker, options: argparse.Namespace) -> None:
    queues = [queue.name for queue in broker.ask(ListQueues())]
    rows: list[tuple[object, ...]] = []
    for name in (*queues, *(topic.name for topic in broker.ask(ListTopics()))):
        try:
            causes = broker.ask(DeadLettersByCause(queue=name))
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_QUEUE:
                raise
            continue  # a topic without dead letters
        rows.append((name, sum(causes.values()), next(iter(causes), None)))
    columns = ("Queue or topic", "Dead letters", "Most frequent cause")
    print_rows(columns, rows, options, none="Nothing here can have dead letters: there is no queue.")


def _causes(broker: Broker, options: argparse.Namespace) -> None:
    causes = broker.ask(DeadLettersByCause(queue=options.queue))
    print_rows(("Cause", "Dead letters"), causes.items(), options, none=f"{options.queue} has no dead letters.")


def _letters(broker: Broker, queue: str, **conditions: Any) -> Iterator[Letter]:
    offset = 0
    while True:
        request = ListDeadLetters(queue=queue, offset=offset, limit=_PAGE, encoding="base64", **conditions)
        found = broker.ask(request).dead_letters
        yield from found
        if len(found) < _PAGE:
            return
        offset = found[-1].offset + 1


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    request = ListDeadLetters(queue=options.queue, offset=options.offset, limit=1, encoding="base64")
    letter = next(iter(broker.ask(request).dead_letters), None)
    if letter is None or letter.offset != options.offset:
        raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{options.offset} of {options.queue}")
    shown = json_bytes if options.json else text_of
    key, value = bytes_pair(letter)
    headers = headers_of(letter)
    facts: list[tuple[str, object]] = [
        ("Offset", letter.offset),
        ("Origin", f"{letter.origin_topic}/{letter.origin_partition} @{letter.origin_offset}"),
        ("Cause", letter.cause),
        ("Redrives", letter.redrives),
        ("Key", shown(key)),
        ("Value", shown(value)),
    ]
    if options.json:
        # Headers and attempts as lists: how many there are is not known before.
        facts.append(("Headers", {name: shown(data) for name, data in headers}))
        facts.append(("Attempts", [{"holder": one.holder, "outcome": one.outcome} for one in letter.attempts]))
        print_facts(facts, options)
        return
    facts += [(f"Header {name}", shown(data)) for name, data in headers]
    facts += [(f"Attempt {number}", f"{one.holder}: {one.outcome}") for number, one in enumerate(letter.attempts, 1)]
    print_facts(facts, options)


def _chosen(broker: Broker, options: argparse.Namespace) -> list[int] | None:
    """Their offsets; None for all."""
    conditions = given(options, ListDeadLetters, _CONDITIONS)
    if options.offsets:
        if options.all or conditions:
            raise CommandError("Offsets say which dead letters are meant; leave --all and the conditions out.")
        return list(options.offsets)
    if not options.all:
        raise CommandError("Which dead letters? Give their offsets, or --all, which the conditions narrow down.")
    return [letter.offset for letter in _letters(broker, options.queue, **conditions)] if conditions else None


def _redrive(broker: Broker, options: argparse.Namespace) -> int:
    offsets = _chosen(broker, options)
    edits: tuple[Edit, ...] = ()
    if options.value is not None:
        if len(options.offsets) != 1 or options.rate_per_s is not None:
            raise CommandError("--value is for one dead letter; give its offset alone, and no --rate.")
        edits = (edit_of(options.offsets[0], options.value.encode(errors="surrogateescape")),)
    if offsets == []:
        return _told(Redriven(total=0, done=0), options)
    dry_run = hasattr(options, "dry_run")
    request = Redrive(queue=options.queue, offsets=offsets, edits=edits, dry_run=dry_run, rate_per_s=options.rate_per_s)
    if dry_run:
        preview = broker.ask(request)
        rows = [(one.offset, one.to_topic) for one in preview.redriven]
        print_rows(("Offset", "Goes to"), rows, options, none="Nothing would be redriven.")
        return _refusals(preview.refused, options)
    if options.rate_per_s is None:
        return _told(broker.ask(request), options)
    result, interrupt = _paced(broker, request, options)
    return _told(result, options) or (Exit.DONE if interrupt is None else exit_of_interrupt(interrupt))


def _told(result: Redriven, options: argparse.Namespace) -> int:
    count = len(result.redriven)
    say(f"Redrove {counted(count, 'dead letter')} of {options.queue}.", options, redriven=count)
    return _refusals(result.refused, options)


def _paced(broker: Broker, request: Redrive, options: argparse.Namespace) -> tuple[Redriven, KeyboardInterrupt | None]:
    """What became of them, and what has ended the redrive early."""
    found = broker.ask(request)
    try:
        lasts_s = found.total / options.rate_per_s
        if lasts_s >= PATIENCE_S:
            letters = counted(found.total, "dead letter")
            note(f"Redriving {letters} in {lasts_s:.0f} s; Ctrl+C leaves the rest.", as_json=options.json)
        while found.running:
            time.sleep(_LOOK_S)
            found = broker.ask(RedriveProgress(queue=request.queue))
        return found, None
    except KeyboardInterrupt as interrupt:
        return broker.ask(StopRedrive(queue=request.queue)), interrupt


def _refusals(refused: Sequence[Refused], options: argparse.Namespace) -> int:
    """Say which were not redriven, and why; the exit code."""
    rows = [(one.offset, one.message) for one in refused]
    if rows:
        print_rows(("Offset", "Refused"), rows, options, none="")
    return Exit.PARTLY if rows else Exit.DONE


def _purge_question(broker: Broker, options: argparse.Namespace) -> str:
    chosen = _chosen(broker, options)
    causes = broker.ask(DeadLettersByCause(queue=options.queue)) if chosen is None else {}
    count = sum(causes.values()) if chosen is None else len(chosen)
    return f"Take {counted(count, 'dead letter')} of {options.queue} out"


def _purge(broker: Broker, options: argparse.Namespace) -> int:
    chosen = _chosen(broker, options)
    if chosen == []:
        say(f"Purged 0 dead letters of {options.queue}.", options, purged=0)
        return Exit.DONE
    result = broker.ask(PurgeLetters(queue=options.queue, offsets=chosen))
    say(f"Purged {counted(result.purged, 'dead letter')} of {options.queue}.", options, purged=result.purged)
    return _refusals(result.refused, options)
