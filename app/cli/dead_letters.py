from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, TypeVar

from app.cli.notes import PATIENCE_S, note
from app.cli.output import by_key, facts_of, payload, print_facts, print_json, print_rows, rows_of, say, text_of
from app.cli.parser import Command, CommandError, argument
from app.cli.signals import exit_of_interrupt
from app.cli.target import Broker, is_from_outside, must_allow
from app.cli.verbs import Verbs, add_field, built, given
from app.environment.exits import Exit
from broker_core.errors import BrokerError, ErrorCode, Suppress
from broker_core.guarded.redrive import RedrivePlan, RedriveRun
from broker_core.operations import dead_letters, guarded
from broker_core.operations.queues import ListQueues
from broker_core.operations.request import Request
from broker_core.operations.topics import ListTopics
from broker_core.operations.values import headers_of, json_bytes
from broker_core.plurals import counted
from broker_core.queues.dead_letters import Refused

R = TypeVar("R", dead_letters.RedriveAnswer, RedriveRun)

_CONDITIONS = ("cause", "text", "min_redrives", "max_redrives")
_LOOK_S = 0.1  # how often the progress of a redrive at a rate is asked for


def command() -> Command:
    verbs = Verbs("dlq")
    verbs.add("list", dead_letters.ListDeadLetters, _list, optional=True)
    columns = (("Cause", itemgetter(0)), ("Dead letters", itemgetter(1)))
    verbs.lists("causes", dead_letters.DeadLettersByCause, "{queue} has no dead letters.", *columns)
    describe = verbs.add("describe", dead_letters.ListDeadLetters, _describe, fields=())
    argument(describe, "dlq offset")
    redrive = verbs.add("redrive", dead_letters.Redrive, _redrive, writes="redrive", kind="queue or topic")
    topics = redrive.add_argument_group("dead letters that a program has put into a topic")
    for name in ("where", "to", "again"):
        add_field(topics, guarded.PlanTopicRedrive, name)
    argument(topics, "dlq --no-transactions")
    verbs.undoes("redrive", dead_letters.UndoRedrive, "taken_back", "Took back {taken_back:redriven message}.")
    purge = verbs.add("purge", dead_letters.PurgeLetters, _purge, asks=_purge_question)
    verbs.undoes("purge", dead_letters.UndoPurgeDeadLetters, "restored", "Brought back {restored:dead letter}.")
    for parser in (redrive, purge):
        argument(parser, "dlq offsets")
        argument(parser, "dlq --all")
    return verbs.command()


def _list(broker: Broker, options: argparse.Namespace) -> None:
    conditions = given(options, dead_letters.ListDeadLetters, _CONDITIONS)
    if options.queue is None:
        if conditions:
            raise CommandError("Conditions are for the dead letters of one queue; name it: brokerscope dlq list QUEUE.")
        _list_queues(broker, options)
        return
    request = built(dead_letters.ListDeadLetters, options, encoding="base64")
    columns = ("offset", "cause", ("Attempts", lambda letter: len(letter.attempts)), "redrives")
    found = broker.ask(request).dead_letters
    rows = [facts_of(letter, *columns) | payload(letter, as_json=options.json) for letter in found]
    such = "such " if conditions else ""
    print_rows(rows, options, none=f"{options.queue} has no {such}dead letters.")
    if len(rows) == request.limit:
        most = counted(request.limit, "dead letter")
        note(f"There may be more than {most}; --limit N shows more.", as_json=options.json)


def _list_queues(broker: Broker, options: argparse.Namespace) -> None:
    queues = [queue.name for queue in broker.ask(ListQueues())]
    rows = []
    for name in (*queues, *(topic.name for topic in broker.ask(ListTopics()))):
        if (causes := _causes(broker, name)) is not None:
            most = next(iter(causes), None)
            rows.append({"Queue or topic": name, "Dead letters": sum(causes.values()), "Most frequent cause": most})
    none = "Nothing here can have dead letters: there is no queue, nor a topic whose schema rule makes some."
    print_rows(rows, options, none=none)


