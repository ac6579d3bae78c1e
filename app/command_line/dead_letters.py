"""`brokerscope dlq`: list, causes, describe, redrive, purge, and undo of both."""

from __future__ import annotations

import argparse

from app.command_line.numbers import whole
from app.command_line.output import json_bytes, print_facts, print_rows, say, text_of
from app.command_line.verbs import Command, Verbs
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.errors import BrokerError, ErrorCode
from broker_core.plurals import counted
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.dead_letters import Refused
from broker_core.snapshots import DeadLetterView


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("dlq", "Dead letters of a queue, or of a topic whose schema buries what it refuses.")
    listed = verbs.add("list", "Dead letters, the oldest first.", _list)
    listed.add_argument("queue")
    listed.add_argument("--limit", type=whole(1), default=100, metavar="N")
    _add_filter(listed)
    verbs.add("causes", "How many died of each cause.", _causes).add_argument("queue")
    describe = verbs.add("describe", "One dead letter with its attempts.", _describe)
    describe.add_argument("queue")
    describe.add_argument("offset", type=int)
    redrive = verbs.add("redrive", "Put dead letters back to where they came from.", _redrive)
    redrive.add_argument("queue")
    redrive.add_argument("offsets", type=int, nargs="*", metavar="OFFSET")
    redrive.add_argument("--all", action="store_true", help="all, or all that the conditions below mean")
    redrive.add_argument("--dry-run", action="store_true", help="say what would be done")
    redrive.add_argument("--rate", type=float, metavar="PER_S", help="at most so many a second")
    _add_filter(redrive)
    verbs.add("undo-redrive", "Take back the last redrive.", _undo_redrive).add_argument("queue")
    purge = verbs.add("purge", "Take dead letters out.", _purge)
    purge.add_argument("queue")
    purge.add_argument("offsets", type=int, nargs="*", metavar="OFFSET")
    purge.add_argument("--all", action="store_true")
    verbs.add("undo-purge", "Bring back what the last purge took.", _undo_purge).add_argument("queue")
    return verbs.command()


def _add_filter(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which of them")
    group.add_argument("--cause", default="", help="died of exactly this")
    group.add_argument("--text", default="", help="in the key, the value or a header")
    group.add_argument("--min-redrives", type=int, default=0, metavar="N", help="redriven at least so often already")


def _filter(options: argparse.Namespace) -> DeadLetterFilter:
    return DeadLetterFilter(cause=options.cause, text=options.text, min_redrives=options.min_redrives)


def _list(host: Host, options: argparse.Namespace) -> None:
    letters = Admin(host).dead_letters(options.queue, _filter(options), limit=options.limit)
    shown = json_bytes if options.json else text_of
    rows = [
        (one.offset, one.cause, len(one.attempts), one.redrives, shown(one.key), shown(one.value)) for one in letters
    ]
    columns = ("Offset", "Cause", "Attempts", "Redrives", "Key", "Value")
    print_rows(columns, rows, as_json=options.json, none=f"{options.queue} has no such dead letters.")


def _causes(host: Host, options: argparse.Namespace) -> None:
    causes = Admin(host).dead_letters_by_cause(options.queue)
    print_rows(
        ("Cause", "Dead letters"), causes.items(), as_json=options.json, none=f"{options.queue} has no dead letters."
    )


def _find(host: Host, queue: str, offset: int) -> DeadLetterView:
    found = Admin(host).dead_letters(queue, offset=offset, limit=1)
    if not found or found[0].offset != offset:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{queue} has no dead letter at offset {offset}")
    return found[0]


def _describe(host: Host, options: argparse.Namespace) -> None:
    letter = _find(host, options.queue, options.offset)
    shown = json_bytes if options.json else text_of
    facts: list[tuple[str, object]] = [
        ("Offset", letter.offset),
        ("Origin", f"{letter.origin_topic}/{letter.origin_partition} @{letter.origin_offset}"),
        ("Cause", letter.cause),
        ("Redrives", letter.redrives),
        ("Key", shown(letter.key)),
        ("Value", shown(letter.value)),
    ]
    if options.json:
        # Headers and attempts as lists: how many there are is not known before.
        facts.append(("Headers", {name: shown(value) for name, value in letter.headers}))
        facts.append(("Attempts", [{"holder": one.holder, "outcome": one.outcome} for one in letter.attempts]))
        print_facts(facts, as_json=True)
        return
    facts += [(f"Header {name}", shown(value)) for name, value in letter.headers]
    facts += [(f"Attempt {number}", f"{one.holder}: {one.outcome}") for number, one in enumerate(letter.attempts, 1)]
    print_facts(facts, as_json=False)


def _chosen(admin: Admin, options: argparse.Namespace) -> list[int]:
    if options.offsets:
        return list(options.offsets)
    if not options.all:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "say which dead letters: their offsets, or --all")
    return [one.offset for one in admin.dead_letters(options.queue, _filter(options), limit=None)]


def _redrive(host: Host, options: argparse.Namespace) -> int:
    admin = Admin(host)
    offsets = _chosen(admin, options)
    if options.dry_run:
        preview = admin.preview_redrive(options.queue, offsets)
        rows = [(one.offset, f"{one.origin_topic}/{one.origin_partition}") for one in preview.redrivable]
        print_rows(("Offset", "Goes to"), rows, as_json=options.json, none="Nothing would be redriven.")
        return _refusals(preview.refused, options)
    if options.rate is not None:
        running = admin.redrive_paced(options.queue, offsets, options.rate)
        result = running.wait()
    else:
        result = admin.redrive(options.queue, offsets)
    count = len(result.redriven)
    say(f"Redrove {counted(count, 'dead letter')} of {options.queue}.", as_json=options.json, redriven=count)
    return _refusals(result.refused, options)


def _refusals(refused: tuple[Refused, ...], options: argparse.Namespace) -> int:
    """Say which were not redriven, and why; the exit code."""
    rows = [(one.offset, str(one.error)) for one in refused]
    if rows:
        print_rows(("Offset", "Refused"), rows, as_json=options.json, none="")
    return 1 if rows else 0


def _undo_redrive(host: Host, options: argparse.Namespace) -> None:
    count = Admin(host).undo_redrive(options.queue)
    say(f"Took back {counted(count, 'redriven message')}.", as_json=options.json, taken_back=count)


def _purge(host: Host, options: argparse.Namespace) -> int:
    if not options.offsets and not options.all:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "say which dead letters: their offsets, or --all")
    result = Admin(host).purge_dead_letters(options.queue, options.offsets or None)
    say(
        f"Purged {counted(result.purged, 'dead letter')} of {options.queue}.",
        as_json=options.json,
        purged=result.purged,
    )
    return _refusals(result.refused, options)


def _undo_purge(host: Host, options: argparse.Namespace) -> None:
    count = Admin(host).undo_purge_dead_letters(options.queue)
    say(f"Brought back {counted(count, 'dead letter')}.", as_json=options.json, restored=count)
