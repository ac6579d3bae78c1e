from __future__ import annotations

import argparse
import builtins
import contextlib
import gc
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from app.cli import commands
from app.cli.errors import CommandError
from app.cli.folders import folder
from app.cli.numbers import above_zero, integer, or_word, seconds
from app.cli.parser import Command, Parser, with_exits
from app.cli.signals import exit_of_interrupt
from app.environment import exits
from app.environment.did_you_mean import meant
from app.environment.exits import Exit, exit_of
from app.environment.extras import why_missing
from app.environment.paths import FIRST_SCENARIO, SCENARIO_SUFFIXES, NoSuchScenario, find_scenario, shipped_scenarios
from app.environment.system_libraries import why_no_drawing, why_no_window
from broker_core.errors import ArrivalError, BrokerError, ScenarioError
from broker_core.version import program_version

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
    with contextlib.suppress(ScenarioError):
        find_scenario(word)
        return
    if (Path(word) / "session.json").is_file():
        raise CommandError(f"{word} is a recorded session; brokerscope open {word} shows it.")
    if Path(word).is_dir():
        raise CommandError(
            f"{word} is a folder; a scenario is a YAML file or a name listed by brokerscope scenarios list."
        )
    if Path(word).suffix in SCENARIO_SUFFIXES:
        raise CommandError(
            f"There is no file {word}; brokerscope scenarios list shows the bundled scenarios.", Exit.NOT_FOUND
        )
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
    """Where standard output cannot be written, make sure that flushing it at the exit does not fail again."""
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


def _scenario_argument(parser: argparse.ArgumentParser, **more: Any) -> None:
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="a YAML file, or a name that brokerscope scenarios list shows", **more
    )
    parser.add_argument(
        "--seed", type=integer, metavar="N", help="seed of the random numbers (default: the scenario's)"
    )


def _window_command() -> Command:
    parser = Parser(
        prog="brokerscope",
        description="Open the workbench on a scenario.",
        epilog="other commands, each with --help:\n"
        "  run           a scenario without a window\n"
        "  open          a recorded session in the window\n"
        "  attach        a broker that runs elsewhere in the window\n"
        "  report        the report of recorded sessions\n"
        "  shot          a picture of the window\n" + commands.summary() + "\n\n" + exits.summary(),
    )
    _scenario_argument(parser, nargs="?", default=FIRST_SCENARIO)
    parser.add_argument(
        "--theme", choices=("system", "light", "dark"), default="system", help="colours (default: system)"
    )

    parser.add_argument("--version", action="store_true", help="print the version and exit")

    def run(options: argparse.Namespace) -> int:
        if options.version:
            print(f"brokerscope {program_version()}")
            return 0
        path = find_scenario(options.scenario)
        return _open_window(f"brokerscope run {options.scenario}", path=path, seed=options.seed, theme=options.theme)

    return parser, run


def _open_command() -> Command:
    parser = Parser(prog="brokerscope open", description="Open the workbench on a recorded session, at a given moment.")
    parser.add_argument("session", type=folder, metavar="SESSION_DIR", help="the folder of a recorded session")
    parser.add_argument("--at", type=seconds, default=0.0, metavar="SECONDS", help="session time to show (default: 0)")
    parser.add_argument(
        "--theme", choices=("system", "light", "dark"), default="system", help="colours (default: system)"
    )

    def run(options: argparse.Namespace) -> int:
        from broker_core.recording.reader import open_session

        open_session(options.session)
        instead = f"brokerscope report {options.session} --out OUT"
        return _open_window(instead, theme=options.theme, session=options.session, at_s=options.at)

    return parser, run


def _attach_command() -> Command:
    from app.cli.watch import add_elsewhere, peer_of, refused

    parser = Parser(
        prog="brokerscope attach",
        description="Open the workbench on a broker that runs elsewhere: one started with brokerscope serve, or a "
        "Kafka cluster, which is only read. The broker keeps running when the window is closed.",
        **with_exits(),
    )
    add_elsewhere(parser)
    parser.add_argument(
        "--theme", choices=("system", "light", "dark"), default="system", help="colours (default: system)"
    )

    def run(options: argparse.Namespace) -> int:
        def attach() -> Any:
            from app.sessions.observed import attached

            try:
                return attached(peer_of(options), folder=options.session, hides_hosts=bool(options.without))
            except BrokerError as error:
                raise refused(options, error) from error

        return _open_window(f"brokerscope watch {options.broker}", theme=options.theme, attach=attach)

    return parser, run