def _causes(broker: Broker, name: str) -> dict[str, int] | None:
    """How many dead letters of a queue or topic each cause has, the most frequent first; None if it can have none."""
    with Suppress(ErrorCode.NO_DEAD_LETTERS):
        return broker.ask(dead_letters.DeadLettersByCause(queue=name))
    return None


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    request = dead_letters.ListDeadLetters(queue=options.queue, offset=options.offset, limit=1, encoding="base64")
    letter = next(iter(broker.ask(request).dead_letters), None)
    if letter is None or letter.offset != options.offset:
        raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{options.offset} of {options.queue}")
    shown = json_bytes if options.json else text_of
    headers = headers_of(letter.headers)
    stored = letter.origin_offset >= 0
    place = f"/{letter.origin_partition} @{letter.origin_offset}" if stored else " (it was not stored there)"
    origin = f"{letter.origin_topic}{place}"
    facts = facts_of(letter, "offset", ("Origin", lambda _letter: origin), "cause", "redrives")
    facts |= payload(letter, as_json=options.json)
    if options.json:
        named = {name: shown(data) for name, data in headers}
        attempts = [{"holder": one.holder, "outcome": one.outcome} for one in letter.attempts]
        print_json({**by_key(facts), "headers": named, "attempts": attempts})
        return
    facts |= {f"Header {name}": shown(data) for name, data in headers}
    facts |= {f"Attempt {number}": f"{one.holder}: {one.outcome}" for number, one in enumerate(letter.attempts, 1)}
    print_facts(facts, options)


def _chosen(options: argparse.Namespace) -> dict[str, Any]:
    conditions = given(options, dead_letters.ListDeadLetters, _CONDITIONS)
    if options.offsets:
        if options.all or conditions:
            raise CommandError("Offsets say which dead letters are meant; leave --all and the conditions out.")
        return {"offsets": list(options.offsets)}
    if not options.all:
        raise CommandError("Which dead letters? Give their offsets, or --all, which the conditions narrow down.")
    return conditions


def _redrive(broker: Broker, options: argparse.Namespace) -> int:
    if is_from_outside(options) or _causes(broker, options.queue) is None:  # a topic into which a program puts them
        return redrive_topic(broker, options)
    if of_topics := given(options, guarded.PlanTopicRedrive, ("where", "to", "again")):
        raise CommandError(f"--{next(iter(of_topics))} is for a topic into which a program has put its dead letters.")
    chosen, how = _chosen(options), given(options, dead_letters.Redrive, ("dry_run", "rate_per_s"))
    request = dead_letters.Redrive(queue=options.queue, **chosen, **how)
    if request.dry_run:
        preview = broker.ask(request)
        print_rows(
            rows_of(preview.redriven, "offset", ("Goes to", "to_topic")), options, none="Nothing would be redriven."
        )
        return _refusals(preview.refused, options)

    def begun(found: dead_letters.RedriveAnswer) -> None:
        lasts_s = found.total / how.get("rate_per_s", math.inf)
        if lasts_s >= PATIENCE_S:
            letters = counted(found.total, "dead letter")
            note(f"Redriving {letters} in {lasts_s:.0f} s; Ctrl+C leaves the rest.", as_json=options.json)

    progress, stop = (kind(queue=options.queue) for kind in (dead_letters.RedriveProgress, dead_letters.StopRedrive))
    result, code = _watched(broker, request, progress, stop, options, begun)
    if result is None:
        return code
    say("Redrove {redriven:dead letter} of {queue}.", options, queue=options.queue, redriven=len(result.redriven))
    return _refusals(result.refused, options) or code


def _watched(
    broker: Broker,
    begin: Request[R],
    progress: Request[R],
    stop: Request[R],
    options: argparse.Namespace,
    begun: Callable[[R], object] = lambda _found: None,
) -> tuple[R | None, int]:
    """What a redrive has done, when it is over or Ctrl+C has stopped it; the exit code. None if it did not tell."""
    try:
        return _until_over(broker, begin, progress, begun), Exit.DONE
    except KeyboardInterrupt as error:
        interrupt = error
    try:
        return _until_over(broker, stop, progress, lambda _found: None), exit_of_interrupt(interrupt)
    except KeyboardInterrupt as error:  # the second one does not wait for the end of a batch
        interrupt = error
    except BrokerError as error:
        if error.code is not ErrorCode.UNKNOWN_DEAD_LETTER:  # it had not begun
            raise
    note("It was ended before it told how far it was; the same command goes on.", as_json=options.json)
    return None, exit_of_interrupt(interrupt)


