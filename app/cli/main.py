from __future__ import annotations

import argparse
import builtins
import contextlib
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.parser import DECLARED, Command, CommandError, argument, arguments, described, parser_of
from app.cli.signals import exit_of_interrupt
from app.environment import exits
from app.environment.did_you_mean import meant
from app.environment.exits import Exit, exit_of
from app.environment.paths import FIRST_SCENARIO, SCENARIO_SUFFIXES, NoSuchScenario, find_scenario, shipped_scenarios
from app.environment.system_libraries import why_missing, why_no_drawing, why_no_window
from broker_core.errors import ArrivalError, BrokerError, ScenarioError
from broker_core.version import program_version

if TYPE_CHECKING:
    from broker_core.observation.peer import Peer

LEAST_SIZE = (960, 640)  # the window's own
MOST_PIXELS = 10_000


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
        _check_first(arguments)
        parser, run = _window_command()
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


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1600x1000")
    width, height = int(found[1]), int(found[2])
    if not (LEAST_SIZE[0] <= width <= MOST_PIXELS and LEAST_SIZE[1] <= height <= MOST_PIXELS):
        least = "x".join(map(str, LEAST_SIZE))
        raise argparse.ArgumentTypeError(
            f"{text} is not a possible window size, from {least} to {MOST_PIXELS}x{MOST_PIXELS}"
        )
    return width, height


def _window_command() -> Command:
    summary = "\n".join(f"  {name:<14}{each['brief']}" for name, each in DECLARED["commands"].items())
    epilog = f"other commands, each with --help:\n{summary}\n\n{exits.summary()}"
    parser = parser_of("window", epilog=epilog)
    parser.set_defaults(scenario=FIRST_SCENARIO)

    def run(options: argparse.Namespace) -> int:
        if options.version:
            print(f"brokerscope {program_version()}")
            return 0
        path = find_scenario(options.scenario)
        return _open_window(f"brokerscope run {options.scenario}", path=path, seed=options.seed, theme=options.theme)

    return parser, run


def _open_command() -> Command:
    parser = parser_of("open")

    def run(options: argparse.Namespace) -> int:
        from broker_core.recording.reader import open_session

        open_session(options.session)
        instead = f"brokerscope report {options.session} --out OUT"
        return _open_window(instead, theme=options.theme, session=options.session, at_s=options.at)

    return parser, run


def _attach_command() -> Command:
    from app.cli.watch import add_elsewhere, peer_of

    parser = described("attach")
    add_elsewhere(parser)
    argument(parser, "window --theme")

    def run(options: argparse.Namespace) -> int:
        return _open_attached(f"brokerscope watch {options.broker}", options, peer_of)

    return parser, run


def _between_command() -> Command:
    from app.cli.watch import between_parser, between_peer, run_between

    parser = between_parser()

    def run_or_show(options: argparse.Namespace) -> int:
        if options.without_window or options.json or options.until is not None:
            return run_between(options)
        return _open_attached(f"brokerscope between {options.broker} --without-window", options, between_peer)

    return parser, run_or_show


def _open_attached(instead: str, options: argparse.Namespace, peer_of: Callable[[argparse.Namespace], Peer]) -> int:
    from app.cli.watch import refused

    def attach() -> Any:
        from app.sessions.observed import attached

        try:
            return attached(peer_of(options), folder=options.session, hides_hosts=bool(options.without))
        except BrokerError as error:
            raise refused(options, error) from error

    return _open_window(instead, theme=options.theme, attach=attach)


def _open_window(instead: str, **what: Any) -> int:
    """Open the window on `what`; if none can open, print why, and the command `instead`."""
    if why := why_missing("gui") or why_no_window():
        print(f"brokerscope: {why}", file=sys.stderr)
        return Exit.REFUSED
    with _ended_by_interrupts(), _without_collections() as collect_again:
        plain_import = builtins.__import__
        try:
            # Qt is loaded by the commands that draw, and no other.
            import PySide6.QtCore  # noqa: F401

            # PySide's import reads the source of every module for a `from __feature__`: a tenth of the start.
            builtins.__import__ = plain_import
            from app.shell.workbench import open_window
        except ImportError as error:
            print(
                f"brokerscope: the window cannot open because Qt does not load ({error}); install what is missing (on "
                f"Debian, make run does), or continue without a window: {instead}",
                file=sys.stderr,
            )
            return Exit.REFUSED

        return open_window(**what, shown=collect_again)


@contextlib.contextmanager
def _without_collections() -> Iterator[Callable[[], object]]:
    """No garbage is looked for until what this gives is called: a sixth of the start, for modules that all stay."""
    gc.disable()
    try:
        yield gc.enable
    finally:
        gc.enable()


@contextlib.contextmanager
def _ended_by_interrupts() -> Iterator[None]:
    """Ctrl+C ends the process at once: Qt drops or replaces a KeyboardInterrupt that is raised in its callbacks."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _report_command() -> Command:
    from spark_reports.errors import ReportError
    from spark_reports.request.request import add_arguments, request_of

    parser = described("report")
    add_arguments(parser)
    arguments(parser, "report")

    def run(options: argparse.Namespace) -> int:
        from app.cli.report import make_report
        from app.reports.warm_spark import SharedSpark

        try:
            request = request_of(options)
        except ReportError as error:
            print(f"brokerscope: {error}", file=sys.stderr)
            return 2
        return make_report(request, SharedSpark() if options.warm else None)

    return parser, run


def _shot_command() -> Command:
    parser = parser_of("shot", {"size": _size})

    def run(options: argparse.Namespace) -> int:
        if options.out.suffix.lower() not in {"", ".png"}:
            raise CommandError(f"The picture is a PNG, so {options.out.name} must end with .png.")
        if missing := why_missing("gui") or why_no_drawing():
            raise CommandError(missing, Exit.REFUSED)
        path = find_scenario(options.scenario)
        with _ended_by_interrupts():
            from app.cli.screenshot import draw

            draw(path, at_s=options.at, size=options.size, theme=options.theme, seed=options.seed, out=options.out)
        return 0

    return parser, run


def _imported(module: str, function: str) -> Command:
    made: Command = getattr(import_module(f"app.cli.{module}"), function)()
    return made


#: Those that need no window are imported when they are asked for.
COMMANDS: dict[str, Callable[[], Command]] = {
    "report": _report_command,
    "open": _open_command,
    "attach": _attach_command,
    "between": _between_command,
    "shot": _shot_command,
    **{
        name: partial(_imported, each["module"], each.get("function", "command"))
        for name, each in DECLARED["commands"].items()
        if "module" in each
    },
}
