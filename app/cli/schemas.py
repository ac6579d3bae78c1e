"""`brokerscope schemas`: list, describe, register, check, diff, compatibility, rules of topics, delete."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.cli.errors import CommandError
from app.cli.numbers import whole
from app.cli.output import print_facts, print_rows, say
from app.cli.verbs import Command, Verbs
from app.cli.waiting import tell_typist
from app.environment.exits import Exit
from broker_core.clients.host import Host
from broker_core.clients.schema_admin import SchemaAdmin
from broker_core.errors import BrokerError, ErrorCode
from broker_core.plurals import counted
from broker_core.schemas.compatibility import Compatibility, SchemaKind
from broker_core.schemas.rule import SchemaRule

_STDIN = "-"


def command() -> Command:
    """The parser of the command, and what runs it."""
    verbs = Verbs("schemas", "Schemas of a broker.")
    verbs.add("list", "All subjects.", _list, reads=True)
    describe = verbs.add("describe", "One version of a subject, and which others there are.", _describe, reads=True)
    _add_subject(describe)
    describe.add_argument("--version", type=whole(1), metavar="N", help="default: the latest")
    register = verbs.add("register", "A new version of a subject.", _register)
    _add_text(register)
    check = verbs.add("check", "What would keep a text from becoming the next version.", _check, reads=True)
    _add_text(check)
    diff = verbs.add("diff", "What differs between two versions.", _diff, reads=True)
    _add_subject(diff)
    diff.add_argument("before", type=whole(1), metavar="BEFORE", help="a version")
    diff.add_argument("after", type=whole(1), nargs="?", metavar="AFTER", help="another one (default: the latest)")
    mode = verbs.add(
        "compatibility",
        "What a next version must be able to read, or be read by; without a mode, say it.",
        _compatibility,
    )
    mode.add_argument(
        "mode", type=str.upper, nargs="?", choices=[kind.value for kind in Compatibility], help="from now on"
    )
    mode.add_argument("--subject", default="", metavar="SUBJECT", help="default: all that have none of their own")
    rule = verbs.add("rule", "What the values of a topic are held to; with --subject or --none, change that.", _rule)
    rule.add_argument("topic", metavar="TOPIC", help="a topic or a queue")
    which = rule.add_mutually_exclusive_group()
    which.add_argument("--subject", metavar="SUBJECT", help="values must be accepted by its schema")
    which.add_argument("--none", action="store_true", help="the topic has no schema any more")
    rule.add_argument(
        "--mode",
        choices=("refuse", "dead_letter"),
        help="what becomes of other values: refused (default), or buried as dead letters",
    )
    delete = verbs.add("delete", "Delete a version, or all of a subject.", _delete, asks=_delete_question)
    _add_subject(delete)
    delete.add_argument("--version", type=whole(1), metavar="N", help="only this one (default: all)")
    return verbs.command()


def _add_subject(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject", metavar="SUBJECT", help="its name")


def _add_text(parser: argparse.ArgumentParser) -> None:
    _add_subject(parser)
    parser.add_argument("file", metavar="FILE", help="JSON Schema or Avro; - is standard input")
    parser.add_argument(
        "--kind",
        type=str.upper,
        choices=[kind.value for kind in SchemaKind],
        default=SchemaKind.JSON.value,
        help=f"default: {SchemaKind.JSON.value}",
    )


def _text(options: argparse.Namespace) -> str:
    if options.file == _STDIN:
        tell_typist("the schema")
    data = sys.stdin.buffer.read() if options.file == _STDIN else Path(options.file).read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        about = f"{'standard input' if options.file == _STDIN else options.file} is not UTF-8 text"
        raise BrokerError(ErrorCode.INVALID_SCHEMA, about) from error


def _list(host: Host, options: argparse.Namespace) -> None:
    registry = SchemaAdmin(host).registry
    rows = []
    for subject in registry.subjects():
        latest = registry.version(subject)
        versions = len(registry.versions(subject))
        mode = registry.compatibility_of(subject).value
        rows.append((subject, latest.kind.value, latest.version, latest.id, versions, mode))
    columns = ("Subject", "Kind", "Latest", "Id", "Versions", "Compatibility")
    print_rows(columns, rows, as_json=options.json, none="There is no schema; brokerscope schemas register makes one.")


def _describe(host: Host, options: argparse.Namespace) -> None:
    registry = SchemaAdmin(host).registry
    found = registry.version(options.subject, options.version or "latest")
    versions = registry.versions(options.subject)
    facts: list[tuple[str, object]] = [
        ("Subject", found.subject),
        ("Version", found.version),
        ("Versions", list(versions) if options.json else ", ".join(map(str, versions))),
        ("Compatibility", registry.compatibility_of(options.subject).value),
        ("Id", found.id),
        ("Kind", found.kind.value),
        ("Text", found.text),
    ]
    print_facts(facts, as_json=options.json)


def _register(host: Host, options: argparse.Namespace) -> None:
    found = SchemaAdmin(host).register(options.subject, _text(options), SchemaKind(options.kind))
    say(
        f"{found.subject} has version {found.version}, with the id {found.id}.",
        as_json=options.json,
        subject=found.subject,
        version=found.version,
        id=found.id,
    )


def _check(host: Host, options: argparse.Namespace) -> int:
    problems = SchemaAdmin(host).check(options.subject, _text(options), SchemaKind(options.kind))
    rows = [(problem.pointer or "the whole", problem.message) for problem in problems]
    print_rows(("Place", "Problem"), rows, as_json=options.json, none="It can be the next version.")
    return Exit.PARTLY if rows else Exit.DONE


def _diff(host: Host, options: argparse.Namespace) -> None:
    changes = SchemaAdmin(host).diff(options.subject, options.before, options.after or "latest")
    rows = [(one.what, one.pointer, one.before, one.after) for one in changes]
    print_rows(("What", "Place", "Before", "After"), rows, as_json=options.json, none="They do not differ.")


def _compatibility(host: Host, options: argparse.Namespace) -> None:
    admin = SchemaAdmin(host)
    if options.mode is not None:
        admin.set_compatibility(next(kind for kind in Compatibility if kind.value == options.mode), options.subject)
    elif options.subject:
        admin.registry.version(options.subject)  # of one that is not there, nothing is said
    mode = admin.registry.compatibility_of(options.subject).value
    say(
        f"{options.subject or 'Every subject without a mode of its own'} is {mode}.",
        as_json=options.json,
        subject=options.subject,
        compatibility=mode,
    )


def _rule(host: Host, options: argparse.Namespace) -> None:
    admin = SchemaAdmin(host)
    if options.mode is not None and options.subject is None:
        raise CommandError("--mode says what becomes of values that a schema refuses; name that with --subject.")
    if options.none or options.subject is not None:
        rule = None if options.none else SchemaRule(options.subject, options.mode or "refuse")
        admin.set_rule(options.topic, rule)
    else:
        rule = admin.rule(options.topic)
    say(
        f"{options.topic} {'is held to no schema' if rule is None else f'is held to {rule.subject} ({rule.mode})'}.",
        as_json=options.json,
        topic=options.topic,
        subject=None if rule is None else rule.subject,
        mode=None if rule is None else rule.mode,
    )


def _delete_question(_host: Host, options: argparse.Namespace) -> str:
    version = "all versions" if options.version is None else f"version {options.version}"
    return f"Delete {version} of {options.subject}"


def _delete(host: Host, options: argparse.Namespace) -> None:
    admin = SchemaAdmin(host)
    if options.version is None:
        versions = admin.delete_subject(options.subject)
    else:
        admin.delete_version(options.subject, options.version)
        versions = (options.version,)
    say(
        f"Deleted {counted(len(versions), 'version')} of {options.subject}.",
        as_json=options.json,
        subject=options.subject,
        versions=versions,
    )
