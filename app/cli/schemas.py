from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import get_args

from app.cli.notes import tell_typist
from app.cli.output import facts_of, print_facts, print_rows, say
from app.cli.parser import Command, CommandError, argument
from app.cli.target import Broker
from app.cli.verbs import Verbs, add_field, built, given
from app.environment.exits import Exit
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import schemas
from broker_core.operations.topics import RemoveSchemaRule, SetSchemaRule, TopicConfiguration
from broker_core.plurals import counted
from broker_core.schemas.rule import SchemaRule

_STDIN = "-"
_MODES = get_args(schemas.CompatibilityMode)
_DEFAULT = "DEFAULT"  # no mode of its own


def command() -> Command:
    verbs = Verbs("schemas")
    verbs.add("list", schemas.ListSubjects, _list)
    argument(verbs.add("describe", schemas.DescribeSubject, _describe), "schemas --version")
    register = verbs.add("register", schemas.RegisterSchema, _register)
    check = verbs.add("check", schemas.CheckSchema, _check)
    for parser in (register, check):
        argument(parser, "schemas file")
    columns = ("what", ("Place", "pointer"), "before", "after")
    diff = verbs.lists("diff", schemas.DiffSchemas, "They do not differ.", *columns)
    argument(diff, "schemas before")
    argument(diff, "schemas after")
    mode = verbs.add("compatibility", schemas.SetCompatibility, _compatibility, optional=True, changed_by=("mode",))
    mode.add_argument(
        "--mode",
        type=str.upper,
        choices=(*_MODES, _DEFAULT),
        metavar="MODE",
        help=f"from now on: {', '.join(_MODES)}; or {_DEFAULT}, for a SUBJECT to have no mode of its own",
    )
    rule = verbs.add("rule", SetSchemaRule, _rule, kind="topic or queue", fields=(), changed_by=("subject", "none"))
    which = rule.add_mutually_exclusive_group()
    argument(which, "schemas --subject")
    argument(which, "schemas --none")
    add_field(rule, SchemaRule, "mode", flag="--mode")
    delete = verbs.add("delete", schemas.DeleteSubject, _delete, asks=_delete_question)
    argument(delete, "schemas --version", help="only this one (default: all)")
    return verbs.command()


def _schema(options: argparse.Namespace) -> schemas.SchemaText:
    if options.file == _STDIN:
        tell_typist("the schema")
    data = sys.stdin.buffer.read() if options.file == _STDIN else Path(options.file).read_bytes()
    try:
        return built(schemas.SchemaText, options, schema=data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        about = f"{'standard input' if options.file == _STDIN else options.file} is not UTF-8 text"
        raise BrokerError(ErrorCode.INVALID_SCHEMA, about) from error


def _list(broker: Broker, options: argparse.Namespace) -> None:
    rows = []
    for found in broker.ask(schemas.ListSubjects()).subjects:
        latest = broker.ask(schemas.DescribeVersion(subject=found.subject, version=found.versions[-1]))
        of_latest = facts_of(latest, "subject", "kind", ("Latest", "version"), "id")
        rows.append({**of_latest, "Versions": len(found.versions), "Compatibility": found.compatibility})
    print_rows(rows, options, none=f"There is no schema{options.seen}; brokerscope schemas register makes one.")


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    subject = broker.ask(schemas.DescribeSubject(subject=options.subject))
    version = options.version or subject.versions[-1]
    found = broker.ask(schemas.DescribeVersion(subject=options.subject, version=version))
    versions = subject.versions if options.json else ", ".join(map(str, subject.versions))
    facts = facts_of(found, "subject", "version")
    facts |= {"Versions": versions, "Compatibility": subject.compatibility} | facts_of(found, "id", "kind", "text")
    print_facts(facts, options)


def _register(broker: Broker, options: argparse.Namespace) -> None:
    found = broker.ask(schemas.RegisterSchema(subject=options.subject, text=_schema(options)))
    told = "{subject} has version {version}, with the id {id}."
    say(told, options, subject=found.subject, version=found.version, id=found.id)


def _check(broker: Broker, options: argparse.Namespace) -> int:
    problems = broker.ask(schemas.CheckSchema(subject=options.subject, text=_schema(options))).problems
    print_rows([{"Problem": each} for each in problems], options, none="It can be the next version.")
    return Exit.PARTLY if problems else Exit.DONE


def _compatibility(broker: Broker, options: argparse.Namespace) -> None:
    subject, mode = options.subject, options.mode
    if mode is None and subject in _MODES:
        raise CommandError(
            f"{subject} is a mode; brokerscope schemas compatibility [SUBJECT] --mode {subject} sets it."
        )
    if subject is None and mode == _DEFAULT:
        raise CommandError(f"--mode {_DEFAULT} is for one subject; name it.")
    if mode is not None and subject is None:
        broker.ask(schemas.SetDefaultCompatibility(mode=mode))
    elif mode is not None:
        broker.ask(schemas.SetCompatibility(subject=subject, mode=None if mode == _DEFAULT else mode))
    elif subject is not None:
        mode = broker.ask(schemas.DescribeSubject(subject=subject)).compatibility
    if mode in {None, _DEFAULT}:
        mode = broker.ask(schemas.ListSubjects()).compatibility
    whose = "{subject}" if subject else "Every subject without a mode of its own"
    say(whose + " is {compatibility}.", options, subject=subject or "", compatibility=mode)


def _rule(broker: Broker, options: argparse.Namespace) -> None:
    mode, topic = given(options, SchemaRule, ("mode",)), options.topic
    if mode and options.subject is None:
        raise CommandError("--mode says what becomes of values that a schema refuses; name that with --subject.")
    rule: SchemaRule | None = None
    if options.none:
        broker.ask(RemoveSchemaRule(topic=topic))
    elif options.subject is not None:
        rule = SchemaRule(subject=options.subject, **mode)
        broker.ask(SetSchemaRule(topic=topic, rule=rule))
    else:
        rule = broker.ask(TopicConfiguration(topic=topic)).rule
    told = "{topic} is held to no schema." if rule is None else "{topic} is held to {subject} ({mode})."
    say(told, options, topic=topic, subject=rule and rule.subject, mode=rule and rule.mode)


def _delete_question(_broker: Broker, options: argparse.Namespace) -> str:
    version = "all versions" if options.version is None else f"version {options.version}"
    return f"Delete {version} of {options.subject}"


def _delete(broker: Broker, options: argparse.Namespace) -> None:
    if options.version is None:
        versions = broker.ask(built(schemas.DeleteSubject, options))
    else:
        broker.ask(built(schemas.DeleteVersion, options))
        versions = [options.version]
    told = f"Deleted {counted(len(versions), 'version')} of {{subject}}."
    say(told, options, subject=options.subject, versions=versions)
