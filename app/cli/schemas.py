from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import get_args

from app.cli.errors import CommandError
from app.cli.numbers import whole
from app.cli.output import print_facts, print_rows, say
from app.cli.parser import Command
from app.cli.request_options import add_field, given
from app.cli.target import Broker
from app.cli.verbs import Verbs
from app.cli.waiting import tell_typist
from app.environment.exits import Exit
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.schemas import (
    CheckSchema,
    CompatibilityMode,
    DeleteSubject,
    DeleteVersion,
    DescribeSubject,
    DescribeVersion,
    DiffSchemas,
    ListSubjects,
    RegisterSchema,
    SchemaText,
    SetCompatibility,
    SetDefaultCompatibility,
)
from broker_core.operations.topics import RemoveSchemaRule, SetSchemaRule, TopicConfig
from broker_core.plurals import counted
from broker_core.schemas.rule import SchemaRule

_STDIN = "-"


def command() -> Command:
    verbs = Verbs("schemas", "Schemas of a broker.", "name of the subject")
    verbs.add("list", ListSubjects, _list, reads=True)
    about = "Show a version of a subject, and which others there are."
    describe = verbs.add("describe SUBJECT", about, _describe, reads=True)
    describe.add_argument("--version", type=whole(1), metavar="N", help="default: the latest")
    _add_text(verbs.add("register SUBJECT", "Register a new version of a subject.", _register))
    about = "Show what keeps a text from becoming the next version."
    _add_text(verbs.add("check SUBJECT", about, _check, reads=True))
    diff = verbs.add("diff SUBJECT", DiffSchemas, _diff, reads=True)
    diff.add_argument("before", type=whole(1), metavar="BEFORE", help="a version")
    diff.add_argument("after", type=whole(1), nargs="?", metavar="AFTER", help="another one (default: the latest)")
    mode = verbs.add(
        "compatibility",
        "Set what a next version must be able to read, or be read by; without a mode, show it.",
        _compatibility,
    )
    mode.add_argument("mode", type=str.upper, nargs="?", choices=get_args(CompatibilityMode), help="from now on")
    mode.add_argument("--subject", default="", metavar="SUBJECT", help="default: all that have none of their own")
    rule = verbs.add(
        "rule", "Show which schema the values of a topic must follow; --subject and --none change it.", _rule
    )
    rule.add_argument("topic", metavar="TOPIC", help="a topic or a queue")
    which = rule.add_mutually_exclusive_group()
    which.add_argument("--subject", metavar="SUBJECT", help="values must be accepted by its schema")
    which.add_argument("--none", action="store_true", help="remove the topic's schema")
    rule.add_argument(
        "--mode",
        choices=("refuse", "dead_letter"),
        help="what becomes of other values: they are refused (default), or dead letters",
    )
    delete = verbs.add("delete SUBJECT", "Delete a version, or all of a subject.", _delete, asks=_delete_question)
    delete.add_argument("--version", type=whole(1), metavar="N", help="only this one (default: all)")
    return verbs.command()


def _add_text(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="JSON Schema, Avro or Protobuf; - is standard input")
    add_field(parser, SchemaText, "kind", type=str.upper)


def _text(options: argparse.Namespace) -> str:
    if options.file == _STDIN:
        tell_typist("the schema")
    data = sys.stdin.buffer.read() if options.file == _STDIN else Path(options.file).read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        about = f"{'standard input' if options.file == _STDIN else options.file} is not UTF-8 text"
        raise BrokerError(ErrorCode.INVALID_SCHEMA, about) from error


def _schema(options: argparse.Namespace) -> SchemaText:
    return SchemaText(schema=_text(options), **given(options, SchemaText, ("kind",)))


