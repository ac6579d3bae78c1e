from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from app.cli.output import print_json, print_rows
from app.cli.parser import Command, CommandError, arguments, described
from app.environment.exits import exit_of
from app.environment.paths import deeds_file
from broker_core.errors import BrokerError
from broker_core.events import EventKind
from broker_core.guarded.deeds import Deed, deed_of
from broker_core.observation.deed_journal import DeedJournal
from broker_core.recording.reader import open_session


def command() -> Command:
    parser = described("deeds")
    arguments(parser, "deeds")
    return parser, _run


def _run(options: argparse.Namespace) -> int:
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
    print_rows(rows, options, none="Nothing was done.")
    return 0


def recorded_deeds(session: Path) -> list[Deed]:
    """Raises NOT_A_SESSION and as a reader does."""
    done = (event for event in open_session(session).index.events() if event.kind is EventKind.USER_ACTION)
    return [deed for event in done if (deed := deed_of(event.detail)) is not None]
