from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from app.cli.errors import CommandError
from app.cli.output import Column, Facts, print_rows, rows_of, say
from app.cli.parser import Command, Parser, about_verb, argument, described
from app.cli.request_options import add_options, built, value_type
from app.cli.target import Broker, add_target, is_running, opened
from app.cli.waiting import note
from app.environment.exits import Exit
from broker_core.operations.catalogue import entry_of
from broker_core.operations.entry import Entry, Operation
from broker_core.operations.field_info import field_info
from broker_core.operations.request import Request

T = TypeVar("T")
Verb = Callable[[Broker, argparse.Namespace], object]
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
        run: Verb,
        *,
        kind: str = "",
        fields: Iterable[str] | None = None,
        optional: bool = False,
        clusters: bool = False,
        writes: str = "",
        asks: Question | None = None,
    ) -> argparse.ArgumentParser:
        """A verb that does with `run` what a single request cannot; more arguments are added to what is returned.

        `kind` is said instead of what the entry says; `fields` are the options instead of all. The first
        argument may be `optional`. `clusters` can be asked, too, or, by a verb that `writes`, changed. A verb that
        `asks` runs after a person at a terminal has agreed.
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
        return parser

    def does(
        self, name: str, request: type[Request[T]], told: str, facts: Callable[[T], Facts] | None = None, **more: Any
    ) -> argparse.ArgumentParser:
        """A verb that asks for `request` and says `told`, as "Deleted {topic}.", of its subject and of `facts` of the
        answer; `more` is as for `add`.
        """
        subject = _subject(entry_of(request))

        def run(broker: Broker, options: argparse.Namespace) -> None:
            answer = _asked(broker, built(request, options))
            known = {_key(subject): getattr(options, subject[0])} if subject else {}
            say(told, options, **known, **({} if facts is None else facts(answer)))

        return self.add(name, request, run, **more)

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
            with opened(options, read_only=options.reads) as broker:
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


def _key(subject: tuple[str, str]) -> str:
    field, kind = subject
    return field if " " in kind else kind


def _agreed(broker: Broker, options: argparse.Namespace, question: Question) -> bool:
    """Whether to go on; True without a terminal, if no person can answer."""
    if options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{question(broker, options)}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    note("Nothing was changed.")
    return False