def _list(broker: Broker, options: argparse.Namespace) -> None:
    rows = []
    for found in broker.ask(ListSubjects()).subjects:
        latest = broker.ask(DescribeVersion(subject=found.subject, version=found.versions[-1]))
        of_latest = (latest.kind, latest.version, latest.id)
        rows.append((found.subject, *of_latest, len(found.versions), found.compatibility))
    columns = ("Subject", "Kind", "Latest", "Id", "Versions", "Compatibility")
    print_rows(columns, rows, options, none="There is no schema; brokerscope schemas register makes one.")


def _describe(broker: Broker, options: argparse.Namespace) -> None:
    subject = broker.ask(DescribeSubject(subject=options.subject))
    version = options.version or subject.versions[-1]
    found = broker.ask(DescribeVersion(subject=options.subject, version=version))
    versions = subject.versions
    facts: list[tuple[str, object]] = [
        ("Subject", found.subject),
        ("Version", found.version),
        ("Versions", versions if options.json else ", ".join(map(str, versions))),
        ("Compatibility", subject.compatibility),
        ("Id", found.id),
        ("Kind", found.kind),
        ("Text", found.text),
    ]
    print_facts(facts, options)


def _register(broker: Broker, options: argparse.Namespace) -> None:
    found = broker.ask(RegisterSchema(subject=options.subject, text=_schema(options)))
    name, version = found.subject, found.version
    say(f"{name} has version {version}, with the id {found.id}.", options, subject=name, version=version, id=found.id)


def _check(broker: Broker, options: argparse.Namespace) -> int:
    rows = [(one,) for one in broker.ask(CheckSchema(subject=options.subject, text=_schema(options))).problems]
    print_rows(("Problem",), rows, options, none="It can be the next version.")
    return Exit.PARTLY if rows else Exit.DONE


def _diff(broker: Broker, options: argparse.Namespace) -> None:
    changes = broker.ask(DiffSchemas(subject=options.subject, before=options.before, after=options.after))
    rows = [(one.what, one.pointer, one.before, one.after) for one in changes]
    print_rows(("What", "Place", "Before", "After"), rows, options, none="They do not differ.")


def _compatibility(broker: Broker, options: argparse.Namespace) -> None:
    subject, mode = options.subject, options.mode
    if subject and mode is not None:
        broker.ask(SetCompatibility(subject=subject, mode=mode))
    elif subject:
        mode = broker.ask(DescribeSubject(subject=subject)).compatibility
    elif mode is not None:
        broker.ask(SetDefaultCompatibility(mode=mode))
    else:
        mode = broker.ask(ListSubjects()).compatibility
    whose = subject or "Every subject without a mode of its own"
    say(f"{whose} is {mode}.", options, subject=subject, compatibility=mode)


def _rule(broker: Broker, options: argparse.Namespace) -> None:
    if options.mode is not None and options.subject is None:
        raise CommandError("--mode says what becomes of values that a schema refuses; name that with --subject.")
    rule: SchemaRule | None = None
    if options.none:
        broker.ask(RemoveSchemaRule(topic=options.topic))
    elif options.subject is not None:
        rule = SchemaRule(subject=options.subject, mode=options.mode or "refuse")
        broker.ask(SetSchemaRule(topic=options.topic, rule=rule))
    else:
        rule = broker.ask(TopicConfig(topic=options.topic)).rule
    what = "no schema" if rule is None else f"{rule.subject} ({rule.mode})"
    facts = {"subject": rule and rule.subject, "mode": rule and rule.mode}
    say(f"{options.topic} is held to {what}.", options, topic=options.topic, **facts)


def _delete_question(_broker: Broker, options: argparse.Namespace) -> str:
    version = "all versions" if options.version is None else f"version {options.version}"
    return f"Delete {version} of {options.subject}"


def _delete(broker: Broker, options: argparse.Namespace) -> None:
    if options.version is None:
        versions = broker.ask(DeleteSubject(subject=options.subject))
    else:
        broker.ask(DeleteVersion(subject=options.subject, version=options.version))
        versions = [options.version]
    subject, count = options.subject, counted(len(versions), "version")
    say(f"Deleted {count} of {subject}.", options, subject=subject, versions=versions)
