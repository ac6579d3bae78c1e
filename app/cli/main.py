from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from app.cli.parser import DECLARED, Command, CommandError, parser_of
from app.cli.signals import exit_of_interrupt
from app.environment.did_you_mean import meant
from app.environment.exits import Exit, exit_of
from app.environment.paths import SCENARIO_SUFFIXES, NoSuchScenario, find_scenario, shipped_scenarios
from broker_core.errors import ArrivalError, BrokerError, ScenarioError


def main(argv: Sequence[str] | None = None) -> int:
    _open_what_is_closed()
    try:
        try:
            return _run(list(sys.argv[1:] if argv is None else argv))
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt as error:
        return exit_of_interrupt(error)
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does.
        _drop_output()
        return Exit.BROKEN_PIPE
    except Exception as error:
        if (interrupt := _interrupt_behind(error)) is not None:
            return exit_of_interrupt(interrupt)
        sentence, code = _told(error)
        print(f"brokerscope: {sentence}", file=sys.stderr)
        return code


def _interrupt_behind(error: BaseException) -> KeyboardInterrupt | None:
    """The interrupt that caused `error`, if one did: code that it interrupts may raise an error of its own."""
    before = error.__context__
    return before if before is None or isinstance(before, KeyboardInterrupt) else _interrupt_behind(before)


def _told(error: Exception) -> tuple[str, Exit]:
    """The sentence for `error`, and how the command ends; what is a bug is raised again."""
    match error:
        case CommandError():
            return str(error), error.code
        case BrokerError():
            return str(error), exit_of(error)
        case ScenarioError() | ArrivalError():
            return str(error), Exit.NOT_FOUND if isinstance(error, NoSuchScenario) else Exit.USAGE
        case UnicodeEncodeError():
            return f"{error.object[error.start : error.end]!a} cannot be written as {error.encoding}", Exit.USAGE
        case OSError():
            _drop_output()
            sentence = f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")
            return sentence, Exit.NOT_FOUND if isinstance(error, FileNotFoundError) else Exit.REFUSED
    raise error


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        parser, run = COMMANDS[arguments.pop(0)]()
    else:
        from app.cli.window import window_command  # loads what other commands do not need

        _check_first(arguments)
        parser, run = window_command()
    return run(parser.parse_args(arguments))


def _check_first(arguments: Sequence[str]) -> None:
    """Raises CommandError if the first word is no command, and no scenario either."""
    if not arguments or arguments[0].startswith("-"):
        return
    word = arguments[0]
    if (Path(word) / "session.json").is_file():
        raise CommandError(f"{word} is a recorded session; brokerscope open {word} shows it.")
    try:
        find_scenario(word)
        return
    except NoSuchScenario:
        if Path(word).suffix in SCENARIO_SUFFIXES:
            raise
    near = meant(word, [*COMMANDS, *(path.stem for path in shipped_scenarios()), "--help", "--version"])
    raise CommandError(
        f"{word} is neither a command nor a scenario{near}; the commands are {', '.join(COMMANDS)}, and a scenario is "
        "a YAML file or a name listed by brokerscope scenarios list."
    )


def _open_what_is_closed() -> None:
    """Open streams that the shell has closed, so that no other code has to check for them."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _drop_output() -> None:
    """Makes sure that flushing at the exit does not fail again if standard output cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _imported(name: str) -> Command:
    """The command that `resources/command_line.toml` names, imported when it is asked for."""
    declared = DECLARED["commands"][name]
    module = import_module(f"app.cli.{declared['module']}")
    if "run" in declared:
        return parser_of(name), getattr(module, declared["run"])
    made: Command = getattr(module, declared.get("function", "command"))()
    return made


COMMANDS: dict[str, Callable[[], Command]] = {name: partial(_imported, name) for name in DECLARED["commands"]}
