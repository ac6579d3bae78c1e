"""The window: on a scenario, a recorded session or a broker elsewhere, or as a picture."""

from __future__ import annotations

import argparse
import builtins
import contextlib
import gc
import re
import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from app.cli.parser import DECLARED, Command, CommandError, argument, described, parser_of
from app.environment import exits
from app.environment.exits import Exit
from app.environment.extras import why_missing
from app.environment.paths import FIRST_SCENARIO, find_scenario
from app.environment.system_libraries import why_no_drawing, why_no_window
from broker_core.errors import BrokerError
from broker_core.version import program_version
from widgets.window_layout import LEAST_SIZE

if TYPE_CHECKING:
    from broker_core.observation.peer import Peer

MOST_PIXELS = 10_000


def window_command() -> Command:
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


def open_command() -> Command:
    parser = parser_of("open")

    def run(options: argparse.Namespace) -> int:
        from broker_core.recording.judged import check_moment
        from broker_core.recording.reader import open_session

        check_moment("--at", options.at, open_session(options.session).metadata.duration_ns)
        instead = f"brokerscope report {options.session} --out OUT"
        return _open_window(instead, theme=options.theme, session=options.session, at_s=options.at)

    return parser, run


def attach_command() -> Command:
    from app.cli.watch import add_elsewhere, peer_of

    parser = described("attach")
    add_elsewhere(parser)
    argument(parser, "window --theme")

    def run(options: argparse.Namespace) -> int:
        return _open_attached(f"brokerscope watch {options.broker}", options, peer_of)

    return parser, run


def between_command() -> Command:
    from app.cli.between import between_parser, between_peer, run_between

    parser = between_parser()

    def run_or_show(options: argparse.Namespace) -> int:
        if options.without_window or options.json or options.until is not None:
            return run_between(options)
        return _open_attached(f"brokerscope between {options.broker} --without-window", options, between_peer)

    return parser, run_or_show


def shot_command() -> Command:
    parser = parser_of("shot", {"size": _size})

    def run(options: argparse.Namespace) -> int:
        from app.cli.sessions import check_target

        if options.out.suffix.lower() not in {"", ".png"}:
            raise CommandError(f"The picture is a PNG, so {options.out.name} must end with .png.")
        check_target(options.out, "window.png")
        if missing := why_no_drawing():
            raise CommandError(missing, Exit.REFUSED)
        path = find_scenario(options.scenario)
        with _ended_by_interrupts():
            from app.cli.screenshot import draw

            draw(path, at_s=options.at, size=options.size, theme=options.theme, seed=options.seed, out=options.out)
        print(options.out)
        return 0

    return parser, run


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
    if why := why_missing("gui") or why_no_window(instead):
        raise CommandError(why, Exit.REFUSED)
    with _ended_by_interrupts(), _without_collections() as collect_again:
        plain_import = builtins.__import__
        try:
            # Qt is loaded by the commands that draw, and no other.
            import PySide6.QtCore  # noqa: F401

            # PySide's import reads the source of every module for a `from __feature__`: a tenth of the start.
            builtins.__import__ = plain_import
            from app.shell.workbench import open_window
        except ImportError as error:
            told = f"the window cannot open because Qt does not load ({error}); install what is missing (on Debian, "
            raise CommandError(
                f"{told}make run does), or continue without a window: {instead}", Exit.REFUSED
            ) from error

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
