from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, get_args

import msgspec

from app.cli.notes import note
from app.cli.parser import Command, CommandError, parser_of
from app.cli.sessions import check_target, write_page
from app.cli.signals import ended_by_signals
from app.cli.target_types import TYPES
from app.environment.did_you_mean import meant
from app.environment.exits import Exit
from app.reports.warm_spark import end_process
from broker_core.errors import BrokerError, ErrorCode
from broker_core.faults.client_faults import NEEDS, Effect
from broker_core.operations.faults import BeginFault
from broker_core.recording.audit import JUDGED
from broker_core.testing.embedded_broker import ConditionTimeoutError, EmbeddedBroker
from broker_core.testing.faults import ActiveFault, Faults
from broker_core.testing.program import END_S

_EFFECTS = get_args(Effect)
_BY_CALL = {"move_leader": "leader_change", "move_coordinator": "coordinator_change"}  # as tests in Python call them


def command() -> Command:
    said = {"effects": ", ".join(_EFFECTS), "verdicts": ", ".join(JUDGED), "end_s": f"{END_S:g}"}
    usage = "brokerscope with [options] -- COMMAND [ARGUMENT ...]"
    return parser_of("with", {**TYPES, "fault": _fault}, said, usage=usage), run


def run(options: argparse.Namespace) -> int:
    """Open the broker, run the command, judge. Raises what keeps the broker from being set up."""
    words = options.command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not words:
        raise CommandError("There is no command to run; write it after --, as in brokerscope with -- npm test.")
    if options.page is not None:
        check_target(options.page)
    if options.session is not None and options.session.is_dir() and any(options.session.iterdir()):
        raise BrokerError(ErrorCode.FOLDER_NOT_EMPTY, f"cannot record into {options.session}; give another one")
    with ended_by_signals(), _broker(options) as broker:
        for text in options.topic:
            broker.create_topic(*_topic(text))
        for name in options.queue:
            broker.create_queue(name)
        environment = dict(_variable(text, broker) for text in options.env)
        for text in options.asserted:
            if text not in JUDGED:
                _must_be_a_condition(broker, text)
        faults = [broker.faults.begin(fault) for fault in options.fault]
        code = _run(
            words,
            {
                "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers,
                **({} if options.cluster else {"BROKERSCOPE_URL": broker.http_url}),
                **environment,
            },
        )
        failures = [told for text in options.asserted if (told := _failure(broker, text))]
        _tell(broker, options, failures, faults, failed=code != 0 or bool(failures))
    return code or (Exit.PARTLY if failures else Exit.DONE)


def _broker(options: argparse.Namespace) -> EmbeddedBroker:
    """One of our own, or the cluster that is named, which has the same words for what it can do."""
    if options.cluster is None:
        if options.config is not None:
            raise CommandError("--config says how to connect to a cluster; name it with --cluster HOST:PORT.")
        return EmbeddedBroker(create_topics=options.create_topics)
    if options.queue or options.create_topics:
        only = "--queue" if options.queue else "--create-topics"
        raise CommandError(f"{only} is for a broker of our own; a cluster is used as it is.")
    from broker_core.testing.cluster_broker import ClusterBroker

    return ClusterBroker(options.cluster, config=options.config)


def _topic(text: str) -> tuple[str, int]:
    name, _, count = text.partition(":")
    if count and not count.isdecimal():
        raise CommandError(f"--topic {text}: {count!r} is no number of partitions, as in orders:3.")
    return name, int(count or 1)


def _variable(text: str, broker: EmbeddedBroker) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise CommandError(f"--env {text}: write NAME=VALUE, as in BROKERS={{bootstrap_servers}}.")
    return name, broker.addressed(value)


def _fault(text: str) -> BeginFault:
    """A fault as it is typed: effect, API, what the effect needs, and conditions as NAME=VALUE."""
    words = text.split()
    plain = [word for word in words if "=" not in word]
    if not plain or plain[0] not in _EFFECTS:
        hint = meant(_BY_CALL.get(plain[0], plain[0]), _EFFECTS) if plain else ""
        if plain and not hint and hasattr(Faults, plain[0]):
            hint = " (only a test in Python has that)"
        raise argparse.ArgumentTypeError(
            f"{text!r} does not begin with an effect{hint}; there are {', '.join(_EFFECTS)}"
        )
    names = ["effect", "api", *NEEDS.get(plain[0], ())]
    if len(plain) > len(names):
        raise argparse.ArgumentTypeError(f"{plain[len(names)]!r} in {text!r} is one word too many")
    values: dict[str, Any] = dict(zip(names, plain, strict=False))
    values |= {name: value for name, _, value in (word.partition("=") for word in words if "=" in word)}
    known = {field.name for field in msgspec.structs.fields(BeginFault)}
    for name in values:
        if name not in known:
            raise argparse.ArgumentTypeError(f"a fault has no {name}{meant(name, sorted(known))}")
    try:
        return msgspec.convert(values, BeginFault, strict=False)
    except (msgspec.ValidationError, BrokerError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {str(error).rstrip('.')}") from None


def _run(words: list[str], environment: dict[str, str]) -> int:
    try:
        process = subprocess.Popen(words, env={**os.environ, **environment})
    except OSError as error:
        raise CommandError(f"{words[0]} cannot be run: {error.strerror}.", Exit.NOT_FOUND) from None
    try:
        code = process.wait()
    except BaseException:  # Ctrl+C reaches the command, too; SIGTERM does not
        end_process(process, END_S)
        raise
    return code if code >= 0 else 128 - code  # as shells do


def _must_be_a_condition(broker: EmbeddedBroker, text: str) -> None:
    if text.isidentifier():
        near = meant(text, JUDGED)
        raise CommandError(f"--assert {text} is not a verdict{near}; there are {', '.join(JUDGED)}.")
    try:
        broker.wait_until(text, timeout_s=0)
    except ConditionTimeoutError:
        return
    except BrokerError as error:
        about = f"--assert is neither a verdict ({', '.join(JUDGED)}) nor a condition"
        raise CommandError(f"{about}: {error.about.removeprefix('the condition ')}.") from None


def _failure(broker: EmbeddedBroker, text: str) -> str:
    if text in JUDGED:
        verdict = getattr(broker.audit(), text)()
        return "" if verdict else repr(verdict)
    try:
        broker.wait_until(text, timeout_s=END_S)
    except ConditionTimeoutError as error:
        return str(error)
    return ""


def _tell(
    broker: EmbeddedBroker, options: argparse.Namespace, failures: list[str], faults: list[ActiveFault], *, failed: bool
) -> None:
    for fault in faults:
        if unmet := fault.told():
            note(f"brokerscope with: {unmet}{'' if unmet.endswith('?') else '.'}")
    broker.faults.begun.clear()
    if failed:
        print(f"What happened in the broker:\n{broker.timeline()}", file=sys.stderr)
    for failure in failures:
        print(f"brokerscope with: an assertion failed: {failure}", file=sys.stderr)
    if options.session is not None:
        folder = _save(broker, options, options.session)
        note(f"brokerscope open {folder.absolute()} shows the recording.")
    if options.page is not None:
        with tempfile.TemporaryDirectory() as passing:
            write_page(options.session or _save(broker, options, Path(passing) / "session"), options.page)


def _save(broker: EmbeddedBroker, options: argparse.Namespace, folder: Path) -> Path:
    program, *others = options.command
    title = " ".join((Path(program).name, *(Path(word).name if Path(word).is_absolute() else word for word in others)))
    return broker.save(folder, title=title, about="brokerscope with")