def _until_over(broker: Broker, request: Request[R], progress: Request[R], begun: Callable[[R], object]) -> R:
    found = broker.ask(request)
    begun(found)
    while found.running:
        time.sleep(_LOOK_S)
        found = broker.ask(progress)
    return found


def _refusals(refused: Sequence[Refused], options: argparse.Namespace) -> int:
    """Say which were not redriven, and why; the exit code."""
    if refused:
        print_rows(rows_of(refused, "offset", ("Refused", "message")), options)
    return Exit.PARTLY if refused else Exit.DONE


def _purge_question(broker: Broker, options: argparse.Namespace) -> str:
    there = broker.ask(dead_letters.Redrive(queue=options.queue, dry_run=True, **_chosen(options)))
    return f"Take {counted(there.total, 'dead letter')} of {options.queue} out"


def _purge(broker: Broker, options: argparse.Namespace) -> int:
    result = broker.ask(dead_letters.PurgeLetters(queue=options.queue, **_chosen(options)))
    say("Purged {purged:dead letter} of {queue}.", options, queue=options.queue, purged=result.purged)
    return _refusals(result.refused, options)


_STAYS = {
    "filtered": "Left out by the filter",
    "redriven": "Redriven before",
    "failed again": "Came back after a redrive (--again takes them along)",
    "looping": "Redriven three times and came back (mend what reads them)",
    "without origin": "Without a topic to go to (--to TOPIC names one)",
}


def redrive_topic(broker: Broker, options: argparse.Namespace) -> int:
    if options.offsets or options.all:
        raise CommandError(
            f"Of {options.queue}, all dead letters go back that pass --where FILTER; leave the rest out."
        )
    only_shown = getattr(options, "dry_run", False)
    if not only_shown:
        must_allow(options, "redrive")
    asked = given(options, guarded.PlanTopicRedrive, ("where", "to", "again", "rate_per_s"))
    plan = broker.ask(guarded.PlanTopicRedrive(topic=options.queue, transactional=not options.no_transactions, **asked))
    is_run = bool(plan.letters) and not only_shown
    if not options.json:
        _show(plan, options)
    elif not is_run:
        print_json(plan)
    return _run(broker, plan, options) if is_run else Exit.DONE


def _run(broker: Broker, plan: RedrivePlan, options: argparse.Namespace) -> int:
    topic = plan.choice.topic
    if plan.letters / plan.rate_per_s >= PATIENCE_S:
        note("Ctrl+C stops it; the same command goes on.", as_json=options.json)
    progress, stop = guarded.TopicRedriveProgress(topic=topic), guarded.StopTopicRedrive(topic=topic)
    run, code = _watched(broker, guarded.RedriveTopic(topic=topic, plan=plan), progress, stop, options)
    if run is None:
        return code
    _tell(run, options)
    if run.error:
        raise CommandError(f"{run.error.rstrip('.')}; the same command goes on where it was.", Exit.REFUSED)
    return code or (Exit.PARTLY if run.refused else Exit.DONE)


def _show(plan: RedrivePlan, options: argparse.Namespace) -> None:
    topic, letters = plan.choice.topic, counted(plan.letters, "dead letter")
    how = "in transactions, " if plan.transactional and is_from_outside(options) else ""
    pace = f"{plan.rate_per_s:g} per second ({plan.letters / plan.rate_per_s:.0f} s)"
    print(f"{letters} of {topic} to redrive, {how}at {pace}: in order, with key, headers and time.")
    unknown = "not known" if is_from_outside(options) else "none"
    rows = [
        {
            "To": target.topic,
            "Partition": partition,
            "Letters": count,
            "Newest schema": target.schema or unknown,
            "Read now by": ", ".join(target.groups) or "nobody",
        }
        for target in plan.targets
        for partition, count in target.letters.items()
    ]
    print_rows(rows, options, none="Nothing would be redriven.")
    for reason, count in plan.stays.items():
        print(f"{_STAYS[reason]}: {count}.")


def _tell(run: RedriveRun, options: argparse.Namespace) -> None:
    if options.json:
        print_json(run)
        return
    letters = counted(run.plan.letters, "dead letter")
    print(f"Redrove {run.done} of {letters} of {run.plan.choice.topic}.")
    for place in run.duplicates:
        print(f"{place} has two copies: the run before was killed while it was sent.")
    for sentence in run.refused:
        print(sentence)
