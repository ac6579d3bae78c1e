"""Which broker a command means: a data directory, opened for the command, or the wire door of one that runs."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from broker_core import BrokerHost, HostConfig, LogConfig
from broker_core.clients.host import Host
from broker_core.clients.remote.broker import DEFAULT_PORT, RemoteBroker
from broker_core.errors import BrokerError, ErrorCode

BROKER_VARIABLE = "BROKERSCOPE_BROKER"
TOKEN_VARIABLE = "BROKERSCOPE_TOKEN"
LOOPBACK = "127.0.0.1"


def address_of(text: str) -> tuple[str, int]:
    """HOST:PORT, HOST or :PORT; an IPv6 address stands in brackets before its port. For argparse."""
    host, _, port = text.rpartition(":")
    if text.endswith("]") or (":" not in text and not text.isdigit()):
        host, port = text, str(DEFAULT_PORT)
    elif not host and ":" not in text:
        host, port = "", text
    if not port.isdigit() or not 0 < int(port) < 65_536:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.strip("[]") or LOOPBACK, int(port)


def add_target(parser: argparse.ArgumentParser) -> None:
    """The options that say which broker, and how to tell what it says."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--data", type=Path, metavar="DIR", help="a data directory that no broker has open")
    which.add_argument(
        "--broker",
        type=address_of,
        metavar="HOST:PORT",
        help=f"the wire door of a running broker (default: ${BROKER_VARIABLE}, else {LOOPBACK}:{DEFAULT_PORT})",
    )
    parser.add_argument("--token", metavar="TOKEN", help=f"for a broker that asks for one (default: ${TOKEN_VARIABLE})")
    parser.add_argument("--json", action="store_true", help="JSON lines for programs instead of tables for people")


@contextlib.contextmanager
def opened(options: argparse.Namespace) -> Iterator[Host]:
    """The broker that `add_target`'s options mean, closed at the end.

    Raises CONNECTION_LOST, UNAUTHORIZED, DIRECTORY_IN_USE, and UNKNOWN_DIRECTORY's like where there is no directory.
    """
    if options.data is not None:
        if not options.data.is_dir():
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"{options.data} is no directory; brokerscope serve makes one")
        with BrokerHost(options.data, HostConfig(log=LogConfig(durability="fsync"))) as host:
            yield host
        return
    address, port = options.broker or address_of(os.environ.get(BROKER_VARIABLE) or f"{LOOPBACK}:{DEFAULT_PORT}")
    token = options.token or os.environ.get(TOKEN_VARIABLE)
    with RemoteBroker(address, port, token=token, client="brokerscope") as broker:
        yield broker
