from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.cli.parser import Command, CommandError, parser_of
from app.environment.did_you_mean import meant
from app.environment.exits import Exit
from app.environment.system_libraries import why_missing

LEFT_OUT = ("keys", "hosts")


def command() -> Command:
    parser = parser_of("share", {"parts": _left_out}, {"known": ", ".join(LEFT_OUT)})
    parser.set_defaults(without=())
    return parser, run


def run(options: argparse.Namespace) -> int:
    check_target(options.out)
    return write_page(
        options.session, options.out, options.from_s, options.to_s, options.without, findings_in=options.report
    )


def write_page(
    session: Path,
    out: Path,
    from_s: float | None = None,
    to_s: float | None = None,
    without: tuple[str, ...] = (),
    findings_in: Path | None = None,
) -> int:
    """Write the page of a session and print its path; the exit code."""
    from app.pages.moments import PagePart
    from app.pages.page import share

    try:
        made = share(session, out, PagePart(from_s, to_s, without), findings_in=findings_in)
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