def _open_window(instead: str, **what: Any) -> int:
    """Open the window on `what`; if none can open, print why, and the command `instead`."""
    if why := why_missing("gui") or why_no_window():
        print(f"brokerscope: {why}", file=sys.stderr)
        return Exit.REFUSED
    with _ended_by_interrupts(), _without_collections() as collect_again:
        import_module = builtins.__import__
        try:
            # Qt is loaded by the commands that draw, and no other; first what is quick, so that something is seen.
            from app.shell.opening import show_opening

            # PySide's import reads the source of every module for a `from __feature__`: a tenth of the start.
            builtins.__import__ = import_module
            opening = show_opening()
            from app.shell.workbench import open_window
        except ImportError as error:
            print(
                f"brokerscope: the window cannot open because Qt does not load ({error}); install what is missing (on "
                f"Debian, make run does), or continue without a window: {instead}",
                file=sys.stderr,
            )
            return Exit.REFUSED

        def shown() -> None:
            opening.close()
            collect_again()

        return open_window(**what, shown=shown)


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


def _run_command() -> Command:
    parser = Parser(
        prog="brokerscope run",
        description="Run a scenario without a window and record it. The last line of output is a JSON summary.",
    )
    _scenario_argument(parser)
    parser.add_argument("--until", type=seconds, metavar="SECONDS", help="stop at this session time, inclusive")
    parser.add_argument(
        "--speed", type=or_word("max", above_zero), metavar="X", help="session seconds per second, or max (default)"
    )
    parser.add_argument("--session", type=folder, metavar="DIR", help="folder for the recording (default: a new one)")

    def run(options: argparse.Namespace) -> int:
        from app.cli.headless import run_headless

        path, until_s, speed = find_scenario(options.scenario), options.until, options.speed
        summary = run_headless(path, until_s=until_s, seed=options.seed, speed=speed, folder=options.session)
        print(json.dumps(summary))
        return 0

    return parser, run


def _report_command() -> Command:
    from app.cli.comma_lists import complete_lists
    from spark_reports.errors import ReportError
    from spark_reports.request import LISTS, add_arguments, request_of

    parser = Parser(
        prog="brokerscope report",
        description="Make a report of one or several recorded sessions, with Spark.",
        **with_exits(
            "A report that is made ends with 3 if the recording is incomplete,\n"
            "and with 4 if an assertion does not hold."
        ),
    )
    add_arguments(parser)
    parser.add_argument(
        "--warm",
        action="store_true",
        help="keep Spark running for 15 minutes, so that the next report need not start it",
    )
    complete_lists(parser, LISTS)

    def run(options: argparse.Namespace) -> int:
        from app.cli.report import local, make_report
        from app.reports.warm_spark import SharedSpark

        try:
            request = request_of(options)
        except ReportError as error:
            print(f"brokerscope: {error}", file=sys.stderr)
            return 2
        places = tuple(map(local, request.sessions))
        wanted = request._replace(sessions=places, out=local(str(request.out)))
        return make_report(wanted, SharedSpark() if options.warm else None)

    return parser, run


def _shot_command() -> Command:
    parser = Parser(
        prog="brokerscope shot", description="Draw the window as it looks at a session time, without a display."
    )
    _scenario_argument(parser)
    parser.add_argument("--at", type=seconds, required=True, metavar="SECONDS", help="the session time to draw")
    parser.add_argument(
        "--size", type=_size, default=(1600, 1000), metavar="WxH", help="of the picture, in pixels (default: 1600x1000)"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="colours (default: light)")
    parser.add_argument("out", type=Path, metavar="OUT.png", help="the file to write")

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


COMMANDS: dict[str, Callable[[], Command]] = {
    "run": _run_command,
    "report": _report_command,
    "open": _open_command,
    "attach": _attach_command,
    "shot": _shot_command,
    **commands.COMMANDS,
}
