from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.cli.comma_lists import complete_lists
from app.cli.errors import CommandError
from app.cli.folders import folder
from app.cli.numbers import seconds
from app.cli.parser import Command, Parser, with_exits
from app.environment.did_you_mean import meant
from app.environment.exits import Exit
from app.environment.extras import why_missing

LEFT_OUT = ("keys", "hosts")


def command() -> Command:
    parser = Parser(
        prog="brokerscope share",
        description="Write a recorded session as one HTML file: canvas, timeline, figures, events and charts for "
        "every second. It opens with a double click, without an installation or a network. Payloads are not included.",
        **with_exits("The exit code is 3 if the recording is incomplete; the page is written all the same."),
    )
    parser.add_argument("session", type=folder, metavar="SESSION_DIR", help="the folder of a recorded session")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.html", help="the file to write")
    parser.add_argument(
        "--from", type=seconds, dest="from_s", metavar="SECONDS", help="session time at which it begins"
    )
    parser.add_argument("--to", type=seconds, dest="to_s", metavar="SECONDS", help="session time at which it ends")
    parser.add_argument(
        "--without",
        type=_left_out,
        default=(),
        metavar="WHAT",
        help=f"leave these out, too, with commas between: {', '.join(LEFT_OUT)}",
    )
    complete_lists(parser, {"without": LEFT_OUT})
    return parser, run


def run(options: argparse.Namespace) -> int:
    """Make the page and print its path. Raises what keeps it from being made."""
    check_target(options.out)
    return write_page(options.session, options.out, options.from_s, options.to_s, options.without)


def write_page(
    session: Path, out: Path, from_s: float | None = None, to_s: float | None = None, without: tuple[str, ...] = ()
) -> int:
    """Write the page of a session and print its path; the exit code."""
    from app.pages.moments import PagePart
    from app.pages.page import share

    try:
        made = share(session, out, PagePart(from_s, to_s, without))
    except OSError as error:
        raise CommandError(f"{out} cannot be written: {error.strerror or error}.", Exit.REFUSED) from error
    print(made.path)
    for problem in made.problems:
        print(f"brokerscope: the recording is incomplete: {problem}", file=sys.stderr)
    return Exit.NOT_FOUND if made.problems else Exit.DONE


def check_target(out: Path) -> None:
    """Raises CommandError if no page can be made, or none be written there."""
    if missing := why_missing("gui"):
        raise CommandError(missing, Exit.REFUSED)
    if out.is_dir():
        raise CommandError(f"{out} is a folder; name a file in it, such as {out / 'session.html'}.")
    if not out.absolute().parent.is_dir():
        raise CommandError(
            f"There is no folder {out.parent} to write {out.name} into; create it first.", Exit.NOT_FOUND
        )


def _left_out(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in LEFT_OUT:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(LEFT_OUT)}{meant(name, LEFT_OUT)}")
    return names
