"""The command line: the window, a run without one, a report, a picture."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from app.command_line import catalogue
from app.command_line.numbers import above_zero, seconds
from app.display import why_no_window
from app.places import FIRST_SCENARIO, find_scenario
from broker_core.errors import BrokerError
from broker_core.lab.arrivals import ArrivalError
from broker_core.lab.scenario import ScenarioError

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130  # as shells say of what a signal has ended: 128 and its number
EXIT_BROKEN_PIPE = 141
LEAST_SIZE = (960, 640)  # the window's own
MOST_PIXELS = 10_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. What went wrong is one sentence on standard error."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if why := _why_no_command(arguments):
        print(f"brokerscope: {why}", file=sys.stderr)
        return EXIT_ERROR
    parser, run = (COMMANDS[arguments.pop(0)] if arguments and arguments[0] in COMMANDS else _WINDOW)()
    options = parser.parse_args(arguments)
    try:
        code = run(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Who reads has seen enough, as `head` has. What is still in the buffer must not fail at the exit again.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except UnicodeEncodeError as error:
        print(
            f"brokerscope: {error.object[error.start : error.end]!a} cannot be written as {error.encoding}",
            file=sys.stderr,
        )
    except (ScenarioError, ArrivalError, BrokerError) as error:
        print(f"brokerscope: {error}", file=sys.stderr)
    except OSError as error:
        print(f"brokerscope: {error.strerror or error}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
    return EXIT_ERROR


def _why_no_command(arguments: Sequence[str]) -> str:
    """What to say of a command that was mistyped; "" for all else."""
    if not arguments or arguments[0].startswith("-") or arguments[0] in COMMANDS:
        return ""
    close = difflib.get_close_matches(arguments[0], COMMANDS, 1)
    if close:
        with contextlib.suppress(ScenarioError):
            find_scenario(arguments[0])
            return ""
        return f"there is no command {arguments[0]}; did you mean {close[0]}?"
    return ""


Command = tuple[argparse.ArgumentParser, Callable[[argparse.Namespace], int]]


def _speed(text: str) -> float | None:
    return None if text == "max" else above_zero(text)


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1600x1000")
    width, height = int(found[1]), int(found[2])
    if not (LEAST_SIZE[0] <= width <= MOST_PIXELS and LEAST_SIZE[1] <= height <= MOST_PIXELS):
        least = "x".join(map(str, LEAST_SIZE))
        raise argparse.ArgumentTypeError(f"{text} is out of range: the window is at least {least}")
    return width, height


def _scenario_argument(parser: argparse.ArgumentParser, **more: Any) -> None:
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="a YAML file, or the name of a scenario that is shipped", **more
    )


def _window_command() -> Command:
    parser = argparse.ArgumentParser(
        prog="brokerscope",
        description="Open the workbench on a scenario.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="other commands, each with --help:\n"
        "  run           a scenario without a window\n"
        "  open          a recorded session in the window\n"
        "  report        the report of recorded sessions\n"
        "  shot          a picture of the window\n" + catalogue.summary(),
    )
    _scenario_argument(parser, nargs="?", default=FIRST_SCENARIO)
    parser.add_argument("--seed", type=int, help="seed of the random numbers (default: the scenario's)")
    parser.add_argument("--theme", choices=("system", "light", "dark"), default="system")

    def run(options: argparse.Namespace) -> int:
        path = find_scenario(options.scenario)
        return _open_window(
            f"brokerscope run {options.scenario}",
            lambda open_window: open_window(path, seed=options.seed, theme=options.theme),
        )

    return parser, run


def _open_command() -> Command:
    parser = argparse.ArgumentParser(
        prog="brokerscope open", description="Open the workbench on a recorded session, at a moment of it."
    )
    parser.add_argument("session", type=Path, metavar="SESSION_DIR", help="the folder of a recorded session")
    parser.add_argument("--at", type=seconds, default=0.0, metavar="SECONDS", help="session time (default: 0)")
    parser.add_argument("--theme", choices=("system", "light", "dark"), default="system")

    def run(options: argparse.Namespace) -> int:
        from broker_core.session.reader import open_session

        open_session(options.session)
        return _open_window(
            f"brokerscope report {options.session} --out OUT",
            lambda open_window: open_window(
                find_scenario(FIRST_SCENARIO), theme=options.theme, session=options.session, at_s=options.at
            ),
        )

    return parser, run


def _open_window(instead: str, call: Callable[[Callable[..., int]], int]) -> int:
    """`call` with the function that opens the window; where none can be opened, say so, and what to do `instead`."""
    if why := why_no_window():
        print(f"brokerscope: {why}", file=sys.stderr)
        return EXIT_ERROR
    try:
        from app.workbench import open_window  # Qt is loaded by the commands that draw, and no other
    except ImportError as error:
        print(
            f"brokerscope: the window cannot open, for Qt does not load ({error}); install what it names (make run "
            f"does on Debian), or go on without a window: {instead}",
            file=sys.stderr,
        )
        return EXIT_ERROR
    return call(open_window)


def _run_command() -> Command:
    parser = argparse.ArgumentParser(
        prog="brokerscope run",
        description="Run a scenario without a window and record it. The last line of output is a JSON summary.",
    )
    _scenario_argument(parser)
    parser.add_argument("--until", type=seconds, metavar="SECONDS", help="session time at which to stop, inclusive")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the random numbers (default: the scenario's)")
    parser.add_argument(
        "--speed", type=_speed, default=None, metavar="X", help="session seconds per second, or max (default: max)"
    )
    parser.add_argument("--session", type=Path, metavar="DIR", help="folder for the recording (default: a new one)")

    def run(options: argparse.Namespace) -> int:
        from app.headless import run_headless

        summary = run_headless(
            find_scenario(options.scenario),
            until_s=options.until,
            seed=options.seed,
            speed=options.speed,
            folder=options.session,
        )
        print(json.dumps(summary))
        return 0

    return parser, run


def _report_command() -> Command:
    from app.command_line.comma_lists import complete_lists
    from spark_reports.request import LISTS, add_arguments, request_of

    parser = argparse.ArgumentParser(
        prog="brokerscope report", description="Make the report of a recorded session, or of several, with Spark."
    )
    add_arguments(parser)
    complete_lists(parser, LISTS)

    def run(options: argparse.Namespace) -> int:
        from app.report_command import local, make_report

        request = request_of(options)
        places = tuple(map(local, request.sessions))
        return make_report(request._replace(sessions=places, out=local(str(request.out))))

    return parser, run


def _shot_command() -> Command:
    parser = argparse.ArgumentParser(
        prog="brokerscope shot", description="Draw the window as it is at a session time, without a display."
    )
    _scenario_argument(parser)
    parser.add_argument("--at", type=seconds, required=True, metavar="SECONDS", help="session time")
    parser.add_argument("--size", type=_size, default=(1600, 1000), metavar="WxH", help="default: 1600x1000")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the random numbers (default: the scenario's)")
    parser.add_argument("out", type=Path, metavar="OUT.png")

    def run(options: argparse.Namespace) -> int:
        from app.shot import draw

        draw(
            find_scenario(options.scenario),
            at_s=options.at,
            size=options.size,
            theme=options.theme,
            seed=options.seed,
            out=options.out,
        )
        return 0

    return parser, run


_WINDOW = _window_command
COMMANDS: dict[str, Callable[[], Command]] = {
    "run": _run_command,
    "report": _report_command,
    "open": _open_command,
    "shot": _shot_command,
    **catalogue.COMMANDS,
}
