from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from app.cli.output import (
    PATIENCE_S,
    by_key,
    facts_of,
    headers_of,
    note,
    payload,
    print_facts,
    print_json,
    print_rows,
    rows_of,
    say,
    text_of,
)
from app.cli.parser import Command, CommandError, argument
from app.cli.signals import exit_of_interrupt
from app.cli.target import Broker, is_from_outside, must_allow
from app.cli.verbs import Verbs, add_field, built, given
from app.environment.exits import Exit
from broker_core.errors import BrokerError, ErrorCode
from broker_core.guarded.redrive import RedrivePlan, RedriveRun
from broker_core.operations import dead_letters, guarded
from broker_core.operations.guarded import PlanTopicRedrive
from broker_core.operations.queues import ListQueues
from broker_core.operations.topics import ListTopics
from broker_core.operations.values import json_bytes
from broker_core.plurals import counted
from broker_core.queues.dead_letters import Refused

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
        add_field(topics, PlanTopicRedrive, name)
    argument(topics, "dlq --no-transactions")
    taken_back, restored = "Took back {taken_back:redriven message}.", "Brought back {restored:dead letter}."
    verbs.does("undo-redrive", dead_letters.UndoRedrive, taken_back, lambda found: {"taken_back": found.messages})
    purge = verbs.add("purge", dead_letters.PurgeLetters, _purge, asks=_purge_question)
    verbs.does("undo-purge", dead_letters.UndoPurgeDeadLetters, restored, lambda found: {"restored": found.messages})
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
        try:
            causes = broker.ask(dead_letters.DeadLettersByCause(queue=name))
        except BrokerError as error:
            if error.code is not ErrorCode.NO_DEAD_LETTERS:
                raise
            continue
        most = next(iter(causes), None)
        rows.append({"Queue or topic": name, "Dead letters": sum(causes.values()), "Most frequent cause": most})
    none = "Nothing here can have dead letters: there is no queue, nor a topic whose schema rule makes some."
    print_rows(rows, options, none=none)


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    request = dead_letters.ListDeadLetters(queue=options.queue, offset=options.offset, limit=1, encoding="base64")
    letter = next(iter(broker.ask(request).dead_letters), None)
    if letter is None or letter.offset != options.offset:
        raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{options.offset} of {options.queue}")
    shown = json_bytes if options.json else text_of
    headers = headers_of(letter)
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
    if _is_programs(broker, options):
        return redrive_topic(broker, options)
    if of_topics := given(options, PlanTopicRedrive, ("where", "to", "again")):
        raise CommandError(f"--{next(iter(of_topics))} is for a topic into which a program has put its dead letters.")
    chosen, how = _chosen(options), given(options, dead_letters.Redrive, ("dry_run", "rate_per_s"))
    rate_per_s = how.get("rate_per_s")
    request = dead_letters.Redrive(queue=options.queue, **chosen, **how)
    if request.dry_run:
        preview = broker.ask(request)
        print_rows(
            rows_of(preview.redriven, "offset", ("Goes to", "to_topic")), options, none="Nothing would be redriven."
        )
        return _refusals(preview.refused, options)
    if rate_per_s is None:
        return _told(broker.ask(request), options)
    result, interrupt = _paced(broker, request, rate_per_s, options)
    return _told(result, options) or (Exit.DONE if interrupt is None else exit_of_interrupt(interrupt))


def _is_programs(broker: Broker, options: argparse.Namespace) -> bool:
    """Whether the name is that of a topic whose dead letters a program has put there."""
    if is_from_outside(options):
        return True
    try:
        broker.ask(dead_letters.DeadLettersByCause(queue=options.queue))
    except BrokerError as error:
        if error.code is ErrorCode.NO_DEAD_LETTERS:
            return True
        raise
    return False


def _told(result: dead_letters.Redriven, options: argparse.Namespace) -> int:
    told = "Redrove {redriven:dead letter} of {queue}."
    say(told, options, queue=options.queue, redriven=len(result.redriven))
    return _refusals(result.refused, options)


def _paced(
    broker: Broker, request: dead_letters.Redrive, rate_per_s: float, options: argparse.Namespace
) -> tuple[dead_letters.Redriven, KeyboardInterrupt | None]:
    found = broker.ask(request)
    try:
        lasts_s = found.total / rate_per_s
        if lasts_s >= PATIENCE_S:
            letters = counted(found.total, "dead letter")
            note(f"Redriving {letters} in {lasts_s:.0f} s; Ctrl+C leaves the rest.", as_json=options.json)
        while found.running:
            time.sleep(_LOOK_S)
            found = broker.ask(dead_letters.RedriveProgress(queue=request.queue))
        return found, None
    except KeyboardInterrupt as interrupt:
        return broker.ask(dead_letters.StopRedrive(queue=request.queue)), interrupt


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
    is_all = only_shown or not plan.letters
    if not options.json:
        _show(plan, options)
    elif is_all:
        print_json(plan)
    return Exit.DONE if is_all else _run(broker, plan, options)


def _run(broker: Broker, plan: RedrivePlan, options: argparse.Namespace) -> int:
    topic = plan.choice.topic
    run: RedriveRun | None = None
    interrupt: KeyboardInterrupt | None = None
    if plan.letters / plan.rate_per_s >= PATIENCE_S:
        note("Ctrl+C stops it; the same command goes on.", as_json=options.json)
    for request in (guarded.RedriveTopic(topic=topic, plan=plan), guarded.StopTopicRedrive(topic=topic)):
        try:
            run = _ended(broker, broker.ask(request))
            break
        except KeyboardInterrupt as error:  # the second one does not wait for the end of a batch
            interrupt = error
        except BrokerError as error:
            if interrupt is None or error.code is not ErrorCode.UNKNOWN_DEAD_LETTER:  # it had not begun
                raise
    code: int = Exit.DONE if interrupt is None else exit_of_interrupt(interrupt)
    if run is None:
        note("It was ended before it told how far it was; the same command goes on.", as_json=options.json)
        return code
    _tell(run, options)
    if run.error:
        raise CommandError(f"{run.error.rstrip('.')}; the same command goes on where it was.", Exit.REFUSED)
    return code or (Exit.PARTLY if run.refused else Exit.DONE)


def _ended(broker: Broker, run: RedriveRun) -> RedriveRun:
    while run.running:
        time.sleep(_LOOK_S)
        run = broker.ask(guarded.TopicRedriveProgress(topic=run.plan.choice.topic))
    return run


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
