from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from spark_reports.errors import ReportError
from spark_reports.request.assertions import FIGURES, MOST, check, read_file
from spark_reports.request.parts import EVERY, IN_HISTORY, PARTS, in_order

SESSION, COMPARE, HISTORY = "session", "compare", "history"
FORMATS: Final = ("html", "csv", "parquet")
LOCAL = "local[*]"  # all processors of this machine
MOST_COMPARED = 8  # more than a reader can hold side by side; a history takes any number


class Request(NamedTuple):
    """`from_ns` and `to_ns` (excluded) bound each session, None its beginning or end. Only `parts` are computed and
    written. `assertions` are sentences in the language of `assertions`.
    """

    sessions: tuple[str, ...]
    out: str | Path
    mode: str = SESSION
    from_ns: int | None = None
    to_ns: int | None = None
    formats: frozenset[str] = frozenset(FORMATS)
    master: str = LOCAL
    parts: frozenset[str] = EVERY
    assertions: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises `ReportError` if nothing sensible can come of it."""
        if not self.sessions:
            raise ReportError("No session was given: name the folder to report on.")
        if self.mode == SESSION and len(self.sessions) > 1:
            raise ReportError(
                f"{len(self.sessions)} sessions were given: add --compare to see them side by side, or --history for "
                "their trends."
            )
        if self.mode == COMPARE and not 2 <= len(self.sessions) <= MOST_COMPARED:
            raise ReportError(
                f"A comparison takes 2 to {MOST_COMPARED} sessions, and {len(self.sessions)} "
                f"{'was' if len(self.sessions) == 1 else 'were'} given: --history takes any number."
            )
        if len(set(self.sessions)) < len(self.sessions):
            raise ReportError("The same session was given twice: name each one once.")
        if self.from_ns is not None and self.to_ns is not None and self.from_ns >= self.to_ns:
            raise ReportError("The part of the session is empty: --from must be before --to.")
        if not self.formats:
            raise ReportError(f"No format was requested: choose from {', '.join(FORMATS)}.")
        if not self.parts:
            raise ReportError(f"No part was requested: choose from {', '.join(PARTS)}.")
        if self.mode == HISTORY and not self.parts & IN_HISTORY:
            raise ReportError(
                f"A history does not include {', '.join(in_order(self.parts))}: choose from "
                f"{', '.join(in_order(IN_HISTORY))}."
            )
        if self.assertions and self.mode != SESSION:
            raise ReportError("Assertions are checked for one session: request the reports separately.")
        if len(self.assertions) > MOST:
            raise ReportError(f"{len(self.assertions)} assertions are too many: there may be {MOST}.")
        check(self.assertions, self.parts)


def add_arguments(parser: argparse.ArgumentParser, *, with_master: bool = True) -> None:
    parser.add_argument(
        "sessions",
        nargs="+",
        metavar="DIR",
        help="the folder of a recorded session; with --history also folders of sessions",
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="OUT",
        help="the folder to create; an existing report is replaced, anything else is not",
    )
    several = parser.add_mutually_exclusive_group()
    several.add_argument("--compare", action="store_true", help="two or more sessions side by side")
    several.add_argument("--history", action="store_true", help="trends over many sessions")
    for name, when in (("from", "before this session time"), ("to", "at this session time or later")):
        left_out = f"leave out what happened {when}"
        parser.add_argument(f"--{name}", dest=f"{name}_ns", type=seconds, metavar="SECONDS", help=left_out)
    parser.add_argument(
        "--format",
        dest="formats",
        type=partial(_listed, FORMATS),
        default=frozenset(FORMATS),
        metavar="LIST",
        help=f"with commas between: {', '.join(FORMATS)} (default: all)",
    )
    parser.add_argument(
        "--parts",
        type=partial(_listed, tuple(PARTS)),
        default=EVERY,
        metavar="LIST",
        help=f"only these parts of the report, with commas between: {', '.join(PARTS)} (default: all)",
    )
    parser.add_argument(
        "--assert",
        dest="assertions",
        action="append",
        default=[],
        metavar="FIGURE<VALUE",
        help="what must hold, as in 'p99 < 200 ms' or 'lag(\"billing\") < 100'; the exit code is 4 if one does not. "
        f"Figures: {', '.join(figure.name for figure in FIGURES)}",
    )
    parser.add_argument(
        "--assert-file", type=Path, metavar="FILE", help="a file with one such assertion per line; # begins a comment"
    )
    if with_master:
        parser.add_argument("--master", default=LOCAL, metavar="URL", help="any Spark master (default: %(default)s)")


def request_of(options: argparse.Namespace) -> Request:
    """The request that parsed arguments describe. Raises `ReportError` if a file of assertions cannot be read."""
    mode = COMPARE if options.compare else HISTORY if options.history else SESSION
    return Request(
        tuple(map(plain, options.sessions)),
        plain(options.out),
        mode,
        options.from_ns,
        options.to_ns,
        options.formats,
        getattr(options, "master", LOCAL),
        options.parts,
        (*options.assertions, *(read_file(options.assert_file) if options.assert_file else ())),
    )


def plain(location: str) -> str:
    """A folder of this machine as its path, also if it was given as file://...; any other URL as it is."""
    return re.sub("^file:(//)?(?=/)", "", location)


def arguments_of(request: Request) -> list[str]:
    """The command line that describes `request`: `request_of` of it is the same."""
    found = [*request.sessions, "--out", str(request.out), "--format", ",".join(sorted(request.formats))]
    found += ["--parts", ",".join(in_order(request.parts))]
    if request.mode != SESSION:
        found.append(f"--{request.mode}")
    for name, value_ns in (("--from", request.from_ns), ("--to", request.to_ns)):
        if value_ns is not None:
            found += [name, f"{value_ns // 10**9}.{value_ns % 10**9:09d}"]
    for text in request.assertions:
        found += [f"--assert={text}"]  # one word: it may begin with a dash
    return [*found, "--master", request.master]


def seconds(text: str) -> int:
    """Seconds of session time as whole nanoseconds, exactly."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(-1)
    if not value.is_finite() or not 0 <= value < Decimal(10**9):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, 0 or more")
    return int(value * 10**9)


def _listed(known: Sequence[str], text: str) -> frozenset[str]:
    found = frozenset(name.strip().lower() for name in text.split(",") if name.strip())
    unknown = sorted(found - set(known))
    if unknown or not found:
        verb = "are" if len(unknown) > 1 else "is"
        raise argparse.ArgumentTypeError(f"{', '.join(unknown) or 'nothing'} {verb} not among {', '.join(known)}")
    return found
