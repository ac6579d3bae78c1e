"""All commands that need no window, by name; each is imported when it is asked for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from app.cli.parser import Command

# Name: module of app.cli, function that makes the command, and one line about it.
_TABLE: dict[str, tuple[str, str, str]] = {
    "scenarios": ("scenarios", "command", "list, describe, check"),
    "serve": ("serve", "command", "run a broker without a window"),
    "watch": ("watch", "command", "observe and record a Kafka cluster, or another broker, without a window"),
    "with": ("with_broker", "command", "run a command, such as tests in any language, next to a fresh broker"),
    "share": ("share", "command", "write a recorded session as a page that anyone can open"),
    "topics": ("topics", "command", "list, describe, create, configure, trim, delete"),
    "groups": ("groups", "command", "list, describe, reset offsets, delete"),
    "queues": ("queues", "command", "list, describe, create, subscribe, configure, peek, purge, delete"),
    "dlq": ("dead_letters", "command", "dead letters: list, describe, redrive, purge"),
    "schemas": ("schemas", "command", "list, describe, register, check, diff, rules of topics"),
    "acls": ("access", "acls_command", "list, create, delete: who may do what"),
    "quotas": ("access", "quotas_command", "list, set, remove: how much Kafka clients may send and fetch"),
    "users": ("access", "users_command", "list, set, delete: who authenticates by SCRAM"),
    "produce": ("produce", "command", "publish messages"),
    "consume": ("consume", "command", "read messages"),
    "metrics": ("metrics", "command", "figures of a broker"),
    "http-produce": ("http_clients", "produce_command", "the plain HTTP producer"),
    "http-consume": ("http_clients", "consume_command", "the plain HTTP consumer"),
    "completion": ("completion", "command", "command completion for a shell"),
}


def _made(module: str, function: str) -> Command:
    made: Command = getattr(import_module(f"app.cli.{module}"), function)()
    return made


COMMANDS: Mapping[str, Callable[[], Command]] = {
    name: partial(_made, module, function) for name, (module, function, _about) in _TABLE.items()
}


def summary() -> str:
    return "\n".join(f"  {name:<14}{about}" for name, (_module, _function, about) in _TABLE.items())


def whole_parser(more: Mapping[str, Callable[[], Command]]) -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="brokerscope")
    commands = root.add_subparsers(metavar="COMMAND")
    for name, make in more.items():
        if name != "completion":
            parser, _run = make()
            commands.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    return root
