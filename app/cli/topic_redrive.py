"""The redrive of a topic into which a program has put its dead letters: here, or on a Kafka cluster."""

from __future__ import annotations

import argparse
import time

from app.cli.errors import CommandError
from app.cli.output import print_json, print_rows
from app.cli.request_options import given
from app.cli.signals import exit_of_interrupt
from app.cli.target import Broker, is_from_outside, must_allow
from app.cli.waiting import PATIENCE_S, note
from app.environment.exits import Exit
from broker_core.errors import BrokerError, ErrorCode
from broker_core.guarded.redrive import RedrivePlan, RedriveRun
from broker_core.operations import guarded
from broker_core.plurals import counted

_LOOK_S = 0.1
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
