"""How a command with verbs is put together: `brokerscope topics list`, `brokerscope topics create orders`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from app.cli.asking import Question, add_yes, agreed
from app.cli.parser import Parser, with_exits
from app.cli.target import Broker, add_target, opened
from app.environment.exits import Exit

Run = Callable[[argparse.Namespace], int]
Verb = Callable[[Broker, argparse.Namespace], object]
Command = tuple[argparse.ArgumentParser, Run]


class Verbs:
    """A parser whose verbs each get a broker and their options; what a verb returns, where it is no int, is 0."""

    def __init__(self, name: str, about: str) -> None:
        self.parser = Parser(prog=f"brokerscope {name}", description=about, **with_exits())
        self._verbs = self.parser.add_subparsers(metavar="VERB", required=True)

    def add(
        self, name: str, about: str, run: Verb, *, reads: bool = False, asks: Question | None = None
    ) -> argparse.ArgumentParser:
        """A verb, which `reads` and changes nothing; its own arguments are added to the parser that is returned.

        One that `asks` is done when a person at a terminal has agreed to it.
        """
        parser = self._verbs.add_parser(name, help=about, description=about)
        add_target(parser)
        if asks is not None:
            add_yes(parser)
        parser.set_defaults(verb=run, reads=reads, asks=asks)
        return parser

    def command(self) -> Command:
        """The parser, and what runs the verb that was chosen."""

        def run(options: argparse.Namespace) -> int:
            with opened(options, read_only=options.reads) as broker:
                if options.asks is not None and not agreed(broker, options, options.asks):
                    return Exit.PARTLY
                code = options.verb(broker, options)
            return code if isinstance(code, int) else 0

        return self.parser, run
