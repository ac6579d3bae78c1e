"""Which broker a command means: a data directory, opened for the command, or the HTTP listener of one that runs."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, TypeGuard, TypeVar

from app.cli.credentials import token_of
from app.cli.notes import note
from app.cli.parser import CommandError, argument, with_hint
from app.cli.signals import ended_by_signals
from app.cli.target_types import DEFAULT_URL, TYPES, url_of
from app.environment.exits import Exit, exit_of
from app.environment.paths import deeds_file
from broker_core import BrokerHost, HostConfig, HttpBroker, LogConfig
from broker_core.engine.data_directory import is_data_directory
from broker_core.errors import BrokerError
from broker_core.listeners.access.access import Access
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import connection_config
from broker_core.operations.request import Request
from broker_core.recording.schema import SESSION_FILE

T = TypeVar("T")
BROKER_VARIABLE = "BROKERSCOPE_BROKER"


class Broker(Protocol):
    """What a command asks: a `BrokerHost`, an `HttpBroker`, or a cluster as a `KafkaPeer` sees it."""

    def ask(self, request: Request[T]) -> T: ...


def client_name() -> str:
    return f"brokerscope-{os.getpid()}"


def add_target(parser: argparse.ArgumentParser, *, clusters: bool = False, writes: str = "") -> None:
    """The options that say which broker, or, with `clusters`, which Kafka cluster; and how its answers are printed.

    `writes` is what has to be allowed to the verb on a cluster.
    """
    broker = parser.add_argument_group("broker")
    which = broker.add_mutually_exclusive_group()
    argument(which, "target --data")
    argument(which, "target --broker", TYPES)
    if clusters:
        argument(which, "target --kafka", TYPES, {"locked": "locked without --allow" if writes else "only read"})
        argument(broker, "target --config", TYPES)
    if writes:
        argument(broker, "target --allow", TYPES, {"writes": writes})
    for name in ("--token-file", "--token", "--tls-ca"):
        argument(broker, f"target {name}")
    argument(parser, "target --json")


def check_directory(path: Path, advice: str = "name an empty or a new folder") -> None:
    """Raises CommandError if `path` is neither an empty folder nor a broker's: it is not filled."""
    if path.exists() and not path.is_dir():
        raise CommandError(f"{path} is a file; a data directory is a folder.")
    if path.is_dir() and not is_data_directory(path) and any(each.name != "lost+found" for each in path.iterdir()):
        if (path / SESSION_FILE).is_file():
            told = f"{path} is a recorded session and no broker's data"
            raise CommandError(f"{told}; brokerscope open {path} shows it, brokerscope audit {path} accounts for it.")
        raise CommandError(f"{path} contains files that are not a broker's; {advice}.")


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


@contextlib.contextmanager
def served(options: argparse.Namespace) -> Iterator[HttpBroker]:
    """As `opened`, with a listener of this command alone for a data directory: only a listener serves readers and
    publishers.
    """
    with opened(options) as broker:
        if isinstance(broker, HttpBroker):
            yield broker
            return
        assert isinstance(broker, BrokerHost)
        from broker_core.listeners.http.listener import HttpListener  # loads what no other command needs

        token = secrets.token_hex()
        with (
            HttpListener(broker, access=Access.of_token(token)) as listener,
            HttpBroker(listener.url, token=token) as own,
        ):
            yield own


def is_running(broker: Broker) -> TypeGuard[HttpBroker]:
    """False if the broker was opened for this command alone, and has therefore counted nothing."""
    return isinstance(broker, HttpBroker)


def is_from_outside(options: argparse.Namespace) -> bool:
    """Whether the target is a Kafka cluster, whose message sizes and settings for producers are not known."""
    return bool(getattr(options, "kafka", None))


def must_allow(options: argparse.Namespace, verb: str) -> None:
    """Raises CommandError for a cluster that is locked."""
    if is_from_outside(options) and verb not in options.allow:
        told = f"The cluster at {options.kafka} is locked, and nothing was changed; --allow {verb} unlocks it."
        raise CommandError(told, Exit.REFUSED)


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
    kafka = f"give --kafka {url.partition('://')[2]}" if hasattr(options, "kafka") else "give its HTTP port"
    return HttpBroker(url, token=token_of(options), ca_file=options.tls_ca, on_wait=on_wait, if_kafka=kafka)


def _broker(options: argparse.Namespace, read_only: bool) -> contextlib.AbstractContextManager[Broker]:
    if is_from_outside(options):
        return _cluster(options)
    if getattr(options, "config", None):
        raise CommandError("--config says how to connect to a Kafka cluster; name the cluster with --kafka HOST:PORT.")
    if getattr(options, "allow", ()):
        raise CommandError(
            "--allow is for a Kafka cluster, which --kafka HOST:PORT names; a broker of ours needs none."
        )
    if options.data is None:
        return http_broker(options)
    if not options.data.exists():
        told = f"{options.data} does not exist; brokerscope serve --data {options.data} makes it."
        raise CommandError(told, Exit.NOT_FOUND)
    check_directory(options.data, *(["name the data directory of a broker"] if read_only else []))
    read_only = read_only and is_data_directory(options.data)  # an empty folder becomes one
    return BrokerHost(options.data, HostConfig(log=LogConfig(durability="fsync")), read_only=read_only)


@contextlib.contextmanager
def _cluster(options: argparse.Namespace) -> Iterator[Broker]:
    """A cluster as one sweep sees it. It answers the questions of a running broker as far as that is possible from
    outside.
    """
    from broker_core.observation.kafka.peer import KafkaPeer

    allow, journal = getattr(options, "allow", ()), DeedJournal(deeds_file())
    config = connection_config(options.kafka, options.config)
    with contextlib.closing(KafkaPeer(config, allow=allow, journal=journal)) as peer:
        peer.open()
        yield peer
