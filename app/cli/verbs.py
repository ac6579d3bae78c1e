"""Verbs over requests of the catalogue. A request's fields are options, with their types, ranges, choices and help.

A field that says what it means is an option. One that is not given is not in the namespace, so that the request's own
default holds; `none` is null.
"""

from __future__ import annotations

import argparse
import re
import string
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from app.cli.argument_types import between, or_word
from app.cli.notes import note
from app.cli.output import Column, Facts, print_rows, rows_of, say, sentence_of
from app.cli.parser import Command, CommandError, Parser, about_verb, argument, described
from app.cli.target import Broker, add_target, is_running, opened
from app.environment.exits import Exit
from broker_core.flow.config import FlowConfig
from broker_core.operations.catalogue import entry_of
from broker_core.operations.entry import Entry, Operation
from broker_core.operations.field_info import FieldInfo, field_info
from broker_core.operations.fields import MAX_INT
from broker_core.operations.groups import GroupChanges
from broker_core.operations.queues import Messages
from broker_core.operations.request import Request
from broker_core.operations.topics import LogSettings
from broker_core.queues.config import QueueConfig, RetryPolicy
from broker_core.schemas.rule import SchemaRule

T = TypeVar("T")
Question = Callable[[Broker, argparse.Namespace], str]  # "Delete orders with its 12 messages"


class Verbs:
    """A parser whose verbs each get a broker and their options; what a verb returns, if it is no int, is 0.

    A verb is declared over a request of the catalogue. Its entry has the help, and names in its route what the verb is
    about: that is the first argument. Fields of the request that say what they mean are options.
    """

    def __init__(self, name: str) -> None:
        self.parser, self._name = described(name), name
        self._verbs = self.parser.add_subparsers(title="verbs", metavar="VERB", required=True)

    def add(
        self,
        name: str,
        request: type[Request[Any]],
        run: Callable[[Broker, argparse.Namespace], object],
        *,
        kind: str = "",
        fields: Iterable[str] | None = None,
        optional: bool = False,
        clusters: bool = False,
        writes: str = "",
        asks: Question | None = None,
        changed_by: tuple[str, ...] = (),
    ) -> argparse.ArgumentParser:
        """A verb that does with `run` what a single request cannot; more arguments are added to what is returned.

        `kind` is said instead of what the entry says; `fields` are the options instead of all. The first
        argument may be `optional`. `clusters` can be asked, too, or, by a verb that `writes`, changed. A verb that
        `asks` runs after a person at a terminal has agreed. Without one of `changed_by`, if any, it only reads.
        """
        entry = entry_of(request)
        about = about_verb(self._name, name) or entry.help
        parser: Parser = self._verbs.add_parser(
            name, help=f"{about.partition('. ')[0].rstrip('.')}.", description=about
        )
        parser.siblings = self._verbs.choices
        if subject := _subject(entry):
            field, own_kind = subject
            kind, new = kind or own_kind, field == "name"
            parser.add_argument(
                field,
                nargs="?" if optional else None,
                type=value_type(field_info(request, field)),
                metavar=kind.upper().replace(" ", "_"),
                help=f"name of the new {kind}, of letters, digits, dots, _ and -" if new else f"name of the {kind}",
            )
        add_options(parser, request, fields)
        if asks is not None:
            argument(parser, "verbs --yes")
        reads = all(right.operation is Operation.READ for right in entry.rights)
        parser.set_defaults(verb=run, reads=reads, asks=asks, clusters=clusters or bool(writes), writes=writes)
        parser.set_defaults(changed_by=changed_by)
        return parser

    def does(
        self, name: str, request: type[Request[T]], told: str, facts: Callable[[T], Facts] | None = None, **more: Any
    ) -> argparse.ArgumentParser:
        """A verb that asks for `request` and says `told`, as "Deleted {topic}.", of its subject and of `facts` of the
        answer; `more` is as for `add`.
        """
        field, kind = _subject(entry_of(request)) or ("", "")
        key = field if " " in kind else kind

        def run(broker: Broker, options: argparse.Namespace) -> None:
            answer = _asked(broker, built(request, options))
            known = {key: getattr(options, field)} if field else {}
            say(told, options, **known, **({} if facts is None else facts(answer)))

        return self.add(name, request, run, **more)

    def undoes(self, what: str, request: type[Request[Messages]], fact: str, told: str) -> None:
        """A verb that undoes the last `what`, a purge or a redrive, of a queue; `fact` is of how many messages."""

        def run(broker: Broker, options: argparse.Namespace) -> int:
            messages = _asked(broker, built(request, options)).messages
            none = f"Nothing was undone: no {what} of {{queue}} in the last five minutes is left to undo."
            say(told if messages else none, options, queue=options.queue, **{fact: messages})
            return Exit.DONE if messages else Exit.PARTLY

        self.add(f"undo-{what}", request, run)

    def lists(
        self, name: str, request: type[Request[Any]], none: str, *columns: Column, **more: Any
    ) -> argparse.ArgumentParser:
        """A verb that prints the list, or the items of the mapping, that answers `request`, or `none`; `more` is as for
        `add`.
        """

        def run(broker: Broker, options: argparse.Namespace) -> None:
            answer = _asked(broker, built(request, options))
            rows = rows_of(answer.items() if isinstance(answer, dict) else answer, *columns)
            print_rows(rows, options, none=none.format_map(vars(options)))

        return self.add(name, request, run, **more)

    def command(self) -> Command:
        for parser in self._verbs.choices.values():  # after all other options
            add_target(parser, clusters=parser.get_default("clusters"), writes=parser.get_default("writes"))

        def run(options: argparse.Namespace) -> int:
            shows = options.changed_by and not any(getattr(options, name) for name in options.changed_by)
            with opened(options, read_only=options.reads or bool(shows)) as broker:
                options.seen = " that this token may read" if is_running(broker) and broker.has_token else ""
                if options.asks is not None and not _agreed(broker, options, options.asks):
                    return Exit.PARTLY
                code = options.verb(broker, options)
            return code if isinstance(code, int) else 0

        return self.parser, run


