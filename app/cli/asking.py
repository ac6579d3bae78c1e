"""Destructive commands ask at a terminal whether they are meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from app.cli.target import Broker
from app.cli.waiting import note

Question = Callable[[Broker, argparse.Namespace], str]  # "Delete orders with its 12 messages"


def add_yes(parser: argparse.ArgumentParser) -> None:
    """--yes, which answers in advance."""
    parser.add_argument("--yes", action="store_true", help="do not ask at a terminal whether it is meant")


def agreed(broker: Broker, options: argparse.Namespace, question: Question) -> bool:
    """Whether to go on; True without a terminal, where no person can answer."""
    if options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{question(broker, options)}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    note("Nothing was changed.")
    return False
