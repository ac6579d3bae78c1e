from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from app.cli.output import say
from app.cli.parser import Command, Parser, with_exits
from app.cli.target import Broker, add_target, opened
from app.cli.waiting import note
from app.environment.exits import Exit
from broker_core.operations.catalogue import entry_of
from broker_core.operations.request import Request
from broker_core.plurals import counted

Run = Callable[[argparse.Namespace], int]
Verb = Callable[[Broker, argparse.Namespace], object]
Question = Callable[[Broker, argparse.Namespace], str]  # "Delete orders with its 12 messages"


class Verbs:
    """A parser whose verbs each get a broker and their options; what a verb returns, if it is no int, is 0."""

    def __init__(self, name: str, about: str, subject: str = "") -> None:
        """`subject` is the help of what a verb is given first."""
        self._subject = subject
        self.parser = Parser(prog=f"brokerscope {name}", description=about, **with_exits())
        self._verbs = self.parser.add_subparsers(metavar="VERB", required=True)

    def add(
        self,
        name: str,
        about: str | type[Request[Any]],
        run: Verb,
        *,
        reads: bool = False,
        clusters: bool = False,
        asks: Question | None = None,
    ) -> argparse.ArgumentParser:
        """A verb, as "list" or "delete TOPIC", which `reads` and changes nothing, and may be asked of `clusters`, too;
        more arguments are added to the parser that is returned.

        `about` is its help, or the operation that it asks for, whose entry has the help. A verb that `asks` runs after
        a person at a terminal has agreed to it.
        """
        name, _, subject = name.partition(" ")
        if isinstance(about, str):
            parser = self._verbs.add_parser(name, help=about, description=about)
        else:
            entry = entry_of(about)
            parser = self._verbs.add_parser(name, help=f"{entry.title}.", description=entry.help)
        if subject:
            parser.add_argument(subject.lower(), metavar=subject, help=self._subject)
        add_target(parser, clusters=clusters)
        if asks is not None:
            parser.add_argument("--yes", action="store_true", help="do not ask for confirmation on a terminal")
        parser.set_defaults(verb=run, reads=reads, asks=asks)
        return parser

    def does(
        self,
        name: str,
        request: type[Request[Any]],
        told: str,
        *,
        counts: tuple[str, str] | None = None,
        asks: Question | None = None,
    ) -> None:
        """A verb that asks for `request` of its subject and says `told`, as "Deleted {topic}.".

        `counts` is what the messages in the answer are called in JSON, and what `{count}` counts.
        """
        field = name.partition(" ")[2].lower()

        def run(broker: Broker, options: argparse.Namespace) -> None:
            subject = {field: getattr(options, field)}
            answer = broker.ask(request(**subject))
            if counts is None:
                say(told.format(**subject), options, **subject)
            else:
                key, noun = counts
                count = answer.messages
                say(told.format(count=counted(count, noun), **subject), options, **{key: count})

        self.add(name, request, run, asks=asks)

    def command(self) -> Command:
        def run(options: argparse.Namespace) -> int:
            with opened(options, read_only=options.reads) as broker:
                if options.asks is not None and not _agreed(broker, options, options.asks):
                    return Exit.PARTLY
                code = options.verb(broker, options)
            return code if isinstance(code, int) else 0

        return self.parser, run


def _agreed(broker: Broker, options: argparse.Namespace, question: Question) -> bool:
    """Whether to go on; True without a terminal, where no person can answer."""
    if options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{question(broker, options)}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    note("Nothing was changed.")
    return False
