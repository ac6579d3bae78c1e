"""`brokerscope dlq`: list, causes, describe, redrive, purge, and undo of both."""

from __future__ import annotations

import argparse

from app.cli.errors import CommandError
from app.cli.numbers import above_zero, whole
from app.cli.output import json_bytes, print_facts, print_rows, say, text_of
from app.cli.verbs import Command, Verbs
from app.cli.waiting import PATIENCE_S, note
from app.environment.exits import Exit
from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.errors import BrokerError, ErrorCode
from broker_core.plurals import counted
from broker_core.queues.dead_letter_edit import DeadLetterEdit
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.dead_letters import RedriveResult, Refused
from broker_core.snapshots import DeadLetterView


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("dlq", "Dead letters of a queue, or of a topic whose schema buries what it refuses.")
    listed = verbs.add(
        "list", "Dead letters of a queue, the oldest first; without a queue, how many each has.", _list, reads=True
    )
    listed.add_argument("queue", nargs="?", metavar="QUEUE", help="a queue, or a topic that buries")
    listed.add_argument("--limit", type=whole(1), default=100, metavar="N", help="how many at most (default: 100)")
    _add_filter(listed)
    _add_queue(verbs.add("causes", "How many died of each cause.", _causes, reads=True))
    describe = verbs.add("describe", "One dead letter with its attempts.", _describe, reads=True)
    _add_queue(describe)
    describe.add_argument("offset", type=whole(0), metavar="OFFSET", help="its place among the dead letters")
    redrive = verbs.add("redrive", "Put dead letters back to where they came from.", _redrive)
    _add_queue(redrive)
    _add_choice(redrive)
    redrive.add_argument("--dry-run", action="store_true", help="say what would be done")
    redrive.add_argument("--rate", type=above_zero, metavar="PER_S", help="at most so many a second")
    redrive.add_argument("--value", metavar="TEXT", help="of one dead letter: send this in place of its value")
    _add_queue(verbs.add("undo-redrive", "Take back the last redrive.", _undo_redrive))
    purge = verbs.add("purge", "Take dead letters out.", _purge, asks=_purge_question)
    _add_queue(purge)
    _add_choice(purge)
    _add_queue(verbs.add("undo-purge", "Bring back what the last purge took.", _undo_purge))
    return verbs.command()


def _add_queue(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("queue", metavar="QUEUE", help="a queue, or a topic that buries")


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "offsets", type=whole(0), nargs="*", default=[], metavar="OFFSET", help="their places, as dlq list says"
    )
    parser.add_argument("--all", action="store_true", help="all, or all that the conditions below mean")
    _add_filter(parser)


