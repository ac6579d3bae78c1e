"""Which broker a command means: a data directory, opened for the command, or the HTTP listener of one that runs."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from app.cli.errors import CommandError, with_hint
from app.cli.folders import folder
from app.cli.signals import ended_by_signals
from app.cli.tokens import add_token
from app.environment.exits import Exit, exit_of
from broker_core import BrokerHost, HostConfig, LogConfig
from broker_core.clients.host import Host
from broker_core.engine.data_directory import is_data_directory
from broker_core.errors import BrokerError

BROKER_VARIABLE = "BROKERSCOPE_BROKER"
LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8_080


def address_of(text: str) -> tuple[str, int]:
    """HOST:PORT, HOST or :PORT; an IPv6 address stands in brackets before its port. For argparse."""
    host, _, port = text.rpartition(":")
    if text.endswith("]") or (":" not in text and not text.isdigit()):
        host, port = text, str(DEFAULT_PORT)
    elif not host and ":" not in text:
        host, port = "", text
    if not port.isdigit() or not 0 < int(port) < 65_536:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, HOST or :PORT")
    return host.strip("[]") or LOOPBACK, int(port)


def add_target(parser: argparse.ArgumentParser) -> None:
    """The options that say which broker, and how to tell what it says."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--data", type=folder, metavar="DIR", help="a data directory that no broker has open")
    which.add_argument(
        "--broker",
        type=address_of,
        metavar="HOST:PORT",
        help=f"the HTTP listener of a running broker (default: ${BROKER_VARIABLE}, else {LOOPBACK}:{DEFAULT_PORT})",
    )
    add_token(parser, "for a broker that asks for a token")
    parser.add_argument("--json", action="store_true", help="JSON lines for programs instead of tables for people")


def check_directory(path: Path) -> None:
    """Raises CommandError where `path` is something else than an empty folder or a broker's: it is not filled."""
    if path.exists() and not path.is_dir():
        raise CommandError(f"{path} is a file; a data directory is a folder.")
    if path.is_dir() and not is_data_directory(path) and any(each.name != "lost+found" for each in path.iterdir()):
        raise CommandError(f"{path} holds other things than a broker's; name an empty folder, or a new one.")


@contextlib.contextmanager
def opened(options: argparse.Namespace, *, read_only: bool = False) -> Iterator[Host]:
    """The broker that `add_target`'s options mean, closed at the end. Raises CommandError for what it refuses.

    With `read_only` a data directory stays as it is, so that it can be looked into on a full disk, too.
    """
    try:
        with ended_by_signals(), _host(options, read_only) as host:
            yield host
    except BrokerError as error:
        raise CommandError(with_hint(error), exit_of(error)) from error


def counts_since_start(host: Host) -> bool:
    """False where the broker was opened for this command alone: it has counted nothing."""
    return False


def _host(options: argparse.Namespace, read_only: bool) -> contextlib.AbstractContextManager[Host]:
    if options.data is not None:
        if not options.data.exists():
            told = f"{options.data} is not there; brokerscope serve --data {options.data} makes it."
            raise CommandError(told, Exit.NOT_FOUND)
        check_directory(options.data)
        read_only = read_only and is_data_directory(options.data)  # an empty folder becomes one
        return BrokerHost(options.data, HostConfig(log=LogConfig(durability="fsync")), read_only=read_only)
    raise CommandError("--broker speaks HTTP soon; use --data DIR until then.", Exit.UNREACHABLE)
