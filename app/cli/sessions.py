from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.cli.output import print_json, print_rows
from app.cli.parser import Command, CommandError, parser_of
from app.environment.did_you_mean import meant
from app.environment.exits import Exit, exit_of
from app.environment.extras import why_missing
from app.environment.paths import deeds_file
from broker_core.errors import BrokerError
from broker_core.events import EventKind
from broker_core.guarded.deeds import Deed, deed_of
from broker_core.observation.deed_journal import DeedJournal
from broker_core.recording.reader import open_session
from resources.account import STATES


def audit(options: argparse.Namespace) -> int:
    """Prints the account of the session. Raises `BrokerError` if it is no session."""
    from broker_core.recording.judged import audited  # loads what the other commands do not need

    found, judged = audited(options.session, options.at_s)
    if options.json:
        print(json.dumps(found, ensure_ascii=False))
    else:
        _print(found, options)
    if not judged:
        return Exit.NOT_FOUND
    return Exit.DONE if all(verdict["holds"] for verdict in found["verdicts"].values()) else Exit.PARTLY


_ALWAYS = ("Source", "Reader", "Published")  # others if there are any


def _print(found: dict[str, Any], options: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = []
    titles = {"source": "Source", "reader": "Reader", "published": "Published", "redriven": "Redriven"}
    titles |= {name: state.title for name, state in STATES.items()}
    for reader in found["readers"]:
        flat = reader | {
            "skipped_by_reset": reader["skipped"]["by a reset"],
            "skipped_by_reader": reader["skipped"]["by its reader"],
            "before_it_began": reader["skipped"]["before it began"],
        }
        rows.append({title: flat.get(name) or 0 for name, title in titles.items()})
        rows[-1] |= {"Source": reader["source"], "Reader": reader["reader"] or "nobody"}
    shown = [title for title in titles.values() if title in _ALWAYS or any(row[title] for row in rows)]
    print_rows([{title: row[title] for title in shown} for row in rows], options, none="Nobody reads anything.")
    print()
    judged = [verdict for verdict in found["verdicts"].values() if verdict["holds"] is not None]
    if not judged:
        print("nothing is judged")
    for verdict in judged:
        print(verdict["answer"])
        for sentence in verdict["because"]:
            print(f"- {sentence}")
    again = sum(each["count"] for each in found["delivered_again"])
    fetched = sum(each["count"] for each in found["fetched_again"])
    print(f"delivered again: {again}; fetched again: {fetched}")
    for sentence in found["not_known"]:
        print(f"Not known: {sentence}")


def list_deeds(options: argparse.Namespace) -> int:
    try:
        deeds = DeedJournal(deeds_file()).read() if options.session is None else recorded_deeds(options.session)
    except BrokerError as error:
        raise CommandError(str(error), exit_of(error)) from error
    if options.json:
        for deed in deeds:
            print_json(deed)
        return 0
    rows = [
        {
            "When": datetime.fromtimestamp(deed.at_ms / 1_000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S"),
            "Cluster": deed.plan.cluster,
            "Deed": deed.sentence,
        }
        for deed in deeds
    ]
    print_rows(rows, options, none="Nothing was done to a cluster.")
    return 0


def recorded_deeds(session: Path) -> list[Deed]:
    """Raises NOT_A_SESSION and as a reader does."""
    done = (event for event in open_session(session).index.events() if event.kind is EventKind.USER_ACTION)
    return [deed for event in done if (deed := deed_of(event.detail)) is not None]


LEFT_OUT = ("keys", "hosts")


def share_command() -> Command:
    parser = parser_of("share", {"parts": _left_out}, {"known": ", ".join(LEFT_OUT)})
    parser.set_defaults(without=())
    return parser, _share


def _share(options: argparse.Namespace) -> int:
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


def check_target(out: Path, like: str = "session.html") -> None:
    """Raises CommandError if what needs Qt cannot be made, or no file be written there."""
    if missing := why_missing("gui"):
        raise CommandError(missing, Exit.REFUSED)
    if out.is_dir():
        raise CommandError(f"{out} is a folder; name a file in it, such as {out / like}.")
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
