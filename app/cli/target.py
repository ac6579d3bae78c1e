"""Which broker a command means: a data directory, opened for the command, or the HTTP listener of one that runs."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

from app.cli.errors import CommandError, with_hint
from app.cli.folders import folder
from app.cli.signals import ended_by_signals
from app.cli.waiting import note
from app.environment.exits import Exit, exit_of
from broker_core import BrokerHost, HostConfig, HttpBroker, LogConfig
from broker_core.clients.http_broker import checked_url
from broker_core.engine.data_directory import is_data_directory
from broker_core.errors import BrokerError, ConfigError
from broker_core.observation.kafka.config import addresses, connection_config, is_cluster
from broker_core.operations.http_form import DEFAULT_PORT

NAME_PATTERN = re.compile(r"[\w.*?\[\]!-]+", re.ASCII)
TOKEN_VARIABLE = "BROKERSCOPE_TOKEN"


def add_token(parser: argparse._ActionsContainer, about: str) -> None:
    """--token and --token-file; the default is the environment."""
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help=f"{about}, in its first line (default: ${TOKEN_VARIABLE})"
    )
    parser.add_argument("--token", metavar="TOKEN", help="the same; everybody on this machine can see it")


def token_of(options: argparse.Namespace) -> str | None:
    """The given token, or None. Raises CommandError for a file without one, or that cannot be read."""
    if options.token is not None and options.token_file is not None:
        raise CommandError("--token and --token-file both give a token; leave one out.")
    if options.token is not None:
        note(
            "Everyone on this machine can see a token on the command line; use --token-file FILE or "
            f"${TOKEN_VARIABLE} instead.",
            as_json=getattr(options, "json", False),
        )
        return str(options.token)
    if options.token_file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        lines = options.token_file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise CommandError(f"{options.token_file} is not UTF-8 text, so it contains no token.") from error
    if not lines or not lines[0].strip():
        raise CommandError(f"{options.token_file} has no token in its first line.")
    return str(lines[0].strip())


Broker = BrokerHost | HttpBroker  # both answer `ask`
BROKER_VARIABLE = "BROKERSCOPE_BROKER"
LOOPBACK = "127.0.0.1"
DEFAULT_URL = f"http://{LOOPBACK}:{DEFAULT_PORT}"


def url_of(text: str) -> str:
    """A URL, HOST:PORT, HOST, :PORT or PORT, as a URL. For argparse."""
    whole = text
    if text.startswith(":"):
        whole = f"{LOOPBACK}{text}"
    elif text.isdecimal():
        whole = f"{LOOPBACK}:{text}"
    try:
        return checked_url(whole)
    except ConfigError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a URL such as {DEFAULT_URL}, nor HOST:PORT") from error


def add_url(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--broker",
        type=url_of,
        metavar="URL",
        help=f"HTTP listener of a running broker, or HOST:PORT (default: ${BROKER_VARIABLE}, else {DEFAULT_URL})",
    )


def add_access(parser: argparse._ActionsContainer) -> None:
    add_token(parser, "token of the broker")
    parser.add_argument(
        "--tls-ca", type=Path, metavar="FILE", help="certificates to trust for https, as PEM (default: the system's)"
    )


def broker_elsewhere(text: str) -> str:
    """HOST:PORT of a Kafka cluster, or a URL. For argparse."""
    try:
        (addresses if is_cluster(text) else checked_url)(text)
    except ConfigError as error:
        named = "it" if "@" in text else repr(text)  # what stands before an @ may be a password
        raise argparse.ArgumentTypeError(f"{named} is not HOST:PORT nor a URL ({error.about})") from None
    return text


def cluster(text: str) -> str:
    if not is_cluster(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT of a Kafka cluster")
    return broker_elsewhere(text)


def properties(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"{text!r} is not a file")
    return Path(text)


def patterns(text: str) -> tuple[str, ...]:
    names = tuple(each.strip() for each in text.split(",") if each.strip())
    if not all(NAME_PATTERN.fullmatch(each) for each in names) or not names:
        raise argparse.ArgumentTypeError(f"{text!r} is not a name such as orders, or orders*")
    return names


def add_target(parser: argparse.ArgumentParser, *, clusters: bool = False) -> None:
    """The options that say which broker, or, with `clusters`, which Kafka cluster; and how its answers are printed."""
    broker = parser.add_argument_group("broker")
    which = broker.add_mutually_exclusive_group()
    which.add_argument("--data", type=folder, metavar="DIR", help="data directory that no broker has open")
    add_url(which)
    if clusters:
        which.add_argument("--kafka", type=cluster, metavar="HOST:PORT", help="a Kafka cluster, which is only read")
        broker.add_argument(
            "--config", type=properties, metavar="FILE", help="client.properties: how to connect to the cluster"
        )
    add_access(broker)
    parser.add_argument("--json", action="store_true", help="print JSON lines instead of tables")


def check_directory(path: Path) -> None:
    """Raises CommandError if `path` is neither an empty folder nor a broker's: it is not filled."""
    if path.exists() and not path.is_dir():
        raise CommandError(f"{path} is a file; a data directory is a folder.")
    if path.is_dir() and not is_data_directory(path) and any(each.name != "lost+found" for each in path.iterdir()):
        raise CommandError(f"{path} contains files that are not a broker's; name an empty or a new folder.")


