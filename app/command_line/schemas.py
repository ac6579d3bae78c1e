"""`brokerscope schemas`: list, describe, register, check, diff, compatibility, rules of topics, delete."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.command_line.output import print_facts, print_rows, say
from app.command_line.verbs import Command, Verbs
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
    verbs.add("list", "All subjects.", _list)
    describe = verbs.add("describe", "One version of a subject.", _describe)
    describe.add_argument("subject")
    describe.add_argument("--version", type=int, metavar="N", help="default: the latest")
    register = verbs.add("register", "A new version of a subject.", _register)
    _add_text(register)
    check = verbs.add("check", "What would keep a text from becoming the next version.", _check)
    _add_text(check)
    diff = verbs.add("diff", "What differs between two versions.", _diff)
    diff.add_argument("subject")
    diff.add_argument("before", type=int)
    diff.add_argument("after", type=int, nargs="?", help="default: the latest")
    mode = verbs.add("compatibility", "What a next version must be able to read, or be read by.", _compatibility)
    mode.add_argument("mode", type=str.upper, choices=[kind.value for kind in Compatibility])
    mode.add_argument("--subject", default="", help="default: all that have none of their own")
    rule = verbs.add("rule", "Hold the values of a topic to a subject.", _rule)
    rule.add_argument("topic")
    rule.add_argument("--subject", help="without it the topic has no schema any more")
    rule.add_argument("--mode", choices=("refuse", "dead_letter"), default="refuse")
    delete = verbs.add("delete", "Delete a version, or all of a subject.", _delete)
    delete.add_argument("subject")
    delete.add_argument("--version", type=int, metavar="N")
    return verbs.command()


def _add_text(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject")
    parser.add_argument("file", help="JSON Schema or Avro; - is standard input")
    parser.add_argument(
        "--kind", type=str.upper, choices=[kind.value for kind in SchemaKind], default=SchemaKind.JSON.value
    )


def _text(options: argparse.Namespace) -> str:
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
    print_rows(columns, rows, as_json=options.json, none="There is no schema.")


def _describe(host: Host, options: argparse.Namespace) -> None:
    found = SchemaAdmin(host).registry.version(options.subject, options.version or "latest")
    facts = [("Subject", found.subject), ("Version", found.version), ("Id", found.id), ("Kind", found.kind.value)]
    print_facts([*facts, ("Text", found.text)], as_json=options.json)


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
    return 1 if rows else 0


def _diff(host: Host, options: argparse.Namespace) -> None:
    changes = SchemaAdmin(host).diff(options.subject, options.before, options.after or "latest")
    rows = [(one.what, one.pointer, one.before, one.after) for one in changes]
    print_rows(("What", "Place", "Before", "After"), rows, as_json=options.json, none="They do not differ.")


def _compatibility(host: Host, options: argparse.Namespace) -> None:
    mode = next(kind for kind in Compatibility if kind.value == options.mode)
    SchemaAdmin(host).set_compatibility(mode, options.subject)
    say(
        f"{options.subject or 'Every subject without a mode of its own'} is {options.mode}.",
        as_json=options.json,
        subject=options.subject,
        compatibility=options.mode,
    )


def _rule(host: Host, options: argparse.Namespace) -> None:
    rule = None if options.subject is None else SchemaRule(options.subject, options.mode)
    SchemaAdmin(host).set_rule(options.topic, rule)
    what = "is held to no schema" if rule is None else f"is held to {rule.subject} ({rule.mode})"
    say(f"{options.topic} {what}.", as_json=options.json, topic=options.topic, subject=options.subject)


def _delete(host: Host, options: argparse.Namespace) -> None:
    admin = SchemaAdmin(host)
    if options.version is None:
        versions = admin.delete_subject(options.subject)
    elif options.version < 1:
        raise BrokerError(ErrorCode.UNKNOWN_SCHEMA_VERSION, f"{options.subject} {options.version}")
    else:
        admin.delete_version(options.subject, options.version)
        versions = (options.version,)
    say(
        f"Deleted {counted(len(versions), 'version')} of {options.subject}.",
        as_json=options.json,
        subject=options.subject,
        versions=versions,
    )
