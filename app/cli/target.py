"""Which broker a command means: a data directory, opened for the command, or the HTTP listener of one that runs."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

from app.cli.output import note
from app.cli.parser import CommandError, argument, with_hint
from app.cli.signals import ended_by_signals
from app.environment.exits import Exit, exit_of
from app.environment.paths import deeds_file
from broker_core import BrokerHost, HostConfig, HttpBroker, LogConfig
from broker_core.clients.http_broker import checked_url
from broker_core.engine.data_directory import is_data_directory
from broker_core.errors import BrokerError, ConfigError
from broker_core.listeners.listener import TlsConfig
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import addresses, connection_config, is_cluster, passed_over
from broker_core.operations.http_form import DEFAULT_PORT
from broker_core.recording.schema import SESSION_FILE

WRITES = ("redrive", "offsets")
NAME_PATTERN = re.compile(r"[\w.*?\[\]!-]+", re.ASCII)
TOKEN_VARIABLE = "BROKERSCOPE_TOKEN"


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


def client_name() -> str:
    return f"brokerscope-{os.getpid()}"


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


def tls_of(options: argparse.Namespace) -> TlsConfig | None:
    if (options.tls_certificate is None) != (options.tls_key is None):
        raise CommandError("--tls-certificate and --tls-key go together; give both, or neither.")
    if options.tls_certificate is None:
        return None
    return TlsConfig(certificate=options.tls_certificate, key=options.tls_key)


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
    if said := passed_over(Path(text)):
        note(said)
    return Path(text)


def patterns(text: str) -> tuple[str, ...]:
    names = tuple(each.strip() for each in text.split(",") if each.strip())
    if not all(NAME_PATTERN.fullmatch(each) for each in names) or not names:
        raise argparse.ArgumentTypeError(f"{text!r} is not a name such as orders, or orders*")
    return names


def allowed(text: str) -> tuple[str, ...]:
    """Of --allow: what may be done to a cluster. For argparse."""
    words = tuple(each.strip() for each in text.split(","))
    if not set(words) <= set(WRITES):
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(WRITES)}, or both with a comma")
    return words


def add_target(parser: argparse.ArgumentParser, *, clusters: bool = False, writes: str = "") -> None:
    """The options that say which broker, or, with `clusters`, which Kafka cluster; and how its answers are printed.

    `writes` is what has to be allowed to the verb on a cluster.
    """
    broker = parser.add_argument_group("broker")
    which = broker.add_mutually_exclusive_group()
    argument(which, "target --data")
    add_url(which)
    if clusters:
        only = "which is locked without --allow" if writes else "which is only read"
        which.add_argument("--kafka", type=cluster, metavar="HOST:PORT", help=f"a Kafka cluster, {only}")
        argument(broker, "target --config", {"properties": properties})
    if writes:
        told = f"what may be changed on a Kafka cluster: {writes} is needed here"
        broker.add_argument("--allow", type=allowed, default=(), metavar="WHAT", help=told)
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
    kafka = f"give --kafka {url.partition('://')[2]}" if hasattr(options, "kafka") else ""
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
def _cluster(options: argparse.Namespace) -> Iterator[Any]:
    """A cluster as one sweep sees it. It answers the questions of a running broker as far as that is possible from
    outside.
    """
    from broker_core.observation.kafka.peer import KafkaPeer

    allow, journal = getattr(options, "allow", ()), DeedJournal(deeds_file())
    config = connection_config(options.kafka, options.config)
    with contextlib.closing(KafkaPeer(config, allow=allow, journal=journal)) as peer:
        peer.open()
        yield peer
