"""All commands that need no window, by name; each is imported when it is asked for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from app.cli.parser import DECLARED, Command


def _made(module: str, function: str) -> Command:
    made: Command = getattr(import_module(f"app.cli.{module}"), function)()
    return made


COMMANDS: Mapping[str, Callable[[], Command]] = {
    name: partial(_made, each["module"], each.get("function", "command"))
    for name, each in DECLARED["commands"].items()
    if "module" in each
}


def summary() -> str:
    return "\n".join(f"  {name:<14}{each['brief']}" for name, each in DECLARED["commands"].items())


def whole_parser(more: Mapping[str, Callable[[], Command]]) -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="brokerscope")
    commands = root.add_subparsers(metavar="COMMAND")
    for name, make in more.items():
        if name != "completion":
            parser, _run = make()
            commands.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    return root
