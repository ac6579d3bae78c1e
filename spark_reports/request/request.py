from __future__ import annotations

import argparse
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from broker_core.recording.schema import SESSION_FILE
from spark_reports.errors import ReportError
from spark_reports.request.assertions import FIGURES, MAX_ASSERTIONS, check, read_file
from spark_reports.request.parts import EVERY, PARTS, in_order

FORMATS: Final = ("html", "csv", "parquet")


class Request(NamedTuple):
    """`from_ns` and `to_ns` (excluded) bound the session, None its beginning or end. Only `parts` are computed and
    written. `assertions` are sentences in the language of `assertions`.
    """

    session: Path
    out: Path
    from_ns: int | None = None
    to_ns: int | None = None
    formats: frozenset[str] = frozenset(FORMATS)
    parts: frozenset[str] = EVERY
    assertions: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises `ReportError` if nothing sensible can come of it."""
        if self.from_ns is not None and self.to_ns is not None and self.from_ns >= self.to_ns:
            raise ReportError("The part of the session is empty: --from must be before --to.")
        if not self.formats:
            raise ReportError(f"No format was requested: choose from {', '.join(FORMATS)}.")
        if not self.parts:
            raise ReportError(f"No part was requested: choose from {', '.join(PARTS)}.")
        if len(self.assertions) > MAX_ASSERTIONS:
            raise ReportError(f"{len(self.assertions)} assertions are too many: there may be {MAX_ASSERTIONS}.")
        check(self.assertions, self.parts)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", type=Path, metavar="DIR", help="the folder of a recorded session")
    # To be refused in a sentence.
    parser.add_argument("others", type=Path, nargs="*", metavar="MORE", help=argparse.SUPPRESS)
    parser.add_argument(
        "--out",
        required=True,
        metavar="OUT",
        help="the folder to create; an existing report is replaced, anything else is not",
    )
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


def request_of(options: argparse.Namespace) -> Request:
    """The request that parsed arguments describe. Raises `ReportError` for several sessions, and if a file of
    assertions cannot be read.
    """
    return Request(
        _only([options.session.absolute(), *options.others]),
        Path(options.out).absolute(),
        options.from_ns,
        options.to_ns,
        options.formats,
        options.parts,
        (*options.assertions, *(read_file(options.assert_file) if options.assert_file else ())),
    )


def _only(given: Sequence[Path]) -> Path:
    inside = [] if (given[0] / SESSION_FILE).exists() else sorted(given[0].glob(f"*/{SESSION_FILE}"))
    count = max(len(given), len(inside))
    if count > 1:
        where = f" in {given[0]}" if len(given) == 1 else ""
        raise ReportError(
            f"There are {count} sessions{where}, and a report is of one: name one of them. Two are compared in the "
            "window, with Session, Compare two sessions."
        )
    return given[0]


def arguments_of(request: Request) -> list[str]:
    """The command line that describes `request`: `request_of` of it is the same."""
    found = [str(request.session), "--out", str(request.out), "--format", ",".join(sorted(request.formats))]
    found += ["--parts", ",".join(in_order(request.parts))]
    for name, value_ns in (("--from", request.from_ns), ("--to", request.to_ns)):
        if value_ns is not None:
            found += [name, f"{value_ns // 10**9}.{value_ns % 10**9:09d}"]
    # One word each: it may begin with a dash.
    return [*found, *(f"--assert={text}" for text in request.assertions)]


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
        advice = "; for a PDF, print the html page from a browser" if known is FORMATS and "pdf" in unknown else ""
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown) or 'nothing'} {verb} not among {', '.join(known)}{advice}"
        )
    return found