def _asked(broker: Broker, request: Request[T]) -> T:
    if entry_of(request).served_by == "listener" and not is_running(broker):
        raise CommandError("Only a running broker knows this; name one with --broker.")
    return broker.ask(request)


def _subject(entry: Entry) -> tuple[str, str] | None:
    """The field that names what a verb is about, and the kind of that: the first of the route, or what is created."""
    kinds = {right.field: str(right.kind) for right in entry.rights if right.field}
    field = next(iter(re.findall(r"{(\w+)}", entry.path)), "")
    if not field and entry.created:
        field = next(iter(kinds), "")
    return (field, kinds.get(field, field)) if field else None


def asking(request: type[Request[Any]], question: str) -> Question:
    """A question to confirm a deletion; its fields are attributes of the answer to `request`."""
    names = [name for _text, name, _noun, _conversion in string.Formatter().parse(question) if name]

    def ask(broker: Broker, options: argparse.Namespace) -> str:
        answer = broker.ask(built(request, options))
        return sentence_of(question, **{name: getattr(answer, name) for name in names})

    return ask


def _agreed(broker: Broker, options: argparse.Namespace, question: Question) -> bool:
    """Whether to go on; True without a terminal, if no person can answer."""
    if options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{question(broker, options)}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    note("Nothing was changed.")
    return False


R = TypeVar("R", bound=msgspec.Struct)
NONE = "none"
_METAVARS = {"ms": "MS", "bytes": "BYTES", "s": "PER_S"}
_SIMPLE = {str, int, float, bool}

