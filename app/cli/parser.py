"""The parser of all commands: an error of a command line is one sentence that says what to write instead."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

import resources
from app.cli.argument_types import TYPES, Types
from app.environment import exits
from app.environment.did_you_mean import meant
from app.environment.exits import Exit
from broker_core.errors import BrokerError, ErrorCode

_ERRORS: Final[dict[str, Any]] = resources.table("command_line_errors.toml")
Command = tuple[argparse.ArgumentParser, Callable[[argparse.Namespace], int]]


class Parser(argparse.ArgumentParser):
    """As `ArgumentParser`. Parsers of verbs are of this kind, too; `siblings` are those of the other verbs."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"formatter_class": _Formatter, **more})
        self._positionals.title = "arguments"
        self.siblings: Mapping[str, Parser] = {}

    def error(self, message: str) -> NoReturn:
        told = next(
            (match.expand(ours) for theirs, ours in _ERRORS["argparse"] if (match := re.fullmatch(theirs, message))),
            message,
        )
        self.exit(Exit.USAGE, f"{self.prog}: {told}; {self.prog} --help says more.\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Nothing is left over: the parser that knows the options, a verb's, says what it does not know."""
        if self._subparsers is not None:
            self._check_verb(args or [])
        found, rest = super().parse_known_args(args, namespace)
        dashes = rest.index("--") if "--" in rest else len(rest)
        if option := next((word for word in rest[:dashes] if word.startswith("-")), ""):
            name = option.partition("=")[0]
            elsewhere = [verb for verb, parser in self.siblings.items() if name in parser._option_string_actions]
            if elsewhere:
                self.error(f"there is no {name} here; verbs that have it: {', '.join(elsewhere)}")
            self.error(f"there is no {name} here{meant(name, self._option_string_actions)}")
        self._take_behind_options(found, [*rest[:dashes], *rest[dashes + 1 :]])
        return found, []

    def _get_option_tuples(self, option_string: str) -> Any:
        """What a shortened option may be: `--to` is --to-latest or another of these before it is --topic."""
        found = super()._get_option_tuples(option_string)
        word = option_string.partition("=")[0]
        return [each for each in found if each[1].startswith(f"{word}-")] or found

    def _take_behind_options(self, found: argparse.Namespace, words: list[str]) -> None:
        """argparse gives words behind options to no list of positional arguments."""
        many = next((each for each in self._actions if not each.option_strings and each.nargs == "*"), None)
        if many is None:
            return self.error(f"{words[0]!r} is one argument too many") if words else None
        try:
            values = [self._get_value(many, word) for word in words]
        except argparse.ArgumentError as error:
            self.error(str(error))
        setattr(found, many.dest, [*getattr(found, many.dest), *values])

    def _check_verb(self, words: Sequence[str]) -> None:
        verbs = ", ".join(
            word for action in self._actions if action.nargs == argparse.PARSER for word in action.choices or ()
        )
        if not words:
            self.error(f"a verb is missing; there are {verbs}")
        if words[0].startswith("-") and words[0] not in self._option_string_actions:
            self.error(f"a verb comes before {words[0].partition('=')[0]}; there are {verbs}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            verb = action.nargs == argparse.PARSER
            known = list(map(str, action.choices))
            what = f"there is no {'verb ' if verb else ''}{value!r}{meant(str(value), known)}"
            raise argparse.ArgumentError(None if verb else action, f"{what}; there are {', '.join(known)}")


class _Formatter(argparse.HelpFormatter):
    """Help that is read from the top: the usage names what must be given, and the words of an option have bars
    between, as some have commas in them.
    """

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, max_help_position=32, **more)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        needed = [each for each in actions if each.required or not each.option_strings]
        verbs = any(each.nargs == argparse.PARSER for each in actions)
        if prefix is None and not verbs:  # a prefix makes the beginning of the usage of a verb
            needed.insert(0, argparse.Action(["[options]"], "", nargs=0, required=True))
        super().add_usage(usage, needed, (), prefix)

    def add_argument(self, action: argparse.Action) -> None:
        """As it is, and with the space by which verbs are indented, so that the longest fits into its column."""
        super().add_argument(action)
        if action.nargs == argparse.PARSER:
            self._action_max_length += self._indent_increment

    def _metavar_formatter(self, action: argparse.Action, default_metavar: str) -> Any:
        if action.metavar is None and action.choices is not None:
            default_metavar = f"{{{'|'.join(map(str, action.choices))}}}"
            return lambda count: (default_metavar,) * count
        return super()._metavar_formatter(action, default_metavar)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


DECLARED: dict[str, Any] = resources.table("command_line.toml")


def described(name: str, **more: Any) -> Parser:
    """The parser of a command that `resources/command_line.toml` describes, without arguments."""
    declared = DECLARED[name]
    prog = "brokerscope" if name == "window" else f"brokerscope {name}"
    if "exits" in declared:
        more["epilog"] = "\n\n".join(filter(None, (declared["exits"], exits.summary())))
    return Parser(prog=prog, description=declared["about"], **more)


def parser_of(name: str, types: Types | None = None, said: Mapping[str, str] | None = None, **more: Any) -> Parser:
    """As `described`, with all its arguments."""
    parser = described(name, **more)
    arguments(parser, name, types, said)
    return parser


def arguments(
    into: argparse._ActionsContainer, command: str, types: Types | None = None, said: Mapping[str, str] | None = None
) -> None:
    """Add all arguments that the table has for a command, as `argument`."""
    for flag in DECLARED[command]["arguments"]:
        argument(into, f"{command} {flag}", types, said)


def argument(
    into: argparse._ActionsContainer,
    name: str,
    types: Types | None = None,
    said: Mapping[str, str] | None = None,
    **more: Any,
) -> None:
    """Add an argument that the table describes; "serve --http" is the option --http of serve.

    `types` has words for types that only this command knows. Its help names what is `said` in braces.
    """
    declared = _declared(name)
    if "type" in declared:
        declared["type"] = {**TYPES, **(types or {})}[declared["type"]]
    for word, meant_by in (said or {}).items():
        declared["help"] = declared["help"].replace(f"{{{word}}}", meant_by)
    into.add_argument(name.partition(" ")[2], **{**declared, **more})


def _declared(name: str) -> dict[str, Any]:
    command, _, flag = name.partition(" ")
    own = dict(DECLARED[command]["arguments"][flag])
    return {**_declared(own.pop("like")), **own} if "like" in own else own


def about_verb(command: str, verb: str) -> str:
    """What a verb is for, where its operation does not say it; else ""."""
    return str(DECLARED[command].get("verbs", {}).get(verb, ""))


class CommandError(Exception):
    """A command cannot do what it was asked for; one sentence says why, and what to do."""

    def __init__(self, sentence: str, code: Exit = Exit.USAGE) -> None:
        super().__init__(sentence)
        self.code = code


def with_hint(error: BrokerError) -> str:
    if error.code is ErrorCode.MALFORMED_REQUEST:  # where in HTTP's request it is says nothing at a prompt
        return f"{re.sub(' in the (body|path|query)', '', error.about)}."
    hint = _ERRORS["hints"].get(error.code.name)
    return str(error) if hint is None else f"{str(error).rstrip('.')}; {hint}."
