from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from app.cli.parser import Command, Parser, with_exits
from app.cli.target import Broker, add_target, opened
from app.cli.waiting import note
from app.environment.exits import Exit
from broker_core.operations.catalogue import entry_of
from broker_core.operations.request import Request

Run = Callable[[argparse.Namespace], int]
Verb = Callable[[Broker, argparse.Namespace], object]
Question = Callable[[Broker, argparse.Namespace], str]  # "Delete orders with its 12 messages"


class Verbs:
    """A parser whose verbs each get a broker and their options; what a verb returns, if it is no int, is 0."""

    def __init__(self, name: str, about: str) -> None:
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
        """A verb, which `reads` and changes nothing, and may be asked of `clusters`, too; its own arguments are added
        to the parser that is returned.

        `about` is its help, or the operation that it asks for, whose entry has the help. A verb that `asks` runs after
        a person at a terminal has agreed to it.
        """
        if isinstance(about, str):
            parser = self._verbs.add_parser(name, help=about, description=about)
        else:
            entry = entry_of(about)
            parser = self._verbs.add_parser(name, help=f"{entry.title}.", description=entry.help)
        add_target(parser, clusters=clusters)
        if asks is not None:
            _add_yes(parser)
        parser.set_defaults(verb=run, reads=reads, asks=asks)
        return parser

    def command(self) -> Command:
        def run(options: argparse.Namespace) -> int:
            with opened(options, read_only=options.reads) as broker:
                if options.asks is not None and not _agreed(broker, options, options.asks):
                    return Exit.PARTLY
                code = options.verb(broker, options)
            return code if isinstance(code, int) else 0

        return self.parser, run


def _add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask at a terminal whether it is meant")


def _agreed(broker: Broker, options: argparse.Namespace, question: Question) -> bool:
    """Whether to go on; True without a terminal, where no person can answer."""
    if options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{question(broker, options)}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    note("Nothing was changed.")
    return False