# Structs in requests whose options stand under a title of their own.
_TITLES: dict[type[msgspec.Struct], str] = {
    QueueConfig: "how messages are delivered",
    RetryPolicy: "how failed deliveries are retried",
    LogSettings: "how messages are kept (none: no limit)",
    GroupChanges: "settings",
    FlowConfig: "how many messages are accepted (none: no limit)",
    SchemaRule: "schema",
}


def add_field(
    parser: argparse._ActionsContainer,
    request: type[msgspec.Struct],
    name: str,
    *,
    needed: bool = True,
    flag: str = "",
    **more: Any,
) -> None:
    """The option of one field, which must be given if the field has no default, unless the request is not `needed`.

    `flag` and `more` go before what the field says.
    """
    kind = field_info(request, name)
    given: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": _help(kind)}
    given["required"] = kind.required and needed
    if kind.base is bool:  # one that is left out as it is can be set to false, too
        given["action"] = argparse.BooleanOptionalAction if kind.default is None else "store_true"
    elif kind.choices:
        given["choices"] = kind.choices
        if all(word.isupper() for word in kind.choices):
            given["type"] = str.upper
    else:
        given["type"] = value_type(kind)
        last_word = name.rpartition("_")[2]
        numeric = _METAVARS.get(last_word, "N" if kind.base is int else "X")
        given["metavar"] = last_word.upper() if kind.base is str else numeric
    parser.add_argument(flag or _flag(request, name), **{**given, **more})


def add_options(
    parser: argparse.ArgumentParser,
    request: type[msgspec.Struct],
    names: Iterable[str] | None = None,
    *,
    needed: bool = True,
) -> None:
    """The options of all fields that say what they mean, or of `names`; those of a struct in it go under its title."""
    title = _TITLES.get(request)
    into = parser if title is None else parser.add_argument_group(title)
    parts = []
    for name in request.__struct_fields__ if names is None else names:
        kind = field_info(request, name)
        if _is_struct(kind.base):
            parts.append(kind)
        elif kind.about and (kind.choices or kind.base in _SIMPLE):
            add_field(into, request, name, needed=needed)
    for part in parts:
        add_options(parser, part.base, needed=needed and part.required)


def given(
    options: argparse.Namespace, request: type[msgspec.Struct], names: Iterable[str] | None = None
) -> dict[str, Any]:
    """The fields of `request`, or of `names`, that were given; a struct in it has what was given of its own.

    Raises CommandError for such a struct without a field that it needs.
    """
    found = {}
    for name in request.__struct_fields__ if names is None else names:
        base = field_info(request, name).base
        if not _is_struct(base):
            if hasattr(options, name):
                found[name] = getattr(options, name)
        elif part := given(options, base):
            for needed in base.__struct_fields__:
                if field_info(base, needed).required and needed not in part:
                    raise CommandError(f"{_flag(base, next(iter(part)))} needs {_flag(base, needed)}; give both.")
            found[name] = base(**part)
    return found


def built(request: type[R], options: argparse.Namespace, **more: Any) -> R:
    others = [name for name in request.__struct_fields__ if name not in more]
    return request(**given(options, request, others), **more)


def value_type(kind: FieldInfo) -> Callable[[str], Any]:
    if kind.base is str:
        return str
    parse = between(kind.base, kind.least, None if kind.most is None or kind.most >= MAX_INT else kind.most)
    return or_word(NONE, parse) if kind.nullable else parse


def _flag(request: type[msgspec.Struct], name: str) -> str:
    return field_info(request, name).flag or f"--{name.replace('_', '-')}"


def _help(kind: FieldInfo) -> str:
    shown = kind.default
    if "default" in kind.about or not isinstance(shown, str | int | float) or shown in {"", False}:
        return kind.about
    default = f"default: {shown:g}" if isinstance(shown, float) else f"default: {shown}"
    return f"{kind.about[:-1]}; {default})" if kind.about.endswith(")") else f"{kind.about} ({default})"


def _is_struct(base: Any) -> bool:
    return isinstance(base, type) and issubclass(base, msgspec.Struct)