@contextlib.contextmanager
def opened(options: argparse.Namespace, *, read_only: bool = False) -> Iterator[Broker]:
    """The broker that `add_target`'s options mean, closed at the end. Raises CommandError for what it refuses.

    With `read_only` a data directory is not written to, so that it can be read on a full disk, too.
    """
    try:
        with ended_by_signals(), _broker(options, read_only) as broker:
            yield broker
    except BrokerError as error:
        of_cluster = is_from_outside(options) and exit_of(error) is not Exit.NOT_FOUND
        raise CommandError(str(error) if of_cluster else with_hint(error), exit_of(error)) from error


def is_running(broker: Broker) -> TypeGuard[HttpBroker]:
    """False if the broker was opened for this command alone: it has counted nothing."""
    return isinstance(broker, HttpBroker)


def is_from_outside(options: argparse.Namespace) -> bool:
    """Whether the target is a cluster, of which sizes of messages are not known, nor what it demands of producers."""
    return bool(getattr(options, "kafka", None))


def http_broker(options: argparse.Namespace) -> HttpBroker:
    """The running broker that --broker, or the environment, names. Raises CommandError."""
    try:
        url = options.broker or url_of(os.environ.get(BROKER_VARIABLE) or DEFAULT_URL)
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"${BROKER_VARIABLE}: {error}.") from error

    def on_wait(error: BrokerError, wait_s: float) -> None:
        if wait_s >= 1:
            note(f"The broker asks to wait {wait_s:g} s ({error.about or error}); Ctrl+C gives up.", as_json=as_json)

    as_json = getattr(options, "json", False)
    return HttpBroker(url, token=token_of(options), ca_file=options.tls_ca, on_wait=on_wait)


def _broker(options: argparse.Namespace, read_only: bool) -> contextlib.AbstractContextManager[Broker]:
    if is_from_outside(options):
        return _cluster(options)
    if getattr(options, "config", None):
        raise CommandError("--config says how to connect to a Kafka cluster; name the cluster with --kafka HOST:PORT.")
    if options.data is None:
        return http_broker(options)
    if not options.data.exists():
        told = f"{options.data} does not exist; brokerscope serve --data {options.data} makes it."
        raise CommandError(told, Exit.NOT_FOUND)
    check_directory(options.data)
    read_only = read_only and is_data_directory(options.data)  # an empty folder becomes one
    return BrokerHost(options.data, HostConfig(log=LogConfig(durability="fsync")), read_only=read_only)


@contextlib.contextmanager
def _cluster(options: argparse.Namespace) -> Iterator[Any]:
    """As of one look. It answers what a running broker does, as far as that can be seen from outside."""
    from broker_core.observation.kafka.peer import KafkaPeer

    with contextlib.closing(KafkaPeer(connection_config(options.kafka, options.config))) as peer:
        peer.open()
        yield peer