def _add_filter(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which of them")
    group.add_argument("--cause", default="", metavar="CAUSE", help="died of exactly this")
    group.add_argument("--text", default="", metavar="TEXT", help="in the key, the value or a header")
    group.add_argument(
        "--min-redrives", type=whole(0), default=0, metavar="N", help="redriven at least so often already"
    )


def _filter(options: argparse.Namespace) -> DeadLetterFilter:
    return DeadLetterFilter(cause=options.cause, text=options.text, min_redrives=options.min_redrives)


def _list(host: Host, options: argparse.Namespace) -> None:
    if options.queue is None:
        _list_bins(host, options)
        return
    letters = Admin(host).dead_letters(options.queue, _filter(options), limit=options.limit)
    shown = json_bytes if options.json else text_of
    rows = [
        (one.offset, one.cause, len(one.attempts), one.redrives, shown(one.key), shown(one.value)) for one in letters
    ]
    columns = ("Offset", "Cause", "Attempts", "Redrives", "Key", "Value")
    such = "" if _filter(options) == DeadLetterFilter() else "such "
    print_rows(columns, rows, as_json=options.json, none=f"{options.queue} has no {such}dead letters.")
    if len(rows) == options.limit:
        note(
            f"There may be more than {counted(options.limit, 'dead letter')}; --limit N shows more.",
            as_json=options.json,
        )


def _list_bins(host: Host, options: argparse.Namespace) -> None:
    if _filter(options) != DeadLetterFilter():
        raise CommandError("Conditions are for the dead letters of one queue; name it: brokerscope dlq list QUEUE.")
    admin = Admin(host)
    rows: list[tuple[object, ...]] = []
    for name in (*admin.queues(), *admin.topics()):
        try:
            causes = admin.dead_letters_by_cause(name)
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_QUEUE:
                raise
            continue  # a topic that has never buried anything
        rows.append((name, sum(causes.values()), next(iter(causes), None)))
    columns = ("Queue or topic", "Dead letters", "Most frequent cause")
    print_rows(columns, rows, as_json=options.json, none="Nothing here can have dead letters: there is no queue.")


def _causes(host: Host, options: argparse.Namespace) -> None:
    causes = Admin(host).dead_letters_by_cause(options.queue)
    print_rows(
        ("Cause", "Dead letters"), causes.items(), as_json=options.json, none=f"{options.queue} has no dead letters."
    )


def _find(host: Host, queue: str, offset: int) -> DeadLetterView:
    found = Admin(host).dead_letters(queue, offset=offset, limit=1)
    if not found or found[0].offset != offset:
        raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{offset} of {queue}")
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
        if options.all or _filter(options) != DeadLetterFilter():
            raise CommandError("Offsets say which dead letters are meant; leave --all and the conditions out.")
        return list(options.offsets)
    if not options.all:
        raise CommandError("Which dead letters? Give their offsets, or --all, which the conditions narrow down.")
    return [one.offset for one in admin.dead_letters(options.queue, _filter(options), limit=None)]


def _edits(options: argparse.Namespace) -> dict[int, DeadLetterEdit]:
    """What is changed of what died, by offset."""
    if options.value is None:
        return {}
    if len(options.offsets) != 1 or options.rate is not None:
        raise CommandError("--value is for one dead letter; give its offset alone, and no --rate.")
    [offset] = options.offsets
    return {offset: DeadLetterEdit(value=options.value.encode(errors="surrogateescape"))}


def _redrive(host: Host, options: argparse.Namespace) -> int:
    admin = Admin(host)
    offsets = _chosen(admin, options)
    edits = _edits(options)
    if options.dry_run:
        preview = admin.preview_redrive(options.queue, offsets, edits)
        rows = [(one.offset, f"{one.origin_topic}/{one.origin_partition}") for one in preview.redrivable]
        print_rows(("Offset", "Goes to"), rows, as_json=options.json, none="Nothing would be redriven.")
        return _refusals(preview.refused, options)
    interrupted = False
    if options.rate is not None:
        result, interrupted = _paced(admin, options, offsets)
    else:
        result = admin.redrive(options.queue, offsets, edits)
    count = len(result.redriven)
    say(f"Redrove {counted(count, 'dead letter')} of {options.queue}.", as_json=options.json, redriven=count)
    return _refusals(result.refused, options) or (Exit.INTERRUPTED if interrupted else 0)


def _paced(admin: Admin, options: argparse.Namespace, offsets: list[int]) -> tuple[RedriveResult, bool]:
    """What became of them; True where Ctrl+C has left the rest where it was."""
    running = admin.redrive_paced(options.queue, offsets, options.rate)
    try:
        lasts_s = len(offsets) / options.rate
        if lasts_s >= PATIENCE_S:
            letters = counted(len(offsets), "dead letter")
            note(f"Redriving {letters} in {lasts_s:.0f} s; Ctrl+C leaves the rest.", as_json=options.json)
        return running.wait(), False
    except KeyboardInterrupt:
        running.cancel()
        return running.wait(), True


def _refusals(refused: tuple[Refused, ...], options: argparse.Namespace) -> int:
    """Say which were not redriven, and why; the exit code."""
    rows = [(one.offset, str(one.error)) for one in refused]
    if rows:
        print_rows(("Offset", "Refused"), rows, as_json=options.json, none="")
    return Exit.PARTLY if rows else Exit.DONE


def _undo_redrive(host: Host, options: argparse.Namespace) -> None:
    count = Admin(host).undo_redrive(options.queue)
    say(f"Took back {counted(count, 'redriven message')}.", as_json=options.json, taken_back=count)


def _purge_question(host: Host, options: argparse.Namespace) -> str:
    count = len(_chosen(Admin(host), options))
    return f"Take {counted(count, 'dead letter')} of {options.queue} out"


def _purge(host: Host, options: argparse.Namespace) -> int:
    admin = Admin(host)
    everything = options.all and not options.offsets and _filter(options) == DeadLetterFilter()
    result = admin.purge_dead_letters(options.queue, None if everything else _chosen(admin, options))
    say(
        f"Purged {counted(result.purged, 'dead letter')} of {options.queue}.",
        as_json=options.json,
        purged=result.purged,
    )
    return _refusals(result.refused, options)


def _undo_purge(host: Host, options: argparse.Namespace) -> None:
    count = Admin(host).undo_purge_dead_letters(options.queue)
    say(f"Brought back {counted(count, 'dead letter')}.", as_json=options.json, restored=count)
